// SPDX-License-Identifier: Apache-2.0
//
// Plans by dropping gaps, on random graphs with every feature: what is found is a plan in the staged form within budget
// and cap, its duration is the reference evaluation's, no bound is beaten, pruning never makes it longer, and work in
// small pieces gives the same as work in one.
#include "heuristics/gap_drops.hpp"

#include <doctest/doctest.h>

#include "tests/heuristics/gap_cases.hpp"

namespace ebb::test {
namespace {

TEST_CASE("dropping gaps gives staged plans on random graphs") {
  int plans = 0;
  ForEachGapCase("gap drops", [&](const GapCase& c) {
    const GapDropsParams params{c.budget, c.cap};
    GapDrops whole(c.in, params), pieces(c.in, params);
    std::int64_t first = -1;
    for (bool more = true; more;) {
      WorkBudget work(2'000);
      more = whole.Run(work);
      if (!whole.has_plan()) continue;
      ++plans;
      if (first < 0) first = whole.best_duration();
      CHECK(whole.best_duration() <= first);
      CHECK(CheckSequence(c, whole.best_sequence(), true, whole.best_duration()) <= c.budget);
      CheckPlan(c, whole.best_sequence(), true, whole.best_duration());
    }
    WorkBudget all;
    CHECK(!pieces.Run(all));
    CHECK(pieces.best_sequence() == whole.best_sequence());
  });
  CHECK(plans > 100);
}

}  // namespace
}  // namespace ebb::test
