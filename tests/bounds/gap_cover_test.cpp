// SPDX-License-Identifier: Apache-2.0
// The gap cover against brute force on small graphs with every feature, and its own relations on larger ones.
#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include "engine/bounds/free_order_gaps.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gap_cover_integer.hpp"
#include "engine/problem/graph_builder.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/op_spec.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

TEST_CASE("gaps: rows are the profile of the order without repeats") {
  Rng rng(Seed("gaps_profile"));
  RandomGraphOptions options;
  options.max_ops = 40;
  for (int round = 0; round < 500; ++round) {
    const Graph graph = RandomGraph(rng, options);
    CAPTURE(Describe(graph));
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    const SequenceFacts facts = EvaluateSequence(in, in.order);
    // where the order needs reruns even without a budget there is no such profile
    if (in.plain) CHECK(facts.valid);
    if (facts.valid) {
      CHECK(table.forced.empty());
      CHECK(!table.impossible);
      CHECK(table.resident == facts.profile);
    }
    std::vector<std::int64_t> rows = table.pinned;
    for (const Gap& g : table.gaps) {
      CHECK(g.begin < g.end);
      for (std::int32_t r = g.begin; r < g.end; ++r) rows[static_cast<std::size_t>(r)] += g.bytes;
    }
    CHECK(rows == table.resident);
  }
}

TEST_CASE("gaps: shared durations never sum to more than the duration") {
  Rng rng(Seed("gaps_shares"));
  RandomGraphOptions options;
  options.max_ops = 30;
  options.multi_output = options.views = 50;
  int shared = 0;
  for (int round = 0; round < 500; ++round) {
    const Graph graph = RandomGraph(rng, options);
    CAPTURE(Describe(graph));
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    std::vector<std::int64_t> weight(table.gaps.size());
    for (std::int64_t& w : weight) w = Draw(rng, 0, 20);
    const GapCosts costs = ShareDurations(in, table, weight);
    shared += costs.shared;
    // gaps that charge one op only: at every row the costs of those over it fit into its duration
    for (std::size_t op = 0; op < in.num_ops; ++op)
      for (std::int32_t r = 0; r < static_cast<std::int32_t>(table.num_rows()); ++r) {
        std::int64_t sum = 0;
        for (std::size_t g = 0; g < table.gaps.size(); ++g) {
          const auto ops = table.charges[g];
          if (ops.size() == 1 && ops[0] == static_cast<std::int32_t>(op) && table.gaps[g].begin <= r &&
              r < table.gaps[g].end)
            sum += costs.cost[g];
        }
        CHECK(sum <= in.duration[op] * costs.scale);
      }
  }
  CHECK(shared > 50);
}

TEST_CASE("gap cover: never above the optimum, never infeasible where there is a plan") {
  Rng rng(Seed("gap_cover"));
  int positive = 0, tight = 0, short_rows = 0, whole = 0, exact = 0;
  for (int round = 0; round < 3000; ++round) {
    const Graph graph = RandomGraph(rng);
    const std::int64_t budget = RandomBudget(graph, rng);
    CAPTURE(Describe(graph));
    CAPTURE(budget);
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    const GapCoverBound bound = SolveGapCover(in, table, budget);
    const OracleAnswer best = BruteForce(graph, budget, OrderMode::kFixed);
    if (table.impossible || bound.shortage) {
      CHECK(!best.feasible);
      ++short_rows;
      continue;
    }
    if (!best.feasible) continue;
    CHECK(in.base_duration + bound.extra <= best.duration);
    // whole gaps: with no cutoff, the right cutoff, and one above it
    const std::int64_t best_extra = best.duration - in.base_duration;
    std::int64_t open = 0;
    for (const std::int64_t above : {-1, 0, 1, 5}) {
      const std::optional<std::int64_t> cutoff = above < 0 ? std::nullopt : std::optional(best_extra + above);
      GapCoverInteger integer(in, table, bound, budget, cutoff);
      CHECK(integer.extra() >= bound.extra);
      WorkBudget work;
      CHECK(integer.Step(work));
      CHECK(integer.extra() <= best_extra + std::max<std::int64_t>(above, 0));
      CHECK(integer.extra() >= bound.extra);
      if (above < 0) open = integer.extra();
      CHECK(integer.extra() >= std::min(open, best_extra + std::max<std::int64_t>(above, 0)));
      if (above > 0) CHECK(integer.extra() <= best_extra);
    }
    whole += open > bound.extra;
    exact += open == best_extra;
    positive += bound.extra > 0;
    tight += bound.extra > 0 && in.base_duration + bound.extra == best.duration;
  }
  MESSAGE(positive << " bounds above the trivial one, " << tight << " of them tight, " << whole
                   << " better with whole gaps, " << exact << " exact with them, " << short_rows << " infeasible");
  CHECK(positive > 100);
  CHECK(tight > 50);
  CHECK(short_rows > 100);
}

