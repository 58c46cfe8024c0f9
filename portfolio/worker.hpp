// SPDX-License-Identifier: Apache-2.0
//
// A worker: one technique that looks for plans or bounds, in steps. It belongs to one lane and is never run by two
// threads at once, so it needs no locks. What it finds it tells the exchange, and what the others found it reads there.
//
// A worker is deterministic: the same problem, the same seed, the same exchange contents and the same work budgets make
// the same findings. It spends its budget honestly (see WorkBudget) and returns soon after Exhausted().
#pragma once

#include <memory>

#include "engine/base/work_budget.hpp"
#include "portfolio/board.hpp"

namespace ebb {

class Worker {
 public:
  virtual ~Worker() = default;
  // Stands in logs: a literal.
  [[nodiscard]] virtual const char* name() const = 0;
  // Works until the budget is exhausted or nothing is left to do; false: nothing is left for ever.
  virtual bool Step(WorkBudget& budget, Exchange& exchange) = 0;
  // How much of its share it can use well at present: its share is multiplied by this.
  [[nodiscard]] virtual double appetite() const { return 1; }
};

struct WorkerSlot {
  std::unique_ptr<Worker> worker;
  double share = 1;  // of its lane's work, relative to the others there
  double late = 0;   // ticks for each unit of share that the others have first
};

}  // namespace ebb
