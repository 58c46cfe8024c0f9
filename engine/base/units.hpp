// SPDX-License-Identifier: Apache-2.0
//
// Strong units. A byte count, a duration and the two kinds of index are different types, so that the compiler refuses
// to add bytes to durations or to index ops with a tensor. All quantities are exact signed 64-bit integers; sums that
// could leave that range go through CheckedAdd / CheckedSum, which say so instead of wrapping round.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace ebb {

// For intermediate sums and products that 64 bits may not hold.
__extension__ typedef __int128 Int128;

template <class Tag>
class Quantity {
 public:
  using Rep = std::int64_t;
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep count) : count_(count) {}
  [[nodiscard]] constexpr Rep count() const { return count_; }
  [[nodiscard]] static constexpr Quantity Max() { return Quantity(std::numeric_limits<Rep>::max()); }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity o) const { return Quantity(count_ + o.count_); }
  constexpr Quantity operator-(Quantity o) const { return Quantity(count_ - o.count_); }
  constexpr Quantity& operator+=(Quantity o) {
    count_ += o.count_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    count_ -= o.count_;
    return *this;
  }

 private:
  Rep count_ = 0;
};

using Bytes = Quantity<struct BytesTag>;        // memory, bytes
using Duration = Quantity<struct DurationTag>;  // time, in the graph's own unit

// The sum, or nothing where it does not fit into 63 bits.
template <class Tag>
[[nodiscard]] constexpr std::optional<Quantity<Tag>> CheckedAdd(Quantity<Tag> a, Quantity<Tag> b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) return std::nullopt;
  return Quantity<Tag>(sum);
}

// Indices into a Graph's ops and tensors: dense, from 0. kNone stands for "there is none".
enum class OpId : std::int32_t { kNone = -1 };
enum class TensorId : std::int32_t { kNone = -1 };

[[nodiscard]] constexpr std::size_t Index(OpId id) { return static_cast<std::size_t>(static_cast<std::int32_t>(id)); }
[[nodiscard]] constexpr std::size_t Index(TensorId id) {
  return static_cast<std::size_t>(static_cast<std::int32_t>(id));
}
[[nodiscard]] constexpr OpId ToOpId(std::size_t index) { return static_cast<OpId>(static_cast<std::int32_t>(index)); }
[[nodiscard]] constexpr TensorId ToTensorId(std::size_t index) {
  return static_cast<TensorId>(static_cast<std::int32_t>(index));
}

}  // namespace ebb
