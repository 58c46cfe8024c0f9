// SPDX-License-Identifier: Apache-2.0
//
// From a fractional point of a boundary model to one with whole values that obeys its memory rows.
#pragma once

#include <span>
#include <vector>

#include "engine/bounds/boundary_model.hpp"

namespace ebb {

// What stays in `rounded` (0 or 1 by column), and as much of the rest of x besides as each boundary's memory holds,
// largest fraction first.
void FillUp(const BoundaryModel& model, std::span<const double> x, std::vector<double>& rounded);

}  // namespace ebb
