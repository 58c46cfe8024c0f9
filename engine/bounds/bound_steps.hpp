// SPDX-License-Identifier: Apache-2.0
//
// A proof in steps: instead of "is there anything below the incumbent" it is asked "is there anything below a ceiling",
// a share of the way from the bound up to the incumbent. The nearer the ceiling, the more a search fixes by reduced
// costs and the fewer cheap points of a relaxation have to be refuted. A no raises the bound, and the next ceiling is
// set; where no answer comes the ceiling is lowered, which leaves all that was found below it true.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/base/work_budget.hpp"

namespace ebb {

class BoundSteps {
 public:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  struct Params {
    double share = 0.5;               // of the gap, at most; halved with each failure, doubled after a quick success
    Ticks patience = 10'000'000'000;  // with a ceiling; a quarter more after each failure
  };
  // `base`: what a bound at least is; the gap is measured by what is above that.
  BoundSteps(const Params& params, std::int64_t base)
      : params_(params), base_(base), share_(params.share), patience_(params.patience) {}

  [[nodiscard]] std::int64_t ceiling() const { return ceiling_; }
  [[nodiscard]] Ticks since_raised() const { return since_raised_; }
  void Spend(Ticks ticks) {
    spent_ += ticks;
    since_raised_ += ticks;
  }
  // A search up to the incumbent that has come to a hundredth of it is not given up any more: one below a lower ceiling
  // leaves its nodes behind, and the next begins anew (RL n=1000 at 0.8, staged: a minute each time).
  [[nodiscard]] bool OutOfPatience(std::int64_t floor, std::int64_t incumbent) const {
    if (ceiling_ == kNone || last_ || (whole_ > 0 && GapAtMost(100, floor, incumbent))) return false;
    return spent_ >= (whole_ > 0 ? whole_ : near_ ? 4 * patience_ : patience_);
  }

  // The first one; where the gap is a tenth or less, the incumbent. Nothing without one.
  void Begin(std::int64_t floor, std::int64_t incumbent) {
    if (ceiling_ != kNone) return;
    if (incumbent != kNone && GapAtMost(10, floor, incumbent)) whole_ = kNear * patience_;
    Set(floor, incumbent);
  }
  // Nothing is below the ceiling: the next one. Where the model was not refined for that, what is left may be one
  // search up to the incumbent (RL n=250 at 0.8, fixed: half ways all begin anew at the root and each takes as long as
  // all before); it is given up after a few times what the last step took, later where the gap is a tenth or less, for
  // the incumbent may be far above the optimum. There it comes refined or not. (RL n=500 and 250 at 0.8, staged, one
  // lane: proved after 5.1e9 and 11.2e9 ticks, 6.1e9 and 11.7e9 where it comes from a twentieth on.)
  void Raise(std::int64_t floor, std::int64_t incumbent, bool refined) {
    if (spent_ < patience_ / 4) share_ = std::min(2 * share_, params_.share);
    const bool near = GapAtMost(10, floor, incumbent);
    whole_ = (refined || whole_ > 0) && !near ? 0 : std::max((near ? kNear : 1) * patience_, 6 * since_raised_);
    since_raised_ = 0;
    Set(floor, incumbent);
  }
  void Lower(std::int64_t floor, std::int64_t incumbent) {
    if (whole_ == 0) {
      share_ /= 2;
      patience_ += patience_ / 4;
    }
    whole_ = 0;
    const std::int64_t before = ceiling_;
    Set(floor, incumbent);
    ceiling_ = std::min(ceiling_, before);
  }

 private:
  static constexpr Ticks kNear = 12;  // so much more patience
  [[nodiscard]] bool GapAtMost(std::int64_t part, std::int64_t floor, std::int64_t incumbent) const {
    return incumbent - floor <= (floor - base_) / part;
  }
  void Set(std::int64_t floor, std::int64_t incumbent) {
    spent_ = 0;
    if (incumbent == kNone) return;
    near_ = GapAtMost(10, floor, incumbent);
    // Less than a five-hundredth: the last step. (RL n=500 at 0.8, staged: half ways from 2.9585 to 2.9604 % all began
    // anew and took a minute.)
    last_ = GapAtMost(500, floor, incumbent);
    const double share = whole_ > 0 || last_ ? 1 : share_;
    ceiling_ =
        floor + std::max<std::int64_t>(1, static_cast<std::int64_t>(share * static_cast<double>(incumbent - floor)));
  }

  Params params_;
  std::int64_t base_;
  bool last_ = false, near_ = false;
  double share_;
  Ticks patience_, spent_ = 0, since_raised_ = 0;
  Ticks whole_ = 0;  // patience with a ceiling at the incumbent; 0: the ceiling is a share of the way
  std::int64_t ceiling_ = kNone;
};

}  // namespace ebb
