// SPDX-License-Identifier: Apache-2.0
#include "engine/base/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <vector>

namespace ebb {
namespace {

template <std::size_t N>
struct Name {  // "time_limit" -> "time-limit", at compile time
  char text[N];
  constexpr explicit Name(const char (&member)[N]) : text{} {
    for (std::size_t i = 0; i < N; ++i) text[i] = member[i] == '_' ? '-' : member[i];
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

// Separators of "a|b|c". A function, since naming a literal twice need not give the same address.
constexpr std::size_t Bars(std::string_view choices) {
  return static_cast<std::size_t>(std::count(choices.begin(), choices.end(), '|'));
}

// clang-format off
#define EBB_SWITCH(member, def, help) constexpr Name kName_##member(#member);
#define EBB_INTEGER(member, def, lo, hi, help) constexpr Name kName_##member(#member);
#define EBB_REAL(member, def, lo, hi, help) constexpr Name kName_##member(#member);
#define EBB_CHOICE(member, type, def, choices, help) constexpr Name kName_##member(#member);
#define EBB_BUDGET(member, help) constexpr Name kName_##member(#member);
#include "engine/base/options.def"
#undef EBB_SWITCH
#undef EBB_INTEGER
#undef EBB_REAL
#undef EBB_CHOICE
#undef EBB_BUDGET

constexpr auto kTable = std::to_array<OptionInfo>({
#define EBB_SWITCH(member, def, help) {kName_##member.view(), OptionType::kSwitch, def ? 1.0 : 0.0, 0, 1, "", help},
#define EBB_INTEGER(member, def, lo, hi, help) \
  {kName_##member.view(), OptionType::kInteger, static_cast<double>(def), static_cast<double>(lo), static_cast<double>(hi), "", help},
#define EBB_REAL(member, def, lo, hi, help) {kName_##member.view(), OptionType::kReal, def, lo, hi, "", help},
#define EBB_CHOICE(member, type, def, choices, help) \
  {kName_##member.view(), OptionType::kChoice, static_cast<double>(static_cast<int>(type::def)), 0, \
   static_cast<double>(Bars(choices)), choices, help},
#define EBB_BUDGET(member, help) {kName_##member.view(), OptionType::kBudget, 0, 0, 0, "", help},
#include "engine/base/options.def"
#undef EBB_SWITCH
#undef EBB_INTEGER
#undef EBB_REAL
#undef EBB_CHOICE
#undef EBB_BUDGET
});
// clang-format on
static_assert(std::is_sorted(kTable.begin(), kTable.end(), [](auto& a, auto& b) { return a.name < b.name; }));
static_assert(kTable.size() <= 64, "Options::was_set_ has a bit a row");

std::size_t Find(std::string_view name) {
  const auto it = std::lower_bound(kTable.begin(), kTable.end(), name,
                                   [](const OptionInfo& a, std::string_view b) { return a.name < b; });
  if (it == kTable.end() || it->name != name) throw OptionError("unknown option '" + std::string(name) + "'");
  return static_cast<std::size_t>(it - kTable.begin());
}

std::vector<std::string_view> Split(std::string_view choices) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t bar = choices.find('|');
    out.push_back(choices.substr(0, bar));
    if (bar == std::string_view::npos) return out;
    choices.remove_prefix(bar + 1);
  }
}

std::string Number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 9e18) return std::to_string(static_cast<std::int64_t>(value));
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

std::string Range(const OptionInfo& row) {
  if (row.type == OptionType::kInteger && row.hi > 9e18) return "from " + Number(row.lo);
  return Number(row.lo) + " to " + Number(row.hi);
}

// Set one member from text; the overload follows the member's type.
struct Setter {
  const OptionInfo& row;
  std::string_view text;

  [[noreturn]] void Fail(const std::string& expected) const {
    throw OptionError(std::string(row.name) + " '" + std::string(text) + "': expected " + expected);
  }
  template <class T>
  void ParseNumber(T& member, const char* kind) const {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) Fail(std::string(kind) + " " + Range(row));
    const double d = static_cast<double>(value);
    if (!(d >= row.lo && d <= row.hi)) Fail(std::string(kind) + " " + Range(row));
    member = value;
  }
  void operator()(bool& member) const {
    if (text == "1" || text == "true" || text == "on" || text == "yes") {
      member = true;
    } else if (text == "0" || text == "false" || text == "off" || text == "no") {
      member = false;
    } else {
      Fail("true or false");
    }
  }
  void operator()(std::int64_t& member) const { ParseNumber(member, "a whole number"); }
  void operator()(double& member) const { ParseNumber(member, "a number"); }
  void operator()(BudgetSpec& member) const {
    try {
      member = ParseBudget(text, row.name);
    } catch (const InputError& e) {
      throw OptionError(e.what());
    }
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(E& member) const {
    const auto names = Split(row.choices);
    const auto it = std::find(names.begin(), names.end(), text);
    if (it == names.end()) Fail(std::string(row.choices));
    member = static_cast<E>(it - names.begin());
  }
};

struct Getter {
  const OptionInfo& row;
  std::string operator()(bool member) const { return member ? "true" : "false"; }
  std::string operator()(std::int64_t member) const {
    const double d = static_cast<double>(member);
    return d < row.lo || d > row.hi ? std::string() : std::to_string(member);
  }
  std::string operator()(double member) const { return Number(member); }
  std::string operator()(const BudgetSpec& member) const { return member.text; }
  template <class E>
  requires std::is_enum_v<E> std::string operator()(E member) const {
    return std::string(Split(row.choices)[static_cast<std::size_t>(member)]);
  }
};

// Calls f on the member of row `index`.
template <class O, class F>
void Visit(O& options, std::size_t index, F f) {
  std::size_t row = 0;
  // clang-format off
#define EBB_VISIT(member) if (row++ == index) { f(options.member); return; }
#define EBB_SWITCH(member, def, help) EBB_VISIT(member)
#define EBB_INTEGER(member, def, lo, hi, help) EBB_VISIT(member)
#define EBB_REAL(member, def, lo, hi, help) EBB_VISIT(member)
#define EBB_CHOICE(member, type, def, choices, help) EBB_VISIT(member)
#define EBB_BUDGET(member, help) EBB_VISIT(member)
#include "engine/base/options.def"
#undef EBB_SWITCH
#undef EBB_INTEGER
#undef EBB_REAL
#undef EBB_CHOICE
#undef EBB_BUDGET
#undef EBB_VISIT
  // clang-format on
}

}  // namespace

void Options::Set(std::string_view name, std::string_view value) {
  const std::size_t row = Find(name);
  Visit(*this, row, Setter{kTable[row], value});
  was_set_ |= std::uint64_t{1} << row;
}

std::string Options::Get(std::string_view name) const {
  const std::size_t row = Find(name);
  std::string out;
  Visit(*this, row, [&](const auto& member) { out = Getter{kTable[row]}(member); });
  return out;
}

bool Options::WasSet(std::string_view name) const { return (was_set_ >> Find(name)) & 1; }

std::span<const OptionInfo> OptionTable() { return kTable; }

std::string_view ToString(OptionType type) {
  switch (type) {
    case OptionType::kSwitch: return "switch";
    case OptionType::kInteger: return "integer";
    case OptionType::kReal: return "real";
    case OptionType::kChoice: return "choice";
    case OptionType::kBudget: return "budget";
  }
  return "";
}

}  // namespace ebb
