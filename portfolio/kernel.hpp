// SPDX-License-Identifier: Apache-2.0
//
// The kernel: the ops that good plans run again. Local search with all others fixed to their one execution sees a much
// smaller space. (Kernel search: Angelelli, Mansini and Speranza 2010.) Good plans are the best one and the last few
// that were the best before it.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

class Kernel {
 public:
  // The instance must outlive this.
  explicit Kernel(const Instance& instance) : in_(instance) {}

  // A good plan; only the last few are kept.
  void Note(std::span<const std::int32_t> sequence);
  [[nodiscard]] std::size_t plans() const { return plans_.size(); }

  // The instance in which only ops of the kernel may run again. `best` is a plan of it too.
  [[nodiscard]] Instance Narrowed(std::span<const std::int32_t> best) const;

 private:
  [[nodiscard]] std::vector<std::int32_t> Again(std::span<const std::int32_t> sequence) const;

  const Instance& in_;
  std::deque<std::vector<std::int32_t>> plans_;  // their ops that run again
};

}  // namespace ebb
