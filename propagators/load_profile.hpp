// SPDX-License-Identifier: Apache-2.0
//
// A step function over positions 0..size-1 with range additions, and the question "which is the first (last) position
// of a range whose value is above a limit?". Blocks of 64 with their maxima: both in O(size / 64 + 64), on flat arrays.
// A segment tree was not tried: at the sizes of the interval model (some thousand positions) blocks fit the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ebb {

class LoadProfile {
 public:
  explicit LoadProfile(std::size_t size)
      : value_(size, 0), added_((size + kBlock - 1) / kBlock, 0), most_((size + kBlock - 1) / kBlock, 0) {}

  [[nodiscard]] std::int64_t at(std::size_t i) const { return value_[i] + added_[i / kBlock]; }

  // To positions from..to-1.
  void Add(std::size_t from, std::size_t to, std::int64_t amount) {
    while (from < to) {
      const std::size_t b = from / kBlock, end = std::min(value_.size(), (b + 1) * kBlock), stop = std::min(to, end);
      if (from == b * kBlock && stop == end) {
        added_[b] += amount;
      } else {
        for (std::size_t i = from; i < stop; ++i) value_[i] += amount;
        most_[b] = *std::max_element(value_.begin() + static_cast<std::ptrdiff_t>(b * kBlock),
                                     value_.begin() + static_cast<std::ptrdiff_t>(end));
      }
      from = stop;
    }
  }

  // The first / last position in from..to-1 with a value > limit; -1: none.
  [[nodiscard]] std::int64_t First(std::size_t from, std::size_t to, std::int64_t limit) const {
    while (from < to) {
      const std::size_t b = from / kBlock, stop = std::min({to, value_.size(), (b + 1) * kBlock});
      if (most_[b] + added_[b] > limit)
        for (std::size_t i = from; i < stop; ++i)
          if (value_[i] + added_[b] > limit) return static_cast<std::int64_t>(i);
      from = stop;
    }
    return -1;
  }
  [[nodiscard]] std::int64_t Last(std::size_t from, std::size_t to, std::int64_t limit) const {
    while (from < to) {
      const std::size_t b = (to - 1) / kBlock, start = std::max(from, b * kBlock);
      if (most_[b] + added_[b] > limit)
        for (std::size_t i = to; i-- > start;)
          if (value_[i] + added_[b] > limit) return static_cast<std::int64_t>(i);
      to = start;
    }
    return -1;
  }

 private:
  static constexpr std::size_t kBlock = 64;
  std::vector<std::int64_t> value_, added_, most_;
};

}  // namespace ebb
