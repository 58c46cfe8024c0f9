// SPDX-License-Identifier: Apache-2.0
// Cumulative memory with precedences: the number of solutions is that of enumeration for every way to explain. In check
// builds each clause passes its rule's checker. The profile against a plain array.
#include <algorithm>
#include <memory>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "engine/core/engine.hpp"
#include "propagators/cumulative_memory.hpp"
#include "propagators/load_profile.hpp"
#include "propagators/precedence.hpp"
#include "tests/support/seed.hpp"

namespace ebb {
namespace {

using core::Engine;
using core::IntVar;
using core::Lit;
using Rng = boost::random::mt19937_64;

std::int64_t Draw(Rng& rng, std::int64_t lo, std::int64_t hi) {
  return boost::random::uniform_int_distribution<std::int64_t>(lo, hi)(rng);
}

TEST_CASE("the profile of blocks is a plain array") {
  Rng rng(ebb::test::Seed("profile"));
  for (const std::size_t size : {1, 63, 64, 65, 200, 1000}) {
    LoadProfile profile(size);
    std::vector<std::int64_t> plain(size, 0);
    for (int i = 0; i < 300; ++i) {
      auto from = static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(size)));
      auto to = static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(size)));
      if (from > to) std::swap(from, to);
      const std::int64_t amount = Draw(rng, -5, 9), limit = Draw(rng, -10, 60);
      profile.Add(from, to, amount);
      for (std::size_t k = from; k < to; ++k) plain[k] += amount;
      std::int64_t first = -1, last = -1;
      auto a = static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(size)));
      auto b = static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(size)));
      if (a > b) std::swap(a, b);
      for (std::size_t k = a; k < b; ++k)
        if (plain[k] > limit) {
          if (first < 0) first = static_cast<std::int64_t>(k);
          last = static_cast<std::int64_t>(k);
        }
      REQUIRE(profile.First(a, b, limit) == first);
      REQUIRE(profile.Last(a, b, limit) == last);
      REQUIRE(profile.at(a == size ? a - 1 : a) == plain[a == size ? a - 1 : a]);
    }
  }
}

struct Interval {
  std::vector<std::int64_t> starts, ends;
  bool optional, point;
  std::int64_t demand;
};

struct Case {
  std::vector<Interval> intervals;
  std::int64_t capacity, horizon;
  bool chain;  // the first interval ends before the second starts, if that is present
};

Case RandomCase(Rng& rng) {
  Case c;
  c.horizon = Draw(rng, 2, 5);
  c.chain = Draw(rng, 0, 1) == 1;
  const std::int64_t n = Draw(rng, 2, 3);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Interval t;
    t.optional = Draw(rng, 0, 1) == 1;
    t.point = Draw(rng, 0, 3) == 0;
    t.demand = Draw(rng, 1, 5);
    sum += t.demand;
    for (std::int64_t v = 0; v < c.horizon; ++v) {
      if (Draw(rng, 0, 2) > 0) t.starts.push_back(v);
      if (Draw(rng, 0, 2) > 0) t.ends.push_back(v);
    }
    if (t.starts.empty()) t.starts.push_back(0);
    if (t.ends.empty()) t.ends.push_back(c.horizon - 1);
    if (t.point) t.ends = t.starts;
    c.intervals.push_back(t);
  }
  c.capacity = Draw(rng, 1, sum);
  return c;
}

std::int64_t ByEnumeration(const Case& c) {
  std::int64_t count = 0;
  const std::size_t n = c.intervals.size();
  std::vector<std::size_t> at(3 * n, 0);
  for (;;) {
    const auto present = [&](std::size_t i) { return !c.intervals[i].optional || at[3 * i] == 1; };
    const auto start = [&](std::size_t i) { return c.intervals[i].starts[at[3 * i + 1]]; };
    const auto end = [&](std::size_t i) {
      return c.intervals[i].point ? start(i) : c.intervals[i].ends[at[3 * i + 2]];
    };
    bool ok = true;
    for (std::size_t i = 0; i < n; ++i) ok = ok && (!present(i) || start(i) <= end(i));
    if (c.chain && present(1)) ok = ok && end(0) + 1 <= start(1);
    for (std::int64_t t = 0; t < c.horizon; ++t) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < n; ++i)
        if (present(i) && start(i) <= t && t <= end(i)) sum += c.intervals[i].demand;
      ok = ok && sum <= c.capacity;
    }
    count += ok ? 1 : 0;
    std::size_t k = 0;
    for (; k < 3 * n; ++k) {
      const Interval& t = c.intervals[k / 3];
      const std::size_t size = k % 3 == 0   ? (t.optional ? 2 : 1)
                               : k % 3 == 1 ? t.starts.size()
                                            : (t.point ? 1 : t.ends.size());
      if (++at[k] < size) break;
      at[k] = 0;
    }
    if (k == 3 * n) return count;
  }
}

std::int64_t ByEngine(const Case& c, CumulativeMemory::Explanation explanation, std::int32_t seed) {
  Engine e(seed);
  std::vector<CumulativeMemory::Task> tasks;
  for (const Interval& t : c.intervals) {
    const IntVar start = e.NewSparseInt(t.starts);
    const IntVar end = t.point ? start : e.NewSparseInt(t.ends);
    tasks.push_back({start, end, t.optional ? e.NewLit() : e.True(), t.demand});
    if (!t.point) e.Add(std::make_unique<Precedence>(tasks.back().presence, start, 0, end));
  }
  if (c.chain) e.Add(std::make_unique<Precedence>(tasks[1].presence, tasks[0].end, 1, tasks[1].start));
  e.Add(std::make_unique<CumulativeMemory>(tasks, c.capacity, c.horizon, explanation));
  std::int64_t count = 0;
  for (;;) {
    WorkBudget budget;
    if (e.Solve({}, budget) != core::SatResult::kSat) return count;
    ++count;
    std::vector<Lit> block;
    for (const CumulativeMemory::Task& t : tasks) {
      if (t.presence != e.True()) block.push_back(e.SolutionValue(t.presence) ? ~t.presence : t.presence);
      for (const IntVar x : {t.start, t.end}) {
        block.push_back(e.Leq(x, e.SolutionValue(x) - 1));
        block.push_back(e.Geq(x, e.SolutionValue(x) + 1));
      }
    }
    e.AddClause(block);
  }
}

TEST_CASE("as many schedules as by enumeration, however explained") {
  Rng rng(ebb::test::Seed("cumulative memory"));
  for (int round = 0; round < 40; ++round) {
    const Case c = RandomCase(rng);
    const std::int64_t expected = ByEnumeration(c);
    for (const auto explanation : {CumulativeMemory::Explanation::kNaive, CumulativeMemory::Explanation::kBigStep,
                                   CumulativeMemory::Explanation::kPointwise}) {
      const std::int64_t found = ByEngine(c, explanation, round);
      REQUIRE_MESSAGE(found == expected, "round " << round << " explanation " << static_cast<int>(explanation));
    }
  }
}

}  // namespace
}  // namespace ebb