TEST_CASE("gap cover: the flow is counted, ends when the work does, and then says the same as before") {
  Rng rng(Seed("gap_cover_stopped"));
  RandomGraphOptions options;
  options.min_ops = 300;
  options.max_ops = 400;
  options.max_size = 100'000;
  options.max_duration = 1000;
  int stopped = 0, some = 0;
  for (int round = 0; round < 20; ++round) {
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    if (table.impossible) continue;
    const std::int64_t budget = table.floor() + (table.peak() - table.floor()) / 4;
    WorkBudget all;
    const GapCoverBound whole = SolveGapCover(in, table, budget, 0, &all);
    CHECK(whole.complete);
    for (int part = 1; part < 8; ++part) {
      WorkBudget little(all.spent() * part / 8), again(all.spent() * part / 8);
      const GapCoverBound bound = SolveGapCover(in, table, budget, 0, &little);
      CHECK(bound.extra <= whole.extra);
      CHECK(bound.extra == RoundUpExtra(in, table,
                                        EvaluatePrices(table, bound.costs, budget, bound.price, bound.price_scale),
                                        bound.price_scale));
      const GapCoverBound same = SolveGapCover(in, table, budget, 0, &again);
      CHECK(same.price == bound.price);
      CHECK(same.dropped == bound.dropped);
      CHECK(again.spent() == little.spent());
      stopped += !bound.complete;
      some += !bound.complete && bound.extra > 0;
    }
    StopSignal stop;
    stop.Cancel();
    WorkBudget none(std::numeric_limits<Ticks>::max(), &stop);
    CHECK_FALSE(SolveGapCover(in, table, budget, 0, &none).complete);
    CHECK_THROWS_AS(static_cast<void>(FixedOrderGaps(in, &stop)), Interrupted);
    CHECK_THROWS_AS(static_cast<void>(BestFreeOrderGaps(in, budget, &none)), Interrupted);
  }
  CHECK(stopped > 20);
  CHECK(some > 0);
}

TEST_CASE("gap cover: prices certify, grow with pressure, and obey complementary slackness") {
  Rng rng(Seed("gap_cover_prices"));
  RandomGraphOptions options = OfOps(20, 80);
  options.max_size = 100'000;
  options.max_duration = 1000;
  for (int round = 0; round < 100; ++round) {
    const Graph graph = RandomGraph(rng, options);
    CAPTURE(Describe(graph));
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    if (table.impossible) continue;
    std::int64_t last = -1;
    GapCoverBound near;
    for (int step = 0; step <= 8; ++step) {
      const std::int64_t budget = table.floor() + (table.peak() - table.floor()) * step / 8;
      const GapCoverBound bound = SolveGapCover(in, table, budget, 0);
      REQUIRE(!bound.shortage);
      CHECK((last < 0 || bound.extra <= last));
      last = bound.extra;
      CHECK(bound.complete);
      // the neighbouring budget's rows lead to the same value
      CHECK(SolveGapCover(in, table, budget, 0, nullptr, &near).extra == bound.extra);
      near = bound;
      // stopped at once or in between, it is a bound still
      WorkBudget little(Draw(rng, 0, 30'000));
      CHECK(SolveGapCover(in, table, budget, 0, &little).extra <= bound.extra);
      const Int128 value = EvaluatePrices(table, bound.costs, budget, bound.price, bound.price_scale);
      CHECK(bound.extra == RoundUpExtra(in, table, value, bound.price_scale));
      // primal: covers every row; its cost is not below the dual value, and close to it
      std::vector<std::int64_t> rows = table.resident;
      long double cost = 0;
      const std::vector<Int128> sums = PriceSums(bound.price);
      for (std::size_t g = 0; g < table.gaps.size(); ++g) {
        CHECK(bound.dropped[g] >= 0);
        CHECK(bound.dropped[g] <= table.gaps[g].bytes);
        for (std::int32_t r = table.gaps[g].begin; r < table.gaps[g].end; ++r)
          rows[static_cast<std::size_t>(r)] -= bound.dropped[g];
        cost +=
            static_cast<long double>(bound.costs.cost[g]) * bound.dropped[g] / table.gaps[g].bytes / bound.costs.scale;
      }
      for (std::size_t r = 0; r < rows.size(); ++r) {
        CHECK(rows[r] <= budget);
        CHECK(bound.price[r] >= 0);
      }
      const long double dual = static_cast<long double>(value) / bound.price_scale;
      CHECK(dual <= cost + 1e-6L);
      CHECK(dual >= cost - 1e-3L * (1 + cost));
    }
    CHECK(last == RoundUpExtra(in, table, 0, 1));
  }
}

TEST_CASE("gap cover: two outputs of one op are paid once") {
  GraphBuilder b;
  for (const char* name : {"x", "y", "big", "end"}) b.AddTensor(name, name[0] == 'b' ? 20 : 5);
  b.AddOp(Op("f", 10, {}, {"x", "y"}));
  b.AddOp(Op("g", 1, {}, {"big"}));
  b.AddOp(Op("h", 1, {"x", "y"}, {"end"}));
  const Graph graph = b.Build();
  const Instance in = MakeInstance(graph);
  const GapTable table = FixedOrderGaps(in);
  CHECK(SolveGapCover(in, table, 30).extra == 0);
  // 10 bytes over: both have to go, one rerun brings both back
  CHECK(SolveGapCover(in, table, 20).extra == 10);
  CHECK(BruteForce(graph, 20, OrderMode::kFixed).duration == 22);
  const GapCoverBound bound = SolveGapCover(in, table, 19);
  REQUIRE(bound.shortage);
  CHECK(bound.shortage->needed == 20);
  CHECK(bound.shortage->given == 19);
  CHECK(bound.shortage->row == 1);
}
