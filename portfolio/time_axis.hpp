// SPDX-License-Identifier: Apache-2.0
//
// Where executions can stand in the interval model: positions 0, 1, ... with one or more executions at each.
//
//   staged   stage s ends with the first execution of rank s and has one position for each op before it, by rank
//
//              | 0 | 0' 1 | 0' 1' 2 | ...  | 0' 1' ... |      the last stage: for what must be there at the end
//
//   fixed    the same, but the positions of a stage are slots for any op: as many as reruns may come into it
//   free     one position for each execution that the model knows
//
// Slots suffice. Of several executions at one position none needs another, and together they take at least the memory
// that they take one after the other; so no rule keeps them apart, except where storages are taken over
// (IntervalModel).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

class TimeAxis {
 public:
  // `copies`: executions of each op that the model knows. `last_useful`: the last stage in which a rerun of the op can
  // be of use, -1: none (fixed and staged).
  TimeAxis(const Instance& instance, OrderMode order, std::span<const std::int32_t> copies,
           std::span<const std::int32_t> last_useful);

  [[nodiscard]] OrderMode order() const { return order_; }
  [[nodiscard]] std::int64_t end() const { return end_; }  // after everything; the largest position that is used
  // Fixed and staged: the first execution of rank s.
  [[nodiscard]] std::int64_t First(std::int64_t s) const { return begin_[static_cast<std::size_t>(s) + 1] - 1; }
  // The stage that a position belongs to.
  [[nodiscard]] std::int64_t StageOf(std::int64_t position) const;
  // Where copy c of an op may start; empty: nowhere. A range where that does no harm (`dense`), for in fixed and free
  // order there are thousands (RL n=250 at 0.8, fixed: as lists 368 MiB).
  struct Positions {
    std::vector<std::int64_t> values;  // ascending; dense: the first and the last
    bool dense = false;
    [[nodiscard]] bool empty() const { return values.empty(); }
  };
  [[nodiscard]] Positions Starts(std::int32_t op, std::int32_t copy) const;
  // Could an op that runs `times` run once more to any use, whatever the model knows?
  [[nodiscard]] bool More(std::int32_t op, std::int32_t times) const;
  // The i-th rerun of a stage, or op's place in it (staged).
  [[nodiscard]] std::int64_t Rerun(std::int64_t stage, std::int64_t i, std::int32_t op) const;

 private:
  const Instance& instance_;
  OrderMode order_;
  std::vector<std::int32_t> last_useful_;
  std::vector<std::int64_t> begin_;           // of stage s; the last entry is the end
  std::vector<std::int64_t> before_, after_;  // free: ops on the longest way to and from an op
  std::int64_t end_ = 0;
};

// Per op the last stage in which a rerun can be of use, -1: none; in free order 0 or -1. `matters`: values that take
// room or are taken over.
[[nodiscard]] std::vector<std::int32_t> LastUsefulStages(const Instance& instance, OrderMode order,
                                                         std::span<const std::uint8_t> matters);

}  // namespace ebb
