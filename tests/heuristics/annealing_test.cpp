// SPDX-License-Identifier: Apache-2.0
// Annealing gives only plans that hold, follows the order asked for, and does the same for the same seed.
#include "heuristics/annealing.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "engine/problem/plan.hpp"
#include "engine/problem/validator.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

AnnealingParams Params(OrderMode order, std::int64_t budget, std::uint64_t seed) {
  AnnealingParams p;
  p.order = order;
  p.budget = budget;
  p.seed = seed;
  return p;
}

TEST_CASE("every plan holds") {
  Rng rng(Seed("annealing plans", 21));
  int plans = 0;
  for (int round = 0; round < 300; ++round) {
    RandomGraphOptions options;
    options.max_ops = round % 3 == 0 ? 30 : 10;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    if (!EvaluateSequence(in, in.order).valid) continue;
    for (const OrderMode order : {OrderMode::kFixed, OrderMode::kStaged, OrderMode::kFree}) {
      AnnealingParams params = Params(order, RandomBudget(graph, rng), static_cast<std::uint64_t>(round));
      params.max_executions = Chance(rng, 30) ? 2 : 0;
      Annealing search(in, params);
      search.Start(in.order);
      WorkBudget work(2'000'000);
      search.Run(work);
      if (!search.has_plan()) continue;
      ++plans;
      INFO(Describe(graph));
      const bool staged = order == OrderMode::kStaged;
      REQUIRE(FollowsOrder(in, search.best_sequence(), order != OrderMode::kFree, staged));
      const SequenceFacts facts = EvaluateSequence(in, search.best_sequence());
      REQUIRE(facts.valid);
      CHECK(facts.duration == search.best_duration());
      CHECK(facts.peak == search.best_peak());
      const auto plan = MakePlan(graph, Expand(graph, in, search.best_sequence(), staged));
      REQUIRE(plan);
      PlanRules rules;
      rules.order = order;
      rules.budget = Bytes(params.budget);
      const ValidationResult verdict = Validate(graph, *plan, rules);
      CHECK_MESSAGE(verdict.ok(), verdict.text);
      if (params.max_executions > 0)
        for (std::size_t op = 0; op < in.num_ops; ++op)
          if (in.view_op[op] == 0)
            CHECK(std::count(search.best_sequence().begin(), search.best_sequence().end(),
                             static_cast<std::int32_t>(op)) <= params.max_executions);
    }
  }
  CHECK(plans > 100);
}

TEST_CASE("same seed and ticks, same plan; work may come in pieces") {
  Rng rng(Seed("annealing determinism", 22));
  RandomGraphOptions options = RandomGraphOptions::Plain();
  options.min_ops = 80;
  options.max_ops = 120;
  for (int round = 0; round < 5; ++round) {
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    const std::int64_t peak = EvaluateSequence(in, in.order).peak;
    for (const OrderMode order : {OrderMode::kFixed, OrderMode::kFree}) {
      const AnnealingParams params = Params(order, peak * 4 / 5, 5);
      Annealing a(in, params), b(in, params);
      a.Start(in.order);
      b.Start(in.order);
      WorkBudget whole(20'000'000);
      a.Run(whole);
      std::int64_t spent = 0;
      while (spent < whole.spent()) {
        WorkBudget piece(std::min<Ticks>(3'000'000, whole.spent() - spent));
        b.Run(piece);
        spent += piece.spent();
      }
      CHECK(spent == whole.spent());
      CHECK(a.counts().accepted == b.counts().accepted);
      CHECK(a.CurrentSequence() == b.CurrentSequence());
      CHECK(a.best_sequence() == b.best_sequence());
    }
  }
}

TEST_CASE("the goal of the least peak never gets worse than the start") {
  Rng rng(Seed("annealing peak", 23));
  for (int round = 0; round < 20; ++round) {
    RandomGraphOptions options = RandomGraphOptions::Plain();
    options.max_ops = 40;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    AnnealingParams params = Params(OrderMode::kFree, EvaluateSequence(in, in.order).peak, 3);
    params.goal = AnnealingParams::Goal::kPeak;
    Annealing search(in, params);
    search.Start(in.order);
    WorkBudget work(3'000'000);
    search.Run(work);
    REQUIRE(search.has_plan());
    CHECK(search.best_peak() <= params.budget);
    CHECK(search.best_peak() == EvaluateSequence(in, search.best_sequence()).peak);
  }
}

}  // namespace
}  // namespace ebb::test
