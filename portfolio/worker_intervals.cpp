// SPDX-License-Identifier: Apache-2.0
//
// The complete retention-interval model (portfolio/interval_solver.hpp) for small graphs: where the boundary relaxation
// leaves a gap (memory inside stages), this closes it. Its search keeps what it learned between two
// steps, not its place, so it works in larger and larger pieces and the lane makes the others even.
#include <algorithm>
#include <string>

#include "portfolio/interval_solver.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class IntervalsWorker : public Worker {
 public:
  explicit IntervalsWorker(const Problem& problem)
      : problem_(problem), solver_(problem.instance, problem.order, problem.budget.count(), MakeParams(problem)) {}

  const char* name() const override { return "intervals"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (const IncumbentPtr& best = exchange.known().best) {
      solver_.SetIncumbent(best->duration());
#ifdef EBB_CHECK
      solver_.SetKnown(best->sequence);
#endif
    }
    WorkBudget piece(piece_, budget.stop_signal());
    const IntervalSolver::State state = solver_.Step(piece);
    budget.Spend(piece.spent());
    switch (state) {
      case IntervalSolver::State::kPlan: exchange.Offer(solver_.plan(), name()); return true;
      case IntervalSolver::State::kLimit: piece_ = std::min(piece_ + piece_ / 2, LargestPiece()); return true;
      case IntervalSolver::State::kProved: break;
      case IntervalSolver::State::kGivenUp: return false;
    }
    if (solver_.incumbent()) {
      exchange.RaiseBound(*solver_.incumbent(), name());
      return false;
    }
    Infeasibility why;
    why.text = std::string("no plan in ") + ToString(problem_.order) + " order fits into " +
               std::to_string(problem_.budget.count()) + " bytes: the interval model has no solution";
    why.bytes_given = problem_.budget.count();
    exchange.ProveInfeasible(std::move(why));
    return false;
  }

 private:
  static IntervalSolver::Params MakeParams(const Problem& problem) {
    IntervalSolver::Params params;
    params.max_executions = problem.max_executions.value_or(0);
    params.seed = static_cast<std::int32_t>(problem.options->seed % 1'000'000);
    return params;
  }
  // A work limit is not to be passed by much.
  [[nodiscard]] Ticks LargestPiece() const {
    const double limit = problem_.options->work_limit > 0 ? problem_.options->work_limit / 10 : 4.0;
    return std::max(kFirstPiece, static_cast<Ticks>(std::min(limit, 4.0) * static_cast<double>(kTicksPerWork)));
  }

  static constexpr Ticks kFirstPiece = 200'000'000;
  const Problem& problem_;
  IntervalSolver solver_;
  Ticks piece_ = kFirstPiece;
};

}  // namespace

bool IntervalsFit(const Problem& problem) { return IntervalSolver::Fits(problem.instance, problem.order); }

std::unique_ptr<Worker> MakeIntervalsWorker(const Problem& problem) {
  return std::make_unique<IntervalsWorker>(problem);
}

}  // namespace ebb
