// SPDX-License-Identifier: Apache-2.0
//
// Runs the given order and, where an op misses an input, what has to run again first. A rule (chen.hpp, revolve.hpp)
// says which values are thrown away and when; this does the rest, so that every rule gives a valid sequence.
//
// To throw a value away costs nothing and says only that its next reader waits for a new execution: in a sequence a
// storage dies by itself after the last read that it serves. So what may not be thrown away is left alone: values that
// cannot be made again (ops that run once, in-place ops, overwritten graph inputs, and what depends on a value that is
// overwritten) and storages with views that cost time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

// May the value be thrown away and be made again at any later time?
[[nodiscard]] std::vector<std::uint8_t> Remakeable(const Instance& instance);

// Where a training step turns from forward to backward, told without labels: the first position after which the order
// without repeats holds most bytes. It and those before it are forward. -1 where the order itself needs repeats.
[[nodiscard]] std::int32_t TurnPosition(const Instance& instance);

// The sequence without repeats whose outputs nobody reads. First executions stay.
[[nodiscard]] std::vector<std::int32_t> WithoutUseless(const Instance& instance,
                                                       const std::vector<std::int32_t>& sequence);

class Replay {
 public:
  // The instance must outlive it.
  explicit Replay(const Instance& instance);

  [[nodiscard]] bool present(std::int32_t value) const { return present_[static_cast<std::size_t>(value)] != 0; }
  // Nothing happens where the value may not be thrown away.
  void Drop(std::int32_t value) {
    if (remakeable_[static_cast<std::size_t>(value)] != 0) present_[static_cast<std::size_t>(value)] = 0;
  }
  // The ops that must run again so that all reads of `op` are there, by rank.
  [[nodiscard]] std::vector<std::int32_t> Missing(std::int32_t op);
  void Execute(std::int32_t op);
  // Values that are kept to the end, where they are missing.
  void Finish();

  [[nodiscard]] const std::vector<std::int32_t>& sequence() const { return sequence_; }
  [[nodiscard]] std::vector<std::int32_t> Take() { return std::move(sequence_); }

 private:
  void Want(std::int32_t value);
  std::vector<std::int32_t> TakeClosure();

  const Instance& in_;
  std::vector<std::uint8_t> remakeable_, present_, in_closure_;
  std::vector<std::int32_t> closure_, sequence_;
};

}  // namespace ebb
