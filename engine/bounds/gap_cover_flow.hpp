// SPDX-License-Identifier: Apache-2.0
//
// Lower bound on the additional duration: the linear relaxation of the gap cover. At every row the bytes of dropped
// gaps must make up for what is resident above the budget. Solved as min-cost flow on the time line
// (timeline_flow.hpp); the bound itself is then worked out from the row prices alone, in exact integers, so it holds
// whatever the solver did.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/int128.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/bounds/gaps.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

// A row that no drops can make fit.
struct CoverShortage {
  std::int32_t row;
  std::int64_t needed, given;  // bytes: pinned at the row, the budget
};

struct GapCoverBound {
  std::optional<CoverShortage> shortage;  // set: infeasible for the table's order, nothing else is filled in
  std::int64_t extra = 0;  // proved: every plan takes at least base duration + extra (forced reruns included)
  GapCosts costs;
  // Per row, price / price_scale = duration saved per byte of budget there. price_scale is a multiple of costs.scale.
  std::vector<std::int64_t> price;
  std::int64_t price_scale = 1;
  std::vector<std::int64_t> dropped;  // per gap, bytes in the relaxation's optimum, 0..gap.bytes
  std::vector<std::int32_t> rows;     // the rows it rests on, ascending; others follow or are met by `dropped`
  bool complete = false;              // false: stopped early; the bound holds, `dropped` may miss some rows
};

// `rounds`: how often durations shared among several outputs are shared anew by the last prices (0: by bytes only).
// `work`: spent and looked at all the time; none: to the end. `near`: a bound for the same table at another budget to
// start from.
[[nodiscard]] GapCoverBound SolveGapCover(const Instance& instance, const GapTable& table, std::int64_t budget,
                                          int rounds = 2, WorkBudget* work = nullptr,
                                          const GapCoverBound* near = nullptr);

// The same with costs of the caller's: the relaxation's optimum is valid for those costs only. Used as a guide, with
// costs that foresee what a repeat takes beyond its own op; never as a bound.
[[nodiscard]] GapCoverBound SolveGapCoverFor(const Instance& instance, const GapTable& table, std::int64_t budget,
                                             GapCosts costs, WorkBudget* work = nullptr,
                                             const GapCoverBound* near = nullptr);

// The Lagrangian value of row prices, times price_scale: sum of price * (resident - budget), less for every gap what
// its bytes earn above its cost. Without forced reruns. A lower bound for any prices >= 0.
[[nodiscard]] Int128 EvaluatePrices(const GapTable& table, const GapCosts& costs, std::int64_t budget,
                                    std::span<const std::int64_t> price, std::int64_t price_scale);

// Prefix sums of prices: earned by gap g = bytes * (sums[end] - sums[begin]).
[[nodiscard]] std::vector<Int128> PriceSums(std::span<const std::int64_t> price);

// Cost less earnings, times price_scale: what dropping the gap adds to the bound where positive, what keeping it adds
// where negative.
[[nodiscard]] inline Int128 ReducedCost(const GapTable& table, const GapCosts& costs, std::int64_t price_scale,
                                        std::span<const Int128> sums, std::size_t gap) {
  const Gap& g = table.gaps[gap];
  return Int128{costs.cost[gap]} * (price_scale / costs.scale) - Int128{g.bytes} * (sums[g.end] - sums[g.begin]);
}

// value / price_scale as an additional duration: rounded up to an integer and to a multiple of the durations' gcd, plus
// the forced reruns.
// `gcd`: DurationGcd(instance), which takes a pass over the ops: in loops, ask once.
[[nodiscard]] std::int64_t RoundUpExtra(std::int64_t gcd, const GapTable& table, Int128 value,
                                        std::int64_t price_scale);
[[nodiscard]] std::int64_t RoundUpExtra(const Instance& instance, const GapTable& table, Int128 value,
                                        std::int64_t price_scale);

}  // namespace ebb
