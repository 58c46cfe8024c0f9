// SPDX-License-Identifier: Apache-2.0
//
// A part of a plan set free, everything else as it is: as an instance of its own for the boundary relaxation
// (engine/bounds/boundary_solver.hpp, Params::from).
//
//   sequence   ... a b | f r c s d | e ...     the window is a stretch of places; in it, repeats of the free ops are
//                                              dropped and found anew, all other executions stand where they are
//   free ops   may run again wherever it pays; all others may not
//   sources    an op that stands for what lies in memory before the window and is read in it. Free ops from before
//              the window are there with what they read
//   gate       an op that does nothing, just before the window. What lies across it in the plan may be used or
//              dropped; all else would have to be made again
//   kept       what is read after the window: it must lie there at its end
//   constant   what lies across the window and is none of its business: added to resident_bytes
//
// A repeat that stays is an op of its own that runs once, and what it makes are values of their own. So the few free
// ops make all the columns of the relaxation, however wide the window is; and only the window is built. (Free was once
// a stretch of first executions with all its repeats: RL n=250 at 0.7 has most of its repeats in its last 25 first
// executions, and such a neighbourhood took a second of LPs to end 30 % from its bound.)
//
// First executions keep the order that they have in the plan, so in free order a window is solved as a fixed order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

struct Neighbourhood {
  Instance instance;
  std::vector<std::int32_t> op;     // instance op -> op of the whole; -1: the gate
  std::int32_t gate = 0;            // instance op
  std::vector<std::uint8_t> entry;  // per value: lies across the gate
  std::size_t begin = 0, end = 0;   // places of the plan that are replaced
  std::int64_t duration = 0;        // the plan's, told as one of `instance`: only less is better
  std::int32_t free_ops = 0;        // that may run again
};

// A plan, ready for neighbourhoods to be cut out of it.
class PlanView {
 public:
  // The instance must outlive this. The sequence must be valid.
  PlanView(const Instance& instance, std::vector<std::int32_t> sequence, std::int64_t budget);

  [[nodiscard]] const std::vector<std::int32_t>& sequence() const { return sequence_; }
  [[nodiscard]] std::int64_t duration() const { return duration_; }
  [[nodiscard]] std::span<const std::int32_t> repeats() const { return repeats_; }  // places
  [[nodiscard]] std::int64_t room(std::size_t i) const { return room_[i]; }         // bytes that are free at place i
  // The execution before place i of the same op; -1.
  [[nodiscard]] std::int32_t previous(std::size_t i) const { return previous_[i]; }

  // Could the op be a free one at all?
  [[nodiscard]] bool Freeable(std::int32_t op) const {
    return in_.may_repeat[static_cast<std::size_t>(op)] != 0 && in_.consumes[static_cast<std::size_t>(op)].empty();
  }
  // Makers of what lies across place i, that could be free. Views count: to drop a storage its views must be made again
  // too (without them the windows of unroll_gan, a quarter views, had nothing to offer).
  [[nodiscard]] std::vector<std::int32_t> MakersAcross(std::size_t i) const;

  // The window of places [begin, end), 1 <= begin < end; `free` per op.
  [[nodiscard]] Neighbourhood Cut(std::size_t begin, std::size_t end, std::span<const std::uint8_t> free);
  // The plan with a sequence of the neighbourhood's instance in the window's place.
  [[nodiscard]] std::vector<std::int32_t> With(const Neighbourhood& cut, std::span<const std::int32_t> sequence) const;

 private:
  struct Storage {
    std::int32_t value, born, last;  // places; last: of its last use, the sequence's end for what is kept
    std::int32_t on;                 // the storage that it lives in; -1: its own
  };
  void FindStorages();
  void KeepUnfree(std::size_t begin, std::size_t end, std::vector<std::uint8_t>& free) const;

  const Instance& in_;
  std::vector<std::int32_t> sequence_;
  std::int64_t duration_ = 0;
  std::vector<std::int32_t> first_;  // op -> place
  std::vector<std::int32_t> repeats_, previous_;
  std::vector<std::int64_t> room_;
  std::vector<Storage> storages_;  // by birth
  // Scratch of Cut, clean between calls.
  std::vector<std::int32_t> local_op_, local_value_;
};

}  // namespace ebb
