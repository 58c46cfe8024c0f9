// SPDX-License-Identifier: Apache-2.0
//
// Budgets that no plan can meet, in any order and with any number of reruns. (For the given order see also
// GapTable::floor.) Never above the true least feasible budget.
//
//   single op   an op's inputs, outputs and moment have to be there together.
//   last input  just before an op runs all its inputs are there; the one made last was made beside the others.
//   end         the graph outputs are there together.
//   pebbling    the last-input step repeated backwards: a set of values that must be there at once has a last made one,
//               before which the others and that op's inputs must have been there, and so on back to nothing.
#pragma once

#include <cstdint>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

struct MemoryFloor {
  enum class Kind { kSingleOp, kLastInput, kEnd, kPebbling };
  std::int64_t bytes = 0;  // no plan has a lower peak (graph inputs included)
  Kind kind = Kind::kSingleOp;
  std::int32_t op = -1;    // whose inputs cause it; -1: the end of the plan
  std::int32_t last = -1;  // kLastInput: the op that makes the last input
};

inline constexpr Ticks kDefaultPebblingTicks = 20'000'000;

// Single op, last input and end: linear. Pebbling: best first, until `pebbling` ticks are spent (0: not at all); a
// search that stops early still counts with what it has excluded. With `enough` given the question is only whether the
// floor is above it: quicker, the search ends once it is, and otherwise bytes may be any valid floor. Repeatable.
[[nodiscard]] MemoryFloor ComputeFloor(const Instance& instance, Ticks pebbling = kDefaultPebblingTicks,
                                       std::int64_t enough = INT64_MAX, const StopSignal* stop = nullptr);

}  // namespace ebb
