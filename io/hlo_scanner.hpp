// SPDX-License-Identifier: Apache-2.0
//
// HLO text as a row of tokens: blanks and comments, names, brackets that belong together, lists of attributes, and
// where all of it stands. What the tokens mean is hlo_text.cpp's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json_stream.hpp"

namespace ebb {

class HloScanner {
 public:
  // Both must outlive the scanner. `file` stands in front of every message.
  HloScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  // Past blanks and comments, to where the next token starts.
  void Skip();
  [[nodiscard]] char Peek() {
    Skip();
    return Here();
  }
  [[nodiscard]] char Here() const { return at_ < text_.size() ? text_[at_] : '\0'; }  // blanks included
  [[nodiscard]] bool AtEnd() const { return at_ >= text_.size(); }
  // Takes the token, where it comes next.
  bool Try(std::string_view token) {
    Skip();
    if (Rest().substr(0, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void Want(std::string_view token, const char* where) {
    if (!Try(token)) Fail("'" + std::string(token) + "' is wanted " + where + ", there is " + Next());
  }
  // A name, without its percent sign. `what` is said where there is none.
  std::string_view Name(const char* what);
  // Letters and digits only, without a look at blanks; may be empty.
  std::string_view Word();
  // Up to one of `stop` outside of brackets and strings.
  std::string_view Balanced(std::string_view stop);
  // ", key=value, key=value" up to the end of the line. A flag may stand without a value.
  void Attributes(std::vector<std::pair<std::string_view, std::string_view>>& into);

  [[nodiscard]] std::string_view Rest() const { return text_.substr(at_); }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string_view From(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  void Move(std::size_t to) { at_ = to; }
  // Only blanks and a comment up to the end of the line?
  [[nodiscard]] bool LineEnds(std::size_t from) const {
    const std::size_t end = text_.find_first_not_of(" \t\r", from);
    return end == std::string_view::npos || text_[end] == '\n' || text_.substr(end, 2) == "//";
  }

  // What comes next, for messages.
  [[nodiscard]] std::string Next() const;
  [[nodiscard]] TextPosition Position(std::size_t at);
  [[noreturn]] void Fail(const std::string& what) { FailAt(Position(at_), what); }
  [[noreturn]] void FailAt(TextPosition p, const std::string& what) const;

  [[nodiscard]] static bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  [[nodiscard]] static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  [[nodiscard]] static bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  [[nodiscard]] static bool IsNameChar(char c) {
    return IsNameStart(c) || IsDigit(c) || c == '.' || c == '-' || c == '$' || c == ':';
  }

 private:
  std::string_view Value();

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0, line_start_ = 0;  // lines are counted as positions are asked for, in ascending order
  std::int64_t line_ = 1;
};

}  // namespace ebb
