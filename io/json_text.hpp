// SPDX-License-Identifier: Apache-2.0
//
// Pieces of JSON text for the writers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ebb {

// `text` with quotes and escapes, appended to `out`. Names come from JSON or other UTF-8 files; bytes that are not
// valid UTF-8 are written as they are.
void AppendJsonString(std::string& out, std::string_view text);
// Whole and shortest sequences, no surrogates: as JSON parsers want it.
[[nodiscard]] bool IsUtf8(std::string_view text);
void AppendInteger(std::string& out, std::int64_t value);
// The shortest text that reads back as the same double, always with a point or an exponent. Finite values only.
void AppendReal(std::string& out, double value);

}  // namespace ebb
