// SPDX-License-Identifier: Apache-2.0
#include "cli/format.hpp"

#include <array>
#include <cstdio>

namespace ebb::cli {

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

std::string JsonText(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> buffer;
      std::snprintf(buffer.data(), buffer.size(), "\\u%04x", static_cast<unsigned>(c));
      out += buffer.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
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
