// SPDX-License-Identifier: Apache-2.0
//
// Plans by searching backwards, on random graphs: what is found is a plan of the order asked for within the budget, its
// duration is the reference evaluation's, no bound is beaten, work in small pieces gives the same as work in one, and
// hardly ever is none found where exhaustive search says that there is one. Where it says that there is none, there is
// none in free order.
#include "heuristics/backward_plans.hpp"

#include <doctest/doctest.h>

#include "heuristics/state_search.hpp"
#include "tests/heuristics/gap_cases.hpp"

namespace ebb::test {
namespace {

TEST_CASE("searching backwards gives plans on random graphs") {
  int plans = 0, missed = 0, proofs = 0;
  ForEachGapCase("backward plans", [&](const GapCase& c) {
    if (!c.in.plain || c.cap > 0) return;
    for (const bool staged : {false, true}) {
      const BackwardPlansParams params{c.budget, staged, 7};
      BackwardPlans whole(c.in, params), pieces(c.in, params);
      bool any = false;
      while (whole.attempts() < 12 && whole.impossible() < -1) {
        WorkBudget all;
        const bool found = whole.Run(all);
        bool piece = false;
        while (pieces.attempts() < whole.attempts() && pieces.impossible() < -1) {
          WorkBudget little(100);
          piece = pieces.Run(little);
        }
        REQUIRE(piece == found);
        if (!found) continue;
        any = true;
        ++plans;
        CHECK(pieces.sequence() == whole.sequence());
        CHECK(CheckSequence(c, whole.sequence(), staged, whole.duration()) <= c.budget);
        CheckPlan(c, whole.sequence(), staged, whole.duration());
      }
      if (whole.impossible() >= -1) ++proofs;
      CHECK((!any || whole.impossible() < -1));
      if (any || c.in.num_ops > 11) continue;
      const auto exists = [&](OrderMode order) {
        WorkBudget work(200'000'000);
        return SearchStates(c.in, c.budget, order, 0, work).status == SolveStatus::kOptimal;
      };
      if (whole.impossible() >= -1)
        CHECK(!exists(OrderMode::kFree));
      else
        missed += exists(staged ? OrderMode::kStaged : OrderMode::kFixed);
    }
  });
  CHECK(plans > 100);
  CHECK(proofs > 30);
  CHECK(50 * missed <= plans);
}

}  // namespace
}  // namespace ebb::test
