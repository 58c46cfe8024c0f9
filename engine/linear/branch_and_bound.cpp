// SPDX-License-Identifier: Apache-2.0
#include "engine/linear/branch_and_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/linear/exact_dual_bound.hpp"
#include "engine/linear/pseudo_costs.hpp"
#include "engine/linear/row_lp.hpp"
#include "engine/linear/row_propagator.hpp"

namespace ebb {

namespace {

constexpr double kIntegral = 1e-6;
constexpr double kPlungeShare = 0.25;  // of the gap
constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();

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

}  // namespace

struct BranchAndBound::Impl {
  Impl(BinaryProgram program, RowSeparator* separator_in, const Params& params_in)
      : params(params_in),
        separator(separator_in),
        cost(std::move(program.cost)),
        rows(std::move(program.rows)),
        knapsacks(std::move(program.knapsacks)),
        lp(cost, rows, program.lazy),
        propagator(rows, cost.size()),
        pseudo(cost.size()) {
    for (const std::int64_t c : cost) step = std::gcd(step, c);
    if (step == 0) step = 1;
    for (std::size_t j = 0; j < program.lower.size(); ++j)
      if (program.lower[j] == program.upper[j] && !propagator.Fix(static_cast<std::int32_t>(j), program.lower[j]))
        root_conflict = true;
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
  Node current;  // being worked on, or next in the plunge
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

  void UpdateFloor() {
    std::int64_t best = cutoff;
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

  enum class Verdict { kPruned, kBranched, kPlunge, kLimit, kSolution, kRootDone };
  Verdict Process(WorkBudget& work);
  Verdict Branch(WorkBudget& work, double value);
  bool Dive(WorkBudget& work);
  bool TakeSolution(std::vector<std::int8_t> rounded);
  bool dived = false;
  State Step(WorkBudget& work);
};

BranchAndBound::Impl::Verdict BranchAndBound::Impl::Process(WorkBudget& work) {
  const bool root = current.depth == 0;
  ++counters.nodes;
  if (!ToRoot()) return Verdict::kPruned;
  if (root_mark > 0 && root) current.fixed.clear();
  for (const auto& [column, value] : current.fixed)
    if (!propagator.Fix(column, value)) return Verdict::kPruned;
  if (!propagator.Propagate()) return Verdict::kPruned;
  work.Spend(static_cast<Ticks>(4 * cost.size()) + 8 * static_cast<Ticks>(propagator.trail().size()));
  if (current.basis != nullptr) {
    lp.RestoreBasis(*current.basis);
  }
  const std::int32_t max_rounds = root ? params.root_rounds : params.node_rounds;
  std::int32_t round = 0, stalled = 0;
  double last_value = -1e300;
  std::int64_t best_exact = current.bound;
  for (;;) {
    if (work.Exhausted()) return Verdict::kLimit;
    lp.SetDomain(propagator.lower(), propagator.upper());
    const LpOutcome outcome = SolveLp(work);
    work.Spend(static_cast<Ticks>(2 * rows.num_terms()));
    bool conflict = false, usable = outcome != LpOutcome::kFailed && outcome != LpOutcome::kUnavailable;
    if (outcome == LpOutcome::kInfeasible) {
      if (ExactRay()) return Verdict::kPruned;
      ++counters.exact_failures;
      usable = false;
    }
    if (usable && ExactBound()) {
      best_exact = std::max(best_exact, exact.RoundedUp(step));
      current.bound = best_exact;
      if (Pruned(best_exact)) return Verdict::kPruned;
      if (root && (!have_root_reduced || exact.scaled() > root_value)) {
        root_value = exact.scaled();
        root_reduced.assign(exact.reduced().begin(), exact.reduced().end());
        have_root_reduced = true;
      }
      if (outcome == LpOutcome::kLimit) return Verdict::kLimit;
      std::size_t count = 0;
      const std::size_t before = propagator.mark();
      conflict = !FixByReducedCost(count);
      if (conflict) return Verdict::kPruned;
      if (root && propagator.mark() > before) {
        root_mark = propagator.mark();
        global_lower.assign(propagator.lower().begin(), propagator.lower().end());
        global_upper.assign(propagator.upper().begin(), propagator.upper().end());
        counters.fixed_at_root = static_cast<std::int64_t>(root_mark);
      }
      // What propagation added may cut off the LP's point: solve again if so.
      bool cut_off = false;
      const auto trail = propagator.trail();
      const std::span<const double> x = lp.x();
      for (std::size_t t = before; t < trail.size() && !cut_off; ++t) {
        const std::size_t j = static_cast<std::size_t>(trail[t]);
        cut_off = std::abs(x[j] - propagator.lower()[j]) > kIntegral;
      }
      if (cut_off) continue;
    }
    if (outcome == LpOutcome::kLimit) return Verdict::kLimit;
    if (outcome == LpOutcome::kCutoff) {  // the LP thinks it is past the cutoff; the integers do not agree
      ++counters.exact_failures;
      usable = false;
    }
    if (!usable) {
      // No LP to lean on: branch on any open column, or judge the single point that is left.
      std::int32_t open = -1;
      for (std::size_t j = 0; j < cost.size() && open < 0; ++j)
        if (!propagator.IsFixed(static_cast<std::int32_t>(j))) open = static_cast<std::int32_t>(j);
      if (open < 0) {
        const std::vector<std::int8_t> only(propagator.lower().begin(), propagator.lower().end());
        if (!ExactlyFeasible(only)) return Verdict::kPruned;
        std::vector<double> as_double(only.begin(), only.end());
        if (Separate(as_double, true, false, work) > 0) continue;
        return TakeSolution(only) ? Verdict::kSolution : Verdict::kPruned;
      }
      for (const std::int8_t value : {std::int8_t{1}, std::int8_t{0}}) {
        Node child;
        child.fixed.assign(current.fixed.begin(), current.fixed.end());
        child.fixed.emplace_back(open, value);
        child.bound = current.bound;
        child.depth = current.depth + 1;
        Push(std::move(child));
      }
      return Verdict::kBranched;
    }
    const double value = lp.value();
    const std::span<const double> x = lp.x();
    if (current.column >= 0) {
      pseudo.Note(current.column, static_cast<std::size_t>(current.direction), value - current.parent_value,
                  current.distance);
      current.column = -1;
    }
    // Integral?
    std::size_t fractional = 0;
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (x[j] > kIntegral && x[j] < 1.0 - kIntegral) ++fractional;
    if (fractional == 0) {
      std::vector<std::int8_t> rounded(cost.size());
      for (std::size_t j = 0; j < cost.size(); ++j) rounded[j] = static_cast<std::int8_t>(std::lround(x[j]));
      const std::vector<double> as_double(rounded.begin(), rounded.end());
      if (Separate(as_double, true, root, work) > 0) continue;
      // The node stays: it may hold better ones, the LP's optimum being this point only up to its tolerances.
      if (TakeSolution(std::move(rounded))) return Verdict::kSolution;
      // Not exactly what the LP says: fall through to branching on something open.
    } else {
      const double gain = value - last_value;
      const double scale = cutoff == kInfinity ? std::abs(value) : static_cast<double>(cutoff) - value;
      stalled = gain < 0.003 * scale ? stalled + 1 : 0;
      last_value = value;
      // Rows that are known are always put back; new ones are looked for while that pays.
      const bool fresh = round < max_rounds && (stalled < (root ? 6 : 1) || round == 0);
      ++round;
      if (root && fresh && round % 8 == 0) lp.DropSlackRows(false);
      if (Separate(x, false, root, work, fresh) > 0) continue;
    }
    if (root) {
      root_x.assign(x.begin(), x.end());
      root_duals = lp.DualsByRow();
      root_done = true;
      if (params.root_only) return Verdict::kRootDone;
    }
    if (Compressible()) {
      Compress();
      continue;
    }
    if (root && params.root_dive && !dived) {
      dived = true;
      const auto basis = SaveBasis();
      if (Dive(work)) return Verdict::kSolution;
      propagator.Undo(root_mark);
      lp.RestoreBasis(*basis);
      continue;
    }
    return Branch(work, value);
  }
}

// Fixes the columns nearest to whole, a tenth of them at a time, and solves again, until the LP's point is a solution
// or there is none this way: some ten LPs where the tree takes hundreds.
bool BranchAndBound::Impl::Dive(WorkBudget& work) {
  constexpr int kMost = 100;
  std::vector<std::pair<double, std::int32_t>> order;  // distance to whole, column
  for (int round = 0; round < kMost && !work.Exhausted(); ++round) {
    const std::span<const double> x = lp.x();
    order.clear();
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (x[j] > kIntegral && x[j] < 1.0 - kIntegral)
        order.emplace_back(std::min(x[j], 1.0 - x[j]), static_cast<std::int32_t>(j));
    if (order.empty()) {
      std::vector<std::int8_t> rounded(cost.size());
      for (std::size_t j = 0; j < cost.size(); ++j) rounded[j] = static_cast<std::int8_t>(std::lround(x[j]));
      const std::vector<double> as_double(rounded.begin(), rounded.end());
      if (Separate(as_double, true, false, work) == 0) return TakeSolution(std::move(rounded));
    } else {
      std::sort(order.begin(), order.end());
      order.resize(order.size() / 10 + 1);
      for (const auto& [distance, j] : order) {
        if (propagator.IsFixed(j)) continue;
        const std::int8_t nearest = x[static_cast<std::size_t>(j)] > 0.5 ? 1 : 0;
        const std::size_t mark = propagator.mark();
        if (propagator.Fix(j, nearest) && propagator.Propagate()) continue;
        propagator.Undo(mark);
        if (!propagator.Fix(j, static_cast<std::int8_t>(1 - nearest)) || !propagator.Propagate()) return false;
      }
      static_cast<void>(Separate(x, false, false, work, false));
    }
    lp.SetDomain(propagator.lower(), propagator.upper());
    if (SolveLp(work) != LpOutcome::kOptimal) return false;
  }
  return false;
}

// A point that obeys all rows as far as the LP can tell.
bool BranchAndBound::Impl::TakeSolution(std::vector<std::int8_t> rounded) {
  if (!ExactlyFeasible(rounded)) {
    ++counters.exact_failures;
    return false;
  }
  const std::int64_t c = CostOf(rounded);
  if (c >= cutoff) return false;
  solution = std::move(rounded);
  solution_cost = cutoff = c;
  ++counters.solutions;
  FixRootByReducedCost();
  return true;
}

BranchAndBound::Impl::Verdict BranchAndBound::Impl::Branch(WorkBudget& work, double value) {
  struct Candidate {
    std::int32_t column;
    double x, score;
  };
  std::vector<Candidate> candidates;
  const std::vector<double> x(lp.x().begin(), lp.x().end());
  const double minimum = 1e-6 * std::max(1.0, std::abs(value));
  const auto gains_of = [&](std::int32_t j, double at) {
    return std::array{pseudo.Predicted(j, 0, at), pseudo.Predicted(j, 1, 1.0 - at)};
  };
  std::int32_t open = -1;
  for (std::size_t j = 0; j < cost.size(); ++j) {
    const std::int32_t column = static_cast<std::int32_t>(j);
    if (propagator.IsFixed(column)) continue;
    if (open < 0) open = column;
    if (x[j] <= kIntegral || x[j] >= 1.0 - kIntegral) continue;
    const auto gains = gains_of(column, x[j]);
    candidates.push_back({column, x[j], PseudoCosts::Score(gains[0], gains[1], minimum)});
  }
  std::int32_t chosen = -1;
  double chosen_x = 0.5, gain_of[2] = {0.0, 0.0};
  std::int64_t bound_of[2] = {current.bound, current.bound};
  const LpBasis basis = lp.QuickBasis();
  if (candidates.empty()) {
    chosen = open;                            // integral but not a solution: the LP's tolerances
    if (chosen < 0) return Verdict::kPruned;  // a single point, judged before
  } else {
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.score != b.score ? a.score > b.score : a.column < b.column;
    });
    double best = -1.0;
    std::int32_t tried = 0, without_gain = 0;
    for (const Candidate& c : candidates) {
      double s = c.score;
      auto gains = gains_of(c.column, c.x);
      std::int64_t bounds[2] = {current.bound, current.bound};
      if (pseudo.Seen(c.column) < params.reliability && tried < params.strong_candidates && without_gain < 5 &&
          !work.Exhausted()) {
        ++tried;
        ++counters.strong_branchings;
        for (const std::size_t direction : {std::size_t{0}, std::size_t{1}}) {
          lp.SetBound(c.column, static_cast<std::int8_t>(direction), static_cast<std::int8_t>(direction));
          const LpOutcome outcome = SolveLp(work, params.strong_iterations);
          bool dead = false;
          if (outcome == LpOutcome::kInfeasible) {
            // Exact with the column's own bound set.
            dead = ProvedEmpty(c.column, static_cast<std::int8_t>(direction));
            gains[direction] = std::max(static_cast<double>(cutoff == kInfinity ? 0 : cutoff) - value, 0.0);
          } else if (outcome != LpOutcome::kFailed && outcome != LpOutcome::kUnavailable) {
            gains[direction] = std::max(lp.value() - value, 0.0);
            if (BoundWith(c.column, static_cast<std::int8_t>(direction))) {
              bounds[direction] = std::max(bounds[direction], exact.RoundedUp(step));
              dead = Pruned(bounds[direction]);
            }
            if (outcome == LpOutcome::kOptimal)
              pseudo.Note(c.column, direction, gains[direction], direction == 0 ? c.x : 1.0 - c.x);
          }
          lp.SetBound(c.column, 0, 1);
          lp.SetQuickBasis(basis);
          if (dead) {
            // Only the other side is left: take it and look at this node again.
            current.fixed.clear();
            const auto trail = propagator.trail();
            for (std::size_t t = root_mark; t < trail.size(); ++t)
              current.fixed.emplace_back(trail[t], propagator.lower()[static_cast<std::size_t>(trail[t])]);
            current.fixed.emplace_back(c.column, static_cast<std::int8_t>(1 - direction));
            if (current.depth == 0) root_pending.emplace_back(c.column, static_cast<std::int8_t>(1 - direction));
            current.basis = SaveBasis();
            Node again = std::move(current);
            again.column = -1;
            Push(std::move(again));
            return Verdict::kBranched;
          }
        }
        s = PseudoCosts::Score(gains[0], gains[1], minimum);
      }
      if (s > best * (1.0 + 1e-9)) {
        best = s;
        chosen = c.column;
        chosen_x = c.x;
        for (const std::size_t d : {std::size_t{0}, std::size_t{1}}) {
          gain_of[d] = gains[d];
          bound_of[d] = bounds[d];
        }
        without_gain = 0;
      } else {
        ++without_gain;
      }
    }
  }
  Node child;
  const auto trail = propagator.trail();
  for (std::size_t t = root_mark; t < trail.size(); ++t)
    child.fixed.emplace_back(trail[t], propagator.lower()[static_cast<std::size_t>(trail[t])]);
  child.basis = SaveBasis();
  child.depth = current.depth + 1;
  child.column = chosen;
  // The cheaper child is gone into at once while it stays near the best bound: its LP is one bound change away, where a
  // node from the heap costs a few hundred pivots.
  const int first = gain_of[1] <= gain_of[0] ? 0 : 1;
  const double room = cutoff == kInfinity ? kPlungeShare * std::abs(value)
                                          : kPlungeShare * (static_cast<double>(cutoff) - static_cast<double>(floor));
  const bool plunge = value + gain_of[first] <= static_cast<double>(floor) + room || cutoff == kInfinity || diving;
  for (const int direction : {1 - first, first}) {
    Node next = child;
    next.fixed.emplace_back(chosen, static_cast<std::int8_t>(direction));
    next.bound = bound_of[direction];
    next.estimate = value + gain_of[direction];
    next.direction = static_cast<std::int8_t>(direction);
    next.parent_value = value;
    next.distance = direction == 0 ? chosen_x : 1.0 - chosen_x;
    if (direction == first && plunge) {
      current = std::move(next);
      return Verdict::kPlunge;
    }
    Push(std::move(next));
  }
  return Verdict::kBranched;
}

BranchAndBound::State BranchAndBound::Impl::Step(WorkBudget& work) {
  if (root_conflict) {
    heap.clear();
    has_current = false;
    UpdateFloor();
    return State::kFinished;
  }
  if (!started) {
    started = true;
    current = Node{};
    current.bound = floor;
    has_current = true;
  }
  for (;;) {
    if (work.Exhausted()) return State::kLimit;
    if (!has_current) {
      if (rebuilt && 2 * lp.num_rows() > 3 * rows_when_built + 200) {
        lp.DropSlackRows(true);
        rows_when_built = std::max(rows_when_built, lp.num_rows());
      }
      if (heap.empty() || Pruned(heap.front().bound)) {
        heap.clear();
        UpdateFloor();
        return State::kFinished;
      }
      std::pop_heap(heap.begin(), heap.end(), Later);
      current = std::move(heap.back());
      heap.pop_back();
      has_current = true;
    }
    if (Pruned(current.bound)) {
      has_current = false;
      continue;
    }
    switch (Process(work)) {
      case Verdict::kPruned:
      case Verdict::kBranched: has_current = false; break;
      case Verdict::kPlunge: break;
      case Verdict::kLimit:
        current.basis = SaveBasis();
        UpdateFloor();
        return State::kLimit;
      case Verdict::kSolution: UpdateFloor(); return State::kSolution;
      case Verdict::kRootDone: UpdateFloor(); return State::kRootDone;
    }
    UpdateFloor();
  }
}

BranchAndBound::BranchAndBound(BinaryProgram program, RowSeparator* separator, const Params& params)
    : impl_(std::make_unique<Impl>(std::move(program), separator, params)) {}
BranchAndBound::~BranchAndBound() = default;

void BranchAndBound::SetCutoff(std::int64_t cutoff) {
  // Costs are multiples of step: below the cutoff is below the next multiple, which reduced cost fixing relies on.
  std::int64_t multiple = cutoff / impl_->step;
  if (multiple * impl_->step < cutoff) ++multiple;
  cutoff = multiple * impl_->step;
  if (cutoff >= impl_->cutoff) return;
  impl_->cutoff = cutoff;
  impl_->FixRootByReducedCost();
}
std::int64_t BranchAndBound::cutoff() const { return impl_->cutoff; }
void BranchAndBound::SetDiving(bool on) { impl_->diving = on; }
BranchAndBound::State BranchAndBound::Step(WorkBudget& work) { return impl_->Step(work); }
std::int64_t BranchAndBound::lower_bound() const { return impl_->floor; }
bool BranchAndBound::has_solution() const { return impl_->solution_cost != kInfinity; }
std::span<const std::int8_t> BranchAndBound::solution() const { return impl_->solution; }
std::int64_t BranchAndBound::solution_cost() const { return impl_->solution_cost; }
std::span<const std::int8_t> BranchAndBound::root_lower() const { return impl_->global_lower; }
std::span<const std::int8_t> BranchAndBound::root_upper() const { return impl_->global_upper; }
std::span<const double> BranchAndBound::root_x() const { return impl_->root_x; }
std::span<const double> BranchAndBound::node_x() const { return impl_->lp.x(); }
std::span<const double> BranchAndBound::root_duals() const { return impl_->root_duals; }
const IntegerRows& BranchAndBound::rows() const { return impl_->rows; }
const BranchAndBound::Counters& BranchAndBound::counters() const { return impl_->counters; }

}  // namespace ebb
