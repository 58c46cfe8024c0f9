// SPDX-License-Identifier: Apache-2.0
// Lower sets and the dynamic program over them: against the paper's formulas written down naively and tried on every
// chain of lower sets, and closed forms on chains of ops.
#include "heuristics/kusumoto.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "heuristics/lower_sets.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/chain_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

// Random forward graph of n nodes, as the methods see one.
ForwardGraph RandomForward(Rng& rng, std::int64_t n) {
  ForwardGraph g;
  for (std::int32_t v = 0; v < n; ++v) {
    g.op.push_back(v);
    g.time.push_back(Draw(rng, 0, 5));
    g.bytes.push_back(Draw(rng, 0, 5));
    for (std::int32_t u = 0; u < v; ++u)
      if (Chance(rng, v - u == 1 ? 60 : 25)) g.preds.Push(u);
    g.preds.EndRow();
  }
  g.succs = g.preds.Transpose<std::int32_t>(At(n), [](std::int32_t i) { return At(i); });
  return g;
}

// The paper's definitions on sets of nodes.
using Nodes = std::set<std::int32_t>;
struct Paper {
  const ForwardGraph& g;
  Nodes Successors(const Nodes& s) const {
    Nodes out;
    for (const std::int32_t v : s) out.insert(g.succs[At(v)].begin(), g.succs[At(v)].end());
    return out;
  }
  Nodes Predecessors(const Nodes& s) const {
    Nodes out;
    for (const std::int32_t v : s) out.insert(g.preds[At(v)].begin(), g.preds[At(v)].end());
    return out;
  }
  static Nodes Minus(const Nodes& a, const Nodes& b) {
    Nodes out;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
    return out;
  }
  Nodes Boundary(const Nodes& l) const {
    Nodes out;
    for (const std::int32_t v : l)
      for (const std::int32_t w : g.succs[At(v)])
        if (l.count(w) == 0) out.insert(v);
    return out;
  }
  std::int64_t Time(const Nodes& s) const {
    std::int64_t sum = 0;
    for (const std::int32_t v : s) sum += g.time[At(v)];
    return sum;
  }
  std::int64_t Bytes(const Nodes& s) const {
    std::int64_t sum = 0;
    for (const std::int32_t v : s) sum += g.bytes[At(v)];
    return sum;
  }
  bool IsLower(const Nodes& l) const {
    for (const std::int32_t v : l)
      for (const std::int32_t u : g.preds[At(v)])
        if (l.count(u) == 0) return false;
    return true;
  }
  // Of a chain L_1 < ... < L_k = V.
  std::pair<std::int64_t, std::int64_t> OverheadAndMemory(const std::vector<Nodes>& chain) const {
    std::int64_t overhead = 0, memory = 0;
    Nodes cached, before;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const Nodes part = Minus(chain[i], before);
      const Nodes after = Successors(chain[i]);
      memory = std::max(memory, Bytes(cached) + 2 * Bytes(part) + Bytes(Minus(after, chain[i])) +
                                    Bytes(Minus(Predecessors(after), chain[i])));
      const Nodes boundary = Boundary(chain[i]);
      if (i + 1 < chain.size()) overhead += Time(Minus(part, boundary));
      cached.insert(boundary.begin(), boundary.end());
      before = chain[i];
    }
    return {overhead, memory};
  }
};

Nodes FromFamily(const LowerSets& f, std::size_t set, std::size_t n) {
  Nodes out;
  for (std::size_t v = 0; v < n; ++v)
    if (f.Holds(set, static_cast<std::int32_t>(v))) out.insert(static_cast<std::int32_t>(v));
  return out;
}

