// SPDX-License-Identifier: Apache-2.0
//
// Which ops of a plan a neighbourhood sets free, and in which window (neighbourhood.hpp). Kinds:
//   hot       that run again near a place with little room, or whose values lie across it
//   closure   that run again and read each other's values
//   size      that run again or lie across a place, of one size class
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/random.hpp"
#include "portfolio/neighbourhood.hpp"

namespace ebb {

enum class FreeKind : std::uint8_t { kHot, kClosure, kSize };

struct FreeOps {
  std::int64_t begin = 0, end = 0;  // the window, places
  std::vector<std::uint8_t> free;   // per op
  std::size_t count = 0;            // that are
};

// About `count` of them. The plan must have repeats and at least three places.
FreeOps ChooseFreeOps(const Instance& instance, std::int64_t budget, const PlanView& plan, FreeKind kind,
                      std::size_t count, QuickRandom& random);

}  // namespace ebb
