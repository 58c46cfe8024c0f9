// SPDX-License-Identifier: Apache-2.0
//
// The gap cover knows the duration of the op that a gap makes run again, not what that op misses when it does. Under
// the prices found, that can be estimated (RemakeCosts); with the estimates as costs the cover chooses other gaps, and
// so the prices and the estimates approach each other. New costs are averaged with the old ones, or they swing.
#include "heuristics/priced_plans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ebb {
namespace {

std::vector<double> RowPrices(const Instance& in, const GapTable& table, const GapCoverBound& bound) {
  std::vector<double> price(in.num_ops, 0.0);
  for (std::size_t r = 0; r < table.num_rows(); ++r)
    price[static_cast<std::size_t>(in.rank[static_cast<std::size_t>(table.row_op[r])])] =
        static_cast<double>(bound.price[r]) / static_cast<double>(bound.price_scale);
  return price;
}

}  // namespace

void PlanByPrices(const Instance& in, const GapTable& table, std::int64_t budget, const GapCoverBound& bound,
                  int rounds, WorkBudget& work, const std::function<void(const EvictionResult&)>& report) {
  if (bound.shortage) return;
  std::vector<double> price = RowPrices(in, table, bound);
  const auto plan = [&](std::span<const double> with) {
    const EvictionResult result = EvictByPrice(in, budget, with, work);
    if (!result.sequence.empty()) report(result);
  };
  plan(price);
  plan({});
  std::vector<double> cost(table.gaps.size());
  for (std::size_t g = 0; g < cost.size(); ++g)
    cost[g] = static_cast<double>(bound.costs.cost[g]) / static_cast<double>(bound.costs.scale);
  // An estimate may not grow beyond what the whole graph takes: the flow's costs must stay in range.
  const double most = std::max(1.0, static_cast<double>(in.base_duration));
  for (int round = 0; round < rounds && !work.Exhausted(); ++round) {
    const std::vector<double> foreseen = RemakeCosts(in, table, price);
    GapCosts costs;
    costs.scale = 16;
    for (std::size_t g = 0; g < cost.size(); ++g) {
      cost[g] = 0.5 * (cost[g] + std::min(foreseen[g], most));
      costs.cost.push_back(static_cast<std::int64_t>(std::llround(16.0 * cost[g])));
    }
    const GapCoverBound again = SolveGapCoverFor(in, table, budget, std::move(costs));
    work.Spend(static_cast<Ticks>(table.gaps.size()) * 2000);
    price = RowPrices(in, table, again);
    plan(price);
  }
}

}  // namespace ebb
