// SPDX-License-Identifier: Apache-2.0
#include "heuristics/annealing.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class AnnealWorker : public Worker {
 public:
  AnnealWorker(const Problem& problem, const AnnealingParams& params)
      : problem_(problem), annealing_(problem.instance, params) {}

  const char* name() const override { return "anneal"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const IncumbentPtr& best = exchange.known().best;
    if (!started_) {
      started_ = true;
      given_ = best;
      annealing_.Start(best ? best->sequence : problem_.hint.empty() ? problem_.instance.order : problem_.hint);
    } else if (best && best != given_ && (!annealing_.has_plan() || best->duration() < annealing_.best_duration())) {
      given_ = best;
      annealing_.Offer(best->sequence);
    }
    annealing_.Run(budget);
    if (annealing_.has_plan() && exchange.Interesting(annealing_.best_duration(), annealing_.best_sequence().size()) &&
        annealing_.best_sequence() != told_) {
      told_ = annealing_.best_sequence();
      exchange.Offer(told_, name());
    }
    return true;
  }

 private:
  const Problem& problem_;
  Annealing annealing_;
  bool started_ = false;
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
  // Every other walk is a cold one: it polishes what is known.
  if (index % 2 == 1) params.hot = 0.1;
  return std::make_unique<AnnealWorker>(problem, params);
}

}  // namespace ebb
