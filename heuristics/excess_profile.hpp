// SPDX-License-Identifier: Apache-2.0
//
// A long row of 64-bit numbers under range-add that always knows how much of it lies above zero. The local search keeps
// "resident bytes less budget" per slot here; the sum of the positive ones is its penalty.
//
//   level 2      [        node         ][        node         ]     kFan children each
//   level 1      [ node ][ node ] ...
//   level 0      [block ][block ] ...                               kBlock numbers each, contiguous
//
// A node knows how many of its numbers are positive (over), their sum (excess), the largest that is not (below) and the
// smallest that is (above). Adding d to a whole node touches only the node as long as no number crosses zero, that is
// below + d <= 0 or above + d > 0; only where one does cross are the children opened (after Ji's "segment tree beats").
// So a range-add costs two blocks at its ends and one node for each quiet stretch between. `Delta` answers what an add
// would change without writing, and skips all that lies far enough below zero.
//
// Numbers far below zero (kHole) stand for slots that hold nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace ebb {

class ExcessProfile {
 public:
  static constexpr std::int32_t kBlock = 64;
  static constexpr std::int32_t kFan = 16;
  static constexpr std::int64_t kHole = std::int64_t{1} << 60;  // a hole is this far down; real numbers are within it

  // All numbers equal to `value`.
  void Reset(std::int32_t blocks, std::int64_t value);
  [[nodiscard]] std::int32_t blocks() const { return blocks_; }
  [[nodiscard]] std::int32_t slots() const { return blocks_ * kBlock; }
  [[nodiscard]] std::int64_t total() const { return total_; }

  [[nodiscard]] std::int64_t Value(std::int32_t slot) const;
  // Adds to the slots first..last (inclusive).
  void Add(std::int32_t first, std::int32_t last, std::int64_t delta);
  // What Add would add to total(). For delta > 0: where that is above `enough` any number above it may be returned.
  [[nodiscard]] std::int64_t Delta(std::int32_t first, std::int32_t last, std::int64_t delta,
                                   std::int64_t enough = std::numeric_limits<std::int64_t>::max()) const;
  // The slot in which the running sum of the positive numbers passes `target`, 0 <= target < total().
  [[nodiscard]] std::int32_t FindExcess(std::int64_t target) const;
  // The largest number.
  [[nodiscard]] std::int64_t Max() const;

  // Raw access to one block: Open makes its numbers plain (no pending adds above), Close sums them up again. In
  // between, and only for permutations of the block's own numbers and holes, Close may be left out.
  [[nodiscard]] std::int64_t* Open(std::int32_t block);
  void Close(std::int32_t block);

  // Work done so far, about a nanosecond a unit.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct Level {
    std::int32_t shift;  // slots of one node, as a power of two
    std::vector<std::int64_t> add, over, excess, below, above;
  };
  void Push(std::size_t level, std::int32_t node);
  void Combine(std::size_t level, std::int32_t node);
  void Rebuild(std::int32_t block);
  void AddTo(std::size_t level, std::int32_t node, std::int32_t first, std::int32_t last, std::int64_t delta);
  std::int64_t DeltaOf(std::size_t level, std::int32_t node, std::int32_t first, std::int32_t last, std::int64_t delta,
                       std::int64_t pending, std::int64_t enough) const;

  std::int32_t blocks_ = 0;
  std::vector<std::int64_t> value_;
  std::vector<Level> levels_;
  std::int64_t total_ = 0;
  mutable std::int64_t work_ = 0;
};

}  // namespace ebb
