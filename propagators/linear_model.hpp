// SPDX-License-Identifier: Apache-2.0
//
// A 0/1 program over literals: column j is 1 where literal column[j] is true. LinearRows propagates its rows,
// LinearRelaxation keeps the LP over them; both read the one store, so that a cut found by the LP propagates too.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/literal.hpp"
#include "engine/linear/integer_rows.hpp"

namespace ebb {

struct LinearModel {
  std::vector<core::Lit> column;
  std::vector<std::int64_t> cost;  // >= 0, minimised
  IntegerRows rows;                // sum of coefficient * column >= rhs; all hold in every solution; only appended to
};

}  // namespace ebb
