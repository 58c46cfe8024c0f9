// SPDX-License-Identifier: Apache-2.0
//
// What one boundary model leaves to the finer ones after it.
//
//   facts  what is fixed in every solution below the incumbent holds for every better sequence: a value that must or
//          cannot lie across a position, an op that cannot run again in an interval.
//   rows   a path cut or moment row holds in each finer model too, with the rerun in a stage that was divided read as a
//          rerun in any of its parts. Those that were binding are in the finer LP from the start, the others wait.
//   tree   the nodes that a tree left open cover all better sequences, and so they do with their fixings read in the
//          finer model: a value stays or does not; an op that does not run again in a stage does so in none of its
//          parts; that it does, in one that was divided, is forgotten.
#pragma once

#include <cstdint>
#include <memory>
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

class CarriedRows {
 public:
  CarriedRows() = default;
  CarriedRows(std::shared_ptr<const BoundaryModel> model, const BinarySolver& search);
  [[nodiscard]] bool empty() const { return model_ == nullptr; }
  // `model` has all the boundaries of the one that the rows come from. Appends to program.rows and program.lazy.
  void Give(const BoundaryModel& model, BinaryProgram& program) const;

 private:
  std::shared_ptr<const BoundaryModel> model_;
  IntegerRows rows_;  // over its columns
  std::vector<std::uint8_t> binding_;
};

class CarriedTree {
 public:
  CarriedTree() = default;
  // The search must be one that keeps what is open.
  CarriedTree(std::shared_ptr<const BoundaryModel> model, const BranchAndBound& search);
  [[nodiscard]] std::vector<BranchAndBound::OpenNode> Give(const BoundaryModel& model) const;

 private:
  std::shared_ptr<const BoundaryModel> model_;
  std::vector<BranchAndBound::OpenNode> nodes_;
};

}  // namespace ebb
