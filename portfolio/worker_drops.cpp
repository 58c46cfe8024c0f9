// SPDX-License-Identifier: Apache-2.0
//
// The first plan of a large graph that fits (heuristics/gap_drops.hpp), beside the gap cover's in another lane: that
// one has eviction's in no time where ops read little, and none where they read much. Ends with its plan; local search
// goes on from there.
#include "heuristics/gap_drops.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class DropsWorker : public Worker {
 public:
  explicit DropsWorker(const Problem& problem) : drops_(problem.instance, Params(problem)) {}

  const char* name() const override { return "drops"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const bool more = drops_.Run(budget);
    if (drops_.has_plan() && exchange.Interesting(drops_.best_duration(), drops_.best_sequence().size()))
      exchange.Offer(drops_.best_sequence(), name());
    return more;
  }

 private:
  static GapDropsParams Params(const Problem& problem) {
    return {problem.budget.count(), problem.max_executions.value_or(0)};
  }

  GapDrops drops_;
};

}  // namespace

bool DropsFit(const Problem& problem) { return problem.instance.num_ops >= 2000; }

std::unique_ptr<Worker> MakeDropsWorker(const Problem& problem) { return std::make_unique<DropsWorker>(problem); }

}  // namespace ebb
