// SPDX-License-Identifier: Apache-2.0
//
// The boundary solver over clause learning, as the portfolio runs it, on random small graphs with all features against
// brute force: bounds, proofs, infeasibility and plans; dives between, with and without an incumbent, in slices.
#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include "engine/bounds/boundary_solver.hpp"
#include "heuristics/decode.hpp"
#include "propagators/learning_solver.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

TEST_CASE("the boundary solver over clause learning agrees with brute force") {
  using namespace ebb;
  test::Rng rng(test::Seed("learning relaxation"));
  std::int64_t proved = 0, feasible = 0;
  for (int round = 0; round < 600; ++round) {
    CAPTURE(round);
    test::RandomGraphOptions options;
    options.min_ops = 4;
    const Graph graph = test::RandomGraph(rng, options);
    const Instance instance = MakeInstance(graph);
    const std::int64_t budget = test::RandomBudget(graph, rng);
    const bool staged = test::Chance(rng, 50);
    const auto mode = staged ? OrderMode::kStaged : OrderMode::kFixed;
    const auto answer = test::BruteForce(graph, budget, mode);
    CAPTURE(test::Describe(graph));
    CAPTURE(budget);
    CAPTURE(staged);
    Decoder decoder;
    BoundarySolver::Params params;
    params.dive_ticks = test::Draw(rng, 0, 1);
    params.per_tree = static_cast<std::int32_t>(test::Draw(rng, 1, 4));
    if (test::Chance(rng, 50)) params.probes = 0;
    if (test::Chance(rng, 50)) params.tree_ticks = 1'000'000;
    const std::int64_t probe = test::Draw(rng, 1, 3);
    params.search = [probe](BinaryProgram program, RowSeparator* rows) -> std::unique_ptr<BinarySolver> {
      LearningSolver::Params with;
      with.probe_conflicts = probe;
      return std::make_unique<LearningSolver>(std::move(program), rows, with);
    };
    BoundarySolver solver(instance, budget, mode, &decoder, params);
    if (answer.feasible && test::Chance(rng, 40)) solver.SetIncumbent(answer.duration + test::Draw(rng, 0, 2));
    const bool sliced = test::Chance(rng, 30);
    for (int step = 0;; ++step) {
      REQUIRE(step < 100000);
      WorkBudget work(sliced ? 100'000 + 1000 * step : 1'000'000'000);
      const bool done = solver.Step(work);
      if (answer.feasible) REQUIRE(solver.lower_bound() <= answer.duration);
      for (const auto& c : solver.TakeCandidates())
        if (c.fits) REQUIRE((answer.feasible && c.duration >= answer.duration));
      if (done) break;
    }
    if (solver.infeasible()) REQUIRE_FALSE(answer.feasible);
    feasible += answer.feasible;
    if (solver.proved() && answer.feasible) {
      REQUIRE(solver.lower_bound() >= answer.duration);
      ++proved;
    }
  }
  MESSAGE("proved " << proved << " of " << feasible);
  CHECK(proved > 0);
}
