// SPDX-License-Identifier: Apache-2.0
#include "io/readable.hpp"

#include <array>
#include <cstdio>

namespace ebb {

std::string Fixed(double value, int digits) {
  std::array<char, 400> buffer;
  const int n = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return std::string(buffer.data(), static_cast<std::size_t>(n));
}

std::string ReadableBytes(std::int64_t bytes) {
  if (bytes < 10240) return std::to_string(bytes) + " B";
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return Fixed(value, 2) + " " + kUnits[unit];
}

}  // namespace ebb