TEST_CASE("all lower sets, and those of single nodes, are what their definitions say") {
  Rng rng(Seed("lower sets", 31));
  for (int round = 0; round < 200; ++round) {
    const std::int64_t n = Draw(rng, 1, 9);
    const ForwardGraph g = RandomForward(rng, n);
    const Paper paper{g};
    std::set<Nodes> all, pruned{{}};
    for (std::int64_t mask = 0; mask < (std::int64_t{1} << n); ++mask) {
      Nodes s;
      for (std::int32_t v = 0; v < n; ++v)
        if ((mask >> v & 1) != 0) s.insert(v);
      if (paper.IsLower(s)) all.insert(s);
    }
    for (std::int32_t v = 0; v < n; ++v) {
      Nodes s{v};
      for (Nodes more = s; !more.empty(); s.insert(more.begin(), more.end()))
        more = Paper::Minus(paper.Predecessors(s), s);
      pruned.insert(s);
    }
    Nodes full;
    for (std::int32_t v = 0; v < n; ++v) full.insert(v);
    pruned.insert(full);
    WorkBudget work;
    for (const bool exact : {true, false}) {
      const auto f = exact ? LowerSets::All(g, 1000, work) : LowerSets::Pruned(g, work);
      REQUIRE(f);
      std::set<Nodes> got;
      for (std::size_t i = 0; i < f->size(); ++i) {
        const Nodes s = FromFamily(*f, i, At(n));
        got.insert(s);
        const Nodes boundary = paper.Boundary(s);
        CHECK(std::equal(boundary.begin(), boundary.end(), f->boundary(i).begin(), f->boundary(i).end()));
        CHECK(f->time(i) == paper.Time(s));
        CHECK(f->bytes(i) == paper.Bytes(s));
      }
      CHECK(got.size() == f->size());
      CHECK(got == (exact ? all : pruned));
    }
    CHECK_FALSE(LowerSets::All(g, all.size() - 1, work));
  }
}

TEST_CASE("against every chain of lower sets: least budget, least and most overhead") {
  Rng rng(Seed("lower set chains", 32));
  for (int round = 0; round < 60; ++round) {
    const std::int64_t n = Draw(rng, 1, 6);
    const ForwardGraph g = RandomForward(rng, n);
    const Paper paper{g};
    WorkBudget work;
    for (const bool exact : {true, false}) {
      const auto f = exact ? LowerSets::All(g, 1000, work) : LowerSets::Pruned(g, work);
      std::vector<std::pair<std::int64_t, std::int64_t>> tried;  // overhead, memory
      std::vector<Nodes> chain;
      const std::function<void(std::size_t)> extend = [&](std::size_t from) {
        if (from + 1 == f->size()) tried.push_back(paper.OverheadAndMemory(chain));
        for (std::size_t to = from + 1; to < f->size(); ++to) {
          if (!f->Within(from, to)) continue;
          chain.push_back(FromFamily(*f, to, At(n)));
          extend(to);
          chain.pop_back();
        }
      };
      extend(0);
      std::int64_t least = tried[0].second, most = 0;
      for (const auto& [overhead, memory] : tried) least = std::min(least, memory), most = std::max(most, memory);
      INFO("round " << round << " exact " << exact);
      REQUIRE(KusumotoLeastBudget(*f, work) == least);
      CHECK_FALSE(KusumotoBest(*f, least - 1, KusumotoAim::kTime, work));
      for (std::int64_t budget = least; budget <= most; ++budget)
        for (const KusumotoAim aim : {KusumotoAim::kTime, KusumotoAim::kMemory}) {
          std::optional<std::int64_t> wanted;
          for (const auto& [overhead, memory] : tried) {
            if (memory > budget) continue;
            const bool better = !wanted || (aim == KusumotoAim::kTime ? overhead < *wanted : overhead > *wanted);
            if (better) wanted = overhead;
          }
          const auto got = KusumotoBest(*f, budget, aim, work);
          REQUIRE(got);
          CHECK(got->overhead == *wanted);
          CHECK(got->memory <= budget);
          std::vector<Nodes> sets;
          for (const std::int32_t s : got->sets) sets.push_back(FromFamily(*f, At(s), At(n)));
          CHECK(paper.OverheadAndMemory(sets) == std::pair(got->overhead, got->memory));
        }
    }
  }
}

