// SPDX-License-Identifier: Apache-2.0
//
// Intermediate results of exact sums of products (bytes times prices, durations times scales).
#pragma once

namespace ebb {

__extension__ typedef __int128 Int128;

// a / b rounded up or down; b > 0.
[[nodiscard]] constexpr Int128 FloorDiv(Int128 a, Int128 b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
[[nodiscard]] constexpr Int128 CeilDiv(Int128 a, Int128 b) { return -FloorDiv(-a, b); }

}  // namespace ebb
