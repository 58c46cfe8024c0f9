// SPDX-License-Identifier: Apache-2.0
#include "cli/format.hpp"

#include "io/json_text.hpp"

namespace ebb::cli {

std::string JsonText(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

std::string XmlText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

std::string Overhead(std::int64_t duration, std::int64_t base) {
  if (base == 0) return duration == 0 ? "0.0000" : "inf";
  return Fixed(100.0 * (static_cast<double>(duration) / static_cast<double>(base) - 1), 4);
}

}  // namespace ebb::cli
