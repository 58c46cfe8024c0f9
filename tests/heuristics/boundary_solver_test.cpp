// SPDX-License-Identifier: Apache-2.0
//
// The boundary solver with the decoder on random small graphs with all features, against brute force: bounds, proofs,
// infeasibility and decoded plans, with and without an incumbent, in slices of work; and on the paper's graphs, where
// these are absent: skipped.
#include "engine/bounds/boundary_solver.hpp"

#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include "heuristics/decode.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

TEST_CASE("the boundary solver agrees with brute force") {
  ebb::test::Rng rng(ebb::test::Seed("boundary_solver"));
  std::int64_t proved = 0, feasible = 0, with_reruns = 0, proved_with_reruns = 0, infeasible = 0, said_infeasible = 0;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const ebb::test::RandomCase asked = ebb::test::DrawCase(rng, ebb::test::PlainOrNot(rng, 50, 4));
    const ebb::Instance& instance = asked.instance;
    const std::int64_t budget = asked.budget;
    const bool staged = ebb::test::Chance(rng, 50);
    const auto mode = staged ? ebb::OrderMode::kStaged : ebb::OrderMode::kFixed;
    INFO(asked.Text() << ' ' << ebb::ToString(mode));
    const auto answer = ebb::test::BruteForce(asked.graph, budget, mode);
    ebb::Decoder decoder;
    ebb::BoundarySolver::Params params;
    params.carry_fixings = ebb::test::Chance(rng, 70);
    if (ebb::test::Chance(rng, 50)) params.probes = 0;
    params.per_tree = static_cast<std::int32_t>(ebb::test::Draw(rng, 1, 4));
    params.told_orders = ebb::test::Chance(rng, 50);
    params.carry_rows = ebb::test::Chance(rng, 70);
    params.moment_rows = ebb::test::Chance(rng, 70);
    params.per_round = static_cast<std::int32_t>(ebb::test::Draw(rng, 1, 3));
    params.climb = ebb::test::Chance(rng, 50);
    params.steps.share = static_cast<double>(ebb::test::Draw(rng, 1, 4)) / 4;
    params.steps.patience = ebb::test::Chance(rng, 50) ? 1 : 10'000'000;
    ebb::BoundarySolver solver(instance, budget, mode, &decoder, params);
    const bool hint = answer.feasible && ebb::test::Chance(rng, params.climb ? 80 : 40);
    if (hint) solver.SetIncumbent(answer.duration + ebb::test::Draw(rng, 0, ebb::test::Chance(rng, 50) ? 2 : 20));
    const bool sliced = ebb::test::Chance(rng, 30);
    std::int64_t last = 0;
    for (int step = 0;; ++step) {
      REQUIRE(step < 100000);
      ebb::WorkBudget work(sliced ? 100'000 + 1000 * step : 1'000'000'000);
      const bool done = solver.Step(work);
      CHECK(solver.lower_bound() >= last);
      last = solver.lower_bound();
      if (answer.feasible) REQUIRE(solver.lower_bound() <= answer.duration);
      for (const auto& c : solver.TakeCandidates()) {
        const auto facts = ebb::EvaluateSequence(instance, c.sequence);
        REQUIRE(facts.valid);
        CHECK(facts.duration == c.duration);
        CHECK(ebb::FollowsOrder(instance, c.sequence, true, staged));
        if (c.fits) {
          REQUIRE(answer.feasible);
          CHECK(c.duration >= answer.duration);
          CHECK(facts.peak <= budget);
        }
      }
      if (done) break;
    }
    if (solver.infeasible()) CHECK_FALSE(answer.feasible);
    feasible += answer.feasible;
    infeasible += !answer.feasible;
    said_infeasible += solver.infeasible();
    const bool reruns = answer.feasible && answer.duration > instance.base_duration;
    with_reruns += reruns;
    if (solver.proved() && answer.feasible) {
      CHECK(solver.lower_bound() >= answer.duration);
      ++proved;
      proved_with_reruns += reruns;
    }
  }
  MESSAGE("proved " << proved << " of " << feasible << ", with reruns " << proved_with_reruns << " of " << with_reruns
                    << "; infeasible " << said_infeasible << " of " << infeasible);
  CHECK(proved_with_reruns > 0);
}

// Too large for brute force: what two ways prove must be the same, and no bound may be above any plan.
TEST_CASE("climbing agrees with the search for the models' optima") {
  ebb::test::Rng rng(ebb::test::Seed("climbing"));
  std::int64_t proved = 0, both = 0, models = 0;
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const ebb::test::RandomCase asked = ebb::test::DrawCase(rng, ebb::test::Middling(rng, 70));
    const ebb::Instance& instance = asked.instance;
    const std::int64_t budget = asked.budget;
    const auto mode = ebb::test::Chance(rng, 50) ? ebb::OrderMode::kStaged : ebb::OrderMode::kFixed;
    CAPTURE(asked.Text());
    std::int64_t plan = std::numeric_limits<std::int64_t>::max(), bound = 0;
    bool none = false, proofs[2] = {};
    for (const bool climb : {false, true}) {
      ebb::Decoder decoder;
      ebb::BoundarySolver::Params params;
      params.climb = climb;
      params.steps.share = static_cast<double>(ebb::test::Draw(rng, 1, 4)) / 8;
      params.steps.patience = ebb::test::Chance(rng, 50) ? 100'000 : 10'000'000;
      ebb::BoundarySolver solver(instance, budget, mode, &decoder, params);
      if (climb && plan != std::numeric_limits<std::int64_t>::max())
        solver.SetIncumbent(plan + (ebb::test::Chance(rng, 50) ? 0 : plan / 4));
      const bool sliced = ebb::test::Chance(rng, 50);
      ebb::Ticks spent = 0;
      while (spent < 100'000'000) {
        ebb::WorkBudget work(sliced ? 200'000 : 50'000'000);
        const bool done = solver.Step(work);
        spent += std::max<ebb::Ticks>(work.spent(), 10'000);
        for (const auto& c : solver.TakeCandidates())
          if (c.fits) plan = std::min(plan, c.duration);
        if (done) break;
      }
      bound = std::max(bound, solver.lower_bound());
      none = none || solver.infeasible();
      proofs[climb] = solver.proved();
      models += climb ? solver.progress().models : 0;
    }
    if (none) CHECK(plan == std::numeric_limits<std::int64_t>::max());
    if (!none) REQUIRE(bound <= plan);
    proved += proofs[1];
    both += proofs[0] && proofs[1];
  }
  MESSAGE("proved by climbing " << proved << ", both ways " << both << "; models " << models);
  CHECK(both > 0);
}
