// SPDX-License-Identifier: Apache-2.0
//
// A plan for the given order in near-linear time: run the ops one after the other; where memory is short, evict what
// pays most, and run again what an op misses. What pays most is judged with known next uses and the row prices of the
// gap cover (engine/bounds/gap_cover_flow): evicting a storage until its next use earns bytes * (sum of prices up to
// there) and costs its makers' durations. Without prices, bytes * distance / duration stands in (Belady with costs).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/bounds/gaps.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

struct EvictionParams {
  std::int64_t budget = 0;          // bytes, with instance.resident_bytes
  std::int32_t max_executions = 0;  // per op; 0: any number
  // Per row of the given order, duration per byte; empty: next uses alone decide.
  std::span<const double> price = {};
};

struct EvictionResult {
  std::vector<std::int32_t> sequence;  // valid for kFixed; empty where none was found
  bool staged = false;                 // and for kStaged
  std::int64_t duration = 0;
  std::int64_t peak = 0;  // may be above the budget: then it is a start for a search, not a plan
};

[[nodiscard]] EvictionResult Evict(const Instance& instance, const EvictionParams& params, WorkBudget& work);

// What making a value again at a row takes under these prices: its op, and for each of the op's inputs that the prices
// do not keep over that row the cheaper of holding it and making it again (three levels deep). For every gap of the
// table, at the gap's end.
[[nodiscard]] std::vector<double> RemakeCosts(const Instance& instance, const GapTable& table,
                                              std::span<const double> price);

}  // namespace ebb
