// SPDX-License-Identifier: Apache-2.0
//
// Covering a time line by intervals, as a linear program:
//
//   minimise sum of cost * y   subject to  0 <= y <= capacity  per interval,
//   and per row the y of the intervals that span it sum to at least its demand.
//
// The rows have consecutive ones, so the difference of neighbouring rows is a flow: node i between rows i - 1 and i, an
// arc begin -> end per interval, free return arcs i + 1 -> i. The dual is one price per row. This header keeps to
// C++17: LEMON's headers, behind it, need that.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/work_budget.hpp"

namespace ebb {

struct TimelineInterval {
  std::int32_t begin, end;  // rows [begin, end), not empty
  std::int64_t capacity;    // >= 0
  std::int64_t cost;        // per unit of y, >= 0; sum over rows of the largest cost stays below 2^60
};

struct TimelineCover {
  std::vector<std::int64_t> price;  // per row, >= 0, in cost units
  std::vector<std::int64_t> y;      // per interval
};

enum class CoverOutcome {
  kOptimal,
  kShortage,  // some row's demand exceeds the capacities that span it
  kStopped,   // the work is used up, or somebody wants an end; nothing is filled in
};

// Demands are >= 0. Exact integers. Spends what the simplex does, counted, and looks at the clock all the time: on
// layered graphs of 100,000 ops one call takes seconds.
[[nodiscard]] CoverOutcome CoverTimeline(const std::vector<std::int64_t>& demand,
                                         const std::vector<TimelineInterval>& intervals, WorkBudget& work,
                                         TimelineCover& cover);

}  // namespace ebb
