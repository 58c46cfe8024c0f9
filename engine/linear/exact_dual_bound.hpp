// SPDX-License-Identifier: Apache-2.0
//
// A bound from any dual vector, in integers. For rows A x >= b, a box l <= x <= u of integers and any y >= 0
//
//     cost x  >=  y b + sum over columns of min over the box of (cost - y A) x,
//
// whatever y is and wherever it came from. So the LP's duals are rounded to multiples of 2^-kShift and the right-hand
// side is evaluated in 128-bit integers: the LP's own rounding can weaken the bound, never spoil it (Neumaier and
// Shcherbina 2004 do this with directed rounding; integers are simpler here since all data are integers).
//
// The same numbers give exact reduced costs: with x_j held off the end of its range where its term is least, the bound
// rises by |reduced cost|; where that reaches the incumbent, x_j is fixed at the other end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/linear/integer_rows.hpp"

namespace ebb {

class ExactDualBound {
 public:
  static constexpr int kShift = 44;
  __extension__ using Wide = __int128;

  // `rows[i]` is the row of `data` that duals[i] belongs to; negative duals count as 0. The box holds integers.
  // With `ray` the costs are taken as 0: a value > 0 proves that the box holds no point.
  // False where a number would not fit 128 bits; then there is no bound.
  bool Evaluate(const IntegerRows& data, std::span<const std::int32_t> rows, std::span<const double> duals,
                std::span<const std::int64_t> cost, std::span<const std::int8_t> lower,
                std::span<const std::int8_t> upper, bool ray = false, double ray_sign = 1.0);

  [[nodiscard]] Wide scaled() const { return value_; }  // times 2^kShift
  // The least multiple of `step` >= the value: a bound on every integer point whose cost is a multiple of step.
  [[nodiscard]] std::int64_t RoundedUp(std::int64_t step) const;
  // Scaled reduced costs, as of the last Evaluate.
  [[nodiscard]] std::span<const Wide> reduced() const { return reduced_; }

 private:
  Wide value_ = 0;
  std::vector<Wide> reduced_;
};

}  // namespace ebb
