// SPDX-License-Identifier: Apache-2.0
//
// The order of a graph: the given one checked, or else a stable topological one; and what stands in the way of any,
// a cycle or an in-place contradiction, shown op by op.
#include <algorithm>
#include <functional>
#include <queue>

#include "engine/base/quoted.hpp"
#include "engine/problem/graph_builder.hpp"
#include "engine/problem/hazards.hpp"

namespace ebb {
namespace {

// The ops of one cycle of `successors` among those with degree left, as "a -> b -> a".
std::string PrintCycle(const Graph& g, const Csr<std::int32_t>& predecessors, const std::vector<std::int32_t>& degree) {
  // Every op with degree left has a predecessor with degree left: walk backwards until one repeats.
  std::size_t at = 0;
  while (degree[at] == 0) ++at;
  std::vector<std::int32_t> seen(degree.size(), -1);
  std::vector<std::size_t> walk;
  while (seen[at] < 0) {
    seen[at] = static_cast<std::int32_t>(walk.size());
    walk.push_back(at);
    for (const std::int32_t p : predecessors[at])
      if (degree[static_cast<std::size_t>(p)] > 0) {
        at = static_cast<std::size_t>(p);
        break;
      }
  }
  std::vector<std::size_t> cycle(walk.begin() + seen[at], walk.end());
  std::reverse(cycle.begin(), cycle.end());
  std::string text;
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == kShown) {
      text += "... (" + std::to_string(cycle.size() - kShown) + " more) -> ";
      break;
    }
    text += Quoted(g.op_name(ToOpId(cycle[i]))) + " -> ";
  }
  return text + Quoted(g.op_name(ToOpId(cycle.front())));
}

// Kahn's algorithm with the lowest index first. The result is shorter than the number of ops where there is a cycle;
// `degree` then tells the ops left.
std::vector<OpId> StableTopologicalOrder(const Csr<std::int32_t>& predecessors, std::vector<std::int32_t>& degree) {
  const std::size_t n = predecessors.rows();
  const Csr<std::int32_t> successors =
      predecessors.Transpose<std::int32_t>(n, [](std::int32_t p) { return static_cast<std::size_t>(p); });
  degree.resize(n);
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < n; ++i) {
    degree[i] = static_cast<std::int32_t>(predecessors[i].size());
    if (degree[i] == 0) ready.push(static_cast<std::int32_t>(i));
  }
  std::vector<OpId> order;
  order.reserve(n);
  while (!ready.empty()) {
    const std::int32_t op = ready.top();
    ready.pop();
    order.push_back(static_cast<OpId>(op));
    for (const std::int32_t s : successors[static_cast<std::size_t>(op)])
      if (--degree[static_cast<std::size_t>(s)] == 0) ready.push(s);
  }
  return order;
}

// Each op's place in the given order, which has to hold each op once.
std::vector<std::int32_t> Ranks(const Graph& g) {
  std::vector<std::int32_t> rank(g.num_ops(), -1);
  std::int32_t next = 0;
  for (const OpId op : g.order()) {
    std::int32_t& r = rank[Index(op)];
    if (r >= 0) throw InputError("order: op " + Quoted(g.op_name(op)) + " stands twice");
    r = next++;
  }
  for (std::size_t i = 0; i < rank.size(); ++i)
    if (rank[i] < 0) throw InputError("order: op " + Quoted(g.op_name(ToOpId(i))) + " is missing");
  return rank;
}

// The first op, by index, that stands before one whose output it needs, and that one; kNone where all is well.
std::pair<OpId, OpId> EarlyReader(const Graph& g, const std::vector<std::int32_t>& rank) {
  for (std::size_t i = 0; i < g.num_ops(); ++i) {
    const OpId op = ToOpId(i);
    OpId late = OpId::kNone;
    ForEachDataPredecessor(g, op, [&](OpId maker) {
      if (rank[Index(maker)] >= rank[i] && (late == OpId::kNone || maker < late)) late = maker;
    });
    if (late != OpId::kNone) return {op, late};
  }
  return {OpId::kNone, OpId::kNone};
}

}  // namespace

void GraphBuilder::FindOrder(Graph& g) {
  const std::size_t n = g.ops_.size();
  std::vector<std::int32_t> rank;
  if (g.order_was_given_) {
    rank = Ranks(g);
    // An order that holds every data edge shows that there is no cycle.
    if (g.inplace_.size() == 0 && EarlyReader(g, rank).first == OpId::kNone) return;
  }
  std::vector<std::int32_t> degree;
  const Csr<std::int32_t> data = DataPredecessors(g);
  std::vector<OpId> plain = StableTopologicalOrder(data, degree);
  if (plain.size() < n) throw InputError("the graph has a cycle: " + PrintCycle(g, data, degree));
  std::vector<OpId> calm;
  if (g.inplace_.size() > 0) {
    const Csr<std::int32_t> forced = WithHazards(g, data, HazardScope::kForGood);
    plain = StableTopologicalOrder(forced, degree);
    if (plain.size() < n)
      throw InputError(
          "in-place contradiction that no order can satisfy: a value is read after it was overwritten for good: " +
          PrintCycle(g, forced, degree));
    // Where it can be had, an order in which nothing is read after it was overwritten: then it needs no repeat.
    if (!g.order_was_given_) calm = StableTopologicalOrder(WithHazards(g, data, HazardScope::kAll), degree);
  }
  if (!g.order_was_given_) {
    g.order_ = n > 0 && calm.size() == n ? std::move(calm) : std::move(plain);
    return;
  }
  if (const auto [reader, maker] = EarlyReader(g, rank); reader != OpId::kNone)
    throw InputError("order: op " + Quoted(g.op_name(reader)) + " stands before op " + Quoted(g.op_name(maker)) +
                     ", whose output it needs");
}

}  // namespace ebb
