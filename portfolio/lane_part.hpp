// SPDX-License-Identifier: Apache-2.0
//
// A worker's part of its lane, by what plans became shorter by for its work and for the others', both fading; and
// whether it is due. Where nobody finds anything for long it fades (RL n=250 at 0.8, fixed, which has its best plan
// after a second: two runs proved after 78 and 85 s while a quarter stayed).
//
// A step may be much longer than a turn (a search by learning is not cut in two): what it took too much the others get
// first, at the part that is fair then. (The lane's own account is in shares as they were when the work was done: 0.16
// units at a tenth of the lane kept the worker away for 1.5 units, while nobody gained.)
#pragma once

#include <cstdint>

#include "engine/base/work_budget.hpp"

namespace ebb {

class LanePart {
 public:
  // What happened since the last call. `clock`: the lane's. `best`: the best plan's duration, `mine`: it is the
  // worker's. `repeats`: the duration of what runs again in the plan that the worker improves, the measure of gains; 0:
  // it has none yet.
  void Note(Ticks clock, std::int64_t best, bool mine, std::int64_t repeats);
  // Work of the worker's own.
  void Spend(Ticks work) {
    own_ += work;
    credit_ -= static_cast<double>(work);
  }

  // As of the last Note.
  [[nodiscard]] bool due() const { return due_; }
  // The lane's clock when somebody else last found a better plan.
  [[nodiscard]] Ticks others_gained() const { return others_gained_; }

  // The worker's appetite (worker.hpp), so that the lane asks it after each turn of the others: to work where it is
  // due, to spend kWait ticks where it is not.
  [[nodiscard]] double appetite() const { return due() ? 18 : 0.001; }
  static constexpr Ticks kWait = 10'000;

 private:
  struct Record {
    double gain = 0, work = 0;
    [[nodiscard]] double Rate() const;
  };
  [[nodiscard]] double Part(std::int64_t repeats) const;

  Record mine_, others_;
  Ticks clock_ = 0, others_gained_ = 0, gained_ = 0;
  Ticks own_ = 0;          // since the last Note
  std::int64_t best_ = 0;  // 0: none yet
  double credit_ = 0;      // ticks
  bool due_ = true;
};

}  // namespace ebb
