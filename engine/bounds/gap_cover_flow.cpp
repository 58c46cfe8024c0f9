// SPDX-License-Identifier: Apache-2.0
//
// Rows come in as needed. Very few carry a price in the end: 59 of the 43,911 that are over the budget in a training
// step of 92,240 ops at 0.5, 1 of 928 in densenet201. So the flow is solved over a few rows, the rows that its optimum
// leaves over the budget most (one between any two present ones) are added, and so on until none is. A flow over few
// rows is small: nodes are rows, and where no gap crosses from one to the next it falls apart. Any set of rows gives a
// bound, so this may be stopped between solves; the rows of one budget are a good start for the next.
//
// Seconds, one thread, busy machine (ops; budget; all rows at once, thinned out by domination between neighbours and
// split where no gap crosses; rows as needed):
//   training step, independent microbatches    92,240   0.2     0.18    0.05
//   the same with shared weights               92,336   0.2     2.6     0.07
//   transformer with 40 microbatches          214,823   0.5    78       0.64
//   training step                             960,200   0.2     9       0.84
//   the same with shared weights              960,600   0.2       -     1.9
#include "engine/bounds/gap_cover_flow.hpp"

#include <algorithm>
#include <utility>

#include "engine/base/status.hpp"
#include "engine/bounds/binding_rows.hpp"
#include "engine/bounds/timeline_flow.hpp"

