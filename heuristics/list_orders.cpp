// SPDX-License-Identifier: Apache-2.0
#include "heuristics/list_orders.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "heuristics/list_schedule.hpp"
#include "heuristics/random.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

class Beam {
 public:
  Beam(const Instance& in, WorkBudget& work)
      : in_(in), work_(work), waits_(WaitsFor(in)), wakes_(waits_.Transpose<std::int32_t>(in.num_ops, At)) {
    // What still lies there because of a carried value: its storage is read when the carried value is.
    root_.resize(in.num_values);
    for (std::size_t v = 0; v < in.num_values; ++v) {
      std::int32_t w = static_cast<std::int32_t>(v);
      while (in.carrier[At(w)] >= 0) w = in.carrier[At(w)];
      root_[v] = w;
    }
    Csr<std::int32_t> of_root;
    for (const std::int32_t r : root_) {
      of_root.Push(r);
      of_root.EndRow();
    }
    family_ = of_root.Transpose<std::int32_t>(in.num_values, At);
    QuickRandom random(7);
    for (std::size_t o = 0; o < in.num_ops; ++o)
      key_.push_back(static_cast<std::uint64_t>(random.Below(std::numeric_limits<std::int64_t>::max())));
  }

  std::vector<std::int32_t> Run(std::size_t width) {
    const std::size_t n = in_.num_ops;
    std::vector<State> layer(1), next;
    layer[0].done.assign((n + 63) / 64, 0);
    for (const std::int32_t o : in_.order)
      if (waits_[At(o)].empty()) layer[0].ready.push_back(o);
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> chosen;  // by layer: state before, op
    for (std::size_t size = 0; size < n; ++size) {
      std::vector<Move> moves;
      for (std::size_t s = 0; s < layer.size(); ++s)
        for (const std::int32_t o : layer[s].ready) moves.push_back(Look(layer[s], static_cast<std::int32_t>(s), o));
      if (moves.empty()) return {};
      std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
        return std::tie(a.peak, a.live, a.hash, a.from, a.op) < std::tie(b.peak, b.live, b.hash, b.from, b.op);
      });
      work_.Spend(static_cast<Ticks>(10 * moves.size()));
      next.clear();
      chosen.emplace_back();
      std::vector<std::uint64_t> seen;
      for (const Move& m : moves) {
        if (next.size() == width) break;
        if (std::find(seen.begin(), seen.end(), m.hash) != seen.end()) continue;  // the same ops are done
        seen.push_back(m.hash);
        next.push_back(Make(layer[At(m.from)], m));
        chosen.back().emplace_back(m.from, m.op);
      }
      if (work_.Exhausted()) return {};
      std::swap(layer, next);
    }
    std::vector<std::int32_t> out(n);
    std::int32_t at = 0;
    for (std::size_t i = n; i-- > 0;) {
      out[i] = chosen[i][At(at)].second;
      at = chosen[i][At(at)].first;
    }
    return out;
  }

 private:
  struct State {
    std::vector<std::uint64_t> done;
    std::vector<std::int32_t> ready;
    std::int64_t live = 0, peak = 0;
    std::uint64_t hash = 0;
  };
  struct Move {
    std::int64_t peak, live;
    std::uint64_t hash;
    std::int32_t from, op;
  };

  [[nodiscard]] static bool Done(const State& s, std::int32_t o) { return (s.done[At(o) / 64] >> (o % 64) & 1) != 0; }
  // With `op` done as well: does anybody wait for the storage?
  bool Wanted(const State& s, std::int32_t root, std::int32_t op) {
    for (const std::int32_t v : family_[At(root)]) {
      if (in_.kept[At(v)]) return true;
      for (const std::int32_t r : in_.readers[At(v)]) {
        work_.Spend(1);
        if (r != op && !Done(s, r)) return true;
      }
    }
    return false;
  }
  Move Look(const State& s, std::int32_t from, std::int32_t o) {
    std::int64_t live = s.live;
    for (const std::int32_t v : in_.makes[At(o)]) live += in_.bytes[At(v)];
    const std::int64_t peak = std::max(s.peak, live + in_.moment[At(o)]);
    ended_.clear();
    const auto end = [&](std::int32_t v) {
      const std::int32_t root = root_[At(v)];
      if (in_.bytes[At(root)] == 0 || std::find(ended_.begin(), ended_.end(), root) != ended_.end()) return;
      ended_.push_back(root);
      const bool taken = std::any_of(in_.consumes[At(o)].begin(), in_.consumes[At(o)].end(),
                                     [&](std::int32_t c) { return root_[At(c)] == root; });
      if (taken || !Wanted(s, root, o)) live -= in_.bytes[At(root)];
    };
    for (const std::int32_t v : in_.reads[At(o)]) end(v);
    for (const std::int32_t v : in_.makes[At(o)]) end(v);
    work_.Spend(10);
    return {peak, live, s.hash ^ key_[At(o)], from, o};
  }
  State Make(const State& s, const Move& m) {
    State t = s;
    t.done[At(m.op) / 64] |= std::uint64_t{1} << (m.op % 64);
    t.live = m.live, t.peak = m.peak, t.hash = m.hash;
    std::erase(t.ready, m.op);
    for (const std::int32_t w : wakes_[At(m.op)]) {
      const auto before = waits_[At(w)];
      if (std::all_of(before.begin(), before.end(), [&](std::int32_t b) { return Done(t, b); }) &&
          std::find(t.ready.begin(), t.ready.end(), w) == t.ready.end())
        t.ready.push_back(w);
      work_.Spend(static_cast<Ticks>(before.size()));
    }
    work_.Spend(static_cast<Ticks>(t.done.size() + t.ready.size()));
    return t;
  }

  const Instance& in_;
  WorkBudget& work_;
  const Csr<std::int32_t> waits_, wakes_;
  Csr<std::int32_t> family_;
  std::vector<std::int32_t> root_, ended_;
  std::vector<std::uint64_t> key_;
};

