// SPDX-License-Identifier: Apache-2.0
//
// Which ops of a plan a neighbourhood sets free (neighbourhood.hpp), in which window of places. Kinds:
//   hot       that run again near a place with little room, or whose values lie across it
//   closure   that run again and read each other's values
//   size      that run again or lie across a place, of one size class
// Each kind has its own number of free ops, which grows while neighbourhoods are solved to the end and shrinks when
// they are not; kinds are drawn by what they gained lately for their work. (Choice by success: Ropke and Pisinger
// 2006.)
//
// Measured (neighbourhoods tried / with a gain; RL n=250 and 500 at 0.7, ResNet50 at 0.3 and 0.15, unroll_gan at 0.5,
// several seeds): hot 313 / 23, closure 237 / 13 (all of the RL graphs' and none of unroll_gan's), size 387 / 19. Any
// ops at random: 190 / 1, dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/random.hpp"
#include "portfolio/neighbourhood.hpp"
#include "portfolio/success.hpp"

namespace ebb {

class FreeOps {
 public:
  enum Kind : std::size_t { kHot, kClosure, kSize, kKinds };

  // The instance and the random numbers must outlive this.
  FreeOps(const Instance& instance, std::int64_t budget, QuickRandom& random)
      : in_(instance), tight_(budget / 50), random_(random) {}

  // Chooses a window of the plan and its free ops. The plan must have repeats and three places. `others`: the success
  // of the best other way to improve it, beside which small differences between the kinds say nothing.
  void Choose(const PlanView& view, double others);
  [[nodiscard]] std::size_t begin() const { return static_cast<std::size_t>(begin_); }  // of the window
  [[nodiscard]] std::size_t end() const { return static_cast<std::size_t>(end_); }
  [[nodiscard]] const std::vector<std::uint8_t>& free() const { return free_; }  // per op

  // How the last choice was solved, for how many free ops its kind has next.
  void Solved(bool to_the_end, Ticks work, Ticks limit);
  // What the last choice gained (0 to 1) for what work.
  void Book(double gain, Ticks work) { kinds_[kind_].success.Book(gain, work); }

 private:
  struct Facts {
    double level = 16;  // free ops
    Success success;
  };

  void DrawKind(double others);
  void Hot(const PlanView& view, std::size_t centre, std::size_t count);
  void Closure(const PlanView& view, std::size_t count);
  void Size(const PlanView& view, std::size_t centre, std::size_t count);
  [[nodiscard]] std::size_t RandomRepeat(const PlanView& view);
  [[nodiscard]] std::size_t TightPlace(const PlanView& view);
  [[nodiscard]] std::int64_t SizeOf(std::int32_t op) const;
  void Free(std::vector<std::int32_t> ops, std::size_t count);
  void SetFree(std::int32_t op);

  const Instance& in_;
  const std::int64_t tight_;  // bytes
  QuickRandom& random_;
  Facts kinds_[kKinds];
  std::size_t kind_ = kHot;
  std::int64_t begin_ = 0, end_ = 0;
  std::vector<std::uint8_t> free_;
};

}  // namespace ebb
