// SPDX-License-Identifier: Apache-2.0
//
// A lane: workers that take turns on one thread, each by its share of the counted work (stride scheduling: whoever has
// had least for its share is next; ties go to the first). Its clock is the work done so far.
#pragma once

#include <vector>

#include "engine/base/work_budget.hpp"
#include "portfolio/board.hpp"
#include "portfolio/worker.hpp"

namespace ebb {

class Lane {
 public:
  Lane(Board& board, std::vector<WorkerSlot> slots, Ticks limit);

  // Works until the clock reaches `until`, the limit, or an end: nothing left to do, the question is answered, the user
  // wants to stop. Returns whether it could go on after that.
  bool Run(Ticks until);

  [[nodiscard]] bool done() const { return done_; }
  // A worker ran out of memory and was given up; the others went on.
  [[nodiscard]] bool out_of_memory() const { return out_of_memory_; }
  [[nodiscard]] Exchange& exchange() { return exchange_; }

 private:
  struct Turn {
    WorkerSlot slot;
    double had = 0;  // ticks per share
  };
  Board& board_;
  Exchange exchange_;
  std::vector<Turn> turns_;
  Ticks clock_ = 0;
  const Ticks limit_;
  bool done_ = false, out_of_memory_ = false;
};

}  // namespace ebb
