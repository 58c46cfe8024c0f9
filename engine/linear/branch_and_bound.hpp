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
#include <utility>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/linear/binary_solver.hpp"
#include "engine/linear/integer_rows.hpp"
#include "engine/linear/pseudo_costs.hpp"

namespace ebb {

class BranchAndBound final : public BinarySolver {
 public:
  struct Params {
    std::int32_t root_rounds = 60;  // cutting rounds at the root
    std::int32_t node_rounds = 2;   // and at other nodes
    std::int32_t reliability = 4;   // strong branchings of a column before its pseudo-costs are believed
    std::int32_t strong_candidates = 12;
    std::int32_t strong_iterations = 60;
    // Above this depth every branching is a strong one, whatever is believed, of more candidates and with more pivots:
    // for long trees.
    std::int32_t thorough_depth = 0;
    double min_efficacy = 0.02;  // of a cut
    bool reduced_cost_fixing = true;
    bool knapsack_cuts = true;
    bool dive = true;  // look for a first solution by rounding when the root is done
    // The dive finds ways back, and is made again and again while there is no solution, in trees that go on with
    // others' nodes too (where `dive` is off): for searches whose answer is one more often than not.
    bool patient_dives = false;
    // A solution found ends the search where nothing open is cheaper, but nothing is closed or fixed on its word: what
    // is left open covers every solution below the cutoff that was set, and can be taken into a finer program.
    bool keep_open = false;
    bool root_only = false;  // stop when the root is done: a bound and an LP solution
  };
  struct OpenNode {
    std::vector<std::pair<std::int32_t, std::int8_t>> fixed;
    std::int64_t bound = 0;
    std::int32_t depth = 1;  // at least
  };
  struct Counters {
    std::int64_t nodes = 0, lp_iterations = 0, strong_branchings = 0, cuts = 0, fixed_at_root = 0, solutions = 0;
    std::int64_t exact_failures = 0;  // LP verdicts that the integers did not confirm
  };

  // `separator` may be null; it must outlive this.
  BranchAndBound(BinaryProgram program, RowSeparator* separator, const Params& params);
  ~BranchAndBound() override;
  BranchAndBound(const BranchAndBound&) = delete;
  BranchAndBound& operator=(const BranchAndBound&) = delete;

  // Only solutions of cost < cutoff are looked for from now on. Never raised; rounded up to a
  // multiple of the costs' common divisor.
  void SetCutoff(std::int64_t cutoff) override;
  [[nodiscard]] std::int64_t cutoff() const override;

  // What is left of the tree, for keep_open: each solution below the cutoff is in one of these, beside root_lower and
  // root_upper.
  [[nodiscard]] std::vector<OpenNode> OpenNodes() const;
  // How many, and the least of their bounds (cutoff() where there is none).
  [[nodiscard]] std::size_t num_open() const;
  [[nodiscard]] std::int64_t open_bound() const;
  // More of them; before the first step: where the tree goes on after its root, in place of all.
  void Adopt(std::vector<OpenNode> nodes);
  // Gives away every second node of those that wait, the best of all excepted. None before the root is done.
  [[nodiscard]] std::vector<OpenNode> GiveHalf();

  // What branching has learnt.
  [[nodiscard]] const PseudoCosts& pseudo_costs() const;
  void SetPseudoCosts(const PseudoCosts& learnt);

  void SetDiving(bool on) override;
  State Step(WorkBudget& work) override;

  // Valid at any time, of what it holds: no solution costs less than min(this, cutoff()). Monotone until more is
  // adopted.
  [[nodiscard]] std::int64_t lower_bound() const override;
  [[nodiscard]] bool has_solution() const override;
  [[nodiscard]] std::span<const std::int8_t> solution() const override;
  [[nodiscard]] std::int64_t solution_cost() const override;

  [[nodiscard]] bool facts_below_own() const override;
  // Columns that are the same in every solution below the cutoff.
  [[nodiscard]] std::span<const std::int8_t> root_lower() const override;
  [[nodiscard]] std::span<const std::int8_t> root_upper() const override;
  [[nodiscard]] std::span<const double> root_x() const override;  // LP solution when the root was left
  // The LP's point at the node that was last worked on.
  [[nodiscard]] std::span<const double> node_x() const;
  // Per row of rows(): the dual when the root was left (0 for rows not in the LP).
  [[nodiscard]] std::span<const double> root_duals() const override;
  [[nodiscard]] const IntegerRows& rows() const override;
  [[nodiscard]] std::int64_t nodes() const override { return counters().nodes; }
  [[nodiscard]] std::int64_t lp_iterations() const override { return counters().lp_iterations; }
  [[nodiscard]] const Counters& counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb
