// SPDX-License-Identifier: Apache-2.0
//
// The inside of BranchAndBound: what a search knows, and the small steps over it. The large ones each have a file:
//   branch_and_bound.cpp            which node next, and the class seen from outside
//   branch_and_bound_node.cpp       one node: its LP, cuts, fixings, verdict; the dive for a first solution
//   branch_and_bound_branching.cpp  what to branch on
// For these files only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/linear/branch_and_bound.hpp"
#include "engine/linear/exact_dual_bound.hpp"
#include "engine/linear/pseudo_costs.hpp"
#include "engine/linear/row_lp.hpp"
#include "engine/linear/row_propagator.hpp"

namespace ebb {

struct BranchAndBound::Impl {
  static constexpr double kIntegral = 1e-6;
  static constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();
  using Wide = ExactDualBound::Wide;

  struct Node {
    std::vector<std::pair<std::int32_t, std::int8_t>> fixed;  // beyond the root's
    std::shared_ptr<const RowLp::Basis> basis;
    std::int64_t bound = 0;  // valid
    double estimate = 0.0;   // LP value of the parent
    std::int32_t depth = 0;
    std::int64_t serial = 0;
    // The branching that led here, for pseudo-costs.
    std::int32_t column = -1;
    std::int8_t direction = 0;
    double distance = 0.0, parent_value = 0.0;
  };

  Impl(BinaryProgram program, RowSeparator* separator_in, const Params& params_in)
      : params(params_in),
        separator(separator_in),
        cost(std::move(program.cost)),
        rows(std::move(program.rows)),
        knapsacks(std::move(program.knapsacks)),
        lp(cost, rows, program.lazy),
        propagator(rows, cost.size()),
        pseudo(cost.size(), program.group) {
    for (const std::int64_t c : cost) step = std::gcd(step, c);
    if (step == 0) step = 1;
    for (std::size_t j = 0; j < program.lower.size(); ++j)
      if (program.lower[j] == program.upper[j] && !propagator.Fix(static_cast<std::int32_t>(j), program.lower[j]))
        root_conflict = true;
    root_mark = propagator.mark();
  }

  Params params;
  RowSeparator* separator;
  std::vector<std::int64_t> cost;
  IntegerRows rows;
  std::vector<std::int32_t> knapsacks;
  RowLp lp;
  RowPropagator propagator;
  PseudoCosts pseudo;
  ExactDualBound exact;
  std::int64_t step = 0;

  // Sizes of the LP when it was last rebuilt; none: not yet.
  std::size_t open_when_built = 0, rows_when_built = 0;

  std::vector<Node> heap;  // by (bound, serial): least first
  bool root_done = false, root_conflict = false, started = false;
  bool has_current = false;
  bool plunged = false;  // the propagator is where current.fixed was taken, but for its last one
  Node current;          // being worked on, or next in the plunge
  std::int64_t serial = 0;
  bool diving = false;

  std::int64_t cutoff = kInfinity;
  std::int64_t floor = std::numeric_limits<std::int64_t>::min();  // best bound so far
  std::vector<std::int8_t> solution;
  std::int64_t solution_cost = kInfinity;
  std::vector<std::pair<std::int32_t, std::int8_t>> root_pending;  // found true at the root while deep in the tree
  std::vector<double> root_x, root_duals;
  std::vector<Wide> root_reduced;
  Wide root_value = 0;
  bool have_root_reduced = false;
  Counters counters;

  // ---- the LP -------------------------------------------------------------------------------------------------------
  LpOutcome SolveLp(WorkBudget& work, std::int32_t iteration_limit = 1'000'000) {
    const double limit = cutoff == kInfinity ? 1e100 : static_cast<double>(cutoff) - 0.5 * static_cast<double>(step);
    const LpOutcome outcome = lp.Solve(work, limit, iteration_limit);
    counters.lp_iterations = lp.iterations();
    return outcome;
  }
  std::size_t Separate(std::span<const double> x, bool integral, bool root, WorkBudget& work, bool fresh = true) {
    RowLp::Look look;
    look.separator = separator;
    if (params.knapsack_cuts) look.knapsacks = knapsacks;
    look.lower = global_lower;
    look.upper = global_upper;
    look.min_efficacy = params.min_efficacy;
    look.integral = integral;
    look.root = root;
    look.fresh = fresh;
    const std::size_t found = lp.AddViolated(x, look, work);
    counters.cuts = lp.cuts();
    propagator.TakeNewRows();
    return found;
  }
  void Compress() {
    lp.Rebuild(global_lower, global_upper);
    open_when_built = lp.num_columns();
    rows_when_built = lp.num_rows();
    rebuilt = true;
  }
  // When the root is left, and again when a fifth of its columns is gone.
  bool Compressible() const { return !rebuilt || 5 * (cost.size() - root_mark) < 4 * open_when_built; }
  bool rebuilt = false;
  std::shared_ptr<const RowLp::Basis> SaveBasis() const { return std::make_shared<RowLp::Basis>(lp.SaveBasis()); }

  // The domain that holds in the whole tree. Trail up to root_mark.
  std::vector<std::int8_t> global_lower, global_upper;
  std::size_t root_mark = 0;

  // ---- domains ----------------------------------------------------------------------------------------------------
  // Back to the root and whatever became known there.
  bool ToRoot() {
    propagator.Undo(root_mark);
    propagator.TakeNewRows();
    for (const auto& [column, value] : root_pending)
      if (!propagator.Fix(column, value)) return false;
    root_pending.clear();
    if (!propagator.Propagate()) return false;
    root_mark = propagator.mark();
    counters.fixed_at_root = static_cast<std::int64_t>(root_mark);
    global_lower.assign(propagator.lower().begin(), propagator.lower().end());
    global_upper.assign(propagator.upper().begin(), propagator.upper().end());
    return true;
  }

  [[nodiscard]] bool Pruned(std::int64_t bound) const { return bound >= cutoff; }
  bool ExactBound() {
    return exact.Evaluate(rows, lp.rows(), lp.duals(), cost, propagator.lower(), propagator.upper());
  }
  bool ExactRay() {
    for (const double sign : {1.0, -1.0})
      if (exact.Evaluate(rows, lp.rows(), lp.duals(), cost, propagator.lower(), propagator.upper(), true, sign) &&
          exact.scaled() > 0)
        return true;
    return false;
  }

  // Fixes what the reduced costs of the last exact bound allow. Returns false on a conflict (no solution here).
  // Counts what it fixed.
  bool FixByReducedCost(std::size_t& count) {
    count = 0;
    if (!params.reduced_cost_fixing || cutoff == kInfinity) return true;
    const Wide target = (static_cast<Wide>(cutoff - step)) << ExactDualBound::kShift;  // best cost still wanted
    const Wide room = target - exact.scaled();
    const auto reduced = exact.reduced();
    for (std::size_t j = 0; j < cost.size(); ++j) {
      const std::int32_t column = static_cast<std::int32_t>(j);
      if (propagator.IsFixed(column)) continue;
      const Wide d = reduced[j];
      if (d > room) {
        ++count;
        if (!propagator.Fix(column, 0)) return false;
      } else if (-d > room) {
        ++count;
        if (!propagator.Fix(column, 1)) return false;
      }
    }
    return propagator.Propagate();
  }

  void FixRootByReducedCost() {
    if (!have_root_reduced || cutoff == kInfinity || !params.reduced_cost_fixing) return;
    const Wide room = ((static_cast<Wide>(cutoff - step)) << ExactDualBound::kShift) - root_value;
    for (std::size_t j = 0; j < cost.size(); ++j) {
      if (global_lower[j] == global_upper[j]) continue;
      if (root_reduced[j] > room)
        root_pending.emplace_back(static_cast<std::int32_t>(j), std::int8_t{0});
      else if (-root_reduced[j] > room)
        root_pending.emplace_back(static_cast<std::int32_t>(j), std::int8_t{1});
    }
  }

  // ---- tree -------------------------------------------------------------------------------------------------------
  static bool Later(const Node& a, const Node& b) {
    return a.bound != b.bound         ? a.bound > b.bound
           : a.estimate != b.estimate ? a.estimate > b.estimate
                                      : a.serial < b.serial;
  }
  void Push(Node node) {
    node.serial = serial++;
    heap.push_back(std::move(node));
    std::push_heap(heap.begin(), heap.end(), Later);
  }

