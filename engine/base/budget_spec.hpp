// SPDX-License-Identifier: Apache-2.0
//
// A memory budget as people write it: bytes, bytes with a unit, or a fraction of a peak.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/units.hpp"

namespace ebb {

struct BudgetSpec {
  enum class Kind { kNone, kBytes, kFraction } kind = Kind::kNone;
  std::int64_t bytes = 0;
  double fraction = 0;
  std::string text;  // as written

  // kBytes: as they are. kFraction: ceil(peak * fraction), the product in double precision as the published
  // experiments do it. Throws InputError where the result leaves 63 bits.
  [[nodiscard]] Bytes Resolve(Bytes no_recompute_peak) const;
};

// "1000000", "8GiB", "1.5 GB", "512MB", "0.8". A plain integer is bytes, a number with a decimal point or exponent and
// no unit a fraction. Units: B, k/M/G/T/P + B (powers of 1000) or + iB (powers of 1024), in either case; a fractional
// number of units is rounded down. Throws InputError that names `what` (the option) and the text.
[[nodiscard]] BudgetSpec ParseBudget(std::string_view text, std::string_view what = "budget");

}  // namespace ebb
