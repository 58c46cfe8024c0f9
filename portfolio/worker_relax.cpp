// SPDX-License-Identifier: Apache-2.0
//
// The whole graph as one part (part_search.hpp): its plans, its bound, its proof.
#include <algorithm>

#include "portfolio/barren.hpp"
#include "portfolio/part_search.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class RelaxWorker : public Worker {
 public:
  RelaxWorker(const Problem& problem, PartSearch::Sides sides, std::size_t helpers = 0)
      : problem_(problem),
        climbs_(sides == PartSearch::Sides::kClimb),
        beside_climber_(sides == PartSearch::Sides::kAllButClimb),
        desk_(helpers),
        search_(problem, sides, helpers > 0 ? &desk_ : nullptr),
        barren_(problem.instance.num_ops) {}

  const char* name() const override { return climbs_ ? "climbing" : "relaxation"; }
  double appetite() const override { return search_.waiting() ? kWaiting : appetite_; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (climbs_) {
      // Beside local search: little while that gains, nearly all when it has not for long. It needs a plan above it.
      barren_.Note(exchange);
      appetite_ = std::clamp(barren_.units(), 0.25, 24.0);
      if (exchange.known().best == nullptr) return true;
    }
    if (const IncumbentPtr& best = exchange.known().best) search_.Know(best->duration());
    const TreeDesk& known = exchange.known().tree;
    for (std::size_t i = 0; i < desk_.reports.size() && i < known.reports.size(); ++i)
      desk_.reports[i] = known.reports[i];
    const auto told = desk_.tasks;
    const bool better = search_.Run(budget);
    for (std::size_t i = 0; i < told.size(); ++i)
      if (desk_.tasks[i] != told[i]) exchange.TellTreeTask(i, desk_.tasks[i]);
    if (better && exchange.Interesting(search_.upper(), search_.best().size()))
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
    // Where another lane climbs and has left it behind, that one's helper has the lane.
    if (beside_climber_ && (spent_ += budget.spent()) > kFairStart)
      appetite_ = search_.lower() < exchange.known().lower_bound ? kTrailing : 1;
    if (!search_.exhausted()) return true;
    auto end = std::make_shared<TreeTask>();
    end->last = true;
    for (std::size_t i = 0; i < desk_.tasks.size(); ++i) exchange.TellTreeTask(i, end);
    return false;
  }

 private:
  static constexpr double kWaiting = 0.01, kTrailing = 0.005;
  static constexpr Ticks kFairStart = 4'000'000'000;

  const Problem& problem_;
  const bool climbs_, beside_climber_;
  Ticks spent_ = 0;
  TreeDesk desk_;
  PartSearch search_;
  double appetite_ = 1;
  Barren barren_;
};

}  // namespace

std::unique_ptr<Worker> MakeRelaxWorker(const Problem& problem, bool climbs) {
  return std::make_unique<RelaxWorker>(problem, climbs ? PartSearch::Sides::kAll : PartSearch::Sides::kAllButClimb);
}

std::unique_ptr<Worker> MakeClimbingWorker(const Problem& problem, std::size_t helpers) {
  return std::make_unique<RelaxWorker>(problem, PartSearch::Sides::kClimb, helpers);
}

}  // namespace ebb
