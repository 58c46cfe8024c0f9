// SPDX-License-Identifier: Apache-2.0
//
// LEMON's primal network simplex (Kiraly and Kovacs, "Efficient implementations of minimum-cost flow algorithms", 2012)
// on the time line. Compiled as C++17: allocator::construct, which its maps use, is gone in C++20.
#include <algorithm>
#include <limits>
#include <utility>

#include <lemon/network_simplex.h>
#include <lemon/static_graph.h>

#include "engine/bounds/timeline_flow.hpp"

namespace ebb {

bool CoverTimeline(const std::vector<std::int64_t>& demand, const std::vector<TimelineInterval>& intervals,
                   TimelineCover& cover) {
  using Graph = lemon::StaticDigraph;
  using Simplex = lemon::NetworkSimplex<Graph, std::int64_t, std::int64_t>;
  const int rows = static_cast<int>(demand.size());
  // StaticDigraph wants its arcs sorted by source
  std::vector<std::pair<int, int>> ends;
  std::vector<int> which;  // arc -> interval, -1 for return arcs
  std::vector<std::size_t> by_begin(intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) by_begin[i] = i;
  std::stable_sort(by_begin.begin(), by_begin.end(),
                   [&](std::size_t a, std::size_t b) { return intervals[a].begin < intervals[b].begin; });
  ends.reserve(intervals.size() + demand.size());
  which.reserve(ends.capacity());
  std::size_t i = 0;
  for (int node = 0; node <= rows; ++node) {
    if (node > 0) {
      ends.emplace_back(node, node - 1);
      which.push_back(-1);
    }
    for (; i < by_begin.size() && intervals[by_begin[i]].begin == node; ++i) {
      ends.emplace_back(node, intervals[by_begin[i]].end);
      which.push_back(static_cast<int>(by_begin[i]));
    }
  }
  Graph graph;
  graph.build(rows + 1, ends.begin(), ends.end());
  Graph::ArcMap<std::int64_t> upper(graph), cost(graph);
  Graph::NodeMap<std::int64_t> supply(graph);
  for (int a = 0; a < static_cast<int>(which.size()); ++a) {
    const bool back = which[a] < 0;
    upper[graph.arc(a)] = back ? std::numeric_limits<std::int64_t>::max() : intervals[which[a]].capacity;
    cost[graph.arc(a)] = back ? 0 : intervals[which[a]].cost;
  }
  for (int node = 0; node <= rows; ++node)
    supply[graph.node(node)] = (node < rows ? demand[node] : 0) - (node > 0 ? demand[node - 1] : 0);
  Simplex simplex(graph);
  simplex.upperMap(upper).costMap(cost).supplyMap(supply);
  if (simplex.run(Simplex::BLOCK_SEARCH) != Simplex::OPTIMAL) return false;
  cover.price.resize(demand.size());
  cover.y.assign(intervals.size(), 0);
  for (int row = 0; row < rows; ++row) {
    const std::int64_t p = simplex.potential(graph.node(row + 1)) - simplex.potential(graph.node(row));
    cover.price[row] = p;
  }
  for (int a = 0; a < static_cast<int>(which.size()); ++a)
    if (which[a] >= 0) cover.y[which[a]] = simplex.flow(graph.arc(a));
  return true;
}

}  // namespace ebb