  // Cheaper ones are looked for.
  [[nodiscard]] std::int64_t Goal() const { return std::min(cutoff, solution_cost); }
  std::vector<OpenNode> adopted;  // until the root is done
  std::shared_ptr<const RowLp::Basis> root_basis;
  // A node for another tree, and one from there. (A node of depth 0 is a tree's own root.)
  static OpenNode Open(Node node) { return {std::move(node.fixed), node.bound, std::max(node.depth, 1)}; }
  [[nodiscard]] Node FromOpen(OpenNode open) const {
    Node node;
    node.fixed = std::move(open.fixed);
    node.bound = open.bound;
    node.basis = root_basis;
    node.depth = open.depth;
    return node;
  }
  void Adopt(OpenNode open);
  std::vector<OpenNode> GiveHalf();

  void UpdateFloor() {
    std::int64_t best = Goal();
    if (!heap.empty()) best = std::min(best, heap.front().bound);
    if (has_current) best = std::min(best, current.bound);
    floor = std::max(floor, best);
  }

  // An integer point that obeys every row, exactly?
  bool ExactlyFeasible(std::span<const std::int8_t> at) const {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto columns = rows.columns(r);
      const auto coefficients = rows.coefficients(r);
      std::int64_t activity = 0;
      for (std::size_t k = 0; k < columns.size(); ++k)
        activity += coefficients[k] * at[static_cast<std::size_t>(columns[k])];
      if (activity < rows.rhs(r)) return false;
    }
    return true;
  }
  std::int64_t CostOf(std::span<const std::int8_t> at) const {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < cost.size(); ++j) sum += cost[j] * at[j];
    return sum;
  }

  // The exact verdicts on the last LP with one column's bounds as strong branching set them.
  bool BoundWith(std::int32_t column, std::int8_t value) {
    SetTry(column, value);
    return exact.Evaluate(rows, lp.rows(), lp.duals(), cost, try_lower, try_upper);
  }
  bool ProvedEmpty(std::int32_t column, std::int8_t value) {
    SetTry(column, value);
    for (const double sign : {1.0, -1.0})
      if (exact.Evaluate(rows, lp.rows(), lp.duals(), cost, try_lower, try_upper, true, sign) && exact.scaled() > 0)
        return true;
    return false;
  }
  void SetTry(std::int32_t column, std::int8_t value) {
    try_lower.assign(propagator.lower().begin(), propagator.lower().end());
    try_upper.assign(propagator.upper().begin(), propagator.upper().end());
    try_lower[static_cast<std::size_t>(column)] = try_upper[static_cast<std::size_t>(column)] = value;
  }
  std::vector<std::int8_t> try_lower, try_upper;

  enum class Verdict { kPruned, kParked, kBranched, kPlunge, kLimit, kSolution, kRootDone };
  Verdict Process(WorkBudget& work);
  Verdict Branch(WorkBudget& work, double value);
  bool Dive(WorkBudget& budget);
  bool DiveWithin(WorkBudget& work);
  bool TakeSolution(std::vector<std::int8_t> rounded);
  // A dive costs as much as one node or two. In a model that lacks a boundary the tree comes to the optimum's value and
  // has thousands of nodes of that value, most of them dead ends that no branching tells from the others, and by itself
  // finds none of the many solutions that would say which boundary that is. RL n=1000, 500 and 250 at 0.8, staged, one
  // lane, 1e9 ticks: 2.5825 % after 261, proved after 13.5 and 13.6 with dives when a tree begun at its root has
  // doubled its nodes; after 118, 6.1 and 11.7 with the same in trees that go on with nodes; with every 32 nodes, from
  // a node with the best bound, 2.5811 after 129 and proved after 3.3 and 7.2.
  static constexpr std::int64_t kDiveNodes = 32;
  std::int64_t next_dive = 0;  // when the tree has so many nodes
  // `best`: no open node has a lower bound.
  [[nodiscard]] bool DiveDue(bool root, bool best) const {
    if (solution_cost != kInfinity || counters.nodes < next_dive) return false;
    return root ? params.dive : params.patient_dives && best;
  }
  State Step(WorkBudget& work);
};

}  // namespace ebb
