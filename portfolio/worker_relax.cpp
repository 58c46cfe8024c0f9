// SPDX-License-Identifier: Apache-2.0
//
// The whole graph as one part (part_search.hpp): its plans, its bound, its proof.
#include "portfolio/part_search.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class RelaxWorker : public Worker {
 public:
  explicit RelaxWorker(const Problem& problem) : problem_(problem), search_(problem) {}

  const char* name() const override { return "relaxation"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (const IncumbentPtr& best = exchange.known().best) search_.Know(best->duration());
    if (search_.Run(budget) && exchange.Interesting(search_.upper(), search_.best().size()))
      exchange.Offer(search_.best(), search_.finder());
    if (search_.infeasible()) {
      Infeasibility why;
      why.text = "no plan in the given order fits into " + std::to_string(problem_.budget.count()) +
                 " bytes (boundary relaxation)";
      why.bytes_given = problem_.budget.count();
      exchange.ProveInfeasible(std::move(why));
      return false;
    }
    exchange.RaiseBound(search_.lower(), name());
    return !search_.exhausted();
  }

 private:
  const Problem& problem_;
  PartSearch search_;
};

}  // namespace

std::unique_ptr<Worker> MakeRelaxWorker(const Problem& problem) { return std::make_unique<RelaxWorker>(problem); }

}  // namespace ebb
