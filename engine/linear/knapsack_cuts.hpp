// SPDX-License-Identifier: Apache-2.0
//
// Cutting planes of one knapsack row (a memory row: the bytes kept at one moment fit the budget), as integer rows.
//
//  covers   a set of columns that cannot all be 1, made minimal, lifted by Balas' rule: a column outside that weighs as
//           much as the h heaviest of the cover counts h times (Balas 1975, "Facets of the knapsack polytope").
//  rounding the row is turned so that the columns count what is dropped, divided by one of its coefficients and rounded
//           (mixed-integer rounding, Marchand and Wolsey 2001), on the columns' complements.
//
// Columns fixed at 0 or 1 by `lower`/`upper` that hold everywhere strengthen both.
#pragma once

#include <cstdint>
#include <span>

#include "engine/linear/integer_rows.hpp"

namespace ebb {

// Appends to `out` what row `row` of `data` yields that x violates by more than `tolerance` (relative to the row's
// length). The row's columns are 0/1 within the given bounds. Rows of any signs.
void SeparateKnapsack(const IntegerRows& data, std::size_t row, std::span<const double> x,
                      std::span<const std::int8_t> lower, std::span<const std::int8_t> upper, double tolerance,
                      IntegerRows& out);

}  // namespace ebb
