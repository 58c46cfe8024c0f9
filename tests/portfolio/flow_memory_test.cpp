// SPDX-License-Identifier: Apache-2.0
//
// A solve that goes on from an earlier one's plan starts from its flow: the bound is what it would be from nothing, on
// random graphs with every feature, and the gaps are not made twice.
#include "portfolio/flow_memory.hpp"

#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "engine/problem/instance.hpp"
#include "portfolio/solve.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

TEST_CASE("a flow that starts from an earlier one has the same bound") {
  Rng rng(Seed("flow memory"));
  int warm = 0;
  for (int k = 0; k < 120; ++k) {
    CAPTURE(k);
    const Graph graph = RandomGraph(rng, OfOps(8, 20));
    const Instance in = MakeInstance(graph);
    if (!EvaluateSequence(in, in.order).valid) continue;  // no peak to take a share of
    FlowMemory memory;
    std::optional<Plan> last;
    for (const char* budget : {"0.95", "0.9", "0.8", "0.7"}) {
      Options options;
      options.threads = 1;
      options.work_limit = 0.002;
      options.relax = options.intervals = options.state_search = options.gap_cover_integer = false;
      options.Set("budget", budget);
      const auto solve = [&](FlowMemory* flows) {
        StopSignal stop;
        const std::vector<OpId> none;
        return Solve(graph, options, last ? last->executions : none, stop, {}, flows);
      };
      const GapTable* before = memory.table.get();
      const Answer with = solve(&memory), without = solve(nullptr);
      CHECK(with.status == without.status);
      CHECK(with.lower_bound == without.lower_bound);
      if (before != nullptr && last && memory.table.get() == before) ++warm;
      if (with.plan) last = with.plan;
    }
  }
  CHECK(warm > 5);
}

}  // namespace
}  // namespace ebb::test
