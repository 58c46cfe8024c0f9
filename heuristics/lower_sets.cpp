// SPDX-License-Identifier: Apache-2.0
#include "heuristics/lower_sets.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "heuristics/replay.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

bool Has(const std::vector<std::uint64_t>& bits, std::int32_t i) { return (bits[At(i) / 64] >> (i % 64) & 1) != 0; }
void Put(std::vector<std::uint64_t>& bits, std::int32_t i) { bits[At(i) / 64] |= std::uint64_t{1} << (i % 64); }

std::int32_t Count(const std::vector<std::uint64_t>& bits) {
  int sum = 0;
  for (const std::uint64_t w : bits) sum += std::popcount(w);
  return sum;
}

}  // namespace

ForwardGraph MakeForwardGraph(const Instance& in) {
  ForwardGraph g;
  g.node.assign(in.num_ops, -1);
  const std::int32_t turn = TurnPosition(in);
  const std::vector<std::uint8_t> remakeable = Remakeable(in);
  for (std::int32_t p = 0; p <= turn; ++p) {
    const std::int32_t op = in.order[At(p)];
    std::int64_t bytes = 0;
    bool node = false;
    for (const std::int32_t v : in.makes[At(op)]) {
      if (!remakeable[At(v)] || in.readers[At(v)].empty()) continue;
      bytes += in.bytes[At(v)];
      node = true;
    }
    if (!node) continue;
    g.node[At(op)] = static_cast<std::int32_t>(g.op.size());
    g.op.push_back(op);
    g.time.push_back(in.duration[At(op)]);
    g.bytes.push_back(bytes);
  }
  std::vector<std::int32_t> row;
  for (const std::int32_t op : g.op) {
    row.clear();
    for (const std::int32_t v : in.reads[At(op)])
      if (in.maker[At(v)] >= 0 && remakeable[At(v)] && g.node[At(in.maker[At(v)])] >= 0)
        row.push_back(g.node[At(in.maker[At(v)])]);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const std::int32_t u : row) g.preds.Push(u);
    g.preds.EndRow();
  }
  g.succs = g.preds.Transpose<std::int32_t>(g.op.size(), At);
  return g;
}

LowerSets LowerSets::Measure(const ForwardGraph& g, std::vector<Bits> sets, WorkBudget& work) {
  const auto n = static_cast<std::int32_t>(g.op.size());
  // By size, then by content: each set comes after all that lie in it.
  std::vector<std::pair<std::int32_t, std::size_t>> order;
  for (std::size_t i = 0; i < sets.size(); ++i) order.emplace_back(Count(sets[i]), i);
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : sets[a.second] < sets[b.second];
  });
  LowerSets out;
  out.words_ = (static_cast<std::size_t>(n) + 63) / 64;
  out.node_time_ = g.time;
  out.node_bytes_ = g.bytes;
  std::vector<std::uint8_t> seen(At(n));
  std::vector<std::int32_t> after;
  for (const auto& [count, i] : order) {
    const Bits& set = sets[i];
    std::int64_t time = 0, bytes = 0, beyond = 0;
    after.clear();
    std::fill(seen.begin(), seen.end(), 0);
    for (std::int32_t v = 0; v < n; ++v) {
      if (!Has(set, v)) continue;
      time += g.time[At(v)];
      bytes += g.bytes[At(v)];
      bool outside = false;
      for (const std::int32_t w : g.succs[At(v)]) {
        if (Has(set, w)) continue;
        outside = true;
        if (seen[At(w)]) continue;
        seen[At(w)] = 1;
        after.push_back(w);
      }
      if (outside) out.boundary_.Push(v);
    }
    // A node may count twice: as a successor, its gradient, and as an input of another one, its value.
    for (const std::int32_t w : after) beyond += g.bytes[At(w)];
    std::fill(seen.begin(), seen.end(), 0);
    for (const std::int32_t w : after)
      for (const std::int32_t u : g.preds[At(w)])
        if (!Has(set, u) && !seen[At(u)]) {
          seen[At(u)] = 1;
          beyond += g.bytes[At(u)];
        }
    out.boundary_.EndRow();
    out.count_.push_back(count);
    out.time_.push_back(time);
    out.bytes_.push_back(bytes);
    out.beyond_.push_back(beyond);
    out.bits_.insert(out.bits_.end(), set.begin(), set.end());
    work.Spend(static_cast<Ticks>(3 * g.op.size() + g.preds.size()));
  }
  return out;
}

std::optional<LowerSets> LowerSets::All(const ForwardGraph& g, std::size_t most, WorkBudget& work) {
  const auto n = static_cast<std::int32_t>(g.op.size());
  const std::size_t words = (static_cast<std::size_t>(n) + 63) / 64;
  std::vector<Bits> all{Bits(words, 0)};
  std::vector<Bits> level = all, next;
  for (std::int32_t size = 0; size < n; ++size) {
    next.clear();
    for (const Bits& set : level) {
      work.Spend(static_cast<Ticks>(g.op.size() + g.preds.size()));
      if (work.Exhausted()) return std::nullopt;
      for (std::int32_t v = 0; v < n; ++v) {
        if (Has(set, v)) continue;
        const auto preds = g.preds[At(v)];
        if (!std::all_of(preds.begin(), preds.end(), [&](std::int32_t u) { return Has(set, u); })) continue;
        next.push_back(set);
        Put(next.back(), v);
      }
      if (next.size() > 64 * most) return std::nullopt;
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    if (all.size() + next.size() > most) return std::nullopt;
    all.insert(all.end(), next.begin(), next.end());
    std::swap(level, next);
  }
  return Measure(g, std::move(all), work);
}

std::optional<LowerSets> LowerSets::Pruned(const ForwardGraph& g, WorkBudget& work) {
  const auto n = static_cast<std::int32_t>(g.op.size());
  const std::size_t words = (static_cast<std::size_t>(n) + 63) / 64;
  std::vector<Bits> sets(At(n), Bits(words, 0));
  Bits full(words, 0);
  for (std::int32_t v = 0; v < n; ++v) {
    Bits& set = sets[At(v)];
    for (const std::int32_t u : g.preds[At(v)])
      for (std::size_t w = 0; w < words; ++w) set[w] |= sets[At(u)][w];
    Put(set, v);
    Put(full, v);
    work.Spend(static_cast<Ticks>(words * (g.preds[At(v)].size() + 1)));
    if (work.Exhausted()) return std::nullopt;
  }
  sets.push_back(full);
  sets.emplace_back(words, 0);
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return Measure(g, std::move(sets), work);
}

}  // namespace ebb
