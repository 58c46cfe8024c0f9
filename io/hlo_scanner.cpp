// SPDX-License-Identifier: Apache-2.0
#include "io/hlo_scanner.hpp"

#include <algorithm>

#include "engine/base/status.hpp"
#include "io/reader_common.hpp"

namespace ebb {

void HloScanner::FailAt(TextPosition p, const std::string& what) const {
  throw InputError(file_ + ":" + std::to_string(p.line) + ":" + std::to_string(p.column) + ": " + what);
}

TextPosition HloScanner::Position(std::size_t at) {
  if (at < counted_) {  // rare: a fault in something read before
    std::int64_t line = 1;
    std::size_t start = 0;
    for (std::size_t i = 0; i < at; ++i)
      if (text_[i] == '\n') ++line, start = i + 1;
    return {line, static_cast<std::int64_t>(at - start) + 1};
  }
  for (; counted_ < at; ++counted_)
    if (text_[counted_] == '\n') ++line_, line_start_ = counted_ + 1;
  return {line_, static_cast<std::int64_t>(at - line_start_) + 1};
}

void HloScanner::Skip() {
  while (at_ < text_.size()) {
    if (IsSpace(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) Fail("a comment does not end");
      at_ = end + 2;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

std::string HloScanner::Next() const {
  if (at_ >= text_.size()) return "the end of the text";
  const std::string_view line = text_.substr(at_, 40);
  return Quoted(line.substr(0, line.find('\n')));
}

std::string_view HloScanner::Name(const char* what) {
  Try("%");
  Skip();
  const std::size_t begin = at_;
  if (at_ < text_.size() && (IsNameStart(text_[at_]) || IsDigit(text_[at_])))
    while (at_ < text_.size() && IsNameChar(text_[at_]) && text_.substr(at_, 2) != "->") ++at_;
  if (at_ == begin) Fail(std::string(what) + " is wanted, there is " + Next());
  return text_.substr(begin, at_ - begin);
}

std::string_view HloScanner::Word() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && (IsNameStart(text_[at_]) || IsDigit(text_[at_]))) ++at_;
  return From(begin);
}

std::string_view HloScanner::Balanced(std::string_view stop) {
  const std::size_t begin = at_;
  std::string open;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (open.empty() && stop.find(c) != std::string_view::npos) break;
    if (c == '"') {
      const std::size_t start = at_++;
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      if (at_ >= text_.size()) FailAt(Position(start), "a string does not end");
    } else if (text_.substr(at_, 2) == "/*") {
      Skip();
      continue;
    } else if (c == '(' || c == '{' || c == '[') {
      if (open.size() > 10000) Fail("brackets are nested too deeply");
      open += c == '(' ? ')' : c == '{' ? '}' : ']';
    } else if (c == ')' || c == '}' || c == ']') {
      if (open.empty() || open.back() != c) Fail(std::string("'") + c + "' closes nothing");
      open.pop_back();
    }
    ++at_;
  }
  if (!open.empty()) Fail(std::string("'") + open.back() + "' is missing, there is the end of the text");
  return text_.substr(begin, at_ - begin);
}

std::string_view HloScanner::Value() {
  std::string_view value = Balanced(",\n");
  while (!value.empty() && IsSpace(value.back())) value.remove_suffix(1);
  while (!value.empty() && IsSpace(value.front())) value.remove_prefix(1);
  return value;
}

void HloScanner::Attributes(std::vector<std::pair<std::string_view, std::string_view>>& into) {
  while (!LineEnds(at_)) {
    if (Peek() != ',') {
      if (text_.substr(at_, 1) == "}") return;
      Fail("',' or the end of the line is wanted, there is " + Next());
    }
    ++at_;
    const std::string_view key = Name("an attribute");
    std::string_view value;
    if (at_ < text_.size() && text_[at_] == '=') {
      ++at_;
      value = Value();
    }
    into.emplace_back(key, value);
  }
}

}  // namespace ebb
