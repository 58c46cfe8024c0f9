// SPDX-License-Identifier: Apache-2.0
//
// Where the given order falls apart. Between two positions that no value is carried across, nothing that ran before is
// of any use after, so in fixed and staged order a plan is optimal exactly if its stretches are (independent
// microbatches, unrolled steps without shared state). A value that is kept for the end is carried across all that
// follows.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

struct Stretch {
  std::int32_t begin, end;  // positions [begin, end)
};

// All of them, in order; one that is everything where the order does not fall apart. Linear.
[[nodiscard]] std::vector<Stretch> IndependentStretches(const Instance& instance);

// A stretch as an instance of its own: op i is the op at position begin + i, so its order is 0, 1, 2, ...
[[nodiscard]] Instance TakeStretch(const Instance& instance, const Stretch& stretch);

}  // namespace ebb
