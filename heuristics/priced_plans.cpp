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

// Row of the table -> position in the given order.
std::vector<std::size_t> RowOf(const Instance& in, const GapTable& table) {
  std::vector<std::size_t> row(table.num_rows());
  for (std::size_t r = 0; r < row.size(); ++r)
    row[r] = static_cast<std::size_t>(in.rank[static_cast<std::size_t>(table.row_op[r])]);
  return row;
}

std::vector<double> RowPrices(const Instance& in, const GapTable& table, const GapCoverBound& bound) {
  std::vector<double> price(in.num_ops, 0.0);
  const std::vector<std::size_t> row = RowOf(in, table);
  for (std::size_t r = 0; r < row.size(); ++r)
    price[row[r]] = static_cast<double>(bound.price[r]) / static_cast<double>(bound.price_scale);
  return price;
}

// A tenth of all prices in equal parts on the rows over the budget: an optimal dual puts nothing on rows that are only
// just not binding, and there repeats push a plan over.
std::vector<double> SpreadOverHotRows(const GapTable& table, std::int64_t budget, const std::vector<std::size_t>& row,
                                      std::vector<double> price) {
  constexpr double kShare = 0.1;
  double total = 0;
  std::size_t hot = 0;
  for (std::size_t r = 0; r < row.size(); ++r) {
    total += price[row[r]];
    hot += table.resident[r] > budget;
  }
  if (hot == 0) return price;
  for (std::size_t r = 0; r < row.size(); ++r)
    price[row[r]] =
        (1 - kShare) * price[row[r]] + (table.resident[r] > budget ? kShare * total / static_cast<double>(hot) : 0);
  return price;
}

// Moving average over 2 * width + 1 rows: what is repeated for a row runs a little before it.
std::vector<double> Smoothed(const std::vector<double>& price, int width) {
  std::vector<double> sum(price.size() + 1, 0.0), out(price.size());
  for (std::size_t i = 0; i < price.size(); ++i) sum[i + 1] = sum[i] + price[i];
  const auto w = static_cast<std::size_t>(width);
  for (std::size_t i = 0; i < price.size(); ++i) {
    const std::size_t from = i < w ? 0 : i - w, to = std::min(price.size(), i + w + 1);
    out[i] = (sum[to] - sum[from]) / static_cast<double>(2 * width + 1);
  }
  return out;
}

}  // namespace

void PlanWithoutPrices(const Instance& in, std::int64_t budget, std::int32_t max_executions, WorkBudget& work,
                       const std::function<void(const EvictionResult&)>& report) {
  const EvictionResult result = Evict(in, {budget, max_executions, {}}, work);
  if (!result.sequence.empty()) report(result);
}

void PlanByPrices(const Instance& in, const GapTable& table, std::int64_t budget, const GapCoverBound& bound,
                  int rounds, std::int32_t max_executions, WorkBudget& work,
                  const std::function<void(const EvictionResult&)>& report) {
  if (bound.shortage) return;
  std::vector<double> price = RowPrices(in, table, bound);
  const auto plan = [&](std::span<const double> with) {
    if (work.Exhausted()) return;
    const EvictionResult result = Evict(in, {budget, max_executions, with}, work);
    if (!result.sequence.empty()) report(result);
  };
  plan(price);
  plan(SpreadOverHotRows(table, budget, RowOf(in, table), price));
  plan(Smoothed(price, 8));
  if (rounds == 0) return;
  for (const int width : {2, 32}) plan(Smoothed(price, width));

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
    const GapCoverBound again = SolveGapCoverFor(in, table, budget, std::move(costs), &bound);
    work.Spend(static_cast<Ticks>(table.gaps.size()) * 2000);
    price = RowPrices(in, table, again);
    plan(price);
    plan(Smoothed(price, 8));
  }
}

}  // namespace ebb
