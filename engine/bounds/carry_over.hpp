// SPDX-License-Identifier: Apache-2.0
//
// What one boundary model leaves to the finer ones after it.
//
//   facts  what is fixed in every solution below the incumbent holds for every better sequence: a value that must or
//          cannot lie across a position, an op that cannot run again in an interval.
//   rows   a path cut or moment row holds in each finer model too, with the rerun in a stage that was divided read as a
//          rerun in any of its parts. Those that were binding are in the finer LP from the start, the others wait.
//   tree   the open nodes of a tree cover all better sequences, and so they do with their fixings read in the finer
//          model: a value stays or does not; an op that does not run again in a stage does so in none of its parts;
//          that it does, in one that was divided, is forgotten.
//   branching   what it raised the LP by to fix a column (pseudo-costs). A tree begun with it branches better at once
//          and needs no strong branching of what is known: RL n=250 at 0.8, fixed, below 4.1 % after a tree below
//          4.0 %, three models: 545, 429 and 559 nodes and 6.0e9, 6.5e9 and 9.4e9 ticks; without 990, 691 and 784
//          nodes and 15.7e9, 11.5e9 and 15.0e9.
//
// Rows and nodes are kept by names and not by a model, so that they can go to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/bounds/boundary_model.hpp"

namespace ebb {

class CarriedFacts {
 public:
  // The search must not be looking below a solution of its own: then what it fixes is no fact of plans. Replaces older
  // facts, on which the model was built.
  void Take(const BoundaryModel& model, const BinarySolver& search);
  void Give(const BoundaryModel& model, BinaryProgram& program) const;  // program.lower and upper filled

 private:
  struct Stay {
    std::int32_t position, value;
    std::int8_t fixed;
  };
  struct NoRerun {
    std::int32_t op, from, to;  // after the first execution at `from`, before that at `to`
  };
  std::vector<Stay> stays_;
  std::vector<NoRerun> no_reruns_;
};

// The columns of a model that is gone.
struct ColumnNames {
  ColumnNames() = default;
  explicit ColumnNames(const BoundaryModel& model);
  std::vector<std::int32_t> positions;
  std::vector<BoundaryModel::Column> columns;
};

class CarriedRows {
 public:
  CarriedRows() = default;
  CarriedRows(const BoundaryModel& model, const BinarySolver& search);
  [[nodiscard]] bool empty() const { return rows_.size() == 0; }
  // `model` has all the boundaries of the one that the rows come from. Appends to program.rows and program.lazy.
  void Give(const BoundaryModel& model, BinaryProgram& program) const;

 private:
  ColumnNames names_;
  IntegerRows rows_;  // over these
  std::vector<std::uint8_t> binding_;
};

class CarriedBranching {
 public:
  CarriedBranching() = default;
  CarriedBranching(const BoundaryModel& model, const PseudoCosts& learnt) : names_(model), learnt_(learnt) {}
  [[nodiscard]] bool empty() const { return names_.columns.empty(); }
  // What was learnt of a stage is taken for each of its parts. `model` has all the boundaries of the one before.
  [[nodiscard]] PseudoCosts Give(const BoundaryModel& model) const;

 private:
  ColumnNames names_;
  PseudoCosts learnt_{0};
};

class CarriedTree {
 public:
  CarriedTree() = default;
  // With more than `most` fixings (8 bytes each) one node without any stands for all: what they cover must not be lost,
  // since others may hold the rest of the tree.
  CarriedTree(const BoundaryModel& model, std::vector<BranchAndBound::OpenNode> nodes, std::size_t most = 30'000'000);
  // `model` has all the boundaries of the one that the nodes come from. Orders that are told to the nodes and not to
  // the model are told to it.
  [[nodiscard]] std::vector<BranchAndBound::OpenNode> Give(BoundaryModel& model) const;

 private:
  ColumnNames names_;
  std::vector<BranchAndBound::OpenNode> nodes_;
};

}  // namespace ebb
