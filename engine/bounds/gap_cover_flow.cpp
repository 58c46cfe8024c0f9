// SPDX-License-Identifier: Apache-2.0
//
// Before the flow is solved the time line is thinned out (binding_rows.hpp). Where no gap crosses from one kept row to
// the next the flow falls apart into independent ones (microbatches, a graph that is only hot at both ends): a training
// step of 960,200 ops takes 6 s in parts.
#include "engine/bounds/gap_cover_flow.hpp"

#include <algorithm>

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
  const std::int64_t gcd = DurationGcd(in);
  Int128 extra = std::max<Int128>(0, CeilDiv(value, price_scale)) + table.forced_duration;
  if (gcd > 0) extra = CeilDiv(extra, gcd) * gcd;
  return static_cast<std::int64_t>(extra);
}

namespace {

void SolveOnce(const Instance& in, const GapTable& table, std::int64_t budget, const std::vector<std::int32_t>& rows,
               GapCoverBound& out) {
  out.price.assign(table.num_rows(), 0);
  out.dropped.assign(table.gaps.size(), 0);
  out.price_scale = out.costs.scale;
  out.extra = RoundUpExtra(in, table, 0, 1);
  if (rows.empty()) return;

  std::int64_t largest = 0;
  for (std::int32_t r : rows) largest = std::max(largest, table.resident[r] - budget);
  const Int128 cap = (Int128{1} << 60) / static_cast<std::int64_t>(rows.size() + 1);
  const std::int64_t factor = PriceFactor(table, out.costs, largest, cap);
  out.price_scale *= factor;

  // Gaps in terms of the kept rows: first kept row at or after begin, first at or after end.
  const std::vector<std::int32_t> at_or_after = RowsAtOrAfter(rows, table.num_rows());
  std::vector<TimelineInterval> part;
  std::vector<std::size_t> part_gap;
  std::vector<std::int64_t> demand;
  TimelineCover cover;
  std::int32_t first = 0, reach = 0;
  const auto solve_part = [&](std::int32_t last) {
    demand.clear();
    for (std::int32_t i = first; i < last; ++i) demand.push_back(table.resident[rows[i]] - budget);
    if (!CoverTimeline(demand, part, cover)) throw InternalError("gap cover: the flow found a shortage of bytes");
    for (std::int32_t i = first; i < last; ++i) out.price[rows[i]] = cover.price[i - first];
    for (std::size_t k = 0; k < part.size(); ++k) out.dropped[part_gap[k]] = cover.y[k];
    part.clear();
    part_gap.clear();
  };
  for (std::size_t g = 0; g < table.gaps.size(); ++g) {
    const Gap& gap = table.gaps[g];
    const std::int32_t begin = at_or_after[gap.begin], end = at_or_after[gap.end];
    if (begin == end) continue;
    if (!part.empty() && begin >= reach) {
      solve_part(reach);
      first = begin;
    }
    if (part.empty()) first = begin;
    reach = std::max(reach, end);
    const Int128 cost = std::min<Int128>(Int128{out.costs.cost[g]} * factor / gap.bytes, cap);
    part.push_back({begin - first, end - first, gap.bytes, static_cast<std::int64_t>(cost)});
    part_gap.push_back(g);
  }
  if (!part.empty()) solve_part(reach);
  out.extra =
      RoundUpExtra(in, table, EvaluatePrices(table, out.costs, budget, out.price, out.price_scale), out.price_scale);
}

}  // namespace

GapCoverBound SolveGapCover(const Instance& in, const GapTable& table, std::int64_t budget, int rounds) {
  GapCoverBound best;
  if (table.num_rows() > 0 && table.floor() > budget) {
    best.shortage = CoverShortage{table.floor_row(), table.floor(), budget};
    return best;
  }
  best.costs = ShareDurations(in, table);
  const std::vector<std::int32_t> rows = BindingRows(table, budget);
  SolveOnce(in, table, budget, rows, best);
  GapCoverBound last = best;
  for (int round = 0; round < rounds && last.costs.shared && !rows.empty(); ++round) {
    // where prices say that dropping earns nothing, next to nothing of the duration is needed
    const std::vector<Int128> sums = PriceSums(last.price);
    std::vector<std::int64_t> weight(table.gaps.size());
    for (std::size_t g = 0; g < table.gaps.size(); ++g) {
      const Gap& gap = table.gaps[g];
      const Int128 earned = Int128{gap.bytes} * (sums[gap.end] - sums[gap.begin]);
      weight[g] = 1 + static_cast<std::int64_t>(std::min<Int128>(earned, Int128{1} << 61));
    }
    last.costs = ShareDurations(in, table, weight);
    SolveOnce(in, table, budget, rows, last);
    if (last.extra > best.extra) best = last;
  }
  return best;
}

GapCoverBound SolveGapCoverFor(const Instance& in, const GapTable& table, std::int64_t budget, GapCosts costs) {
  GapCoverBound out;
  if (table.num_rows() > 0 && table.floor() > budget) {
    out.shortage = CoverShortage{table.floor_row(), table.floor(), budget};
    return out;
  }
  out.costs = std::move(costs);
  SolveOnce(in, table, budget, BindingRows(table, budget), out);
  return out;
}

}  // namespace ebb