TEST_CASE("chains: both families are the prefixes, and the overhead is the closed form's") {
  // With k parts, part i < k can hold floor((B - i) / 2) ops (i - 1 cached, two bytes an op, the next one's gradient),
  // the last one more half: floor((B - k + 1) / 2). All but the last op of each part but the last run again, so the
  // least overhead is n - (the last part) - (k - 1) for the best k that holds n ops.
  for (int n = 1; n <= 40; ++n) {
    const Instance in = MakeInstance(Chain(n));
    const ForwardGraph g = MakeForwardGraph(in);
    REQUIRE(g.op.size() == At(n));
    WorkBudget work;
    const auto all = LowerSets::All(g, 1000, work), pruned = LowerSets::Pruned(g, work);
    REQUIRE(all->size() == At(n + 1));
    REQUIRE(pruned->size() == At(n + 1));
    for (std::int64_t budget = 1; budget <= 2 * n; ++budget) {
      std::int64_t wanted = -1;
      for (std::int64_t k = 1, before = 0; k <= n; ++k) {
        const std::int64_t last = std::min<std::int64_t>((budget - k + 1) / 2, n - (k - 1));
        if (budget >= k - 1 && last >= 1 && before >= k - 1 && before + last >= n) {
          const std::int64_t overhead = n - last - (k - 1);
          if (wanted < 0 || overhead < wanted) wanted = overhead;
        }
        const std::int64_t room = (budget - k) / 2;
        if (budget < k || room < 1) break;
        before += room;
      }
      INFO("n " << n << " budget " << budget);
      const auto exact = KusumotoBest(*all, budget, KusumotoAim::kTime, work);
      const auto approximate = KusumotoBest(*pruned, budget, KusumotoAim::kTime, work);
      REQUIRE(exact.has_value() == (wanted >= 0));
      REQUIRE(approximate.has_value() == (wanted >= 0));
      if (wanted < 0) continue;
      CHECK(exact->overhead == wanted);
      CHECK(approximate->overhead == wanted);
      const SequenceFacts facts = EvaluateSequence(in, KusumotoSequence(in, g, *all, *exact));
      REQUIRE(facts.valid);
      CHECK(facts.duration <= 2 * n + wanted);
      CHECK(facts.peak <= budget + 1);
    }
  }
}

TEST_CASE("any graph: a sequence in the given order, each op at most twice, at most the paper's overhead") {
  Rng rng(Seed("kusumoto graphs", 33));
  int found = 0;
  for (int round = 0; round < 600; ++round) {
    const Graph graph = RandomGraph(rng, SmallAndLarge(round));
    const Instance in = MakeInstance(graph);
    if (!EvaluateSequence(in, in.order).valid) continue;
    const ForwardGraph g = MakeForwardGraph(in);
    INFO(Describe(graph));
    WorkBudget work(400'000'000);
    for (const bool exact : {true, false}) {
      const auto f = exact ? LowerSets::All(g, 500, work) : LowerSets::Pruned(g, work);
      if (!f) continue;
      const auto least = KusumotoLeastBudget(*f, work);
      REQUIRE(least);
      for (const std::int64_t more : {0, 3, 10})
        for (const KusumotoAim aim : {KusumotoAim::kTime, KusumotoAim::kMemory}) {
          const auto chain = KusumotoBest(*f, *least + more, aim, work, 50);
          REQUIRE(chain);
          const auto sequence = KusumotoSequence(in, g, *f, *chain);
          const SequenceFacts facts = EvaluateSequence(in, sequence);
          REQUIRE(facts.valid);
          REQUIRE(FollowsOrder(in, sequence, true, false));
          CHECK(facts.duration <= in.base_duration + chain->overhead);
          std::vector<int> runs(in.num_ops, 0);
          for (const std::int32_t op : sequence) CHECK(++runs[At(op)] <= 2);
          ++found;
        }
    }
  }
  CHECK(found > 1000);
}

}  // namespace
}  // namespace ebb::test
