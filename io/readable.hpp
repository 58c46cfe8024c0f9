// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people, in reports and on the command line.
#pragma once

#include <cstdint>
#include <string>

namespace ebb {

// 8589934592 -> "8.00 GiB"; below 10 KiB "1234 B".
[[nodiscard]] std::string ReadableBytes(std::int64_t bytes);
// printf's %.*f
[[nodiscard]] std::string Fixed(double value, int digits);

}  // namespace ebb
