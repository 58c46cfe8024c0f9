// SPDX-License-Identifier: Apache-2.0
//
// Budgets are parsed digit by digit into integers: 0.1TB is exactly 100000000000, which a double would miss for large
// units. Only fractions of a peak are doubles, because the figures they are compared with were made that way.
#include "engine/base/budget_spec.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/base/int128.hpp"
#include "engine/base/status.hpp"

namespace ebb {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The factor of a unit; nothing where there is no such unit.
std::optional<std::int64_t> UnitFactor(std::string_view unit) {
  std::string u;
  for (char c : unit) u += Lower(c);
  if (u == "b") return 1;
  constexpr std::string_view kPrefixes = "kmgtp";
  const std::size_t power = u.empty() ? std::string_view::npos : kPrefixes.find(u[0]);
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = std::string_view(u).substr(1);
  if (rest != "b" && rest != "ib") return std::nullopt;
  std::int64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= rest == "ib" ? 1024 : 1000;
  return factor;
}

}  // namespace

BudgetSpec ParseBudget(std::string_view text, std::string_view what) {
  const auto fail = [&](std::string_view why) -> InputError {
    return InputError(std::string(what) + " '" + std::string(text) + "': " + std::string(why));
  };
  constexpr std::string_view kForms = "expected bytes (1000000), bytes with a unit (8GiB, 512MB) or a fraction (0.8)";
  BudgetSpec spec;
  spec.text = std::string(text);
  if (text.empty()) throw fail(kForms);
  if (text[0] == '-') throw fail("must not be negative");

  std::size_t i = 0;
  Int128 whole = 0, part = 0, scale = 1;
  bool point = false, digits = false;
  constexpr Int128 kMax = std::numeric_limits<std::int64_t>::max();
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
    } else if (IsDigit(text[i])) {
      digits = true;
      if (!point) {
        whole = whole * 10 + (text[i] - '0');
        if (whole > kMax) throw fail("more than 63 bits can hold");
      } else if (scale < 1'000'000'000'000'000) {  // what lies beyond cannot make a byte
        part = part * 10 + (text[i] - '0');
        scale *= 10;
      }
    } else {
      break;
    }
  }
  if (!digits || text.back() == ' ') throw fail(kForms);
  const std::string_view number = text.substr(0, i);
  while (i < text.size() && text[i] == ' ') ++i;
  const std::string_view unit = text.substr(i);

  if (const auto factor = UnitFactor(unit)) {
    const Int128 bytes = whole * *factor + part * *factor / scale;
    if (bytes > kMax) throw fail("more than 63 bits can hold");
    spec.kind = BudgetSpec::Kind::kBytes;
    spec.bytes = static_cast<std::int64_t>(bytes);
    return spec;
  }
  if (unit.empty() && !point) {
    spec.kind = BudgetSpec::Kind::kBytes;
    spec.bytes = static_cast<std::int64_t>(whole);
    return spec;
  }
  // A fraction, possibly with an exponent.
  const std::string_view all = unit.empty() ? number : text;
  double value = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error != std::errc() || end != all.data() + all.size() || !std::isfinite(value)) throw fail(kForms);
  if (value > 1e6) throw fail("a fraction of the peak, at most 1e6");
  spec.kind = BudgetSpec::Kind::kFraction;
  spec.fraction = value;
  return spec;
}

Bytes BudgetSpec::Resolve(Bytes no_recompute_peak) const {
  if (kind == Kind::kBytes) return Bytes(bytes);
  const double product = std::ceil(static_cast<double>(no_recompute_peak.count()) * fraction);
  if (!(product < 9.2233720368547748e18)) throw InputError("budget '" + text + "': more than 63 bits can hold");
  return Bytes(static_cast<std::int64_t>(product));
}

}  // namespace ebb
