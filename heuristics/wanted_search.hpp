// SPDX-License-Identifier: Apache-2.0
//
// How to have a set of values at once, looked at backwards. When the set G is wanted and o was the last execution that
// made some of it, then
//
//   bytes(G + outputs(o) + inputs(o)) + moment(o) <= budget,   and before it G - outputs(o) + inputs(o) is wanted.
//
// So a state is what is wanted and nothing else: what is dropped, and when, need not be decided (forwards there are as
// many states as ways to drop), and a set that is there already, or a part of such a one, is an end. It is regression
// as in planning, and the reverse pebble game.
//
// What makes it find ways is the guide. Smallest sets first (as for the floor, engine/bounds/memory_floor.hpp) is lost
// among millions of small sets at 0.7 of the peak of RL n=100. Guided by what must run at least until the set is there,
// all values that have to be made and their inputs and so on back to what is held, it takes a handful of steps: all ops
// of RL n=100 at 0.6 by 6,800 states. Weight 1 on that guide: the shortest way; more: sooner.
//
// Reruns only, so it is for the stage between two first executions (heuristics/backward_plans.hpp). Plain instances
// (Instance::plain): a carried value's bytes and an overwritten one's end are no matter of sets.
//
// The library: sets that can be had from nothing, each from another one by one execution. In a question from scratch
// (`from_library`) a part of one of them is an end too. Asked op by op in the graph's order, each has a short way to
// what is known of its ancestors. A kNever from scratch, with every op allowed, is a proof that no plan of any order
// fits: whatever a plan did before the set was there, its last executions are a way back to nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

// Sets of values, as words.
using ValueWords = std::vector<std::uint64_t>;

struct WantedQuestion {
  ValueWords held, wanted;
  bool staged = false;        // the reruns stand by rank, each op at most once
  double weight = 1;          // on what must still run, against what runs; at least 1
  bool by_number = false;     // what must still run by number and bytes, not by duration: soon, at any price
  std::int64_t most = 0;      // states looked at
  bool from_library = false;  // from scratch: nothing is held, every op may run
};

class WantedSearch {
 public:
  enum class Answer { kFound, kNever, kUnknown };

  // Plain instances. It must outlive this.
  WantedSearch(const Instance& instance, std::int64_t budget);

  // Reruns, in order, after which `wanted` can be there where `held` was; before each of them wanted_at() says what has
  // to be there. `may_run`: per op. kNever: no order and number of reruns can do it (staged: in this stage).
  [[nodiscard]] Answer Find(const WantedQuestion& question, std::span<const std::uint8_t> may_run, WorkBudget& work);

  // Takes the way just found, which must be from scratch, into the library, with what `op` makes in the end (-1: none).
  // Returns the place of the wanted set in it.
  std::int32_t Learn(const ValueWords& wanted, std::int32_t op);
  struct Step {
    ValueWords set;             // is there after
    std::int32_t op, previous;  // this execution; before it, what is at this place (-1: nothing)
  };
  [[nodiscard]] const Step& library(std::int32_t place) const { return library_[static_cast<std::size_t>(place)]; }

  [[nodiscard]] const std::vector<std::int32_t>& reruns() const { return reruns_; }
  // Before rerun i, for what follows and for its own reads.
  [[nodiscard]] std::span<const std::uint64_t> wanted_at(std::size_t i) const {
    return {arena_.data() + static_cast<std::size_t>(path_[i]) * words_, words_};
  }

  [[nodiscard]] std::size_t words() const { return words_; }
  [[nodiscard]] std::int64_t room() const { return room_; }  // of values and moments

 private:
  struct Node {
    double done = 0;         // cost of the way, backwards
    std::int32_t next = -1;  // towards the end
    std::int32_t op = -1;    // that runs between this and next
    bool expanded = false;
  };
  struct Entry {
    double estimate, done;
    std::int64_t bytes;
    std::int32_t id;
  };
  struct Guide {
    double cost;
    std::int32_t ops;
    std::int64_t bytes;
    bool possible;
  };

  [[nodiscard]] std::int32_t FindOrAdd(const std::uint64_t* words, std::int32_t limit);
  [[nodiscard]] Guide Look(const std::uint64_t* wanted, const WantedQuestion& question,
                           std::span<const std::uint8_t> may_run);
  void Reach(const std::uint64_t* wanted, std::int32_t limit, Node node, const WantedQuestion& question,
             std::span<const std::uint8_t> may_run);

  // Place of a set that holds this one; -1: none.
  [[nodiscard]] std::int32_t InLibrary(const std::uint64_t* set);
  std::int32_t AddStep(ValueWords set, std::int32_t op, std::int32_t previous);

  const Instance& in_;
  const std::int64_t room_;
  std::size_t words_;
  double small_ = 1;  // added to durations
  std::vector<ValueWords> reads_, makes_;
  std::vector<std::uint64_t> arena_;
  std::vector<std::int32_t> limits_;  // staged: only ops of a lower rank may run before
  std::vector<Node> nodes_;
  std::vector<std::int32_t> table_;
  std::vector<Entry> queue_;
  std::vector<std::int32_t> stamp_, stack_, reruns_, path_;
  std::int32_t now_ = 0;
  std::int64_t ticks_ = 0;
  std::vector<std::vector<std::uint64_t>> ancestors_;  // op -> ops that it needs, itself too; made when first used
  std::vector<std::uint64_t> union_;
  std::vector<Step> library_;
  std::vector<std::vector<std::int32_t>> holding_;  // value -> places of sets that hold it
  std::int32_t begins_in_ = -1;                     // the way found begins with a part of this set
};

}  // namespace ebb
