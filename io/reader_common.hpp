// SPDX-License-Identifier: Apache-2.0
//
// What the graph readers share: taking integers and strings off JSON values with messages that say what was wrong, and
// warnings that are said once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quoted.hpp"
#include "io/json_tape.hpp"

namespace ebb {

// What a value is, for messages: "the size of tensor 'a'", "tensor number 3". Put together only when it is needed: a
// file has millions of values and at most one fault.
class What {
 public:
  What(const char* text) : text_(text) {}         // NOLINT: meant to convert
  What(const std::string& text) : text_(text) {}  // NOLINT
  What(std::string_view text, std::string_view name) : text_(text), name_(name), kind_(Kind::kNamed) {}
  What(std::string_view text, std::int64_t number) : text_(text), number_(number), kind_(Kind::kNumbered) {}
  [[nodiscard]] std::string Text() const;

 private:
  enum class Kind { kPlain, kNamed, kNumbered };
  std::string_view text_, name_;
  std::int64_t number_ = 0;
  Kind kind_ = Kind::kPlain;
};

// A whole number. `what` starts the message ("the size of tensor 'a'"). 8.0 counts as whole; 1.5, null, text, and
// anything outside 64 bits do not. Whether negative is allowed is the caller's business. Throws InputError.
[[nodiscard]] std::int64_t WholeNumber(JsonView value, const What& what);
[[nodiscard]] bool Boolean(JsonView value, const What& what);
[[nodiscard]] std::string_view Text(JsonView value, const What& what);
void WantKind(JsonView value, JsonKind kind, const What& what);  // kArray or kObject

// The "version" of the formats that are ours: at most the one that this program knows. `what`: "the file".
void WantVersion(JsonView value, const char* what);

// "null", "an array", "1.5"...: for messages.
[[nodiscard]] std::string Describe(JsonView value);

// Warnings in order of appearance, each said once.
class Warnings {
 public:
  explicit Warnings(std::string prefix) : prefix_(std::move(prefix)) {}
  void Say(const std::string& text);
  // "unknown key 'x' in ops is ignored"
  void UnknownKey(std::string_view key, std::string_view where);
  [[nodiscard]] std::vector<std::string> Take() { return std::move(said_); }

 private:
  std::string prefix_;
  std::vector<std::string> said_;
};

}  // namespace ebb
