// SPDX-License-Identifier: Apache-2.0
//
// What evicting a storage earns until it is wanted again, and what making it again takes, under the prices.
#include <algorithm>
#include <limits>

#include "heuristics/evictor.hpp"

namespace ebb::eviction {

std::vector<double> Evictor::RemakeCosts(const GapTable& table) {
  std::vector<double> costs;
  costs.reserve(table.gaps.size());
  for (const Gap& g : table.gaps) {
    const auto q = g.reader == kNone ? static_cast<std::int32_t>(in_.num_ops) : RankOf(g.reader);
    costs.push_back(RemakeCost(g.value, q, kCostDepth));
  }
  return costs;
}

std::int32_t Evictor::NextWanted(std::int32_t v, int depth, int& visits) {
  std::int32_t next = NextUse(v);
  if (depth == 0) return next;
  for (const std::int32_t op : in_.readers[static_cast<std::size_t>(v)]) {
    if (runs_[static_cast<std::size_t>(op)] == 0) break;  // by rank: those behind it have not run either
    if (!MayRepeat(op)) continue;
    for (const std::int32_t w : in_.makes[static_cast<std::size_t>(op)]) {
      if (storage_of_[static_cast<std::size_t>(w)] != kNone) continue;
      if (--visits < 0) return next;
      next = std::min(next, NextWanted(w, depth - 1, visits));
    }
  }
  return next;
}

std::int32_t Evictor::NextWanted(const Storage& st) {
  std::int32_t next = kNever;
  for (std::int32_t v = st.first_value; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)]) {
    int visits = kWantedVisits;
    next = std::min(next, NextWanted(v, kWantedDepth, visits));
    work_.Spend(2 + 2 * (kWantedVisits - visits));
  }
  return next;
}

double Evictor::RemakeCost(std::int32_t v, std::int32_t q, int depth) {
  const std::int32_t op = in_.maker[static_cast<std::size_t>(v)];
  if (op == kNone) return std::numeric_limits<double>::infinity();
  double cost = static_cast<double>(in_.duration[static_cast<std::size_t>(op)]);
  work_.Spend(4);
  if (depth > 0)
    for (const std::int32_t u : in_.reads[static_cast<std::size_t>(op)]) cost += AccessCost(u, q, depth - 1);
  return cost;
}

double Evictor::AccessCost(std::int32_t u, std::int32_t q, int depth) {
  const auto i = static_cast<std::size_t>(u);
  if (in_.maker[i] == kNone) return 0.0;
  const auto readers = in_.readers[i];
  const auto after = std::lower_bound(readers.begin(), readers.end(), q,
                                      [&](std::int32_t op, std::int32_t row) { return RankOf(op) < row; });
  if (after != readers.end() && RankOf(*after) == q) return 0.0;
  const std::int32_t next = after != readers.end() ? RankOf(*after)
                            : in_.kept[i]          ? static_cast<std::int32_t>(in_.num_ops)
                                                   : kNever;
  const std::int32_t before = after == readers.begin() ? RankOf(in_.maker[i]) : RankOf(*(after - 1));
  const double bytes = static_cast<double>(in_.bytes[i]);
  const bool missing = storage_of_[i] == kNone && before < row_;
  const double own = static_cast<double>(in_.duration[static_cast<std::size_t>(in_.maker[i])]);
  if (next != kNever) {
    if (!missing && bytes * Earned(before + 1, next) <= own) return 0.0;  // the prices keep it
    return std::min(missing ? own + bytes * Earned(q, next) : bytes * Earned(q, next), RemakeCost(u, q, depth));
  }
  const double again = RemakeCost(u, q, depth);
  return missing ? again : std::min(again, bytes * Earned(std::max(before, row_) + 1, q));
}

double Evictor::Key(const Storage& st) {
  const std::int32_t q = NextWanted(st);
  if (q == kNever) return std::numeric_limits<double>::infinity();
  const double bytes = static_cast<double>(st.bytes);
  const double gain = bytes * Earned(row_ + 1, q) + bytes * per_byte_row_ * static_cast<double>(q - row_);
  double cost = 1e-3 * mean_duration_;
  for (std::int32_t v = st.first_value; v != kNone; v = next_in_storage_[static_cast<std::size_t>(v)])
    cost += RemakeCost(v, q, kCostDepth);
  return gain / cost;
}

}  // namespace ebb::eviction
