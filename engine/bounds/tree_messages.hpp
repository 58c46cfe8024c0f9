// SPDX-License-Identifier: Apache-2.0
//
// What a boundary solver and its helpers on other threads (boundary_helper.hpp) tell each other when they search one
// tree together. Each open node is held by one of them. The owner gives a helper half of its nodes, and asks for half
// of the helper's when it has none left, or for all of them when the model is refined.
//
// Messages tell a state and not an event: the latest one of each side says all, so none has to be received, and they
// may cross at any time. What a helper hands over stays in its reports until the owner says that it was received.
// Nothing in a message changes once it is sent. Bounds and cutoffs are costs of the program: total duration less the
// base duration.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/carry_over.hpp"
#include "engine/bounds/decoded_point.hpp"

namespace ebb {

// A model, what is known of it, and some of its tree's nodes.
struct TreePacket {
  std::int32_t model = 0;  // tells the owner's models apart
  std::vector<std::int32_t> positions;
  std::vector<BoundaryModel::OpPair> pairs;
  bool cut_stages = false;
  bool thorough = false;  // branching: the tree will be long
  CarriedFacts facts;  // below the cutoff
  CarriedRows rows;
  CarriedBranching branching;
  CarriedTree tree;
};

struct TreeTask {
  enum class Ask : std::uint8_t { kSearch, kGiveHalf, kGiveAll, kForget };
  std::int64_t serial = 0;  // one more with each that asks for something; what follows may change without
  Ask ask = Ask::kForget;
  std::shared_ptr<const TreePacket> packet;  // kSearch: what is to be searched besides
  std::int64_t cutoff = 0;
  std::int64_t received = 0;  // so many of the helper's hand-overs
  bool last = false;          // there will be no others
};

struct HandOver {
  std::int64_t serial = 0;                       // of the last task before it
  std::shared_ptr<const CarriedTree> tree;       // half of what the helper held, or all
  std::shared_ptr<const DecodedPoint> solution;  // of the model, which has to be refined; null: none
};

struct TreeReport {
  static constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::max();
  std::int64_t serial = 0;        // of the last task that was taken up
  std::int64_t bound = kNothing;  // of what the helper holds; kNothing: nothing below the cutoff
  std::int64_t first = 0;         // the number of the first of these
  std::vector<HandOver> handed;   // and not known to be received
};

// By helper. The owner writes tasks and reads reports.
struct TreeDesk {
  explicit TreeDesk(std::size_t helpers = 0) : tasks(helpers), reports(helpers) {}
  std::vector<std::shared_ptr<const TreeTask>> tasks;
  std::vector<std::shared_ptr<const TreeReport>> reports;
};

}  // namespace ebb
