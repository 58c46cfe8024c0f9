// SPDX-License-Identifier: Apache-2.0
#include "heuristics/annealing.hpp"
#include "heuristics/list_schedule.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class AnnealWorker : public Worker {
 public:
  AnnealWorker(const Problem& problem, const AnnealingParams& params, int index)
      : problem_(problem), index_(index), annealing_(problem.instance, params) {}

  const char* name() const override { return "anneal"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const IncumbentPtr& best = exchange.known().best;
    if (!started_) {
      started_ = true;
      given_ = best;
      if (index_ == 0 && !problem_.hint.empty() && (!best || problem_.hint_duration < best->duration())) {
        // A plan of a neighbouring budget, a little over this one: nearer to a good plan than any first plan is.
        trust_ = kTrust;
        annealing_.Start(problem_.hint);
      } else {
        annealing_.Start(FirstSequence(best));
      }
    } else if (trust_ > 0 && !annealing_.has_plan()) {
      // not yet: the hint is on its way
    } else if (best && best != given_ && (!annealing_.has_plan() || best->duration() < annealing_.best_duration())) {
      given_ = best;
      annealing_.Offer(best->sequence);
    }
    const Ticks before = budget.spent();
    annealing_.Run(budget);
    trust_ -= budget.spent() - before;
    if (annealing_.has_plan() && exchange.Interesting(annealing_.best_duration(), annealing_.best_sequence().size()) &&
        annealing_.best_sequence() != told_) {
      told_ = annealing_.best_sequence();
      exchange.Offer(told_, name());
    }
    return true;
  }

 private:
  // In free order walks start from different orders: what one start leads to the other may never reach (RL n=100 at
  // 0.64: nothing from the given order, 15.8 % from the least memory, 13.0 % from depth first).
  std::vector<std::int32_t> FirstSequence(const IncumbentPtr& best) const {
    if (problem_.order == OrderMode::kFree && index_ > 0) {
      return ListSchedule(problem_.instance, index_ % 2 == 1 ? ListRule::kDepthFirst : ListRule::kLeastMemory,
                          static_cast<std::uint64_t>(index_ / 2));
    }
    // What runs half of everything again is a worse start than the order that does not fit (RL n=1000 at 0.8: the plan
    // of next uses alone takes 128 % more; from there it had 39 % after 0.1 units of work, from here 5.7 %).
    if (best && best->duration() - problem_.instance.base_duration <= problem_.instance.base_duration / 2)
      return best->sequence;
    if (!problem_.hint.empty()) return problem_.hint;
    if (problem_.order == OrderMode::kFree) return ListSchedule(problem_.instance, ListRule::kLeastMemory);
    return problem_.instance.order;
  }

  const Problem& problem_;
  const int index_;
  Annealing annealing_;
  static constexpr Ticks kTrust = 1'000'000'000;
  bool started_ = false;
  Ticks trust_ = 0;                 // for so long a walk from a hint without a plan is left alone
  IncumbentPtr given_;              // the plan from elsewhere that the walk was last told of
  std::vector<std::int32_t> told_;  // what was last offered
};

}  // namespace

std::unique_ptr<Worker> MakeAnnealWorker(const Problem& problem, int index) {
  AnnealingParams params;
  params.order = problem.order;
  params.budget = problem.budget.count();
  params.max_executions = problem.max_executions.value_or(0);
  params.seed = static_cast<std::uint64_t>(problem.options->seed) * 1000 + static_cast<std::uint64_t>(index);
  // Walks of odd and even seeds take their temperatures in different turns (annealing.cpp).
  return std::make_unique<AnnealWorker>(problem, params, index);
}

}  // namespace ebb
