// SPDX-License-Identifier: Apache-2.0
// The engine on problems that have nothing to do with memory: whatever is scheduled or counted must come out as by
// enumeration. In check builds every clause given to the SAT solver goes through its propagator's checker too.
#include "engine/core/engine.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "tests/core/toys.hpp"
#include "tests/support/seed.hpp"

namespace ebb::core::test {
namespace {

using Rng = boost::random::mt19937_64;
std::int64_t Draw(Rng& rng, std::int64_t lo, std::int64_t hi) {
  return boost::random::uniform_int_distribution<std::int64_t>(lo, hi)(rng);
}

SatResult SolveAll(Engine& e, std::span<const Lit> assumptions = {}) {
  WorkBudget budget;
  return e.Solve(assumptions, budget);
}

// Number of solutions over the given variables, by blocking each.
std::int64_t CountSolutions(Engine& e, const std::vector<IntVar>& xs, const std::vector<Lit>& lits) {
  std::int64_t n = 0;
  while (SolveAll(e) == SatResult::kSat) {
    ++n;
    std::vector<Lit> block;
    for (const IntVar x : xs) {
      block.push_back(e.Leq(x, e.SolutionValue(x) - 1));
      block.push_back(e.Geq(x, e.SolutionValue(x) + 1));
    }
    for (const Lit l : lits) block.push_back(e.SolutionValue(l) ? ~l : l);
    e.AddClause(block);
  }
  return n;
}

TEST_CASE("an empty model has one solution, a false one none") {
  Engine e;
  CHECK(SolveAll(e) == SatResult::kSat);
  e.AddClause({~e.True()});
  CHECK(SolveAll(e) == SatResult::kUnsat);
}

TEST_CASE("sparse domains and lazily made literals") {
  Engine e;
  const IntVar x = e.NewSparseInt({2, 5, 9, 14});
  CHECK(e.Geq(x, 3) == e.Geq(x, 5));
  CHECK(e.Geq(x, 2) == e.True());
  CHECK(e.Geq(x, 15) == ~e.True());
  CHECK(e.Leq(x, 8) == e.Leq(x, 5));
  CHECK(CountSolutions(e, {x}, {}) == 4);
  Engine f;
  const IntVar y = f.NewInt(-3, 3);
  CHECK(CountSolutions(f, {y}, {}) == 7);
}

TEST_CASE("at most k: binomial counts") {
  for (int k = 0; k <= 4; ++k) {
    Engine e;
    std::vector<Lit> lits;
    for (int i = 0; i < 6; ++i) lits.push_back(e.NewLit());
    e.Add(std::make_unique<AtMost>(lits, k));
    const std::int64_t expected[] = {1, 7, 22, 42, 57};
    CHECK(CountSolutions(e, {}, lits) == expected[k]);
  }
}

TEST_CASE("pigeonhole by at-most-one") {
  for (int pigeons = 3; pigeons <= 7; ++pigeons) {
    Engine e;
    const int holes = pigeons - 1;
    std::vector<std::vector<Lit>> in(pigeons);
    for (auto& row : in) {
      for (int h = 0; h < holes; ++h) row.push_back(e.NewLit());
      e.AddClause(row);
    }
    for (int h = 0; h < holes; ++h) {
      std::vector<Lit> column;
      for (auto& row : in) column.push_back(row[h]);
      e.Add(std::make_unique<AtMost>(column, 1));
    }
    CHECK(SolveAll(e) == SatResult::kUnsat);
  }
}

// Three jobs on three machines, as a makespan by descending bound: the literal [makespan <= b] is the assumption.
TEST_CASE("job shop: optimum and its proof, eager and lazy reasons") {
  const std::int64_t machine[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};
  const std::int64_t length[3][3] = {{3, 2, 2}, {2, 1, 4}, {4, 3, 1}};
  for (const bool lazy : {false, true}) {
    Engine e;
    const IntVar makespan = e.NewInt(0, 30);
    IntVar start[3][3];
    for (int j = 0; j < 3; ++j) {
      for (int o = 0; o < 3; ++o) start[j][o] = e.NewInt(0, 30);
      for (int o = 0; o < 3; ++o)
        e.Add(std::make_unique<Difference>(e.True(), start[j][o], length[j][o], o < 2 ? start[j][o + 1] : makespan,
                                           lazy));
    }
    for (int a = 0; a < 3; ++a)
      for (int b = a + 1; b < 3; ++b)
        for (int i = 0; i < 3; ++i)
          for (int k = 0; k < 3; ++k) {
            if (machine[a][i] != machine[b][k]) continue;
            const Lit first = e.NewLit();
            e.Add(std::make_unique<Difference>(first, start[a][i], length[a][i], start[b][k], lazy));
            e.Add(std::make_unique<Difference>(~first, start[b][k], length[b][k], start[a][i], lazy));
          }
    std::int64_t best = 31;
    for (;;) {
      const Lit better = e.Leq(makespan, best - 1);
      if (SolveAll(e, std::span(&better, 1)) != SatResult::kSat) {
        CHECK(e.Failed(better));
        break;
      }
      best = e.SolutionValue(makespan);
    }
    CHECK(best == 11);
  }
}

// Random constraints of every kind over a few variables: the number of solutions by the engine and by enumeration.
TEST_CASE("random models: as many solutions as by enumeration") {
  Rng rng(ebb::test::Seed("random models"));
  for (int round = 0; round < 150; ++round) {
    const auto nx = static_cast<std::size_t>(Draw(rng, 1, 4)), nb = static_cast<std::size_t>(Draw(rng, 1, 4));
    Engine e(static_cast<std::int32_t>(Draw(rng, 0, 1000)));
    std::vector<IntVar> xs;
    std::vector<std::vector<std::int64_t>> domains;
    for (std::size_t i = 0; i < nx; ++i) {
      std::vector<std::int64_t> d;
      const std::int64_t lo = Draw(rng, -3, 3);
      const bool sparse = Draw(rng, 0, 1) == 1;
      for (std::int64_t v = lo; v <= lo + Draw(rng, 0, 6); ++v)
        if (!sparse || v == lo || Draw(rng, 0, 1) == 1) d.push_back(v);
      xs.push_back(sparse ? e.NewSparseInt(d) : e.NewInt(d.front(), d.back()));
      domains.push_back(d);
    }
    std::vector<Lit> lits;
    for (std::size_t i = 0; i < nb; ++i) lits.push_back(e.NewLit());
    const auto any_lit = [&] {
      const Lit l = lits[static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(nb) - 1))];
      return Draw(rng, 0, 1) == 1 ? l : ~l;
    };
    const auto any_x = [&] { return static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(nx) - 1)); };
    struct Constraint {
      int kind;
      Lit b;
      std::size_t x, y;
      std::int64_t d;
      std::vector<std::int64_t> a;
      std::vector<Lit> ls;
    };
    std::vector<Constraint> constraints;
    for (std::int64_t i = Draw(rng, 1, 5); i > 0; --i) {
      Constraint c{static_cast<int>(Draw(rng, 0, 3)), any_lit(), any_x(), any_x(), Draw(rng, -4, 4), {}, {}};
      if (c.x == c.y && c.kind == 0) continue;
      for (std::size_t k = 0; k < nx; ++k) c.a.push_back(Draw(rng, -2, 2));
      if (c.kind == 0) e.Add(std::make_unique<Difference>(c.b, xs[c.x], c.d, xs[c.y], Draw(rng, 0, 1) == 1));
      if (c.kind == 1) {
        for (const Lit l : lits) c.ls.push_back(Draw(rng, 0, 1) == 1 ? l : ~l);
        c.d = Draw(rng, 0, static_cast<std::int64_t>(nb));
        e.Add(std::make_unique<AtMost>(c.ls, c.d));
      }
      if (c.kind == 2) e.Add(std::make_unique<LinearLeq>(xs, c.a, c.d));
      if (c.kind == 3) e.AddClause({c.b, e.Geq(xs[c.x], c.d), e.Leq(xs[c.y], -c.d)});
      constraints.push_back(c);
    }
    // By enumeration.
    std::int64_t expected = 0;
    std::vector<std::size_t> at(nx, 0);
    for (;;) {
      const auto val = [&](std::size_t i) { return domains[i][at[i]]; };
      for (std::uint64_t mask = 0; mask < (1u << nb); ++mask) {
        const auto on = [&](Lit l) {
          const auto i =
              static_cast<std::size_t>(std::find(lits.begin(), lits.end(), l.positive() ? l : ~l) - lits.begin());
          return ((mask >> i) & 1) == (l.positive() ? 1u : 0u);
        };
        bool ok = true;
        for (const Constraint& c : constraints) {
          if (c.kind == 0) ok &= !on(c.b) || val(c.x) + c.d <= val(c.y);
          if (c.kind == 1) ok &= std::count_if(c.ls.begin(), c.ls.end(), on) <= c.d;
          if (c.kind == 2) {
            std::int64_t sum = 0;
            for (std::size_t k = 0; k < nx; ++k) sum += c.a[k] * val(k);
            ok &= sum <= c.d;
          }
          if (c.kind == 3) ok &= on(c.b) || val(c.x) >= c.d || val(c.y) <= -c.d;
        }
        expected += ok;
      }
      std::size_t i = 0;
      while (i < nx && ++at[i] == domains[i].size()) at[i++] = 0;
      if (i == nx) break;
    }
    const std::int64_t found = CountSolutions(e, xs, lits);
    REQUIRE_MESSAGE(found == expected, "round " << round);
  }
}

