// SPDX-License-Identifier: Apache-2.0
//
// One climbing solver whose trees are searched together with helpers, messages late by chance: what it proves must be
// what the search by itself proves, its bound never above a plan, and never falling. Once more on threads, for the
// thread sanitizer.
#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "engine/bounds/boundary_helper.hpp"
#include "engine/bounds/boundary_solver.hpp"
#include "heuristics/decode.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

TEST_CASE("a tree that several search together proves what one alone proves") {
  ebb::test::Rng rng(ebb::test::Seed("sharing"));
  std::int64_t proved[2] = {}, both = 0, packets = 0, handed = 0;
  for (int round = 0; round < 120; ++round) {
    CAPTURE(round);
    const ebb::test::RandomCase asked = ebb::test::DrawCase(rng, ebb::test::Middling(rng, 70));
    const ebb::Instance& instance = asked.instance;
    const std::int64_t budget = asked.budget;
    const auto mode = ebb::test::Chance(rng, 50) ? ebb::OrderMode::kStaged : ebb::OrderMode::kFixed;
    CAPTURE(asked.Text());
    const ebb::ModelTerms terms{budget, mode, true, true, true};
    std::int64_t plan = std::numeric_limits<std::int64_t>::max();
    std::int64_t bound[2] = {};
    bool proofs[2] = {}, none = false;
    for (const bool together : {false, true}) {
      ebb::Decoder decoder, helpers_decoder;
      ebb::TreeDesk desk(static_cast<std::size_t>(ebb::test::Draw(rng, 1, 3)));
      std::vector<ebb::BoundaryHelper> helpers;
      for (std::size_t i = 0; i < desk.tasks.size(); ++i) helpers.emplace_back(instance, terms, helpers_decoder);
      ebb::BoundarySolver::Params params;
      params.climb = params.told_orders = true;
      params.steps.patience = 10'000'000;
      params.share_after = 0;
      params.share_least = 2;
      if (together) params.desk = &desk;
      ebb::BoundarySolver solver(instance, budget, mode, &decoder, params);
      if (plan != std::numeric_limits<std::int64_t>::max()) solver.SetIncumbent(plan + plan / 8);
      auto tasks = desk.tasks;
      ebb::Ticks spent = 0;
      std::int64_t last = 0;
      for (bool done = false; !done && spent < 200'000'000;) {
        ebb::WorkBudget work(1);  // a node at a time
        done = solver.Step(work);
        spent += std::max<ebb::Ticks>(work.spent(), 10'000);
        REQUIRE(solver.lower_bound() >= last);
        last = solver.lower_bound();
        for (const auto& c : solver.TakeCandidates())
          if (c.fits) plan = std::min(plan, c.duration);
        for (std::size_t i = 0; i < helpers.size(); ++i) {
          if (ebb::test::Chance(rng, 50)) {
            packets += desk.tasks[i] != tasks[i] && desk.tasks[i]->packet != nullptr;
            tasks[i] = desk.tasks[i];
          }
          helpers[i].Take(tasks[i]);
          ebb::WorkBudget some(1);
          if (helpers[i].busy()) helpers[i].Step(some);
          spent += some.spent();
          if (ebb::test::Chance(rng, 50)) desk.reports[i] = helpers[i].report();
          if (desk.reports[i]) handed += static_cast<std::int64_t>(desk.reports[i]->handed.size());
        }
      }
      bound[together] = solver.lower_bound();
      none = none || solver.infeasible();
      proofs[together] = solver.proved();
      proved[together] += solver.proved();
    }
    CAPTURE(bound[0]);
    CAPTURE(bound[1]);
    CAPTURE(ebb::ToString(mode));
    if (none) CHECK(plan == std::numeric_limits<std::int64_t>::max());
    if (!none) REQUIRE(std::max(bound[0], bound[1]) <= plan);
    both += proofs[0] && proofs[1];
  }
  MESSAGE("proved alone " << proved[0] << ", together " << proved[1] << ", both " << both << "; packets " << packets
                          << ", handed over " << handed);
  CHECK(packets > 0);
  CHECK(handed > 0);
}

// With two boundaries and no told orders much is found that nothing refutes.
TEST_CASE("who had to search on alone gives nodes again under another ceiling") {
  ebb::test::Rng rng(ebb::test::Seed("alone"));
  std::int64_t alone = 0, again = 0;
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const ebb::test::RandomCase asked = ebb::test::DrawCase(rng, ebb::test::Middling(rng, 70));
    CAPTURE(asked.Text());
    const ebb::ModelTerms terms{asked.budget, ebb::OrderMode::kFixed, true, false, true};
    ebb::Decoder decoder, helpers_decoder;
    ebb::TreeDesk desk(2);
    std::vector<ebb::BoundaryHelper> helpers;
    for (std::size_t i = 0; i < desk.tasks.size(); ++i) helpers.emplace_back(asked.instance, terms, helpers_decoder);
    ebb::BoundarySolver::Params params;
    params.climb = true;
    params.max_boundaries = 2;
    params.steps.patience = 200'000;
    params.share_after = 0;
    params.share_least = 2;
    params.desk = &desk;
    ebb::BoundarySolver solver(asked.instance, asked.budget, ebb::OrderMode::kFixed, &decoder, params);
    solver.SetIncumbent(4 * asked.instance.base_duration);  // claimed
    std::int64_t plan = std::numeric_limits<std::int64_t>::max();
    bool finished = false;
    for (int step = 0; step < 3000 && !finished; ++step) {
      const auto told = desk.tasks;
      const std::int32_t times = solver.progress().alone;
      ebb::WorkBudget work(1);
      finished = solver.Step(work);
      for (const auto& c : solver.TakeCandidates())
        if (c.fits) plan = std::min(plan, c.duration);
      for (std::size_t i = 0; i < helpers.size(); ++i) {
        again += times > 0 && desk.tasks[i] != told[i] && desk.tasks[i]->packet != nullptr;
        helpers[i].Take(desk.tasks[i]);
        ebb::WorkBudget some(1);
        if (helpers[i].busy()) helpers[i].Step(some);
        desk.reports[i] = helpers[i].report();
      }
    }
    alone += solver.progress().alone;
    if (!solver.infeasible()) REQUIRE(solver.lower_bound() <= std::min(plan, 4 * asked.instance.base_duration));
  }
  MESSAGE("alone " << alone << ", given again " << again);
  CHECK(alone > 0);
  CHECK(again > 0);
}

