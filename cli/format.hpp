// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/readable.hpp"

namespace ebb::cli {

// JSON string with quotes.
[[nodiscard]] std::string JsonText(std::string_view text);
// With <, > and & escaped.
[[nodiscard]] std::string XmlText(const std::string& text);
// TDI: 100 * (duration / base - 1), "0.7892"
[[nodiscard]] std::string Overhead(std::int64_t duration, std::int64_t base);

}  // namespace ebb::cli