std::vector<std::int32_t> BestRandom(const Instance& in, std::uint64_t seed, WorkBudget& work) {
  QuickRandom random(seed);
  const Csr<std::int32_t> waits = WaitsFor(in);
  const Csr<std::int32_t> wakes = waits.Transpose<std::int32_t>(in.num_ops, At);
  std::vector<std::int32_t> best, order, ready, missing(in.num_ops);
  std::int64_t peak = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kRandomOrders && !work.Exhausted(); ++i) {
    order.clear();
    ready.clear();
    for (std::size_t o = 0; o < in.num_ops; ++o) {
      missing[o] = static_cast<std::int32_t>(waits[o].size());
      if (missing[o] == 0) ready.push_back(static_cast<std::int32_t>(o));
    }
    while (!ready.empty()) {
      const auto at = At(random.Below32(static_cast<std::int64_t>(ready.size())));
      const std::int32_t o = ready[at];
      ready[at] = ready.back();
      ready.pop_back();
      order.push_back(o);
      for (const std::int32_t w : wakes[At(o)])
        if (--missing[At(w)] == 0) ready.push_back(w);
    }
    const SequenceFacts facts = EvaluateSequence(in, order);
    work.Spend(static_cast<Ticks>(100 * in.num_ops + 10 * waits.size()));
    if (facts.valid && order.size() == in.num_ops && facts.peak < peak) {
      peak = facts.peak;
      best = order;
    }
  }
  return best;
}

}  // namespace

std::vector<std::int32_t> ListOrder(const Instance& in, OrderRule rule, std::uint64_t seed, WorkBudget& work) {
  std::vector<std::int32_t> order;
  switch (rule) {
    case OrderRule::kDepthFirst: order = ListSchedule(in, ListRule::kDepthFirst); break;
    case OrderRule::kBreadthFirst: order = ListSchedule(in, ListRule::kBreadth); break;
    case OrderRule::kGreedy: order = ListSchedule(in, ListRule::kLeastMemory); break;
    case OrderRule::kBeam: order = Beam(in, work).Run(kBeamWidth); break;
    case OrderRule::kRandom: order = BestRandom(in, seed, work); break;
  }
  if (order.empty() || !EvaluateSequence(in, order).valid) return {};
  return order;
}

}  // namespace ebb
