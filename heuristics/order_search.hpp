// SPDX-License-Identifier: Apache-2.0
//
// Local search for an order of least peak, each op once (any order that respects the graph). Annealing on the bytes
// over a target, summed over the positions; the target is one byte below the best peak so far, so whatever reaches zero
// is a new best. One kind of move: op x goes later to position j and takes what depends on it in between along, or
// earlier with what it depends on; the rest of the stretch keeps its order. That is always a valid order, and where
// nothing hangs on x it is a plain shift. Cost of a move: the stretch, for only there the profile changes.
//
// Measured (layered graphs of 1,000 ops, 20 s on a busy machine): see docs/methods.md. The annealing over sequences
// (annealing.hpp) can do the same, with repeats and a duration to look after: it makes about a tenth of the moves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/csr.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/random.hpp"

namespace ebb {

class OrderSearch {
 public:
  // The instance must outlive it. `start`: a valid sequence without repeats.
  OrderSearch(const Instance& instance, std::span<const std::int32_t> start, std::uint64_t seed);

  // Goes on where it stopped, until the work is used up. Deterministic in ticks.
  void Run(WorkBudget& work);
  // From elsewhere, taken over where it is better.
  void Offer(std::span<const std::int32_t> order);

  [[nodiscard]] std::int64_t best_peak() const { return best_peak_; }  // with the instance's resident_bytes
  [[nodiscard]] const std::vector<std::int32_t>& best() const { return best_; }
  [[nodiscard]] std::int64_t moves() const { return moves_; }

 private:
  void Load(std::span<const std::int32_t> order);
  bool Step(double temperature);
  std::int32_t PickPosition();
  bool Arrange(std::int32_t from, std::int32_t to);
  void Place(std::int32_t low, std::int32_t high, std::span<const std::int32_t> ops);
  std::int32_t LastOf(std::int32_t storage) const;
  // Profile of positions low..high from what lies before them; the sum of what is over the target.
  double Walk(std::int32_t low, std::int32_t high);
  [[nodiscard]] double Over(std::int32_t position) const;
  void NoteBest();

  const Instance& in_;
  QuickRandom random_;
  Csr<std::int32_t> waits_, wakes_, touches_, users_;  // op -> ops, ops, storages; storage -> ops
  std::vector<std::uint8_t> kept_;                     // storage: to the end
  std::vector<std::int64_t> made_;                     // op: bytes of its new storages
  std::vector<std::int32_t> at_, place_, last_;        // position -> op, op -> position, storage -> its last user
  std::vector<std::int64_t> freed_, after_, moment_;   // op: bytes that end with it; position: bytes after it, in it
  std::vector<std::int32_t> best_;
  std::int64_t best_peak_ = 0, target_ = 0;
  double excess_ = 0, scale_ = 1;
  std::int64_t cycle_ = 0, cycle_moves_ = 0, cycle_length_ = 0, moves_ = 0;
  // Of the open move.
  std::vector<std::uint8_t> mark_;
  std::vector<std::int32_t> group_, rest_, old_;
  std::vector<std::pair<std::int32_t, std::int32_t>> changed_;  // storage, its last user before
  std::int64_t spent_ = 0;
};

}  // namespace ebb
