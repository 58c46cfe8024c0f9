// SPDX-License-Identifier: Apache-2.0
//
// Plans by dropping gaps, on random graphs with every feature: what is found is a plan in the staged form within budget
// and cap, its duration is the reference evaluation's, no bound is beaten, pruning never makes it longer, and work in
// small pieces gives the same as work in one.
#include "heuristics/gap_drops.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/problem/plan.hpp"
#include "engine/problem/validator.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

TEST_CASE("dropping gaps gives staged plans on random graphs") {
  Rng rng(Seed("gap drops"));
  int plans = 0;
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
      const GapDropsParams params{budget, Chance(rng, 20) ? 2 : 0};
      GapDrops whole(in, params), pieces(in, params);
      std::int64_t first = -1;
      for (bool more = true; more;) {
        WorkBudget work(2'000);
        more = whole.Run(work);
        if (!whole.has_plan()) continue;
        ++plans;
        if (first < 0) first = whole.best_duration();
        CHECK(whole.best_duration() <= first);
        const auto& sequence = whole.best_sequence();
        const SequenceFacts facts = EvaluateSequence(in, sequence);
        REQUIRE(facts.valid);
        CHECK(facts.duration == whole.best_duration());
        CHECK(facts.peak <= budget);
        CHECK(FollowsOrder(in, sequence, true, true));
        CHECK(facts.duration >= in.base_duration + bound.extra);
        if (params.max_executions > 0)
          for (std::size_t op = 0; op < in.num_ops; ++op)
            CHECK(std::count(sequence.begin(), sequence.end(), static_cast<std::int32_t>(op)) <= params.max_executions);
        const auto plan = MakePlan(graph, Expand(graph, in, sequence, true));
        REQUIRE(plan);
        const ValidationResult verdict = Validate(graph, *plan, {OrderMode::kStaged, Bytes(budget), {}});
        CHECK_MESSAGE(verdict.ok(), verdict.text);
      }
      WorkBudget all;
      CHECK(!pieces.Run(all));
      CHECK(pieces.best_sequence() == whole.best_sequence());
    }
  }
  CHECK(plans > 100);
}

}  // namespace
}  // namespace ebb::test
