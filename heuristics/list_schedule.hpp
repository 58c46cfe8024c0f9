// SPDX-License-Identifier: Apache-2.0
//
// Orders for the free mode, one execution an op, by list scheduling: always one of the ops whose inputs are there.
//   kDepthFirst    the op that became ready last: chains are followed to their end;
//   kLeastMemory   the op that adds least to what is resident, its outputs less the inputs that nobody else waits for.
//   kBreadth       the op that became ready first: a bad order for memory, for the diversity of starts.
// Near-linear: a heap with late corrections; an op's gain changes only when one of its inputs loses its last other
// reader. In-place ops wait for the other readers of what they overwrite; where that makes a ring (an order that needs
// a repeat) the given order is the answer.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

enum class ListRule { kDepthFirst, kLeastMemory, kBreadth };

// Op -> ops that must come first: makers of its inputs, and for what it overwrites all other readers of that storage.
[[nodiscard]] Csr<std::int32_t> WaitsFor(const Instance& instance);

// A valid sequence; `seed` other than 0 breaks ties at random, else by rank.
[[nodiscard]] std::vector<std::int32_t> ListSchedule(const Instance& instance, ListRule rule, std::uint64_t seed = 0);

}  // namespace ebb
