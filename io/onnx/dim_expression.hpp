// SPDX-License-Identifier: Apache-2.0
//
// Dimensions that exporters write as arithmetic over symbolic ones: "4*batch", "(seq - 1)//2 + 1", "Max(1, n)".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ebb {

// The value of `text`: a whole number, a name out of `dims`, or these combined by + - * / // % ( ) Min Max. None where
// a name is not there, a quotient is not whole ("/"), the value is negative or past 2^62, or the text is no expression.
[[nodiscard]] std::optional<std::int64_t> DimValue(std::string_view text,
                                                   const std::map<std::string, std::int64_t>& dims);

}  // namespace ebb
