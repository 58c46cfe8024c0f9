// SPDX-License-Identifier: Apache-2.0
#include "propagators/relaxation_brancher.hpp"

#include <algorithm>
#include <cmath>

namespace ebb {

using core::Engine;
using core::Lit;

namespace {
constexpr double kIntegral = 1e-6;
}

RelaxationBrancher::RelaxationBrancher(LinearRelaxation& relaxation, const Params& params)
    : relaxation_(relaxation), params_(params), pseudo_(relaxation.model().column.size()) {}

// The last branching raised the LP's value by so much, if the LP was solved right below it since.
void RelaxationBrancher::NotePending(const Engine& engine) {
  if (pending_.column < 0) return;
  const Lit one = relaxation_.model().column[static_cast<std::size_t>(pending_.column)];
  const bool stands = engine.level() == pending_.level + 1 && engine.IsTrue(pending_.side == 1 ? one : ~one);
  if (stands && relaxation_.counters().solves > pending_.solves)
    pseudo_.Note(pending_.column, static_cast<std::size_t>(pending_.side), relaxation_.value() - pending_.value,
                 pending_.distance);
  pending_.column = -1;
}

Lit RelaxationBrancher::Next(Engine& engine) {
  const auto x = relaxation_.x();
  if (x.empty()) return {};
  NotePending(engine);
  if (seen_solves_ != relaxation_.counters().solves) {
    seen_solves_ = relaxation_.counters().solves;
    fractional_.clear();
    for (std::size_t j = 0; j < x.size(); ++j)
      if (x[j] > kIntegral && x[j] < 1.0 - kIntegral) fractional_.push_back(static_cast<std::int32_t>(j));
    dive_at_ = 0;
    engine.budget().Spend(static_cast<Ticks>(x.size()));
  }
  const Lit lit = fractional_.empty() ? Dive(engine) : Branch(engine);
  ++counters_.decisions;
  return lit;
}

Lit RelaxationBrancher::Dive(Engine& engine) {
  ++counters_.dives;
  const auto& column = relaxation_.model().column;
  const auto x = relaxation_.x();
  if (engine.level() <= dive_level_) dive_at_ = 0;
  dive_level_ = engine.level();
  for (; dive_at_ < column.size(); ++dive_at_)
    if (engine.IsOpen(column[dive_at_])) return x[dive_at_] > 0.5 ? column[dive_at_] : ~column[dive_at_];
  return {};
}

Lit RelaxationBrancher::Branch(Engine& engine) {
  struct Candidate {
    std::int32_t column;
    double x, score;
  };
  const auto& column = relaxation_.model().column;
  const std::vector<double> x(relaxation_.x().begin(), relaxation_.x().end());
  const double value = relaxation_.value(), limit = relaxation_.Limit(engine);
  const double least = 1e-6 * std::max(1.0, std::abs(value));
  std::vector<Candidate> candidates;
  for (const std::int32_t j : fractional_) {
    const auto i = static_cast<std::size_t>(j);
    if (!engine.IsOpen(column[i])) continue;
    candidates.push_back(
        {j, x[i], PseudoCosts::Score(pseudo_.Predicted(j, 0, x[i]), pseudo_.Predicted(j, 1, 1.0 - x[i]), least)});
  }
  if (candidates.empty()) return {};
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score > b.score : a.column < b.column;
  });
  RowLp& lp = relaxation_.lp();
  LpBasis basis;
  double best = -1.0, best_gain[2] = {0.0, 0.0}, best_x = 0.5;
  std::int32_t chosen = -1, tried = 0, without = 0;
  for (const Candidate& c : candidates) {
    const auto i = static_cast<std::size_t>(c.column);
    double gain[2] = {pseudo_.Predicted(c.column, 0, c.x), pseudo_.Predicted(c.column, 1, 1.0 - c.x)};
    double s = c.score;
    if (pseudo_.Seen(c.column) < params_.reliability && tried < params_.strong_candidates && without < 5 &&
        !engine.budget().Exhausted()) {
      if (tried++ == 0) basis = lp.QuickBasis();
      ++counters_.strong_branchings;
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        lp.SetBound(c.column, static_cast<std::int8_t>(side), static_cast<std::int8_t>(side));
        const LpOutcome outcome = lp.Solve(engine.budget(), limit, params_.strong_iterations);
        lp.SetBound(c.column, 0, 1);
        const double reached = outcome == LpOutcome::kInfeasible || outcome == LpOutcome::kCutoff ? limit : lp.value();
        lp.SetQuickBasis(basis);
        if (outcome == LpOutcome::kInfeasible || (limit < 1e99 && reached >= limit))
          return side == 1 ? column[i] : ~column[i];
        if (outcome == LpOutcome::kFailed || outcome == LpOutcome::kUnavailable) continue;
        gain[side] = std::max(reached - value, 0.0);
        if (outcome == LpOutcome::kOptimal) pseudo_.Note(c.column, side, gain[side], side == 0 ? c.x : 1.0 - c.x);
      }
      s = PseudoCosts::Score(gain[0], gain[1], least);
    }
    if (s > best * (1.0 + 1e-9)) {
      best = s;
      chosen = c.column;
      best_x = c.x;
      best_gain[0] = gain[0];
      best_gain[1] = gain[1];
      without = 0;
    } else {
      ++without;
    }
  }
  const bool up = params_.hard_side_first ? best_gain[1] > best_gain[0] : best_gain[1] <= best_gain[0];
  pending_ = {chosen, up ? 1 : 0, engine.level(), up ? 1.0 - best_x : best_x, value, relaxation_.counters().solves};
  return up ? column[static_cast<std::size_t>(chosen)] : ~column[static_cast<std::size_t>(chosen)];
}

}  // namespace ebb
