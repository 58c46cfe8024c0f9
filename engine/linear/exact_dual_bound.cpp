// SPDX-License-Identifier: Apache-2.0
#include "engine/linear/exact_dual_bound.hpp"

#include <cmath>
#include <limits>

namespace ebb {

bool ExactDualBound::Evaluate(const IntegerRows& data, std::span<const std::int32_t> rows,
                              std::span<const double> duals, std::span<const std::int64_t> cost,
                              std::span<const std::int8_t> lower, std::span<const std::int8_t> upper, bool ray,
                              double ray_sign) {
  const std::size_t n = cost.size();
  reduced_.assign(n, 0);
  value_ = 0;
  if (!ray)
    for (std::size_t j = 0; j < n; ++j) reduced_[j] = static_cast<Wide>(cost[j]) << kShift;
  // A ray may have any length: bring its largest entry near 2^8 before rounding.
  double factor = std::ldexp(1.0, kShift);
  if (ray) {
    double largest = 0.0;
    for (const double y : duals) largest = std::max(largest, ray_sign * y);
    if (!(largest > 0.0) || !std::isfinite(largest)) return false;
    factor *= std::ldexp(1.0, 8 - std::ilogb(largest));
    ray_sign = ray_sign < 0 ? -1.0 : 1.0;
  } else {
    ray_sign = 1.0;
  }
  // |scaled dual| < 2^80 and |coefficient| < 2^63 need care; below these limits nothing can overflow.
  constexpr double kDualLimit = 0x1p62;
  bool overflow = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = ray_sign * duals[i] * factor;
    if (!(y >= 1.0)) continue;
    Wide scaled = 0;
    if (y < kDualLimit)
      scaled = static_cast<std::int64_t>(y);
    else if (y < 0x1p100)
      scaled = static_cast<Wide>(y);
    else
      return false;
    const std::size_t row = static_cast<std::size_t>(rows[i]);
    Wide term = 0;
    overflow |= __builtin_mul_overflow(scaled, static_cast<Wide>(data.rhs(row)), &term);
    overflow |= __builtin_add_overflow(value_, term, &value_);
    const auto columns = data.columns(row);
    const auto coefficients = data.coefficients(row);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      Wide& r = reduced_[static_cast<std::size_t>(columns[k])];
      overflow |= __builtin_mul_overflow(scaled, static_cast<Wide>(coefficients[k]), &term);
      overflow |= __builtin_sub_overflow(r, term, &r);
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    Wide term = 0;
    overflow |= __builtin_mul_overflow(reduced_[j], static_cast<Wide>(reduced_[j] > 0 ? lower[j] : upper[j]), &term);
    overflow |= __builtin_add_overflow(value_, term, &value_);
  }
  return !overflow;
}

std::int64_t ExactDualBound::RoundedUp(std::int64_t step) const {
  const Wide unit = static_cast<Wide>(step) << kShift;
  Wide quotient = value_ / unit;
  if (quotient * unit < value_) ++quotient;  // division cuts towards zero, which is up for negative values
  const Wide result = quotient * step;
  constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();
  constexpr Wide kMin = std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(result > kMax ? kMax : result < kMin ? kMin : result);
}

}  // namespace ebb
