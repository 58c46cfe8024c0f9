// SPDX-License-Identifier: Apache-2.0
//
// Eviction by prices on random graphs with every feature: what it returns is a valid sequence in the staged form, its
// figures are the reference evaluation's, and no plan of it beats the bound that guided it.
#include "heuristics/priced_plans.hpp"

#include <doctest/doctest.h>

#include "tests/heuristics/gap_cases.hpp"

namespace ebb::test {
namespace {

TEST_CASE("eviction by prices gives valid staged sequences on random graphs") {
  int sequences = 0, plans = 0;
  ForEachGapCase("priced plans", [&](const GapCase& c) {
    WorkBudget work;
    const auto check = [&](const EvictionResult& r) {
      ++sequences;
      CHECK(CheckSequence(c, r.sequence, r.staged, r.duration) == r.peak);
      // Only a value that was taken over twice for one reader takes a second round and leaves the staged form.
      if (c.in.plain) CHECK(r.staged);
      if (r.peak > c.budget) return;
      ++plans;
      CheckPlan(c, r.sequence, r.staged, r.duration);
    };
    PlanWithoutPrices(c.in, c.budget, c.cap, work, check);
    PlanByPrices(c.in, c.table, c.budget, c.bound, 3, c.cap, work, check);
  });
  CHECK(sequences > 200);
  CHECK(plans > 50);
}

}  // namespace
}  // namespace ebb::test
