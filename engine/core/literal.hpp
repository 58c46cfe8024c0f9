// SPDX-License-Identifier: Apache-2.0
//
// The alphabet of the engine: a literal of the SAT solver, and the ids of integer variables and propagators.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ebb::core {

// A literal: variable 1, 2, ... or its negation, as SAT solvers number them. The default one is none at all.
class Lit {
 public:
  constexpr Lit() = default;
  static constexpr Lit Of(std::int32_t number) { return Lit(number); }

  [[nodiscard]] constexpr std::int32_t number() const { return number_; }
  [[nodiscard]] constexpr std::size_t var() const { return static_cast<std::size_t>(number_ < 0 ? -number_ : number_); }
  [[nodiscard]] constexpr bool positive() const { return number_ > 0; }
  [[nodiscard]] constexpr bool none() const { return number_ == 0; }
  // Dense index of the literal, for side arrays of size 2 * (variables + 1).
  [[nodiscard]] constexpr std::size_t index() const { return 2 * var() + (number_ < 0 ? 1 : 0); }
  constexpr Lit operator~() const { return Lit(-number_); }
  constexpr auto operator<=>(const Lit&) const = default;

 private:
  constexpr explicit Lit(std::int32_t number) : number_(number) {}
  std::int32_t number_ = 0;
};

enum class IntVar : std::int32_t { kNone = -1 };
enum class PropId : std::int32_t { kNone = -1 };
[[nodiscard]] constexpr std::size_t Index(IntVar x) { return static_cast<std::size_t>(static_cast<std::int32_t>(x)); }
[[nodiscard]] constexpr std::size_t Index(PropId p) { return static_cast<std::size_t>(static_cast<std::int32_t>(p)); }

// What a literal is worth under the present trail.
enum class Value : std::int8_t { kFalse = -1, kOpen = 0, kTrue = 1 };
[[nodiscard]] constexpr Value Negate(Value v) { return static_cast<Value>(-static_cast<int>(v)); }

// "Before the present end of the trail": the position to explain from when nothing older is meant.
inline constexpr std::int32_t kNow = std::numeric_limits<std::int32_t>::max();

}  // namespace ebb::core
