// SPDX-License-Identifier: Apache-2.0
//
// From a fractional point of a boundary model to one with whole values that obeys its memory rows, and whether the
// sequence decoded from it is one that its part of the graph asks for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bounds/boundary_model.hpp"

namespace ebb {

// What stays in `rounded` (0 or 1 by column), and as much of the rest of x besides as each boundary's memory holds,
// largest fraction first.
void FillUp(const BoundaryModel& model, std::span<const double> x, std::vector<double>& rounded);

// Does the sequence read only what may lie there at its beginning (`entry`, by value), and what is made before it reads
// it? The kept values count as read at its end.
[[nodiscard]] bool BeginsAtEntry(const Instance& instance, std::span<const std::uint8_t> entry,
                                 std::span<const std::int32_t> sequence);

}  // namespace ebb
