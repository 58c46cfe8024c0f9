// SPDX-License-Identifier: Apache-2.0
// Eviction and list schedules: always valid sequences, and what they say about themselves is true.
#include <algorithm>

#include <doctest/doctest.h>

#include "heuristics/eviction.hpp"
#include "heuristics/list_schedule.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

TEST_CASE("eviction gives valid sequences in the given order") {
  Rng rng(Seed("eviction", 31));
  int fits = 0, repeats = 0;
  for (int round = 0; round < 1500; ++round) {
    RandomGraphOptions options = round % 2 == 0 ? RandomGraphOptions{} : RandomGraphOptions::Plain();
    options.max_ops = round % 3 == 0 ? 40 : 10;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    if (!EvaluateSequence(in, in.order).valid) continue;
    EvictionParams params;
    params.budget = RandomBudget(graph, rng);
    params.max_executions = Chance(rng, 20) ? 2 : 0;
    INFO(Describe(graph));
    const EvictedSequence result = Evict(in, params);
    const SequenceFacts facts = EvaluateSequence(in, result.sequence);
    REQUIRE(facts.valid);
    CHECK(FollowsOrder(in, result.sequence, true, false));
    CHECK(facts.duration == result.duration);
    CHECK(facts.peak == result.peak);
    CHECK(result.fits == (facts.peak <= params.budget));
    if (params.max_executions > 0)
      for (std::size_t op = 0; op < in.num_ops; ++op)
        CHECK(std::count(result.sequence.begin(), result.sequence.end(), static_cast<std::int32_t>(op)) <= 2);
    fits += result.fits;
    repeats += result.fits && result.sequence.size() > in.num_ops;
  }
  CHECK(fits > 300);
  CHECK(repeats > 30);
}

TEST_CASE("list schedules run each op once, inputs first") {
  Rng rng(Seed("list schedule", 32));
  for (int round = 0; round < 600; ++round) {
    RandomGraphOptions options = round % 2 == 0 ? RandomGraphOptions{} : RandomGraphOptions::Plain();
    options.max_ops = 30;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    if (!EvaluateSequence(in, in.order).valid) continue;
    INFO(Describe(graph));
    for (const ListRule rule : {ListRule::kDepthFirst, ListRule::kLeastMemory, ListRule::kBreadth})
      for (const std::uint64_t seed : {0, 7}) {
        const std::vector<std::int32_t> sequence = ListSchedule(in, rule, seed);
        REQUIRE(sequence.size() == in.num_ops);
        REQUIRE(EvaluateSequence(in, sequence).valid);
      }
  }
}

}  // namespace
}  // namespace ebb::test
