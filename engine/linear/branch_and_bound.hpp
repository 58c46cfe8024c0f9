// SPDX-License-Identifier: Apache-2.0
//
// A 0/1 program with rows that may be made lazily, solved by branch and bound over the LP. What makes it fit for
// proofs here: no node is dropped and no column fixed on a floating-point word. Each is judged by ExactDualBound or by
// integer propagation; where the LP cannot say (it failed, or its ray proves nothing in integers) the node is branched
// on further, down to a single point if need be.
//
// Best bound first with plunging; pseudo-costs started by strong branching (Achterberg, Koch, Martin 2005); reduced
// cost fixing at each node, and again at the root whenever the cutoff improves; integer propagation before each LP.
//
// It is resumable: Step returns when the budget is used up, and goes on where it stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/linear/integer_rows.hpp"

namespace ebb {

struct BinaryProgram {
  std::vector<std::int64_t> cost;  // minimised, any sign
  IntegerRows rows;
  std::vector<std::int32_t> knapsacks;    // rows worth cover and rounding cuts (memory rows)
  std::vector<std::int32_t> lazy;         // rows kept out of the LP until violated
  std::vector<std::int8_t> lower, upper;  // empty: 0 and 1 everywhere
};

// Cuts and lazy rows on demand.
class RowSeparator {
 public:
  virtual ~RowSeparator() = default;
  // Appends rows that x violates and that every wanted integer point obeys. `integral`: x is a 0/1 point that obeys all
  // rows so far; when nothing comes back it counts as a solution. `root`: rows are wanted generously.
  virtual void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) = 0;
};

class BranchAndBound {
 public:
  struct Params {
    std::int32_t root_rounds = 60;  // cutting rounds at the root
    std::int32_t node_rounds = 2;   // and at other nodes
    std::int32_t reliability = 4;   // strong branchings of a column before its pseudo-costs are believed
    std::int32_t strong_candidates = 12;
    std::int32_t strong_iterations = 60;
    double min_efficacy = 0.02;  // of a cut
    bool reduced_cost_fixing = true;
    bool knapsack_cuts = true;
    bool root_only = false;  // stop when the root is done: a bound and an LP solution
  };
  enum class State {
    kSolution,  // a better solution was found: see solution(); call again to go on
    kLimit,     // the budget is used up
    kFinished,  // nothing below cutoff() is left
    kRootDone,  // only with root_only
  };
  struct Counters {
    std::int64_t nodes = 0, lp_iterations = 0, strong_branchings = 0, cuts = 0, fixed_at_root = 0, solutions = 0;
    std::int64_t exact_failures = 0;  // LP verdicts that the integers did not confirm
  };

  // `separator` may be null; it must outlive this.
  BranchAndBound(BinaryProgram program, RowSeparator* separator, const Params& params);
  ~BranchAndBound();
  BranchAndBound(const BranchAndBound&) = delete;
  BranchAndBound& operator=(const BranchAndBound&) = delete;

  // Only solutions of cost < cutoff are looked for from now on. Never raised; rounded up to a
  // multiple of the costs' common divisor.
  void SetCutoff(std::int64_t cutoff);
  [[nodiscard]] std::int64_t cutoff() const;

  State Step(WorkBudget& work);

  // Valid at any time: no solution costs less than min(this, cutoff()). Monotone.
  [[nodiscard]] std::int64_t lower_bound() const;
  [[nodiscard]] bool has_solution() const;
  [[nodiscard]] std::span<const std::int8_t> solution() const;
  [[nodiscard]] std::int64_t solution_cost() const;

  // Columns that are the same in every solution below the cutoff.
  [[nodiscard]] std::span<const std::int8_t> root_lower() const;
  [[nodiscard]] std::span<const std::int8_t> root_upper() const;
  [[nodiscard]] std::span<const double> root_x() const;  // LP solution when the root was left
  // Per row of rows(): the dual when the root was left (0 for rows not in the LP).
  [[nodiscard]] std::span<const double> root_duals() const;
  [[nodiscard]] const IntegerRows& rows() const;
  [[nodiscard]] const Counters& counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb
