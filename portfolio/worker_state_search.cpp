// SPDX-License-Identifier: Apache-2.0
//
// The search is one call, not a series of steps. It is called with a limit that doubles; what an unfinished call has
// done is done again by the next, at most as much again in total.
#include "heuristics/state_search.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMostOps = 40;
constexpr Ticks kFirst = 50'000'000;
constexpr Ticks kMost = 30'000'000'000;

class StateSearchWorker : public Worker {
 public:
  explicit StateSearchWorker(const Problem& problem) : problem_(problem) {}

  const char* name() const override { return "state search"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    WorkBudget work(limit_, budget.stop_signal());
    const StateSearchResult result = SearchStates(problem_.instance, problem_.budget.count(), problem_.order,
                                                  problem_.max_executions.value_or(0), work);
    budget.Spend(work.spent());
    if (result.status == SolveStatus::kOptimal) {
      exchange.Offer(result.sequence, name());
      exchange.RaiseBound(result.duration, name());
      return false;
    }
    if (result.status == SolveStatus::kInfeasible) {
      Infeasibility why;
      why.text = "no plan fits into " + std::to_string(problem_.budget.count()) +
                 " bytes: all states of the graph were searched";
      why.bytes_given = problem_.budget.count();
      exchange.ProveInfeasible(std::move(why));
      return false;
    }
    exchange.RaiseBound(result.bound, name());
    // Ended by the memory limit, not by ticks: more ticks would not help.
    if (work.spent() < limit_ && !work.stopped()) return false;
    limit_ *= 4;
    return limit_ <= kMost;
  }

 private:
  const Problem& problem_;
  Ticks limit_ = kFirst;
};

}  // namespace

bool StateSearchFits(const Problem& problem) { return problem.instance.num_ops <= kMostOps; }

std::unique_ptr<Worker> MakeStateSearchWorker(const Problem& problem) {
  return std::make_unique<StateSearchWorker>(problem);
}

}  // namespace ebb