TEST_CASE("a tree too large to be carried is still covered") {
  ebb::test::Rng rng(ebb::test::Seed("carried"));
  const ebb::Graph graph = ebb::test::RandomGraph(rng, ebb::test::RandomGraphOptions::Plain());
  const ebb::Instance instance = ebb::MakeInstance(graph);
  ebb::BoundaryModel model(instance, std::numeric_limits<std::int64_t>::max() / 2,
                           {static_cast<std::int32_t>(instance.num_ops) / 2});
  const std::vector<ebb::BranchAndBound::OpenNode> nodes = {{{}, 9}, {{}, 5}, {{}, 7}};
  CHECK(ebb::CarriedTree(model, nodes).Give(model).size() == 3);
  auto large = nodes;
  for (auto& node : large) node.fixed.assign(2, {0, 1});
  const auto given = ebb::CarriedTree(model, large, 5).Give(model);
  REQUIRE(given.size() == 1);
  CHECK(given[0].fixed.empty());
  CHECK(given[0].bound == 5);
}

TEST_CASE("helpers on threads of their own") {
  ebb::test::Rng rng(ebb::test::Seed("sharing_threads"));
  std::int64_t proved = 0;
  std::atomic<std::int64_t> taken = 0;
  for (int round = 0; round < 25; ++round) {
    CAPTURE(round);
    const ebb::test::RandomCase asked = ebb::test::DrawCase(rng, ebb::test::Middling(rng, 100));
    const ebb::Instance& instance = asked.instance;
    const std::int64_t budget = asked.budget;
    const ebb::ModelTerms terms{budget, ebb::OrderMode::kFixed, true, true, true};
    CAPTURE(asked.Text());
    std::mutex mutex;
    ebb::TreeDesk between(2);
    std::atomic<bool> over = false;
    const auto help = [&](std::size_t i) {
      ebb::Decoder decoder;
      ebb::BoundaryHelper helper(instance, terms, decoder);
      while (!over) {
        std::shared_ptr<const ebb::TreeTask> task;
        {
          const std::scoped_lock lock(mutex);
          task = between.tasks[i];
          between.reports[i] = helper.report();
        }
        helper.Take(task);
        ebb::WorkBudget some(1);
        taken += helper.busy();
        helper.busy() ? helper.Step(some) : std::this_thread::yield();
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < between.tasks.size(); ++i) threads.emplace_back(help, i);
    ebb::Decoder decoder;
    ebb::TreeDesk desk(between.tasks.size());
    ebb::BoundarySolver::Params params;
    params.climb = params.told_orders = true;
    params.steps.patience = 10'000'000;
    params.share_after = 0;
    params.share_least = 2;
    params.desk = &desk;
    ebb::BoundarySolver solver(instance, budget, ebb::OrderMode::kFixed, &decoder, params);
    std::int64_t plan = std::numeric_limits<std::int64_t>::max();
    ebb::Ticks spent = 0;
    for (bool done = false; !done && spent < 100'000'000;) {
      ebb::WorkBudget work(1);
      done = solver.Step(work);
      spent += std::max<ebb::Ticks>(work.spent(), 10'000);
      for (const auto& c : solver.TakeCandidates())
        if (c.fits) plan = std::min(plan, c.duration);
      const std::scoped_lock lock(mutex);
      between.tasks = desk.tasks;
      desk.reports = between.reports;
    }
    over = true;
    for (std::thread& thread : threads) thread.join();
    if (!solver.infeasible()) REQUIRE(solver.lower_bound() <= plan);
    proved += solver.proved();
  }
  MESSAGE("proved " << proved << ", steps of helpers " << taken.load());
  CHECK(taken.load() > 0);
}
