// SPDX-License-Identifier: Apache-2.0
#include "heuristics/decode.hpp"

#include <algorithm>
#include <utility>

namespace ebb {

namespace {

// Ops that run again just before the first execution at `position`, by rank: after all that the point puts before them.
void ByToldOrder(const BoundaryModel& model, std::span<const double> x, std::int32_t position,
                 std::vector<std::int32_t>& ops) {
  const std::int32_t k = model.StageAt(position - 1);
  if (k == model.num_stages() || model.positions()[static_cast<std::size_t>(k)] != position - 1) return;
  std::vector<std::int32_t> sorted;
  const auto waits = [&](std::size_t a) {  // for one of higher rank
    for (std::size_t b = a + 1; b < ops.size(); ++b)
      if (const std::int32_t y = model.order(k, ops[a], ops[b]); y >= 0 && x[static_cast<std::size_t>(y)] > 0.5)
        return true;
    return false;
  };
  const auto late = [&](std::size_t b) {  // behind one of lower rank, as told or because it reads of it
    for (std::size_t a = 0; a < b; ++a) {
      if (const std::int32_t y = model.order(k, ops[a], ops[b]); y >= 0 && x[static_cast<std::size_t>(y)] <= 0.5)
        return true;
      for (const std::int32_t v : model.instance().reads[static_cast<std::size_t>(ops[b])])
        if (model.instance().maker[static_cast<std::size_t>(v)] == ops[a]) return true;
    }
    return false;
  };
  while (!ops.empty()) {
    std::size_t first = 0;
    while (first < ops.size() && (waits(first) || late(first))) ++first;
    if (first == ops.size()) first = 0;  // in a circle: a fractional point, or one that runs an op twice
    sorted.push_back(ops[first]);
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(first));
  }
  ops = std::move(sorted);
}

}  // namespace

std::vector<std::int32_t> Decoder::Decode(const BoundaryModel& model, std::span<const double> x) {
  const Instance& in = model.instance();
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  const std::int32_t n = static_cast<std::int32_t>(in.num_ops), stages = model.num_stages();
  constexpr std::int32_t kNever = 2147483647;

  // A storage that some op has taken over by the first execution at `position` is gone.
  std::vector<std::int32_t> taken_over(in.num_values, kNever);
  for (std::size_t op = 0; op < in.num_ops; ++op)
    for (const std::int32_t v : in.consumes[op]) taken_over[at(v)] = std::min(taken_over[at(v)], in.rank[op]);
  const auto stays = [&](std::int32_t k, std::int32_t v) {
    if (model.weightless(v) || !in.may_repeat[at(in.maker[at(v)])]) return true;
    const std::int32_t position = model.positions()[at(k)];
    if (taken_over[at(v)] <= position) return false;
    const std::int32_t s = model.stay(k, v);
    return s == BoundaryModel::kAlways || (s >= 0 && x[at(s)] >= 0.5);
  };

  // Per stage: (slot, rank) of the reruns; they stand before the first execution at `slot`.
  std::vector<std::pair<std::int32_t, std::int32_t>> reruns;
  std::vector<std::uint8_t> wanted(in.num_values, 0), wanted_before(in.num_values, 0);  // across a_{k+1}, across a_k
  std::vector<std::int32_t> need(in.num_values, kNever), need_op(in.num_ops, kNever);
  for (std::int32_t k = stages - 1; k >= 0; --k) {
    const std::int32_t from = model.positions()[at(k)];
    const bool last = k + 1 == stages;
    const std::int32_t to = last ? n - 1 : model.positions()[at(k) + 1];
    std::fill(need.begin(), need.end(), kNever);
    for (std::size_t v = 0; v < in.num_values; ++v) {
      if (last) wanted[v] = in.kept[v];
      if (wanted[v]) need[v] = last ? n : to;
    }
    for (std::int32_t p = to; p > from; --p)
      for (const std::int32_t v : in.reads[at(in.order[at(p)])]) {
        need[at(v)] = p;
      }
    // Ops made by a_k, latest first: all that could want their outputs again has been seen to.
    std::fill(wanted_before.begin(), wanted_before.end(), std::uint8_t{0});
    for (std::int32_t p = from; p >= 0; --p) {
      const std::int32_t op = in.order[at(p)];
      std::int32_t slot = kNever;
      bool run = false;
      for (const std::int32_t v : in.makes[at(op)]) {
        if (need[at(v)] == kNever) continue;
        if (stays(k, v)) {
          wanted_before[at(v)] = 1;
        } else {
          run = true;
          slot = std::min(slot, need[at(v)]);
        }
      }
      if (!run || !in.may_repeat[at(op)]) continue;
      reruns.emplace_back(slot, p);
      for (const std::int32_t u : in.reads[at(op)]) need[at(u)] = std::min(need[at(u)], slot);
    }
    std::swap(wanted, wanted_before);
  }
  std::sort(reruns.begin(), reruns.end());
  std::vector<std::int32_t> sequence;
  sequence.reserve(in.num_ops + reruns.size());
  std::size_t next = 0;
  std::vector<std::int32_t> group;
  for (std::int32_t p = 0; p <= n; ++p) {
    group.clear();
    for (; next < reruns.size() && reruns[next].first == p; ++next) group.push_back(in.order[at(reruns[next].second)]);
    if (!model.orders().empty() && group.size() > 1) ByToldOrder(model, x, p, group);
    sequence.insert(sequence.end(), group.begin(), group.end());
    if (p < n) sequence.push_back(in.order[at(p)]);
  }
  return sequence;
}

}  // namespace ebb
