// SPDX-License-Identifier: Apache-2.0
//
// A first plan where memory is scarce (heuristics/backward_plans.hpp), as long as nobody has one; local search goes on
// from there. On RL n=100 at 0.6 nothing else finds any.
#include <cstdint>

#include "heuristics/backward_plans.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMostOps = 2'000;
constexpr Ticks kMost = 100'000'000'000;

class BackwardWorker : public Worker {
 public:
  explicit BackwardWorker(const Problem& problem)
      : plans_(problem.instance, {problem.budget.count(), problem.order == OrderMode::kStaged,
                                  static_cast<std::uint64_t>(problem.options->seed)}) {}

  const char* name() const override { return "backward"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const Ticks before = budget.spent();
    while (!budget.Exhausted()) {
      if (exchange.known().best) return false;
      if (plans_.Run(budget)) exchange.Offer(plans_.sequence(), name());
    }
    spent_ += budget.spent() - before;
    return spent_ < kMost;
  }

 private:
  BackwardPlans plans_;
  Ticks spent_ = 0;
};

}  // namespace

bool BackwardFits(const Problem& problem) {
  return problem.instance.plain && problem.instance.num_ops <= kMostOps && !problem.max_executions;
}

std::unique_ptr<Worker> MakeBackwardWorker(const Problem& problem) { return std::make_unique<BackwardWorker>(problem); }

}  // namespace ebb
