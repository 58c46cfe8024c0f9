// SPDX-License-Identifier: Apache-2.0
//
// Branching by the linear relaxation: the fractional column whose two sides promise to raise the bound most (product of
// pseudo-costs), started by strong branching (Achterberg, Koch, Martin, "Branching rules revisited", 2005). Where the
// LP's point is integral it is followed, column by column: those decisions obey the LP, so nothing is solved for them.
//
// A side that strong branching finds beyond the incumbent is taken as the decision: the relaxation then gives its
// clause and the search learns from it.
//
// Tried: noting in the pseudo-costs what a side that ran out of pivots reached, which pays in the tree
// (branch_and_bound_branching.cpp). Here none does (0 of 2,680 LPs on RL n=100 and n=250 at 0.8): eight models, the
// same to the conflict.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/engine.hpp"
#include "engine/linear/pseudo_costs.hpp"
#include "propagators/linear_relaxation.hpp"

namespace ebb {

class RelaxationBrancher final : public core::Brancher {
 public:
  struct Params {
    std::int32_t reliability = 4;  // strong branchings of a column before its pseudo-costs are believed
    // At one node. Learning makes up for it; millions of ticks with none, 1, 4, 12 at a node: RL n=1000 at 0.9 (three
    // boundaries) 333, 330, 428, 460; n=100 at 0.8 12, 19, 35, 36; n=250 at 0.9 140, 96, 95, 94; layered of 60 ops 18,
    // 24, 29, 25; of 80 ops (seed 3) 71, 60, 90, 83.
    std::int32_t strong_candidates = 0;
    std::int32_t strong_iterations = 60;
    bool hard_side_first = false;  // the side with the larger expected gain first
  };
  struct Counters {
    std::int64_t strong_branchings = 0, decisions = 0, dives = 0;
  };

  // `relaxation` must outlive this.
  RelaxationBrancher(LinearRelaxation& relaxation, const Params& params);
  [[nodiscard]] core::Lit Next(core::Engine& engine) override;
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  struct Pending {
    std::int32_t column = -1, side = 0, level = 0;
    double distance = 0.0, value = 0.0;
    std::int64_t solves = 0;
  };
  void NotePending(const core::Engine& engine);
  [[nodiscard]] core::Lit Dive(core::Engine& engine);
  [[nodiscard]] core::Lit Branch(core::Engine& engine);

  LinearRelaxation& relaxation_;
  Params params_;
  PseudoCosts pseudo_;
  Pending pending_;
  std::int64_t seen_solves_ = -1;  // the LP solve that `fractional_` belongs to
  std::vector<std::int32_t> fractional_;
  std::size_t dive_at_ = 0;
  std::int32_t dive_level_ = 0;
  Counters counters_;
};

}  // namespace ebb
