// SPDX-License-Identifier: Apache-2.0
//
// The linear relaxation beside the clauses. Bounds and fixings go into the LP; what it says comes back as clauses, each
// from a dual vector that was evaluated in integers (ExactDualBound): a conflict where no point within the incumbent is
// left, reduced-cost fixings, and violated rows found by a separator. Learning over these clauses does what a MIP
// solver's tree does, without its repetitions (Achterberg, "Conflict analysis in mixed integer programming", 2007;
// Davies, Gange, Stuckey, "Automatic logic-based Benders decomposition with MiniZinc", AAAI 2017, for LP reasons in
// LCG).
//
// A dual vector y >= 0 gives, over the box of the fixings F,
//      cost >= y b + sum_j min(0, d_j) + sum_{j in F} gain_j,     d = cost - y A,
// gain_j = d_j where d_j > 0 and j is fixed at 1, -d_j where d_j < 0 and it is fixed at 0, else nothing. Only fixings
// with a gain enter a reason, and of these only as many as are needed to pass the incumbent; those made last are left
// out first, so that the clause is false on an early level.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/core/engine.hpp"
#include "engine/linear/binary_solver.hpp"
#include "engine/linear/exact_dual_bound.hpp"
#include "engine/linear/row_lp.hpp"
#include "propagators/linear_model.hpp"
#include "propagators/linear_rows.hpp"

namespace ebb {

class LinearRelaxation final : public core::Propagator {
 public:
  struct Params {
    std::int32_t root_rounds = 60;  // cutting rounds at the root
    // And at other nodes. RL n=250 at 0.8, nine boundaries, cutoff 4.2607 %, bound after 14 s (one halving of the gap
    // is within the noise): none 4.09 %, one round 4.17, two 4.22, four 4.17. Also no better there: the hard side first
    // 4.17, no restarts 4.17, four strong branchings a node 4.22 (with 221 conflicts for 391).
    std::int32_t node_rounds = 2;
    double min_efficacy = 0.02;  // of a cut
    bool reduced_cost_fixing = true;
    // Covers and rounding of the memory rows: learned clauses do their work. With them RL n=1000 at 0.9 took 102
    // conflicts and 1.3 s, without 37 and 0.6 s; RL n=250 at 0.8 with nine boundaries 23.0 s and 15.9 s.
    bool knapsack_cuts = false;
    bool keep_duals = false;  // with every reason, for a proof log
  };
  struct Counters {
    std::int64_t solves = 0, conflicts = 0, fixed = 0, cuts = 0, rebuilds = 0, exact_failures = 0;
  };

  // cost . x <= total in every solution. `model`, `rows` (may be null: rows are not propagated) and `separator` (may be
  // null) must outlive this. `knapsacks`: rows worth cover cuts; `lazy`: rows kept out of the LP until violated.
  LinearRelaxation(LinearModel& model, LinearRows* rows, RowSeparator* separator, core::IntVar total,
                   std::vector<std::int32_t> knapsacks, std::vector<std::int32_t> lazy, const Params& params);

  // Levels up to here hold assumptions only: what the LP says there is a bound for all solutions under them.
  void SetRootLevel(std::int32_t level) {
    root_level_ = level;
    root_bound_ = std::numeric_limits<std::int64_t>::min();
  }
  // No solution within the assumptions costs less: what the LP said at the root since SetRootLevel.
  [[nodiscard]] std::int64_t root_bound() const { return root_bound_; }

  // The LP's point and duals (per row of the model) when the root was left the first time; empty before.
  [[nodiscard]] std::span<const double> root_x() const { return root_x_; }
  [[nodiscard]] std::span<const double> root_duals() const { return root_duals_; }

