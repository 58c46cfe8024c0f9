// SPDX-License-Identifier: Apache-2.0
//
// One node of the tree: its LP is solved with cuts until they pay no more, judged in integers, and its columns are
// fixed by propagation and reduced costs.
//
// Tried here and dropped (RL n=250 at 0.8, three models of nine boundaries in fixed order, the bound after 8e9 ticks,
// and two staged ones, 9 boundaries of n=250 and six of n=500, ticks to the proof; as it is 3.987, 3.968, 3.931
// %, 6.4e9 and 1.8e9): known rows put back only while they pay 4.003, 4.006, 3.925 %, 8.1e9 and 2.5e9 (a fifth more
// nodes, each worth less); 100 rows a round instead of 50: 3.975, 3.938, 3.927 %, 7.6e9 and 1.9e9.
//
// But half of all solves followed a round that had put back one known row or two, for a gain of 0.1 where a round of
// fifty gains 6: where what is wanted can be had of any of many columns, the LP takes those whose rows are not in it,
// one after another, up to seventy times at a node. Such rows wait for the next LP. The bound after 8 s, three models
// of nine boundaries in fixed order: 3.956, 3.881, 3.977 % with each solved for, 3.961, 3.927, 3.992 % where up to two
// wait, 3.978, 3.952, 3.992 % up to five, 3.933, 3.925, 3.976 % up to twenty; two staged ones are proved in 6.3 and
// 11.4 s instead of 11.4 and 15.5 s (with QuickSimplex, linear_program.cpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/linear/branch_and_bound_impl.hpp"

namespace ebb {

namespace {
constexpr std::size_t kFew = 5;  // known rows that are not worth a solve of their own where the bound stands still
}

BranchAndBound::Impl::Verdict BranchAndBound::Impl::Process(WorkBudget& work) {
  const bool root = current.depth == 0;
  ++counters.nodes;
  // A child gone into at once is one fixing away.
  const bool near = plunged && root_pending.empty();
  plunged = false;
  if (!near && !ToRoot()) return Verdict::kPruned;
  if (root_mark > 0 && root) current.fixed.clear();
  for (std::size_t f = near ? current.fixed.size() - 1 : 0; f < current.fixed.size(); ++f)
    if (!propagator.Fix(current.fixed[f].first, current.fixed[f].second)) return Verdict::kPruned;
  if (!propagator.Propagate()) return Verdict::kPruned;
  work.Spend(static_cast<Ticks>(4 * cost.size()) + 8 * static_cast<Ticks>(propagator.trail().size()));
  if (current.basis != nullptr && !near) lp.RestoreBasis(*current.basis);
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
      if (best_exact >= Goal()) return Verdict::kParked;
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
      const std::size_t found = Separate(x, false, root, work, fresh);
      if (found > 0 && (root || fresh || found > kFew || stalled == 0)) continue;
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
    if (DiveDue(root, !near)) {
      next_dive = params.patient_dives ? counters.nodes + kDiveNodes : kInfinity;
      const auto basis = SaveBasis();
      const std::size_t mark = propagator.mark();
      if (Dive(work)) return Verdict::kSolution;
      propagator.Undo(mark);
      lp.RestoreBasis(*basis);
      continue;
    }
    if (root && params.keep_open) root_basis = SaveBasis();
    if (root && !adopted.empty()) {
      for (OpenNode& open : adopted) {
        Node node = FromOpen(std::move(open));
        node.bound = std::max(node.bound, current.bound);
        node.estimate = value;
        Push(std::move(node));
      }
      adopted.clear();
      return Verdict::kBranched;
    }
    return Branch(work, value);
  }
}

