// SPDX-License-Identifier: Apache-2.0
#include "io/reader_common.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/base/status.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxWarnings = 50;  // a hostile file may hold a million unknown keys

std::string Shortest(double d) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.15g", d);
  return buffer;
}

}  // namespace

std::string Describe(JsonView value) {
  switch (value.kind()) {
    case JsonKind::kNull: return "null";
    case JsonKind::kBool: return value.boolean() ? "true" : "false";
    case JsonKind::kInteger: return std::to_string(value.integer());
    case JsonKind::kReal: return Shortest(value.real());
    case JsonKind::kString: return "the text " + Quoted(value.text());
    case JsonKind::kArray: return "an array";
    case JsonKind::kObject: return "an object";
  }
  return "unknown";
}

std::string What::Text() const {
  std::string out(text_);
  if (kind_ == Kind::kNamed) out += " " + Quoted(name_);
  if (kind_ == Kind::kNumbered) out += " " + std::to_string(number_);
  return out;
}

std::int64_t WholeNumber(JsonView value, const What& what) {
  if (value.is(JsonKind::kInteger)) return value.integer();
  if (!value.is(JsonKind::kReal))
    throw InputError(what.Text() + " is " + Describe(value) + ", a whole number is wanted");
  const double d = value.real();
  if (!(std::fabs(d) < 0x1p63)) throw InputError(what.Text() + " is " + Shortest(d) + ", past 2^63-1");
  if (d != std::trunc(d))
    throw InputError(what.Text() + " is " + Shortest(d) + ", a fraction; a whole number is wanted");
  if (std::fabs(d) > 0x1p53)
    throw InputError(what.Text() + " is " + Shortest(d) + ", written as a fraction and too large to be exact");
  return static_cast<std::int64_t>(d);
}

bool Boolean(JsonView value, const What& what) {
  if (!value.is(JsonKind::kBool))
    throw InputError(what.Text() + " is " + Describe(value) + ", true or false is wanted");
  return value.boolean();
}

std::string_view Text(JsonView value, const What& what) {
  if (!value.is(JsonKind::kString)) throw InputError(what.Text() + " is " + Describe(value) + ", a string is wanted");
  return value.text();
}

void WantKind(JsonView value, JsonKind kind, const What& what) {
  if (value.is(kind)) return;
  throw InputError(what.Text() + " is " + Describe(value) + ", an " + (kind == JsonKind::kArray ? "array" : "object") +
                   " is wanted");
}

void WantVersion(JsonView value, const char* what) {
  const std::int64_t version = WholeNumber(value, "\"version\"");
  if (version > kVersion)
    throw InputError(std::string(what) + " has version " + std::to_string(version) + ", newer than the " +
                     std::to_string(kVersion) + " that this program reads");
  if (version < 1) throw InputError("\"version\" is " + std::to_string(version) + ", at least 1 is wanted");
}

void Warnings::Say(const std::string& text) {
  const std::string line = prefix_ + text;
  if (said_.size() > kMaxWarnings || std::find(said_.begin(), said_.end(), line) != said_.end()) return;
  said_.push_back(said_.size() == kMaxWarnings ? prefix_ + "more warnings are left out" : line);
}

void Warnings::UnknownKey(std::string_view key, std::string_view where) {
  Say("unknown key " + Quoted(key) + " in " + std::string(where) + " is ignored");
}

}  // namespace ebb
