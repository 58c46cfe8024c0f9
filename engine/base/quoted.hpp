// SPDX-License-Identifier: Apache-2.0
//
// Names in messages. A name comes from a file and may hold anything; a message is one line of bearable length.
#pragma once

#include <string>
#include <string_view>

namespace ebb {

// In single quotes; control characters become '?', what passes 100 bytes is left out (whole UTF-8 characters).
[[nodiscard]] inline std::string Quoted(std::string_view name) {
  constexpr std::size_t kMost = 100;
  std::string out = "'";
  for (const char c : name.substr(0, kMost)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (name.size() > kMost) {
    while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (out.size() > 1 && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
    out += "...";
  }
  return out + "'";
}

}  // namespace ebb
