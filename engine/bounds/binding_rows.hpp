// SPDX-License-Identifier: Apache-2.0
//
// Thins out the time line of a gap cover: rows within the budget go, and of two neighbouring rows the one whose
// constraint follows from the other's. Row j implies its neighbour i where every gap over j spans i too (none begins or
// ends between them on j's side) and j's demand is no smaller.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/bounds/gaps.hpp"

namespace ebb {

// Ascending.
[[nodiscard]] std::vector<std::int32_t> BindingRows(const GapTable& table, std::int64_t budget);

// For each row 0..num_rows (inclusive) the index in `rows` of the first one at or after it.
[[nodiscard]] std::vector<std::int32_t> RowsAtOrAfter(std::span<const std::int32_t> rows, std::size_t num_rows);

}  // namespace ebb
