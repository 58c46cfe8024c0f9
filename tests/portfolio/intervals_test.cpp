// SPDX-License-Identifier: Apache-2.0
// The interval model against brute force in every order and with every feature: the same optimum, or no plan in both.
#include <algorithm>

#include <doctest/doctest.h>

#include "portfolio/interval_solver.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/judge.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

// The optimum, -1 where there is no plan, -2 where the solver gives up.
std::int64_t Optimum(const Instance& instance, OrderMode order, std::int64_t budget,
                     const IntervalSolver::Params& params) {
  IntervalSolver solver(instance, order, budget, params);
  std::int64_t best = -1;
  for (;;) {
    WorkBudget work;
    const IntervalSolver::State state = solver.Step(work);
    REQUIRE(state != IntervalSolver::State::kLimit);
    if (state == IntervalSolver::State::kProved) return best;
    if (state == IntervalSolver::State::kGivenUp) return -2;
    const SequenceFacts facts = EvaluateSequence(instance, solver.plan());
    REQUIRE(facts.valid);
    REQUIRE(facts.peak <= budget);
    REQUIRE(FollowsOrder(instance, solver.plan(), order != OrderMode::kFree, order == OrderMode::kStaged));
    REQUIRE((best < 0 || facts.duration < best));
    best = facts.duration;
  }
}

TEST_CASE("random graphs: the optimum of brute force in every order, by every switch") {
  Rng rng(Seed("intervals"));
  int repeats = 0, infeasible = 0;
  for (int round = 0; round < 60; ++round) {
    const auto order = static_cast<OrderMode>(round % 3);
    RandomGraphOptions options = Chance(rng, 40) ? RandomGraphOptions::Plain() : RandomGraphOptions();
    if (order == OrderMode::kFree) options.max_ops = 6;
    const Graph graph = RandomGraph(rng, options);
    const Instance instance = MakeInstance(graph);
    if (!IntervalSolver::Fits(instance, order)) continue;
    const std::int64_t budget = RandomBudget(graph, rng);
    const auto cap = static_cast<std::int32_t>(Draw(rng, 0, 3));
    const OracleAnswer answer = BruteForce(graph, budget, order, cap);
    const std::int64_t expected = answer.feasible ? answer.duration : -1;
    if (answer.feasible && answer.sequence.size() > graph.num_ops()) ++repeats;
    if (!answer.feasible) ++infeasible;
    for (int code = 0; code < 4; ++code) {
      IntervalSolver::Params params;
      params.explanation = static_cast<CumulativeMemory::Explanation>(code % 3);
      params.relaxation = code != 1;
      params.max_executions = cap;
      params.seed = round;
      const std::int64_t found = Optimum(instance, order, budget, params);
      if (found == -2 && order != OrderMode::kStaged && expected == -1) continue;
      REQUIRE_MESSAGE(found == expected, "round " << round << " code " << code << " budget " << budget << " cap " << cap
                                                  << " " << ToString(order) << "\n"
                                                  << Describe(graph));
    }
  }
  MESSAGE(repeats << " with repeats, " << infeasible << " without a plan");
  CHECK(repeats > 0);
}

}  // namespace
}  // namespace ebb::test
