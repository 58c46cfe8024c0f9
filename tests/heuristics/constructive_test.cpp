// SPDX-License-Identifier: Apache-2.0
// List schedules: always valid sequences.
#include <doctest/doctest.h>

#include "heuristics/list_schedule.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

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
