// SPDX-License-Identifier: Apache-2.0
//
// Chains of uneven blocks by dynamic programming: Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, "Optimal
// Checkpointing for Heterogeneous Chains: How to Train Deep Neural Networks with Limited Memory" (2019, "rotor"), with
// several ways to run a block as in Zhao et al., "Rockmate" (ICML 2023).
//
// Blocks 0 .. n-1 run forward one after the other, then backward from the last. A forward run either saves nothing and
// hands its output on, or it is the last one before the block's backward: then it runs by one of the block's options,
// which says what is saved until then and what the backward run (with what it makes again) takes. For a stretch of
// blocks s..t and m bytes, the gradient of t's output in them, the least time is the best of
//   - s by an option, then s+1..t with what is left, then s backward;
//   - s .. r-1 forward saving nothing but the last output, then r..t, then s .. r-1 again from their input.
// That is the optimum among persistent schedules: what is saved stays until its backward run. (Rotor's table holds the
// input of a stretch to its end. Where no backward run reads it any more it is free to go here, which makes the answer
// on even chains the optimum of revolve, one saved state better than rotor's.)
//
// Bytes are counted in slots, sizes rounded up and the budget down, as in the paper; exact where a slot is a byte.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/work_budget.hpp"

namespace ebb {

// All bytes are without the block's input, unless said otherwise.
struct RotorOption {
  std::int64_t forward_time = 0, backward_time = 0;
  std::int64_t saved = 0;          // from the forward run to the backward run, without the output
  bool holds_output = false;       // and the output, too
  bool reads_input = false;        // the backward run reads the block's input
  std::int64_t forward_peak = 0;   // resident in the forward run: saved so far, output, what comes and goes
  std::int64_t backward_peak = 0;  // in the backward run, with saved, output where held, both gradients
};
struct RotorBlock {
  std::int64_t time = 0;      // a forward run that saves nothing
  std::int64_t peak = 0;      // resident in it, with the output
  std::int64_t output = 0;    // bytes
  std::int64_t gradient = 0;  // of the output: resident from the next block's backward run to this one's
  std::vector<RotorOption> options;
};

struct RotorStep {
  enum class Kind { kForward, kSave, kBackward } kind;
  std::int32_t block;
  std::int32_t option;  // -1 for kForward
};

class RotorTable {
 public:
  static constexpr std::int64_t kNever = std::int64_t{1} << 62;

  // Solves for every budget of 0 .. slots * slot bytes, slot bytes being `unit`. The first block's input is held by
  // someone else and counts nothing. Nothing where the work ends. O(n^2 (n + options) slots) time, O(n^2 slots) memory.
  [[nodiscard]] static std::optional<RotorTable> Make(std::vector<RotorBlock> blocks, std::int64_t unit,
                                                      std::int32_t slots, WorkBudget& work);

  [[nodiscard]] std::int32_t slots() const { return slots_; }
  [[nodiscard]] std::int64_t unit() const { return unit_; }
  // Least time of all runs with `m` slots; kNever: there is no schedule.
  [[nodiscard]] std::int64_t Time(std::int32_t m) const;
  // A schedule of that time. Needs one to exist.
  [[nodiscard]] std::vector<RotorStep> Schedule(std::int32_t m) const;

 private:
  RotorTable() = default;
  enum class Input { kHeld, kOwn };  // who holds the stretch's input: someone else, or the stretch itself
  struct Choice {
    std::int64_t time = kNever;
    enum class Kind { kNone, kOption, kSplit } kind = Kind::kNone;
    std::int32_t which = -1;  // option, or the block where the right part begins
  };

  [[nodiscard]] std::size_t Index(std::int32_t s, std::int32_t t) const;
  [[nodiscard]] std::int64_t Get(Input input, std::int32_t s, std::int32_t t, std::int64_t m) const;
  [[nodiscard]] Choice Best(Input input, std::int32_t s, std::int32_t t, std::int32_t m) const;
  [[nodiscard]] std::int32_t Slots(std::int64_t bytes) const;  // rounded up

  std::vector<RotorBlock> blocks_;  // bytes in slots
  std::int64_t unit_ = 1;
  std::int32_t slots_ = 0;
  std::vector<std::int64_t> before_;             // sum of the forward times of the blocks before
  std::vector<std::vector<std::int64_t>> need_;  // [s][r - s]: slots to run s .. r forward, without the gradient
  std::vector<std::int64_t> held_, own_;         // by stretch and slots
};

}  // namespace ebb