// Fixes the columns nearest to whole, a tenth of them at a time, and solves again, until the LP's point is a solution
// or there is none this way: some ten LPs where the tree takes hundreds. Where a batch leaves nothing below the cutoff
// only its first column is fixed, and where that one does, the other way round (patient dives).
// Where a round costs nothing the LP goes from one point of its value to the next, each with as many columns between;
// then what is at one stays. Without that a dive on RL n=1000 at 0.8 ended after 200 rounds with a thousand columns
// fixed of five, every time; with it it takes twelve. (RL n=500 and 250, staged: proved after 4.2e9 and 9.6e9
// ticks, 5.1e9 and 11.2e9 without; 250 fixed 75e9, 136e9 without.) A patient dive is not resumable: a small budget is
// overdrawn.
bool BranchAndBound::Impl::Dive(WorkBudget& budget) {
  if (!params.patient_dives) return DiveWithin(budget);
  constexpr Ticks kTicks = 500'000'000;
  WorkBudget work(std::max(kTicks, budget.left()), budget.stop_signal());
  const bool found = DiveWithin(work);
  budget.Spend(work.spent());
  return found;
}

bool BranchAndBound::Impl::DiveWithin(WorkBudget& work) {
  const int most = params.patient_dives ? 200 : 100, failures_allowed = params.patient_dives ? 20 : 0;
  std::vector<std::pair<double, std::int32_t>> order;  // distance to whole, column
  std::size_t share = 10;                              // of the fractional columns, one in so many is fixed
  int failures = 0;
  bool stands = false;  // the last round cost nothing
  double last = lp.value();
  const auto fix = [&](std::int32_t j, std::int8_t value) {
    const std::size_t mark = propagator.mark();
    if (propagator.Fix(j, value) && propagator.Propagate()) return true;
    propagator.Undo(mark);
    return propagator.Fix(j, static_cast<std::int8_t>(1 - value)) && propagator.Propagate();
  };
  for (int round = 0; round < most && !work.Exhausted(); ++round) {
    const std::vector<double> x(lp.x().begin(), lp.x().end());
    order.clear();
    for (std::size_t j = 0; j < cost.size(); ++j)
      if (x[j] > kIntegral && x[j] < 1.0 - kIntegral)
        order.emplace_back(std::min(x[j], 1.0 - x[j]), static_cast<std::int32_t>(j));
    const std::size_t before = propagator.mark();
    std::int8_t nearest = 0;
    if (order.empty()) {
      std::vector<std::int8_t> rounded(cost.size());
      for (std::size_t j = 0; j < cost.size(); ++j) rounded[j] = static_cast<std::int8_t>(std::lround(x[j]));
      const std::vector<double> as_double(rounded.begin(), rounded.end());
      if (Separate(as_double, true, false, work) == 0) return TakeSolution(std::move(rounded));
    } else {
      std::sort(order.begin(), order.end());
      order.resize(order.size() / share + 1);
      nearest = x[static_cast<std::size_t>(order.front().second)] > 0.5 ? 1 : 0;
      for (const auto& [distance, j] : order)
        if (!propagator.IsFixed(j) && !fix(j, x[static_cast<std::size_t>(j)] > 0.5 ? 1 : 0)) return false;
      for (std::size_t j = 0; stands && j < cost.size(); ++j) {
        const auto column = static_cast<std::int32_t>(j);
        if (x[j] >= 1.0 - kIntegral && !propagator.IsFixed(column) && !fix(column, 1)) return false;
      }
      static_cast<void>(Separate(x, false, false, work, false));
    }
    for (;;) {
      lp.SetDomain(propagator.lower(), propagator.upper());
      const LpOutcome outcome = SolveLp(work);
      if (outcome == LpOutcome::kOptimal) {
        if (!params.patient_dives) break;
        stands = lp.value() <= last + 1e-6 * std::abs(last);
        if (stands)
          share = std::max<std::size_t>(share / 2, 2);
        else if (share < 10)
          share = 10;
        last = lp.value();
        break;
      }
      if ((outcome != LpOutcome::kInfeasible && outcome != LpOutcome::kCutoff) || order.empty()) return false;
      if (++failures > failures_allowed) return false;
      propagator.Undo(before);
      share = 400;
      // One column, then its other side.
      const std::int32_t j = order.front().second;
      if (order.size() > 1) {
        order.resize(1);
      } else {
        nearest = static_cast<std::int8_t>(1 - nearest);
        order.clear();
      }
      if (!fix(j, nearest)) return false;
    }
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
  if (c >= Goal()) return false;
  solution = std::move(rounded);
  solution_cost = c;
  if (!params.keep_open) cutoff = c;
  ++counters.solutions;
  FixRootByReducedCost();
  return true;
}
}  // namespace ebb
