// SPDX-License-Identifier: Apache-2.0
#include "heuristics/budget_descent.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

TEST_CASE("descent: plans fit, follow the order, and come again in the same way") {
  Rng rng(Seed("budget_descent"));
  int tried = 0, found = 0;
  for (int round = 0; round < 60; ++round) {
    const RandomCase drawn = DrawCase(rng, PlainInTurn(round, 8, 20));
    const Instance& in = drawn.instance;
    AnnealingParams params;
    params.budget = drawn.budget;
    params.seed = static_cast<std::uint64_t>(round);
    params.order = round % 3 == 0 ? OrderMode::kFixed : round % 3 == 1 ? OrderMode::kStaged : OrderMode::kFree;
    params.max_executions = round % 5 == 0 ? 2 : 0;
    CAPTURE(round);
    const SequenceFacts given = EvaluateSequence(in, in.order);
    if (!given.valid) continue;
    BudgetDescent one(in, params), two(in, params);
    one.Start(in.order);
    two.Start(in.order);
    if (given.peak <= params.budget) {
      CHECK(one.plan() == in.order);  // nothing to do
      continue;
    }
    ++tried;
    WorkBudget whole(40'000'000);
    one.Run(whole);
    // In pieces of a turn it takes the same way.
    WorkBudget pieces(80'000'000);
    while (!two.has_plan() && !pieces.Exhausted()) {
      WorkBudget piece(5'000'000);
      two.Run(piece);
      pieces.Spend(piece.spent());
    }
    if (!one.has_plan()) continue;
    ++found;
    const SequenceFacts facts = EvaluateSequence(in, one.plan());
    REQUIRE(facts.valid);
    CHECK(facts.peak <= params.budget);
    CHECK(FollowsOrder(in, one.plan(), params.order != OrderMode::kFree, params.order == OrderMode::kStaged));
    if (params.max_executions > 0)
      for (std::size_t op = 0; op < in.num_ops; ++op)
        CHECK(std::count(one.plan().begin(), one.plan().end(), static_cast<std::int32_t>(op)) <= 2);
    CHECK(two.plan() == one.plan());
  }
  MESSAGE(tried << " descents, " << found << " plans");
  CHECK(found > 4);
}

}  // namespace
}  // namespace ebb::test
