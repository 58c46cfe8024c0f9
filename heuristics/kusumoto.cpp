// SPDX-License-Identifier: Apache-2.0
#include "heuristics/kusumoto.hpp"

#include <algorithm>
#include <limits>

#include "heuristics/replay.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// What a step from one lower set to a larger one adds, whatever came before.
struct Step {
  std::int64_t time = 0;  // made again
  std::int64_t kept = 0;  // joins the cache
};

Step Between(const LowerSets& f, std::size_t from, std::size_t to) {
  Step s;
  s.time = f.time(to) - f.time(from);
  for (const std::int32_t v : f.boundary(to)) {
    if (f.Holds(from, v)) continue;
    s.time -= f.node_time(v);
    s.kept += f.node_bytes(v);
  }
  if (to + 1 == f.size()) s.time = 0;  // the last part is at hand when the backward pass begins
  return s;
}

// Memory while the part between the two is differentiated, without the cache; kNever where `from` is no subset.
std::int64_t Moment(const LowerSets& f, std::size_t from, std::size_t to, std::int64_t budget, WorkBudget& work) {
  const std::int64_t moment = 2 * (f.bytes(to) - f.bytes(from)) + f.beyond(to);
  work.Spend(3);
  if (moment > budget || f.count(from) >= f.count(to)) return kNever;
  work.Spend(static_cast<Ticks>(f.words()));
  return f.Within(from, to) ? moment : kNever;
}

struct Point {
  std::int64_t time;  // negated where more is better
  std::int64_t kept;
  std::int32_t set, point;  // where it comes from
};

// Leaves what nothing else beats, ascending by kept, descending by time.
void Prune(std::vector<Point>& points, std::size_t most, WorkBudget& work) {
  work.Spend(static_cast<Ticks>(20 * points.size()));
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    if (a.kept != b.kept) return a.kept < b.kept;
    if (a.time != b.time) return a.time < b.time;
    return a.set != b.set ? a.set < b.set : a.point < b.point;
  });
  std::size_t n = 0;
  for (const Point& p : points)
    if (n == 0 || p.time < points[n - 1].time) points[n++] = p;
  points.resize(n);
  if (most < 2 || n <= most) return;
  for (std::size_t i = 0; i < most; ++i) points[i] = points[i * (n - 1) / (most - 1)];
  points.resize(most);
}

}  // namespace

std::optional<KusumotoChain> KusumotoBest(const LowerSets& f, std::int64_t budget, KusumotoAim aim, WorkBudget& work,
                                          std::size_t most_points) {
  constexpr std::size_t kBatch = 4096;  // candidates gathered before the beaten ones are thrown out
  const std::int64_t sign = aim == KusumotoAim::kTime ? 1 : -1;
  std::vector<std::vector<Point>> best(f.size());
  best[0].push_back({0, 0, -1, -1});
  for (std::size_t to = 1; to < f.size(); ++to) {
    std::vector<Point>& points = best[to];
    std::size_t limit = kBatch;
    for (std::size_t from = 0; from < to; ++from) {
      if (best[from].empty()) continue;
      const std::int64_t moment = Moment(f, from, to, budget, work);
      if (moment == kNever) continue;
      const Step step = Between(f, from, to);
      work.Spend(static_cast<Ticks>(2 * f.boundary(to).size()));
      for (std::size_t i = 0; i < best[from].size(); ++i) {
        const Point& p = best[from][i];
        if (p.kept + moment > budget) break;
        points.push_back({p.time + sign * step.time, p.kept + step.kept, static_cast<std::int32_t>(from),
                          static_cast<std::int32_t>(i)});
        work.Spend(3);
      }
      if (points.size() >= limit) {
        Prune(points, 0, work);
        limit = points.size() + kBatch;
      }
      if (work.Exhausted()) return std::nullopt;
    }
    Prune(points, most_points, work);
  }
  const std::vector<Point>& last = best.back();
  if (last.empty()) return std::nullopt;
  KusumotoChain chain;
  // The least time is the last one's.
  Point p = last.back();
  chain.overhead = sign * p.time;
  for (std::size_t set = f.size() - 1; set > 0;) {
    chain.sets.push_back(static_cast<std::int32_t>(set));
    const auto from = At(p.set);
    const Point& before = best[from][At(p.point)];
    chain.memory = std::max(chain.memory, before.kept + 2 * (f.bytes(set) - f.bytes(from)) + f.beyond(set));
    set = from;
    p = before;
  }
  std::reverse(chain.sets.begin(), chain.sets.end());
  return chain;
}

std::optional<std::int64_t> KusumotoLeastBudget(const LowerSets& f, WorkBudget& work) {
  // For one budget the least cache of each set is all that matters; bisection over budgets.
  std::vector<std::int64_t> kept(f.size());
  const auto holds = [&](std::int64_t budget) {
    std::fill(kept.begin(), kept.end(), kNever);
    kept[0] = 0;
    for (std::size_t to = 1; to < f.size() && !work.Exhausted(); ++to)
      for (std::size_t from = 0; from < to; ++from) {
        if (kept[from] == kNever) continue;
        const std::int64_t moment = Moment(f, from, to, budget, work);
        if (moment == kNever || kept[from] + moment > budget) continue;
        work.Spend(static_cast<Ticks>(2 * f.boundary(to).size()));
        kept[to] = std::min(kept[to], kept[from] + Between(f, from, to).kept);
      }
    return kept.back() != kNever;
  };
  std::int64_t low = 0, high = 2 * f.bytes(f.size() - 1) + f.beyond(f.size() - 1);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
    if (work.Exhausted()) return std::nullopt;
  }
  return high;
}

std::vector<std::int32_t> KusumotoSequence(const Instance& in, const ForwardGraph& g, const LowerSets& f,
                                           const KusumotoChain& chain) {
  const std::int32_t turn = TurnPosition(in);
  if (turn < 0) return {};
  std::vector<std::uint8_t> keep(in.num_ops, 0);
  for (const std::int32_t set : chain.sets)
    for (const std::int32_t v : f.boundary(At(set))) keep[At(g.op[At(v)])] = 1;
  const std::size_t before = chain.sets.size() < 2 ? 0 : At(chain.sets[chain.sets.size() - 2]);
  for (std::size_t v = 0; v < g.op.size(); ++v)
    if (!f.Holds(before, static_cast<std::int32_t>(v))) keep[At(g.op[v])] = 1;
  Replay replay(in);
  for (std::int32_t p = 0; p < static_cast<std::int32_t>(in.num_ops); ++p) {
    const std::int32_t op = in.order[At(p)];
    for (const std::int32_t m : replay.Missing(op)) replay.Execute(m);
    replay.Execute(op);
    if (p != turn) continue;
    for (std::int32_t q = 0; q <= turn; ++q) {
      const std::int32_t o = in.order[At(q)];
      if (g.node[At(o)] < 0 || keep[At(o)]) continue;
      for (const std::int32_t v : in.makes[At(o)])
        if (!in.kept[At(v)]) replay.Drop(v);
    }
  }
  replay.Finish();
  return replay.Take();
}

}  // namespace ebb