  // The LP's optimum for the present fixings, where there is one (empty: none).
  [[nodiscard]] std::span<const double> x() const {
    return current_ ? std::span<const double>(x_) : std::span<const double>();
  }
  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] RowLp& lp() { return lp_; }
  [[nodiscard]] const LinearModel& model() const { return model_; }
  // Where the LP should not go beyond: a little above the last cost that is still wanted.
  [[nodiscard]] double Limit(const core::Engine& engine) const;
  [[nodiscard]] bool IsFixed(std::size_t column) const { return lower_[column] == upper_[column]; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

  void Attach(core::Engine& engine, core::PropId id) override;
  bool OnEvent(core::Engine& engine, std::int32_t data) override;
  [[nodiscard]] bool Propagate(core::Engine& engine) override;
  void OnBacktrack(core::Engine& engine, std::int32_t level) override;
  void Explain(core::Engine& engine, core::Lit lit, const core::LazyReason& reason, std::int32_t before,
               std::vector<core::Lit>& out) override;
  [[nodiscard]] bool FinalCheck(core::Engine& engine) override;
  [[nodiscard]] bool Implies(const core::Engine& engine, std::uint16_t rule,
                             std::span<const core::Lit> clause) const override;
  // Ray or not, and each row with its dual times 2^kShift.
  void Witness(std::uint16_t rule, std::string& out) const override;

 private:
  // Costs are multiples of step_: the largest that total <= most still allows.
  [[nodiscard]] std::int64_t LargestCost(std::int64_t most) const { return most - ((most % step_) + step_) % step_; }
  [[nodiscard]] bool KeepsDuals() const;
  using Wide = ExactDualBound::Wide;
  // What a dual vector said, for reasons to be given later.
  struct Snapshot {
    std::int32_t level;
    std::int64_t most;                                   // the incumbent's bound that the fixing relied on
    Wide base;                                           // y b + sum min(0, d)
    std::vector<std::pair<std::int32_t, Wide>> reduced;  // d_j != 0
    std::vector<std::pair<std::int32_t, Wide>> duals;    // per row, scaled; kept in check builds and for proofs
    bool ray = false;
  };

  bool Judge(core::Engine& engine, LpOutcome outcome);  // false: conflict
  bool EvaluateRay();
  [[nodiscard]] Snapshot TakeSnapshot(const core::Engine& engine, bool ray) const;
  bool FixByReducedCost(core::Engine& engine, Wide target);
  // Appends the fixings that the snapshot needs to pass `target` (scaled), without `but`, whose gain is `given`.
  void Why(const core::Engine& engine, const Snapshot& s, Wide target, Wide given, core::Lit but, std::int32_t before,
           std::vector<core::Lit>& out) const;
  std::size_t Separate(core::Engine& engine, bool integral, bool root);
  bool Finish(const core::Engine& engine, bool root);
  bool CoverOpen(core::Engine& engine);  // false: conflict, as the next
  bool Refix(core::Engine& engine);

  LinearModel& model_;
  LinearRows* rows_;
  RowSeparator* separator_;
  core::IntVar total_;
  std::vector<std::int32_t> knapsacks_;
  Params params_;
  core::PropId id_ = core::PropId::kNone;

  RowLp lp_;
  ExactDualBound exact_;
  std::int64_t step_ = 0;                   // every cost is a multiple of it
  std::vector<std::int8_t> lower_, upper_;  // by events
  std::vector<std::int8_t> root_lower_, root_upper_;
  std::vector<std::pair<std::int32_t, std::int32_t>> log_;  // column, level

  std::vector<double> x_;
  double value_ = 0.0;
  bool current_ = false;  // x_ is optimal for the present fixings
  std::int32_t solved_level_ = 0;
  std::int32_t root_level_ = 0;
  std::int64_t root_bound_ = std::numeric_limits<std::int64_t>::min();
  std::vector<double> root_x_, root_duals_;
  std::vector<Snapshot> snapshots_;
  // The LP lacks columns that were fixed when it was last rebuilt.
  std::int32_t open_outside_ = 0;          // of these are open now
  bool refixed_ = false;                   // tried since one of them opened
  std::optional<Snapshot> root_snapshot_;  // what fixed most at the assumptions' level, last
  std::int64_t root_most_ = std::numeric_limits<std::int64_t>::min();  // bound on total_ when solved below that level
  double ray_sign_ = 1.0;
  Snapshot checked_;  // the snapshot of the clause that is being given, where duals are kept
  Counters counters_;
};

}  // namespace ebb
