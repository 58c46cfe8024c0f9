// SPDX-License-Identifier: Apache-2.0
// Gaps along a path against the optimum over all orders.
#include <algorithm>

#include <doctest/doctest.h>

#include "engine/bounds/free_order_gaps.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gap_cover_integer.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

TEST_CASE("free order: never above the optimum, whatever the path") {
  Rng rng(Seed("free_order"));
  int positive = 0, exact = 0, short_rows = 0;
  for (int round = 0; round < 3000; ++round) {
    RandomGraphOptions options;
    if (round % 3 == 0) options = RandomGraphOptions::Plain();
    options.max_ops = round % 2 == 0 ? 7 : 5;
    options.views = round % 5 == 0 ? 60 : options.views;
    const Graph graph = RandomGraph(rng, options);
    const std::int64_t budget = RandomBudget(graph, rng);
    CAPTURE(Describe(graph));
    CAPTURE(budget);
    const Instance in = MakeInstance(graph);
    const OracleAnswer best = BruteForce(graph, budget, OrderMode::kFree);
    std::vector<std::int64_t> weight(in.num_ops);
    for (std::int64_t& w : weight) w = Draw(rng, 0, 9);
    for (const bool choose : {false, true}) {
      const GapTable table = choose ? BestFreeOrderGaps(in, budget) : FreeOrderGaps(in, HeaviestPaths(in, weight));
      const GapCoverBound bound = SolveGapCover(in, table, budget);
      if (bound.shortage) {
        CHECK(!best.feasible);
        ++short_rows;
        continue;
      }
      if (!best.feasible) continue;
      CHECK(in.base_duration + bound.extra <= best.duration);
      GapCoverInteger integer(in, table, bound, budget, std::nullopt);
      WorkBudget work;
      CHECK(integer.Step(work));
      CHECK(in.base_duration + integer.extra() <= best.duration);
      CHECK(integer.extra() >= bound.extra);
      positive += integer.extra() > 0;
      exact += integer.extra() > 0 && in.base_duration + integer.extra() == best.duration;
    }
  }
  MESSAGE(positive << " bounds above the trivial one, " << exact << " exact, " << short_rows << " infeasible");
  CHECK(positive > 100);
  CHECK(exact > 50);
}

TEST_CASE("free order: along a path graph it is the bound of the given order") {
  Rng rng(Seed("free_order_path"));
  for (int round = 0; round < 200; ++round) {
    // every op reads the one before it, so there is one order only
    RandomGraphOptions options;
    options.max_ops = 30;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    bool one_order = in.plain;
    for (std::size_t i = 1; i < in.num_ops; ++i) {
      bool reads_last = false;
      for (const std::int32_t v : in.reads[in.order[i]]) reads_last |= in.maker[v] == in.order[i - 1];
      one_order &= reads_last;
    }
    const GapTable fixed = FixedOrderGaps(in);
    const GapTable free = FreeOrderGaps(in, one_order ? std::vector<std::vector<std::int32_t>>{in.order}
                                                      : HeaviestPaths(in, std::vector<std::int64_t>(in.num_ops, 1)));
    if (one_order) {
      CHECK(free.resident == fixed.resident);
      CHECK(free.gaps.size() == fixed.gaps.size());
    }
    // otherwise its rows need no more than those of the given order
    if (in.plain)
      for (std::size_t r = 0; r < free.num_rows(); ++r)
        CHECK(free.resident[r] <= fixed.resident[static_cast<std::size_t>(in.rank[free.row_op[r]])]);
  }
}
