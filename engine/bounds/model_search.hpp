// SPDX-License-Identifier: Apache-2.0
//
// One boundary model with its rows on demand, and the search through its program. Members in the order in which they
// lean on each other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/carry_over.hpp"
#include "engine/bounds/model_rows.hpp"
#include "engine/linear/branch_and_bound.hpp"

namespace ebb {

struct ModelTerms {
  std::int64_t budget = 0;
  OrderMode mode = OrderMode::kFixed;
  bool moment_rows = true;
  bool told_orders = false;  // where the mode and the instance allow it
  bool ever = false;         // the columns R
};

[[nodiscard]] bool TellsOrders(const Instance& instance, const ModelTerms& terms);

struct ModelSearch {
  std::unique_ptr<BoundaryModel> model;
  std::unique_ptr<ModelRows> separator;
  std::unique_ptr<BinarySolver> search;
  BranchAndBound* tree = nullptr;  // `search` where its open nodes outlast it

  // Model and separator; what was there before is gone.
  void SetModel(const Instance& instance, const ModelTerms& terms, std::span<const std::int32_t> positions,
                std::span<const BoundaryModel::OpPair> pairs, bool cut_stages);
  // The model's program with what is carried over to it.
  [[nodiscard]] BinaryProgram Program(const CarriedFacts& facts, const CarriedRows& rows) const;
  // The model stays.
  void DropSearch();
  // A tree that goes on with `nodes` and keeps what it leaves open; none: from its root, by dives. `thorough`: it will
  // be long, and its first branchings are worth a closer look.
  void SetTree(BinaryProgram program, std::vector<BranchAndBound::OpenNode> nodes, bool thorough);
};

}  // namespace ebb
