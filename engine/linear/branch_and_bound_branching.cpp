// SPDX-License-Identifier: Apache-2.0
//
// What to branch on: pseudo-costs, begun by strong branching until they are believed; and whether to plunge.
//
// A side found dead is taken at once and the node looked at again. (Tried: the other candidates first. RL n=250 at 0.8,
// staged, two models and three incumbents: 60e9 ticks in all and 3,466 nodes, 55e9 and 3,079 as it is.)
//
// RL n=250 at 0.8, models of nine boundaries given, after 12e9 ticks (three of fixed order: bound; one staged: ticks to
// the proof). What a strong branching that ran out of pivots saw, not noted: 3.980, 3.946, 3.885 %, 7.4e9;
// noted: 4.009, 3.988, 3.940 %, 5.8e9. With it, and 30 pivots a side: 4.003, 3.941, 3.927 %, 7.3e9;
// 120: 4.008, 3.976, 3.890 %, 8.0e9. Dropped (after 8e9 ticks; as it is 3.987, 3.968, 3.931 %, 6.4e9): columns believed
// after 2 strong branchings instead of 4: 3.995, 3.950, 3.874 %, no proof in 8.1e9; going into a child up to 0.6 of the
// gap instead of 0.25: 3.987, 3.987, 3.947 %, 6.7e9, but less on RL n=1000. Going back to one kept factorization
// between strong branchings: the same values in 3.5 instead of 4.0 ms a solve (n=250; densenet121 2.4 instead of 3.5),
// but climbing on RL n=500 at 0.8, staged, three cutoffs: 24.8e9 ticks and twice no proof in 30e9, where without
// it 11.0, 8.4 and 12.6e9; chance or not was not found out.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/linear/branch_and_bound_impl.hpp"

namespace ebb {

namespace {
constexpr double kPlungeShare = 0.25;  // of the gap

// Of the candidates by what is believed, those that are looked at closer.
struct Look {
  std::int32_t candidates, iterations, without_gain;
};
constexpr Look kThorough{16, 100, 8};
constexpr std::int32_t kWithoutGain = 5;
}  // namespace

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
    const bool thorough = current.depth < params.thorough_depth;
    const Look look = thorough ? kThorough : Look{params.strong_candidates, params.strong_iterations, kWithoutGain};
    double best = -1.0;
    std::int32_t tried = 0, without_gain = 0;
    for (const Candidate& c : candidates) {
      double s = c.score;
      auto gains = gains_of(c.column, c.x);
      std::int64_t bounds[2] = {current.bound, current.bound};
      if ((thorough || pseudo.Seen(c.column) < params.reliability) && tried < look.candidates &&
          without_gain < look.without_gain && !work.Exhausted()) {
        ++tried;
        ++counters.strong_branchings;
        for (const std::size_t direction : {std::size_t{0}, std::size_t{1}}) {
          lp.SetBound(c.column, static_cast<std::int8_t>(direction), static_cast<std::int8_t>(direction));
          const LpOutcome outcome = SolveLp(work, look.iterations);
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
            // Noted too where the pivots ran out, as most do: else the same columns are tried at every node.
            if (outcome == LpOutcome::kOptimal || outcome == LpOutcome::kLimit)
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
      plunged = true;
      return Verdict::kPlunge;
    }
    Push(std::move(next));
  }
  return Verdict::kBranched;
}
}  // namespace ebb
