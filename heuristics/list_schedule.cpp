// SPDX-License-Identifier: Apache-2.0
#include "heuristics/list_schedule.hpp"

#include <queue>
#include <utility>

#include "heuristics/random.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

Csr<std::int32_t> WaitsFor(const Instance& in) {
  std::vector<std::int32_t> root(in.num_values);
  for (std::size_t v = 0; v < in.num_values; ++v) {
    std::int32_t w = static_cast<std::int32_t>(v);
    while (in.carrier[At(w)] >= 0) w = in.carrier[At(w)];
    root[v] = w;
  }
  Csr<std::int32_t> of_root;
  for (const std::int32_t r : root) {
    of_root.Push(r);
    of_root.EndRow();
  }
  const Csr<std::int32_t> family = of_root.Transpose<std::int32_t>(in.num_values, At);
  Csr<std::int32_t> waits;
  for (std::size_t o = 0; o < in.num_ops; ++o) {
    for (const std::int32_t v : in.reads[o])
      if (in.maker[At(v)] >= 0) waits.Push(in.maker[At(v)]);
    for (const std::int32_t v : in.consumes[o])
      for (const std::int32_t w : family[At(root[At(v)])])
        for (const std::int32_t r : in.readers[At(w)])
          if (At(r) != o) waits.Push(r);
    waits.EndRow();
  }
  return waits;
}

std::vector<std::int32_t> ListSchedule(const Instance& in, ListRule rule, std::uint64_t seed) {
  struct Entry {
    std::int64_t key, tie;
    std::int32_t op;
    bool operator<(const Entry& o) const {  // the greatest comes first
      if (key != o.key) return key < o.key;
      return tie != o.tie ? tie < o.tie : op > o.op;
    }
  };
  QuickRandom random(seed);
  const Csr<std::int32_t> waits = WaitsFor(in);
  const Csr<std::int32_t> wakes = waits.Transpose<std::int32_t>(in.num_ops, At);
  std::vector<std::int32_t> missing(in.num_ops), readers(in.num_values);
  std::vector<std::int64_t> gain(in.num_ops, 0), tie(in.num_ops);
  std::vector<std::uint8_t> done(in.num_ops, 0), ready(in.num_ops, 0);
  for (std::size_t o = 0; o < in.num_ops; ++o) {
    missing[o] = static_cast<std::int32_t>(waits[o].size());
    tie[o] = seed != 0 ? random.Below(std::int64_t{1} << 40) : -in.rank[o];
    for (const std::int32_t v : in.makes[o]) {
      const auto i = At(v);
      if (!in.readers[i].empty() || in.kept[i]) gain[o] -= in.bytes[i];
    }
  }
  for (std::size_t v = 0; v < in.num_values; ++v) {
    readers[v] = static_cast<std::int32_t>(in.readers[v].size());
    if (readers[v] == 1 && !in.kept[v]) gain[At(in.readers[v][0])] += in.bytes[v];
  }
  std::priority_queue<Entry> heap;
  std::int64_t clock = 0;
  const auto push = [&](std::int32_t o) {
    ready[At(o)] = 1;
    ++clock;
    const std::int64_t key = rule == ListRule::kLeastMemory  ? gain[At(o)]
                             : rule == ListRule::kDepthFirst ? clock
                                                             : -clock;
    heap.push({key, tie[At(o)], o});
  };
  for (const std::int32_t o : in.order)
    if (missing[At(o)] == 0) push(o);
  std::vector<std::int32_t> sequence;
  sequence.reserve(in.num_ops);
  while (!heap.empty()) {
    const Entry top = heap.top();
    heap.pop();
    const auto o = At(top.op);
    if (done[o] || (rule == ListRule::kLeastMemory && top.key != gain[o])) continue;
    done[o] = 1;
    sequence.push_back(top.op);
    for (const std::int32_t v : in.reads[o]) {
      if (--readers[At(v)] != 1 || in.kept[At(v)]) continue;
      for (const std::int32_t r : in.readers[At(v)]) {
        if (done[At(r)]) continue;
        gain[At(r)] += in.bytes[At(v)];
        if (ready[At(r)] && rule == ListRule::kLeastMemory) push(r);
        break;
      }
    }
    for (const std::int32_t w : wakes[o])
      if (--missing[At(w)] == 0) push(w);
  }
  if (sequence.size() < in.num_ops) return in.order;
  return sequence;
}

}  // namespace ebb
