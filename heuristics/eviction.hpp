// SPDX-License-Identifier: Apache-2.0
//
// The quick first plan: run the given order, and where memory is short evict what is cheap to make again, large, and
// not needed for long: least cost / (size * distance to its next use), which the order makes known (Belady's rule with
// the weights of DTR, Kirisame et al. 2021). What an op misses is made again on the spot, recursively; what was made
// again stays as long as the budget allows, since the next readers usually stand close by.
//
// Near-linear: resident values sit in heaps by next use, one heap per class of cost / size (factors of two), so that
// finding the least score looks at the tops of at most kClasses heaps and never at all that is resident.
//
// Values that in-place ops take over, what carries costly views that are still needed, and what may not run again are
// never evicted; ops that take storage over are never repeated.
//
// The result is valid for the instance; it fits the budget where `fits` says so. On layered graphs the recursion
// thrashes (no plan for RL n = 250 at 0.9): `max_repeats` stops it and what is left over the budget is local search's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

struct EvictionParams {
  std::int64_t budget = 0;      // bytes, with resident_bytes
  double distance_power = 1.0;  // 0: the next use does not count
  double cost_power = 1.0;
  std::int64_t max_repeats = 0;     // 0: 3 * number of ops + 100
  std::int32_t max_executions = 0;  // per op; 0: any number
  // The order of first executions; empty: the instance's.
  std::span<const std::int32_t> order = {};
};

struct EvictedSequence {
  std::vector<std::int32_t> sequence;
  bool fits = false;
  std::int64_t duration = 0, peak = 0;
};

[[nodiscard]] EvictedSequence Evict(const Instance& instance, const EvictionParams& params);

}  // namespace ebb
