// SPDX-License-Identifier: Apache-2.0
//
// Eviction by prices on random graphs with every feature: what it returns is a valid sequence in the staged form, its
// figures are the reference evaluation's, and no plan of it beats the bound that guided it.
#include "heuristics/priced_plans.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/problem/plan.hpp"
#include "engine/problem/validator.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

TEST_CASE("eviction by prices gives valid staged sequences on random graphs") {
  Rng rng(Seed("priced plans"));
  int sequences = 0, plans = 0;
  for (int k = 0; k < 400; ++k) {
    CAPTURE(k);
    RandomGraphOptions options;
    options.max_ops = 14;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    if (table.impossible) continue;
    for (const std::int64_t percent : {95, 80, 60}) {
      const std::int64_t budget = table.peak() * percent / 100;
      const GapCoverBound bound = SolveGapCover(in, table, budget);
      WorkBudget work;
      const std::int32_t cap = Chance(rng, 20) ? 2 : 0;
      const auto check = [&](const EvictionResult& r) {
        ++sequences;
        const SequenceFacts facts = EvaluateSequence(in, r.sequence);
        REQUIRE(facts.valid);
        CHECK(facts.duration == r.duration);
        CHECK(facts.peak == r.peak);
        CHECK(FollowsOrder(in, r.sequence, true, r.staged));
        // Only a value that was taken over twice for one reader takes a second round and leaves the staged form.
        if (in.plain) CHECK(r.staged);
        if (cap > 0)
          for (std::size_t op = 0; op < in.num_ops; ++op)
            CHECK(std::count(r.sequence.begin(), r.sequence.end(), static_cast<std::int32_t>(op)) <= cap);
        if (r.peak > budget) return;
        ++plans;
        CHECK(r.duration >= in.base_duration + bound.extra);
        const auto expanded = Expand(graph, in, r.sequence, r.staged);
        const auto plan = MakePlan(graph, expanded);
        REQUIRE(plan);
        const ValidationResult verdict =
            Validate(graph, *plan, {r.staged ? OrderMode::kStaged : OrderMode::kFixed, Bytes(budget), {}});
        CHECK_MESSAGE(verdict.ok(), verdict.text);
      };
      PlanWithoutPrices(in, budget, cap, work, check);
      PlanByPrices(in, table, budget, bound, 3, cap, work, check);
    }
  }
  CHECK(sequences > 200);
  CHECK(plans > 50);
}

}  // namespace
}  // namespace ebb::test
