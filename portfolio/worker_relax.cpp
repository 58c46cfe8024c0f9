// SPDX-License-Identifier: Apache-2.0
//
// The boundary relaxation, its decoded sequences, and a cold local search that starts from them. Cold: a start
// temperature of 0.03 mean durations keeps what the relaxation found, 0.1 already loses it (the study's measurement).
// The two take turns, half of the work each, until the relaxation is done; then the polishing goes on alone.
//
// The 0/1 programs are searched by branch and bound, or by clause learning (propagators/learning_solver.hpp): neither
// wins everywhere. RL n=1000 at 0.9 is proved in 2 s by learning, not in 30 s by the tree; examples/training_step.json
// at 0.6 in 1 s by the tree, not in 60 s by learning. So the lane has one worker of each. Learning keeps what it
// learned but not its place between two steps, so it takes its work in larger and larger pieces and the lane makes the
// others even.
#include <algorithm>
#include <optional>

#include "engine/bounds/boundary_solver.hpp"
#include "heuristics/annealing.hpp"
#include "heuristics/decode.hpp"
#include "portfolio/workers.hpp"
#include "propagators/learning_solver.hpp"

namespace ebb {
namespace {

class RelaxWorker : public Worker {
 public:
  RelaxWorker(const Problem& problem, bool learning)
      : problem_(problem),
        learning_(learning),
        solver_(problem.instance, problem.budget.count(), problem.order, &decoder_, MakeParams(problem, learning)) {}

  const char* name() const override { return learning_ ? "learning" : "relaxation"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const bool polish = polish_ && (done_ || polished_ <= relaxed_);
    if (!polish && done_) return false;
    const Ticks before = budget.spent();
    polish ? Polish(budget, exchange) : Relax(budget, exchange);
    (polish ? polished_ : relaxed_) += budget.spent() - before;
    return true;
  }

 private:
  static BoundarySolver::Params MakeParams(const Problem& problem, bool learning) {
    BoundarySolver::Params params;
    if (!learning) return params;
    params.search = [seed = static_cast<std::int32_t>(problem.options->seed % 1'000'000)](
                        BinaryProgram program, RowSeparator* separator) -> std::unique_ptr<BinarySolver> {
      LearningSolver::Params with;
      with.seed = seed;
      return std::make_unique<LearningSolver>(std::move(program), separator, with);
    };
    return params;
  }

  void Relax(WorkBudget& budget, Exchange& exchange) {
    if (const IncumbentPtr& best = exchange.known().best) solver_.SetIncumbent(best->duration());
    if (learning_ && solver_.progress().in_tree) {
      const std::int32_t models = solver_.progress().models;
      WorkBudget piece(std::max(piece_, budget.left()), budget.stop_signal());
      done_ = solver_.Step(piece);
      budget.Spend(piece.spent());
      piece_ = solver_.progress().models == models ? std::min(piece_ + piece_ / 2, LargestPiece()) : kFirstPiece;
    } else {
      done_ = solver_.Step(budget);
    }
    for (const BoundarySolver::Candidate& c : solver_.TakeCandidates()) {
      if (c.fits && exchange.Interesting(c.duration, c.sequence.size())) exchange.Offer(c.sequence, name());
      BeginPolish(c.sequence);
    }
    if (solver_.infeasible()) {
      Infeasibility why;
      why.text = "no plan in the given order fits into " + std::to_string(problem_.budget.count()) +
                 " bytes (boundary relaxation)";
      why.bytes_given = problem_.budget.count();
      exchange.ProveInfeasible(std::move(why));
      done_ = true;
      return;
    }
    exchange.RaiseBound(solver_.lower_bound(), name());
  }

  void BeginPolish(const std::vector<std::int32_t>& start) {
    AnnealingParams params;
    params.order = problem_.order;
    params.budget = problem_.budget.count();
    params.max_executions = problem_.max_executions.value_or(0);
    params.seed = static_cast<std::uint64_t>(problem_.options->seed) * 1000 + (learning_ ? 250 : 500) +
                  static_cast<std::uint64_t>(starts_++);
    params.hot = 0.03;
    params.cold = 0.003;
    polish_.emplace(problem_.instance, params);
    polish_->Start(start);
    told_.clear();
  }

  void Polish(WorkBudget& budget, Exchange& exchange) {
    polish_->Run(budget);
    if (!polish_->has_plan() || polish_->best_sequence() == told_ ||
        !exchange.Interesting(polish_->best_duration(), polish_->best_sequence().size())) {
      return;
    }
    told_ = polish_->best_sequence();
    exchange.Offer(told_, learning_ ? "learning+anneal" : "relaxation+anneal");
  }

  static constexpr Ticks kFirstPiece = 200'000'000;
  // A work limit is not to be passed by much.
  [[nodiscard]] Ticks LargestPiece() const {
    const double limit = problem_.options->work_limit > 0 ? problem_.options->work_limit / 10 : 4.0;
    return std::max(kFirstPiece, static_cast<Ticks>(std::min(limit, 4.0) * static_cast<double>(kTicksPerWork)));
  }
  const Problem& problem_;
  const bool learning_;
  Ticks piece_ = kFirstPiece;
  Decoder decoder_;
  BoundarySolver solver_;
  std::optional<Annealing> polish_;
  std::vector<std::int32_t> told_;
  int starts_ = 0;
  bool done_ = false;
  Ticks relaxed_ = 0, polished_ = 0;
};

}  // namespace

std::unique_ptr<Worker> MakeRelaxWorker(const Problem& problem, bool learning) {
  return std::make_unique<RelaxWorker>(problem, learning);
}

}  // namespace ebb