namespace ebb {
namespace {

constexpr int kMaxPriceBits = 48;

// The largest power of two that costs per byte may be scaled by so that those that matter stay below `cap`.
std::int64_t PriceFactor(const GapTable& table, const GapCosts& costs, std::int64_t largest_demand, Int128 cap) {
  Int128 cost = 0, bytes = 1;  // the largest ratio
  for (const std::int64_t least : {largest_demand >> 20, std::int64_t{0}}) {
    for (std::size_t g = 0; g < table.gaps.size(); ++g) {
      if (table.gaps[g].bytes < least) continue;
      if (Int128{costs.cost[g]} * bytes > cost * table.gaps[g].bytes) {
        cost = costs.cost[g];
        bytes = table.gaps[g].bytes;
      }
    }
    if (cost > 0) break;
  }
  std::int64_t factor = 1;
  for (int bit = 0; bit < kMaxPriceBits && cost * factor * 2 / bytes <= cap; ++bit) factor *= 2;
  return factor;
}

}  // namespace

std::vector<Int128> PriceSums(std::span<const std::int64_t> price) {
  std::vector<Int128> sums(price.size() + 1, 0);
  for (std::size_t r = 0; r < price.size(); ++r) sums[r + 1] = sums[r] + price[r];
  return sums;
}

Int128 EvaluatePrices(const GapTable& table, const GapCosts& costs, std::int64_t budget,
                      std::span<const std::int64_t> price, std::int64_t price_scale) {
  Int128 value = 0;
  for (std::size_t r = 0; r < table.num_rows(); ++r) value += Int128{price[r]} * (table.resident[r] - budget);
  const std::vector<Int128> sums = PriceSums(price);
  for (std::size_t g = 0; g < table.gaps.size(); ++g)
    value += std::min<Int128>(0, ReducedCost(table, costs, price_scale, sums, g));
  return value;
}

std::int64_t RoundUpExtra(const Instance& in, const GapTable& table, Int128 value, std::int64_t price_scale) {
  return RoundUpExtra(DurationGcd(in), table, value, price_scale);
}

std::int64_t RoundUpExtra(std::int64_t gcd, const GapTable& table, Int128 value, std::int64_t price_scale) {
  Int128 extra = std::max<Int128>(0, CeilDiv(value, price_scale)) + table.forced_duration;
  if (gcd > 0) extra = CeilDiv(extra, gcd) * gcd;
  return static_cast<std::int64_t>(extra);
}

namespace {

// The relaxation over the given rows only: prices and dropped bytes. False: stopped; rows that it did not come to have
// no price and nothing dropped.
[[nodiscard]] bool SolveRows(const GapTable& table, std::int64_t budget, std::span<const std::int32_t> rows,
                             WorkBudget& work, GapCoverBound& out) {
  std::fill(out.price.begin(), out.price.end(), 0);
  std::fill(out.dropped.begin(), out.dropped.end(), 0);
  std::int64_t largest = 0;
  for (std::int32_t r : rows) largest = std::max(largest, table.resident[r] - budget);
  const Int128 cap = (Int128{1} << 60) / static_cast<std::int64_t>(rows.size() + 1);
  const std::int64_t factor = PriceFactor(table, out.costs, largest, cap);
  out.price_scale = out.costs.scale * factor;

  // Gaps in terms of these rows: first one at or after begin, first at or after end.
  const std::vector<std::int32_t> at_or_after = RowsAtOrAfter(rows, table.num_rows());
  std::vector<TimelineInterval> part;
  std::vector<std::size_t> part_gap;
  std::vector<std::int64_t> demand;
  TimelineCover cover;
  std::int32_t first = 0, reach = 0;
  const auto solve_part = [&]() -> bool {
    demand.clear();
    for (std::int32_t i = first; i < reach; ++i) demand.push_back(table.resident[rows[i]] - budget);
    const CoverOutcome outcome = CoverTimeline(demand, part, work, cover);
    if (outcome == CoverOutcome::kShortage) throw InternalError("gap cover: the flow found a shortage of bytes");
    if (outcome == CoverOutcome::kStopped) return false;
    for (std::int32_t i = first; i < reach; ++i) out.price[rows[i]] = cover.price[i - first];
    for (std::size_t k = 0; k < part.size(); ++k) out.dropped[part_gap[k]] = cover.y[k];
    part.clear();
    part_gap.clear();
    return true;
  };
  for (std::size_t g = 0; g < table.gaps.size(); ++g) {
    const Gap& gap = table.gaps[g];
    const std::int32_t begin = at_or_after[gap.begin], end = at_or_after[gap.end];
    if (begin == end) continue;
    if (!part.empty() && begin >= reach && !solve_part()) return false;
    if (part.empty()) first = begin;
    reach = std::max(reach, end);
    const Int128 cost = std::min<Int128>(Int128{out.costs.cost[g]} * factor / gap.bytes, cap);
    part.push_back({begin - first, end - first, gap.bytes, static_cast<std::int64_t>(cost)});
    part_gap.push_back(g);
  }
  return part.empty() || solve_part();
}

// The row that stands out most over the budget, in every stretch between two of `rows` and in every run of rows over
// it.
std::vector<std::int32_t> WorstRows(const GapTable& table, std::int64_t budget, std::span<const std::int64_t> dropped,
                                    std::span<const std::int32_t> rows) {
  std::vector<std::int64_t> freed(table.num_rows() + 1, 0);
  for (std::size_t g = 0; g < table.gaps.size(); ++g) {
    if (dropped[g] == 0) continue;
    freed[table.gaps[g].begin] += dropped[g];
    freed[table.gaps[g].end] -= dropped[g];
  }
  std::vector<std::int32_t> worst;
  std::int64_t most = 0, sum = 0;
  std::int32_t at = -1;
  std::size_t next = 0;
  const auto flush = [&] {
    if (at >= 0) worst.push_back(at);
    at = -1;
    most = 0;
  };
  for (std::size_t r = 0; r < table.num_rows(); ++r) {
    sum += freed[r];
    const std::int64_t over = table.resident[r] - budget - sum;
    if (next < rows.size() && rows[next] == static_cast<std::int32_t>(r)) {
      ++next;
      flush();
    } else if (over > most) {
      most = over;
      at = static_cast<std::int32_t>(r);
    } else if (over <= 0 && rows.empty()) {
      flush();
    }
  }
  flush();
  return worst;
}

void SolveOnce(const Instance& in, const GapTable& table, std::int64_t budget, WorkBudget& work, GapCoverBound& out) {
  out.price.assign(table.num_rows(), 0);
  out.dropped.assign(table.gaps.size(), 0);
  out.price_scale = out.costs.scale;
  out.extra = RoundUpExtra(in, table, 0, 1);
  out.complete = false;
  GapCoverBound before;  // prices of the rows that were there before the last ones
  std::erase_if(out.rows, [&](std::int32_t r) { return table.resident[r] <= budget; });
  while (!work.Exhausted()) {
    if (!out.rows.empty()) {
      before.price.swap(out.price);
      before.dropped.swap(out.dropped);
      before.price_scale = out.price_scale;
      out.price.resize(table.num_rows());
      out.dropped.resize(table.gaps.size());
      if (!SolveRows(table, budget, out.rows, work, out)) {
        // Half of these rows' prices, or all of the fewer rows' before them: whichever say more.
        const Int128 half = EvaluatePrices(table, out.costs, budget, out.price, out.price_scale),
                     whole = EvaluatePrices(table, out.costs, budget, before.price, before.price_scale);
        if (half * (before.price_scale / out.costs.scale) < whole * (out.price_scale / out.costs.scale)) {
          out.price.swap(before.price);
          out.dropped.swap(before.dropped);
          out.price_scale = before.price_scale;
        }
        break;
      }
    }
    const std::vector<std::int32_t> worst = WorstRows(table, budget, out.dropped, out.rows);
    work.Spend(static_cast<Ticks>(10 * table.num_rows() + 100 * table.gaps.size()));
    if (worst.empty()) {
      out.complete = true;
      break;
    }
    std::vector<std::int32_t> rows(out.rows.size() + worst.size());
    std::merge(out.rows.begin(), out.rows.end(), worst.begin(), worst.end(), rows.begin());
    out.rows = std::move(rows);
  }
  const Int128 value = EvaluatePrices(table, out.costs, budget, out.price, out.price_scale);
  out.extra = RoundUpExtra(in, table, value, out.price_scale);
}

}  // namespace

GapCoverBound SolveGapCover(const Instance& in, const GapTable& table, std::int64_t budget, int rounds,
                            WorkBudget* work, const GapCoverBound* near) {
  GapCoverBound best;
  if (table.num_rows() > 0 && table.floor() > budget) {
    best.shortage = CoverShortage{table.floor_row(), table.floor(), budget};
    return best;
  }
  WorkBudget unlimited;
  WorkBudget& purse = work != nullptr ? *work : unlimited;
  if (near != nullptr && near->costs.cost.size() == table.gaps.size()) {
    best.rows = near->rows;
    best.costs = near->costs;
  } else {
    best.costs = ShareDurations(in, table);
  }
  SolveOnce(in, table, budget, purse, best);
  for (int round = 0; round < rounds && best.costs.shared && !best.rows.empty() && !purse.Exhausted(); ++round) {
    // where prices say that dropping earns nothing, next to nothing of the duration is needed
    const std::vector<Int128> sums = PriceSums(best.price);
    std::vector<std::int64_t> weight(table.gaps.size());
    for (std::size_t g = 0; g < table.gaps.size(); ++g) {
      const Gap& gap = table.gaps[g];
      const Int128 earned = Int128{gap.bytes} * (sums[gap.end] - sums[gap.begin]);
      weight[g] = 1 + static_cast<std::int64_t>(std::min<Int128>(earned, Int128{1} << 61));
    }
    GapCoverBound next;
    next.costs = ShareDurations(in, table, weight);
    next.rows = best.rows;
    SolveOnce(in, table, budget, purse, next);
    if (next.extra <= best.extra) break;
    best = std::move(next);
  }
  return best;
}

GapCoverBound SolveGapCoverFor(const Instance& in, const GapTable& table, std::int64_t budget, GapCosts costs,
                               WorkBudget* work, const GapCoverBound* near) {
  GapCoverBound out;
  if (table.num_rows() > 0 && table.floor() > budget) {
    out.shortage = CoverShortage{table.floor_row(), table.floor(), budget};
    return out;
  }
  out.costs = std::move(costs);
  if (near != nullptr) out.rows = near->rows;
  WorkBudget unlimited;
  SolveOnce(in, table, budget, work != nullptr ? *work : unlimited, out);
  return out;
}

}  // namespace ebb
