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

// Eviction that takes so long thrashes, and mostly ends without a plan (layered graph of 10,000 ops at 0.9: 9 s).
EvictionResult EvictInTime(const Instance& in, const EvictionParams& params, WorkBudget& work) {
  WorkBudget most(std::min(work.left(), 20'000'000 + 1'000 * static_cast<Ticks>(in.num_ops)), work.stop_signal());
  EvictionResult result = Evict(in, params, most);
  work.Spend(most.spent());
  return result;
}

}  // namespace

void PlanWithoutPrices(const Instance& in, std::int64_t budget, std::int32_t max_executions, WorkBudget& work,
                       const std::function<void(const EvictionResult&)>& report) {
  const EvictionResult result = EvictInTime(in, {budget, max_executions, {}}, work);
  if (!result.sequence.empty()) report(result);
}

PricedPlans::PricedPlans(const Instance& in, const GapTable& table, std::int64_t budget, const GapCoverBound& bound,
                         int rounds, std::int32_t max_executions)
    : in_(in), table_(table), budget_(budget), bound_(bound), rounds_(rounds), max_executions_(max_executions) {
  if (bound.shortage) return;
  price_ = RowPrices(in, table, bound);
  if (rounds == 0) return;
  cost_.resize(table.gaps.size());
  for (std::size_t g = 0; g < cost_.size(); ++g)
    cost_[g] = static_cast<double>(bound.costs.cost[g]) / static_cast<double>(bound.costs.scale);
}

void PricedPlans::Reprice(WorkBudget& work) {
  // An estimate may not grow beyond what the whole graph takes: the flow's costs must stay in range.
  const double most = std::max(1.0, static_cast<double>(in_.base_duration));
  const std::vector<double> foreseen = RemakeCosts(in_, table_, price_);
  GapCosts costs;
  costs.scale = 16;
  for (std::size_t g = 0; g < cost_.size(); ++g) {
    cost_[g] = 0.5 * (cost_[g] + std::min(foreseen[g], most));
    costs.cost.push_back(static_cast<std::int64_t>(std::llround(16.0 * cost_[g])));
  }
  const GapCoverBound again = SolveGapCoverFor(in_, table_, budget_, std::move(costs), &work, &bound_);
  work.Spend(static_cast<Ticks>(table_.gaps.size()) * 200);
  price_ = RowPrices(in_, table_, again);
}

bool PricedPlans::Step(WorkBudget& work, const std::function<void(const EvictionResult&)>& report) {
  constexpr int kBefore = 5;  // plans before the first repricing; then two of each
  const int last = rounds_ == 0 ? 3 : kBefore + 2 * rounds_;
  if (bound_.shortage || step_ == last || work.Exhausted()) return false;
  const auto plan = [&](std::span<const double> with) {
    const EvictionResult result = EvictInTime(in_, {budget_, max_executions_, with}, work);
    if (!result.sequence.empty()) report(result);
  };
  switch (step_) {
    case 0: plan(price_); break;
    case 1: plan(SpreadOverHotRows(table_, budget_, RowOf(in_, table_), price_)); break;
    case 2: plan(Smoothed(price_, 8)); break;
    case 3: plan(Smoothed(price_, 2)); break;
    case 4: plan(Smoothed(price_, 32)); break;
    default:
      if ((step_ - kBefore) % 2 == 0) {
        Reprice(work);
        plan(price_);
      } else {
        plan(Smoothed(price_, 8));
      }
  }
  return ++step_ < last;
}

void PlanByPrices(const Instance& in, const GapTable& table, std::int64_t budget, const GapCoverBound& bound,
                  int rounds, std::int32_t max_executions, WorkBudget& work,
                  const std::function<void(const EvictionResult&)>& report) {
  PricedPlans plans(in, table, budget, bound, rounds, max_executions);
  while (plans.Step(work, report)) {
  }
}

}  // namespace ebb
