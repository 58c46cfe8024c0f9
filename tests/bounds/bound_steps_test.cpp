// SPDX-License-Identifier: Apache-2.0
//
// Ceilings: half way up, down again where no answer comes, at the incumbent near the end.
#include "engine/bounds/bound_steps.hpp"

#include <doctest/doctest.h>

namespace {
constexpr std::int64_t kBase = 1'000'000;
}

TEST_CASE("there is no ceiling without an incumbent") {
  ebb::BoundSteps steps({}, kBase);
  steps.Begin(kBase, ebb::BoundSteps::kNone);
  CHECK(steps.ceiling() == ebb::BoundSteps::kNone);
  steps.Begin(kBase, kBase + 1000);
  CHECK(steps.ceiling() == kBase + 500);
}

TEST_CASE("half way, lower where no answer comes, never above one that had none") {
  ebb::BoundSteps steps({}, kBase);
  steps.Begin(kBase, kBase + 1000);
  CHECK_FALSE(steps.OutOfPatience(kBase, kBase + 1000));
  steps.Spend(10'000'000'000);
  CHECK(steps.OutOfPatience(kBase, kBase + 1000));
  steps.Lower(kBase, kBase + 1000);
  CHECK(steps.ceiling() == kBase + 250);
  CHECK_FALSE(steps.OutOfPatience(kBase, kBase + 1000));
  steps.Spend(10'000'000'000);
  CHECK_FALSE(steps.OutOfPatience(kBase, kBase + 1000));  // a quarter more
  steps.Raise(kBase + 250, kBase + 1000, true);
  CHECK(steps.ceiling() == kBase + 437);  // a quarter of what is left
}

TEST_CASE("what a model that was not refined proves is followed by one search up to the incumbent") {
  ebb::BoundSteps steps({}, kBase);
  steps.Begin(kBase, kBase + 1000);
  steps.Raise(kBase + 500, kBase + 1000, false);
  CHECK(steps.ceiling() == kBase + 1000);
  steps.Raise(kBase + 600, kBase + 1000, false);  // (of a better plan since)
  CHECK(steps.ceiling() == kBase + 800);
}

TEST_CASE("near the incumbent one search goes up to it, refined or not") {
  for (const bool refined : {false, true}) {
    ebb::BoundSteps steps({}, kBase);
    steps.Begin(kBase, kBase + 1000);
    steps.Raise(kBase + 880, kBase + 1000, true);
    CHECK(steps.ceiling() == kBase + 940);
    steps.Raise(kBase + 920, kBase + 1000, refined);
    CHECK(steps.ceiling() == kBase + 1000);
    steps.Raise(kBase + 930, kBase + 1000, refined);
    CHECK(steps.ceiling() == kBase + 1000);
    // It has patience, but not without end unless it is nearly there, and what is known by then is not asked again.
    steps.Spend(119'000'000'000);
    CHECK_FALSE(steps.OutOfPatience(kBase + 930, kBase + 1000));
    steps.Spend(2'000'000'000'000);
    CHECK(steps.OutOfPatience(kBase + 930, kBase + 1000));
    CHECK_FALSE(steps.OutOfPatience(kBase + 991, kBase + 1000));
  }
}

TEST_CASE("where the first bound is near the incumbent there are no half ways") {
  ebb::BoundSteps steps({}, kBase);
  steps.Begin(kBase + 920, kBase + 1000);
  CHECK(steps.ceiling() == kBase + 1000);
}
