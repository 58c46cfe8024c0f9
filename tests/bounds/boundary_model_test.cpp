// SPDX-License-Identifier: Apache-2.0
//
// The boundary relaxation on random boundaries of random small graphs with all features: its optimum, with path cuts,
// moment rows and stage cuts, is never above the true one (brute force), in fixed and in staged order, and "nothing
// below the cutoff" is never said of a cutoff that a plan beats.
#include "engine/bounds/boundary_model.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "engine/bounds/model_rows.hpp"
#include "engine/problem/graph_builder.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

TEST_CASE("the boundary relaxation never bounds above the optimum") {
  ebb::test::Rng rng(ebb::test::Seed("boundary_model"));
  std::int64_t tight = 0, above_zero = 0, cuts = 0, feasible = 0;
  for (int round = 0; round < 2500; ++round) {
    CAPTURE(round);
    const ebb::test::RandomCase c = ebb::test::DrawCase(rng, ebb::test::PlainOrNot(rng, 50, 4));
    const ebb::Instance& instance = c.instance;
    const std::int64_t budget = c.budget;
    INFO(c.Text());
    const auto mode = ebb::test::Chance(rng, 50) ? ebb::OrderMode::kStaged : ebb::OrderMode::kFixed;
    const auto answer = ebb::test::BruteForce(c.graph, budget, mode);
    CAPTURE(ebb::ToString(mode));
    std::vector<std::int32_t> positions;
    const int percent = static_cast<int>(ebb::test::Draw(rng, 20, 100));
    for (std::size_t p = 0; p < instance.num_ops; ++p)
      if (ebb::test::Chance(rng, percent)) positions.push_back(static_cast<std::int32_t>(p));
    if (positions.empty()) continue;
    const ebb::BoundaryModel model(instance, budget, positions);
    if (model.impossible()) {
      CHECK_FALSE(answer.feasible);
      continue;
    }
    feasible += answer.feasible;
    ebb::ModelRows rows(model, budget, mode == ebb::OrderMode::kStaged, true, true);
    ebb::BranchAndBound::Params params;
    params.min_efficacy = 0.001;
    ebb::BranchAndBound search(model.program(), &rows, params);
    const std::int64_t best = answer.duration - instance.base_duration;
    const bool with_cutoff = answer.feasible && ebb::test::Chance(rng, 50);
    if (with_cutoff) search.SetCutoff(best + 1);
    for (;;) {
      ebb::WorkBudget work(1'000'000'000);
      const auto state = search.Step(work);
      if (answer.feasible) REQUIRE(std::min(search.lower_bound(), search.cutoff()) <= best);
      if (state == ebb::BranchAndBound::State::kFinished) break;
    }
    if (!search.has_solution()) CHECK_FALSE(answer.feasible);
    if (answer.feasible && search.has_solution()) {
      CHECK(search.solution_cost() <= best);
      tight += best > 0 && search.solution_cost() == best;
      above_zero += best > 0;
    }
    cuts += search.counters().cuts;
  }
  MESSAGE("tight " << tight << " of " << above_zero << " with recomputation, feasible " << feasible << ", cuts "
                   << cuts);
  CHECK(tight > 0);
}

// A dear base, a cheap view of it, and three values made from the view that wait while something large is there. Two of
// them must go, so the base is made again. Half of the base must not do, once for the half of the view that stays and
// once more for the half that is made again.
TEST_CASE("the linear relaxation keeps a view's base whole") {
  ebb::GraphBuilder b;
  const auto add = [&](const std::string& name, std::int64_t duration, std::int64_t size,
                       std::vector<std::string> inputs, const std::string& base = "") {
    ebb::GraphBuilder::OpSpec op;
    op.name = name;
    op.duration = duration;
    op.inputs = std::move(inputs);
    op.outputs = {name};
    b.AddTensor(name, size, base);
    b.AddOp(std::move(op));
  };
  add("base", 100, 6, {});
  add("view", 1, 6, {"base"}, "base");
  for (const char* name : {"x", "y", "z"}) add(name, 1, 2, {"view"});
  add("large", 1, 6, {});
  add("all", 1, 1, {"x", "y", "z"});
  const ebb::Graph graph = b.Build();
  const ebb::Instance instance = ebb::MakeInstance(graph);
  const ebb::BoundaryModel model(instance, 9, {5});
  REQUIRE_FALSE(model.impossible());
  ebb::ModelRows rows(model, 9, false, true, true);
  ebb::BranchAndBound::Params params;
  params.root_only = true;
  params.knapsack_cuts = false;
  ebb::BranchAndBound search(model.program(), &rows, params);
  ebb::WorkBudget work(1'000'000'000);
  search.Step(work);
  CHECK(search.lower_bound() >= 50);
}
