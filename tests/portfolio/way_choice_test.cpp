// SPDX-License-Identifier: Apache-2.0
// Who works next: ways by what they gain, and a worker's part of its lane.
#include "portfolio/way_choice.hpp"

#include <array>

#include <doctest/doctest.h>

#include "portfolio/lane_part.hpp"

namespace ebb::test {
namespace {

constexpr Ticks kTurn = 10'000'000;

// The work of each way in `turns` turns where way `good` alone gains.
std::array<Ticks, 3> Share(WayChoice& ways, std::array<std::uint8_t, 3> sensible, std::size_t good, int turns) {
  std::array<Ticks, 3> work{};
  for (int i = 0; i < turns; ++i) {
    const std::size_t way = ways.Next(sensible);
    const Ticks ticks = way == 1 ? 3 * kTurn : kTurn;  // by work, not by turns
    ways.Book(way, way == good ? 1.0 : 0.0, ticks);
    work[way] += ticks;
  }
  return work;
}

TEST_CASE("ways: most of the work for the one that gains, a little for each") {
  WayChoice ways(3);
  Share(ways, {1, 1, 1}, 2, 500);
  const std::array<Ticks, 3> work = Share(ways, {1, 1, 1}, 2, 1000);
  CHECK(work[2] > 3 * (work[0] + work[1]) / 2);
  CHECK(work[0] > work[2] / 20);
  CHECK(work[1] > work[2] / 20);
  // When its time is over the next one has it.
  Share(ways, {1, 1, 1}, 0, 500);
  const std::array<Ticks, 3> then = Share(ways, {1, 1, 1}, 0, 1000);
  CHECK(then[0] > 3 * (then[1] + then[2]) / 2);
}

TEST_CASE("ways: one that made no sense for a while makes up for nothing") {
  WayChoice ways(3);
  const std::array<Ticks, 3> without = Share(ways, {1, 0, 1}, 3, 1000);
  CHECK(without[1] == 0);
  const std::array<Ticks, 3> with = Share(ways, {1, 1, 1}, 3, 100);  // nobody gains: the same for all
  CHECK(with[1] < with[0] + 5 * kTurn);
  CHECK(with[0] < with[1] + 5 * kTurn);
}

// A lane of turns of 20 million ticks; the worker's steps take `step`. Its share of `total`. Somebody gains a tenth of
// what is left in each step.
double Part(LanePart& part, Ticks& clock, Ticks step, Ticks total, bool mine, bool gains) {
  static constexpr Ticks kSlice = 20'000'000;
  const Ticks end = clock + total;
  std::int64_t best = 1'000'000'000'000;
  Ticks own = 0;
  while (clock < end) {
    part.Note(clock, best, mine, best);
    const bool due = part.due();
    if (gains && (!mine || due)) best -= best / 10;
    if (due) {
      part.Spend(step);
      own += step;
    }
    clock += due ? step : LanePart::kWait + kSlice;
  }
  return static_cast<double>(own) / static_cast<double>(total);
}

TEST_CASE("lane part: by gains, also where steps are long") {
  for (const Ticks step : {Ticks{20'000'000}, Ticks{200'000'000}}) {
    CAPTURE(step);
    LanePart idle, winner, loser;
    Ticks a = 0, b = 0, c = 0;
    const double even = Part(idle, a, step, 4'000'000'000, true, false);
    CHECK(even > 0.2);
    CHECK(even < 0.3);
    Part(idle, a, step, 26'000'000'000, true, false);
    CHECK(Part(idle, a, step, 30'000'000'000, true, false) < 0.03);  // nobody gains for long
    CHECK(Part(winner, b, step, 20'000'000'000, true, true) > 0.5);
    CHECK(Part(loser, c, step, 5'000'000'000, false, true) < 0.1);
    // Nobody gains any more: the worker waits no longer than its step is worth at the part that is fair now.
    CHECK(Part(loser, c, step, 4'000'000'000, false, false) > 0.12);
    CHECK(loser.others_gained() < c);
  }
}

}  // namespace
}  // namespace ebb::test
