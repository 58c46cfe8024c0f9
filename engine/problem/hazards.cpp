// SPDX-License-Identifier: Apache-2.0
#include "engine/problem/hazards.hpp"

#include <algorithm>
#include <vector>

namespace ebb {

TensorId SegmentHead(const Graph& graph, TensorId t) {
  while (graph.view_of(t) != TensorId::kNone) t = graph.view_of(t);
  return t;
}

std::vector<TensorId> SegmentHeads(const Graph& graph) {
  std::vector<TensorId> head(graph.num_tensors(), TensorId::kNone);
  std::vector<TensorId> path;
  for (std::size_t i = 0; i < head.size(); ++i) {
    TensorId t = ToTensorId(i);
    path.clear();
    while (head[Index(t)] == TensorId::kNone && graph.view_of(t) != TensorId::kNone) {
      path.push_back(t);
      t = graph.view_of(t);
    }
    const TensorId h = head[Index(t)] == TensorId::kNone ? t : head[Index(t)];
    head[Index(t)] = h;
    for (const TensorId p : path) head[Index(p)] = h;
  }
  return head;
}

Csr<std::int32_t> DataPredecessors(const Graph& graph) {
  Csr<std::int32_t> out;
  std::vector<std::int32_t> row;
  for (std::size_t i = 0; i < graph.num_ops(); ++i) {
    row.clear();
    ForEachDataPredecessor(graph, ToOpId(i), [&](OpId maker) { row.push_back(static_cast<std::int32_t>(maker)); });
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const std::int32_t p : row) out.Push(p);
    out.EndRow();
  }
  return out;
}

Csr<std::int32_t> WithHazards(const Graph& graph, const Csr<std::int32_t>& data, HazardScope scope) {
  const std::vector<TensorId> head = SegmentHeads(graph);
  // Per segment: who overwrites it (the graph may list several), and who reads any name of it.
  std::vector<std::vector<std::int32_t>> overwriters(graph.num_tensors());
  bool any = false;
  for (std::size_t i = 0; i < graph.num_ops(); ++i)
    for (const InplacePair& p : graph.inplace(ToOpId(i))) {
      const TensorId h = head[Index(p.input)];
      const OpId maker = graph.maker(h);
      const bool for_good = maker == OpId::kNone || !graph.recomputable(maker);
      if (scope == HazardScope::kForGood && !for_good) continue;
      overwriters[Index(h)].push_back(static_cast<std::int32_t>(i));
      any = true;
    }
  if (!any) return data;

  Csr<std::int32_t> out;
  std::vector<std::vector<std::int32_t>> extra(graph.num_ops());
  const auto reads = [&](std::size_t op, TensorId t) {
    if (t == TensorId::kNone) return;
    for (const std::int32_t w : overwriters[Index(head[Index(t)])])
      if (static_cast<std::size_t>(w) != op)
        extra[static_cast<std::size_t>(w)].push_back(static_cast<std::int32_t>(op));
  };
  for (std::size_t i = 0; i < graph.num_ops(); ++i) {
    for (const TensorId t : graph.inputs(ToOpId(i))) reads(i, t);
    for (const TensorId t : graph.outputs(ToOpId(i)))
      if (graph.view_of(t) != TensorId::kNone && graph.maker(graph.view_of(t)) != ToOpId(i)) reads(i, graph.view_of(t));
  }
  std::vector<std::int32_t> row;
  for (std::size_t i = 0; i < graph.num_ops(); ++i) {
    row.assign(data[i].begin(), data[i].end());
    row.insert(row.end(), extra[i].begin(), extra[i].end());
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const std::int32_t p : row) out.Push(p);
    out.EndRow();
  }
  return out;
}

}  // namespace ebb
