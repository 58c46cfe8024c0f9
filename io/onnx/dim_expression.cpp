// SPDX-License-Identifier: Apache-2.0
//
// Recursive descent over  sum = product {(+|-) product}, product = atom {(*|/|//|%) atom}.
#include "io/onnx/dim_expression.hpp"

#include <algorithm>
#include <charconv>

#include "engine/base/int128.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;
constexpr int kMaxDepth = 50;

class Parser {
 public:
  Parser(std::string_view text, const std::map<std::string, std::int64_t>& dims) : text_(text), dims_(dims) {}
  std::optional<std::int64_t> Run() {
    const std::int64_t value = Sum();
    Skip();
    if (bad_ || at_ != text_.size() || value < 0) return std::nullopt;
    return value;
  }

 private:
  void Skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool Try(std::string_view token) {
    Skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  std::int64_t Bad() {
    bad_ = true;
    return 0;
  }
  std::int64_t Fit(Int128 value) { return value < kMost && value > -kMost ? static_cast<std::int64_t>(value) : Bad(); }

  std::int64_t Sum() {
    if (++depth_ > kMaxDepth) return Bad();
    std::int64_t value = Product();
    while (!bad_) {
      if (Try("+"))
        value = Fit(static_cast<Int128>(value) + Product());
      else if (Try("-"))
        value = Fit(static_cast<Int128>(value) - Product());
      else
        break;
    }
    --depth_;
    return value;
  }

  std::int64_t Product() {
    std::int64_t value = Atom();
    while (!bad_) {
      if (Try("*")) {
        value = Fit(static_cast<Int128>(value) * Atom());
        continue;
      }
      const bool floored = Try("//"), exact = !floored && Try("/");
      if (!floored && !exact && !Try("%")) break;
      const std::int64_t by = Atom();
      if (bad_ || by <= 0 || value < 0 || (exact && value % by != 0)) return Bad();
      value = floored || exact ? value / by : value % by;
    }
    return value;
  }

  std::int64_t Atom() {
    Skip();
    if (Try("(")) {
      const std::int64_t value = Sum();
      return Try(")") ? value : Bad();
    }
    const std::size_t begin = at_;
    const auto word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    while (at_ < text_.size() && word(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name.empty()) return Bad();
    if (name[0] >= '0' && name[0] <= '9') {
      std::int64_t value = 0;
      const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), value);
      return code == std::errc() && end == name.data() + name.size() ? Fit(value) : Bad();
    }
    if ((name == "Min" || name == "Max") && Try("(")) {
      std::int64_t value = Sum();
      while (!bad_ && Try(",")) {
        const std::int64_t other = Sum();
        value = name == "Min" ? std::min(value, other) : std::max(value, other);
      }
      return Try(")") ? value : Bad();
    }
    const auto it = dims_.find(std::string(name));
    return it == dims_.end() ? Bad() : Fit(it->second);
  }

  std::string_view text_;
  const std::map<std::string, std::int64_t>& dims_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool bad_ = false;
};

}  // namespace

std::optional<std::int64_t> DimValue(std::string_view text, const std::map<std::string, std::int64_t>& dims) {
  if (const auto it = dims.find(std::string(text)); it != dims.end()) return it->second;
  return Parser(text, dims).Run();
}

}  // namespace ebb
