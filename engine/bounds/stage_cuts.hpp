// SPDX-License-Identifier: Apache-2.0
//
// What a whole set of reruns cannot do between two neighbouring first executions, whatever their order and number. In
// such a stage (a_k, a_{k+1} = a_k + 1) stand repeats alone. Looked at backwards: W = what is to lie across a_{k+1},
// and what op a_{k+1} reads, must be there at the end. The last execution o that makes something of a wanted set G
// needs
//
//   bytes(G + outputs(o) + inputs(o)) + moment(o) <= budget,   and before it G - outputs(o) + inputs(o) is wanted.
//
// So the sets that can be wanted at the stage's beginning are found by a search backwards, in which nothing has to be
// decided about drops; a set that holds another one is of no use. A plan has one of these sets across a_k. If each
// holds a value that is not there, at least one thing must be otherwise (a combinatorial Benders cut: Codato,
// Fischetti 2006): with U values such that each set holds one of them and Q the ops that were not allowed to run,
//
//   sum of S[u,k] over U + sum of C[o,k] over Q + sum of 1 - S[w,k+1] over W >= 1.
//
// It is made as strong as it can be had cheaply: wanted values are left out and ops are let run as long as nothing
// fits, one by one, then U is chosen greedily.
//
// At 0/1 points only, and only where neither a boundary nor a told order (told_orders.hpp) refutes a solution: as a
// first resort they keep a search in a model that is too coarse (RL n=250 at 0.8, fixed: 3.988 % with eight boundaries
// after 100e9 ticks). RL n=100 at 0.7, fixed, plan 7.8168 %: 6.0102 % after 6e9 ticks of climbing, 5.6166 % without.
//
// Plain instances only. A proof that is written (portfolio/proof.hpp) is of a search without them: docs/proof_format.md
// has no such row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bounds/boundary_model.hpp"

namespace ebb {

class StageCuts : public RowSeparator {
 public:
  StageCuts(const BoundaryModel& model, std::int64_t budget) : model_(model), budget_(budget) {}
  void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override;

 private:
  using Words = std::vector<std::uint64_t>;
  struct Rerun {
    std::int32_t column = 0;
    Words makes, reads;
    std::int64_t besides = 0;  // moment and outputs that nobody wants
    bool allowed = false;
  };
  // Values that are local to the stage: useful(k), by index.
  struct Stage {
    std::vector<std::int32_t> values;
    std::vector<std::int64_t> bytes;
    std::vector<Rerun> reruns;
    Words there;
  };
  enum class Answer { kFits, kNever, kUnknown };

  void Cut(std::span<const double> x, std::int32_t k, IntegerRows& out);
  void Load(std::span<const double> x, std::int32_t k);
  // Is some set that can be wanted at the beginning there? sets_ holds them all where none is; blocked_ the reruns that
  // could have been of use but are not allowed.
  Answer Search(const Words& wanted);

  const BoundaryModel& model_;
  std::int64_t budget_;
  Stage stage_;
  std::vector<Words> sets_;
  std::vector<std::uint8_t> blocked_;
  std::int64_t effort_ = 0;  // left for trials in the present stage
};

}  // namespace ebb
