// SPDX-License-Identifier: Apache-2.0
//
// The complete retention-interval model (portfolio/interval_solver.hpp) for small graphs: where the boundary relaxation
// leaves a gap (memory inside stages), this closes it. Its search keeps what it learned between two steps, not its
// place, so it works in larger and larger pieces and the lane makes the others even.
//
// Two models take turns, with and without the LP, since neither wins everywhere: in millions of ticks, RL n=100 at 0.8
// (fixed) 26 and 61, FCN8 at 0.8 less than one and 155, but a random graph of 45 ops at 0.8 (staged) 1254 and 49.
#include <algorithm>
#include <deque>
#include <string>

#include "portfolio/interval_solver.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class IntervalsWorker : public Worker {
 public:
  explicit IntervalsWorker(const Problem& problem) : problem_(problem) {
    for (const bool relaxation : {true, false}) {
      if (relaxation && problem.order == OrderMode::kFree) continue;
      turns_.push_back({std::make_unique<IntervalSolver>(problem.instance, problem.order, problem.budget.count(),
                                                         MakeParams(problem, relaxation))});
    }
  }

  const char* name() const override { return "intervals"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    Turn& turn = turns_.front();
    IntervalSolver& solver = *turn.solver;
    if (const IncumbentPtr& best = exchange.known().best) {
      solver.SetIncumbent(best->duration());
#ifdef EBB_CHECK
      solver.SetKnown(best->sequence);
#endif
    }
    WorkBudget piece(turn.piece, budget.stop_signal());
    const IntervalSolver::State state = solver.Step(piece);
    budget.Spend(piece.spent());
    switch (state) {
      case IntervalSolver::State::kPlan: exchange.Offer(solver.plan(), name()); return true;
      case IntervalSolver::State::kLimit:
        turn.piece = std::min(turn.piece + turn.piece / 2, LargestPiece());
        std::rotate(turns_.begin(), turns_.begin() + 1, turns_.end());
        return true;
      case IntervalSolver::State::kGivenUp: turns_.pop_front(); return !turns_.empty();
      case IntervalSolver::State::kProved: break;
    }
    if (solver.incumbent()) {
      exchange.RaiseBound(*solver.incumbent(), name());
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
  static constexpr Ticks kFirstPiece = 200'000'000;
  struct Turn {
    std::unique_ptr<IntervalSolver> solver;
    Ticks piece = kFirstPiece;
  };
  static IntervalSolver::Params MakeParams(const Problem& problem, bool relaxation) {
    IntervalSolver::Params params;
    params.relaxation = relaxation;
    params.max_executions = problem.max_executions.value_or(0);
    params.seed = static_cast<std::int32_t>(problem.options->seed % 1'000'000);
    return params;
  }
  // A work limit is not to be passed by much.
  [[nodiscard]] Ticks LargestPiece() const {
    const double limit = problem_.options->work_limit > 0 ? problem_.options->work_limit / 10 : 4.0;
    return std::max(kFirstPiece, static_cast<Ticks>(std::min(limit, 4.0) * static_cast<double>(kTicksPerWork)));
  }

  const Problem& problem_;
  std::deque<Turn> turns_;  // the next one first
};

}  // namespace

bool IntervalsFit(const Problem& problem) { return IntervalSolver::Fits(problem.instance, problem.order); }

std::unique_ptr<Worker> MakeIntervalsWorker(const Problem& problem) {
  return std::make_unique<IntervalsWorker>(problem);
}

}  // namespace ebb