TEST_CASE("random binary CSPs by nogoods: satisfiable exactly when enumeration says so") {
  Rng rng(ebb::test::Seed("binary CSPs"));
  for (int round = 0; round < 60; ++round) {
    const int n = 5, d = 4;
    Engine e(round);
    std::vector<IntVar> xs;
    for (int i = 0; i < n; ++i) xs.push_back(e.NewInt(0, d - 1));
    std::vector<std::vector<int>> bad(n * n, std::vector<int>(d * d, 0));
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j)
        for (int v = 0; v < d; ++v)
          for (int w = 0; w < d; ++w) {
            if (Draw(rng, 0, 99) >= 42) continue;
            bad[i * n + j][v * d + w] = 1;
            e.AddClause({e.Leq(xs[i], v - 1), e.Geq(xs[i], v + 1), e.Leq(xs[j], w - 1), e.Geq(xs[j], w + 1)});
          }
    bool expected = false;
    for (int code = 0; code < 1024 && !expected; ++code) {
      bool ok = true;
      for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j) ok &= !bad[i * n + j][((code >> (2 * i)) & 3) * d + ((code >> (2 * j)) & 3)];
      expected = ok;
    }
    CHECK((SolveAll(e) == SatResult::kSat) == expected);
  }
}

TEST_CASE("a budget of ticks ends the search, and it can go on") {
  Engine e;
  std::vector<std::vector<Lit>> in(9);
  for (auto& row : in) {
    for (int h = 0; h < 8; ++h) row.push_back(e.NewLit());
    e.AddClause(row);
  }
  for (std::size_t h = 0; h < 8; ++h) {
    std::vector<Lit> column;
    for (auto& row : in) column.push_back(row[h]);
    e.Add(std::make_unique<AtMost>(column, 1));
  }
  WorkBudget little(20'000);
  CHECK(e.Solve({}, little) == SatResult::kUnknown);
  CHECK(little.spent() < 2'000'000);
  StopSignal stop;
  stop.Cancel();
  WorkBudget cancelled(WorkBudget().left(), &stop);
  CHECK(e.Solve({}, cancelled) == SatResult::kUnknown);
  CHECK(SolveAll(e) == SatResult::kUnsat);
}

}  // namespace
}  // namespace ebb::core::test
