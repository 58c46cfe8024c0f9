// SPDX-License-Identifier: Apache-2.0
//
// A random value among those that lie in memory at some moment of the given order, waiting for a later reader: what a
// plan may drop there. The local search asks this for nearly every move; trying values blindly finds one in a hundred
// on a graph of 100,000 ops, and each try costs a few cache misses.
//
// Lifetimes are stored in a segment tree over the order: each in the O(log n) nodes that make it up (Bentley 1977).
// What lies across a moment is what its leaf's ancestors hold. Moments are rounded so that there are at most kLeaves
// leaves: the tree itself stays in the cache, and a lifetime is drawn a little outside its ends.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/problem/instance.hpp"
#include "heuristics/random.hpp"

namespace ebb {

class LiveSampler {
 public:
  static constexpr std::int32_t kLeaves = 4096;

  // Values with bytes, waiting for more than the next op, whose maker may run again. 4 bytes per value and node, about
  // 30 bytes a value at most where lifetimes are long.
  explicit LiveSampler(const Instance& instance);

  // A value that the given order holds at about this rank, all with equal chance; -1 where there is none.
  [[nodiscard]] std::int32_t Draw(std::int32_t rank, QuickRandom& random) const;

 private:
  std::int32_t shift_ = 0, leaves_ = 1;
  std::vector<std::int32_t> begin_;  // per node of the tree (root 1), where its values start
  std::vector<std::int32_t> value_;
};

}  // namespace ebb
