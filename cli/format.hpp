// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace ebb::cli {

// 8589934592 -> "8.00 GiB"; below 10 KiB "1234 B".
[[nodiscard]] std::string ReadableBytes(std::int64_t bytes);
// printf's %.*f
[[nodiscard]] std::string Fixed(double value, int digits);
// JSON string with quotes.
[[nodiscard]] std::string JsonText(const std::string& text);
// With <, > and & escaped.
[[nodiscard]] std::string XmlText(const std::string& text);
// TDI: 100 * (duration / base - 1), "0.7892"
[[nodiscard]] std::string Overhead(std::int64_t duration, std::int64_t base);

}  // namespace ebb::cli
