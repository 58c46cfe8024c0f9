// SPDX-License-Identifier: Apache-2.0
//
// LEMON's primal network simplex (Kiraly and Kovacs, "Efficient implementations of minimum-cost flow algorithms", 2012)
// on the time line. Compiled as C++17: allocator::construct, which its maps use, is gone in C++20.
//
// The simplex runs until it is done and asks nobody. So its costs are numbers of a type of our own, PivotCost, which
// does what std::int64_t does and besides counts: a block of arcs searched for the one that enters ends with a
// comparison with 0, a pivot adds to the potential of each node that it moves. Where the work is used up the comparison
// throws, and the solver, half way, is thrown away with what it holds. The count needs a place that the numbers find: a
// pointer of the thread's own, set for the length of one call and put back after it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <lemon/network_simplex.h>
#include <lemon/static_graph.h>

#include "engine/bounds/timeline_flow.hpp"

namespace ebb {
namespace {

// Ticks, measured: for each arc that a search looks at, each potential changed, and the rest of a pivot.
constexpr Ticks kPerArc = 2, kPerPotential = 2, kPerPivot = 60;
constexpr Ticks kPerArcBuilt = 60;  // graph, maps and sorting

struct OutOfWork {};

class PivotCount {
 public:
  PivotCount(WorkBudget& work, std::size_t arcs)
      : work_(work),
        block_(kPerPivot + kPerArc * static_cast<Ticks>(std::max(10.0, std::sqrt(arcs)))),
        outer_(current) {
    current = this;
  }
  ~PivotCount() { current = outer_; }
  PivotCount(const PivotCount&) = delete;
  PivotCount& operator=(const PivotCount&) = delete;

  void Potential() { ticks_ += kPerPotential; }
  void Block() {
    work_.Spend(block_ + ticks_);
    ticks_ = 0;
    if (work_.Exhausted()) throw OutOfWork();
  }
  static PivotCount& Current() { return *current; }

 private:
  static thread_local PivotCount* current;
  WorkBudget& work_;
  Ticks block_, ticks_ = 0;
  PivotCount* outer_;
};

thread_local PivotCount* PivotCount::current = nullptr;

struct PivotCost {
  std::int64_t value;

  PivotCost() = default;
  PivotCost(std::int64_t v) : value(v) {}  // NOLINT: the simplex writes numbers

  PivotCost operator-() const { return -value; }
  PivotCost operator+(PivotCost o) const { return value + o.value; }
  PivotCost operator-(PivotCost o) const { return value - o.value; }
  PivotCost operator/(int o) const { return value / o; }
  friend PivotCost operator*(int o, PivotCost cost) { return o * cost.value; }
  friend PivotCost operator*(PivotCost cost, int o) { return o * cost.value; }
  PivotCost& operator+=(PivotCost o) {
    PivotCount::Current().Potential();
    value += o.value;
    return *this;
  }
  PivotCost& operator-=(PivotCost o) {
    value -= o.value;
    return *this;
  }
  bool operator<(PivotCost o) const { return value < o.value; }
  bool operator>(PivotCost o) const { return value > o.value; }
  bool operator<(int zero) const {
    PivotCount::Current().Block();
    return value < zero;
  }
  bool operator>(int zero) const { return value > zero; }
  bool operator>=(int zero) const { return value >= zero; }
};

}  // namespace
}  // namespace ebb

// The simplex asks whether costs are signed and exact, and how large they may be.
template <>
class std::numeric_limits<ebb::PivotCost> : public std::numeric_limits<std::int64_t> {
 public:
  static ebb::PivotCost max() { return std::numeric_limits<std::int64_t>::max(); }
};

namespace ebb {

CoverOutcome CoverTimeline(const std::vector<std::int64_t>& demand, const std::vector<TimelineInterval>& intervals,
                           WorkBudget& work, TimelineCover& cover) {
  using Graph = lemon::StaticDigraph;
  using Simplex = lemon::NetworkSimplex<Graph, std::int64_t, PivotCost>;
  work.Spend(kPerArcBuilt * static_cast<Ticks>(intervals.size() + demand.size()));
  if (work.Exhausted()) return CoverOutcome::kStopped;
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
  try {
    const PivotCount count(work, which.size());
    if (simplex.run(Simplex::BLOCK_SEARCH) != Simplex::OPTIMAL) return CoverOutcome::kShortage;
  } catch (const OutOfWork&) {
    return CoverOutcome::kStopped;
  }
  cover.price.resize(demand.size());
  cover.y.assign(intervals.size(), 0);
  for (int row = 0; row < rows; ++row) {
    cover.price[row] = (simplex.potential(graph.node(row + 1)) - simplex.potential(graph.node(row))).value;
  }
  for (int a = 0; a < static_cast<int>(which.size()); ++a)
    if (which[a] >= 0) cover.y[which[a]] = simplex.flow(graph.arc(a));
  return CoverOutcome::kOptimal;
}

}  // namespace ebb
