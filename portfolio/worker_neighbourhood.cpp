// SPDX-License-Identifier: Apache-2.0
//
// Neighbourhood search: parts of the best plan are set free and solved anew, for what local search's single moves do
// not reach: many values exchanged at once. (Large neighbourhood search: Shaw 1998.) Three ways share its work by what
// each gains for its own (way_choice.hpp):
//   free ops    a few ops, in a window of places (free_ops.hpp), solved by the boundary relaxation, by learning or by
//               the tree. What the relaxation decodes and does not quite fit goes through a short cold walk
//   stretches   a walk of local search over stretches of places (annealing.hpp, `window`), cold. Of up to 300 or 1,500
//               places, and so of a small graph's whole plan
//   kernel      a walk with all ops fixed but the few that good plans run again (kernel.hpp), from the best plan or
//               from the start order
// Walks are for when the others have found nothing better for a while, and for graphs of up to 5,000 ops: above that
// one from the start order comes to nothing in its time (lstm 31 % after 0.15 units), and local search walks stretches
// itself (from 3,000 ops on).
//
// A neighbourhood has 0.1 units of work, one of free ops more where long nothing was gained. The worker's part of the
// lane: lane_part.hpp.
//
// While nobody has a plan it takes a larger budget's and brings it down (heuristics/budget_descent.hpp).
//
// Tried and dropped, seeds 1 to 5 or 1 to 10, overhead in percent: the best plan shortened at a budget larger by 2 to 8
// % and brought down again (RL n=250 at 0.7 15.78 on average, 15.22 without); a new descent where long nothing was
// gained (15.54 and 15.42); levels of free ops doubled where a neighbourhood took next to nothing (densenet121 18.74
// and 18.76, unroll_gan 7.132 and 7.115). Above 5,000 ops walks of stretches lose (unroll_gan 7.139 with, 7.117
// without, seeds 1 to 10). Walks from the beginning, not only once others have stalled, and every fourth of the
// kernel's one of all ops from the start order for other plans: RL n=500 at 0.7 12.148 (7 of 10 seeds better than local
// search alone, 3 worse), unet 28.342 (6, 1), densenet121 18.696 (6, 4), RL n=250 at 0.7 15.235 (6, 1), but inceptionv4
// is lost (13.97, 13.88 alone, on four seeds): what local search has not had time for they do worse. Hot walks of all
// ops from the best plan in the kernel's place: RL n=500 at 0.7 12.175 and 12.154 with the kernel. A larger part of the
// lane where nobody gains (0.45): no better (RL n=500 at 0.7 12.138 and 12.139, unet 28.77 and 28.73).
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "engine/bounds/boundary_solver.hpp"
#include "heuristics/annealing.hpp"
#include "heuristics/budget_descent.hpp"
#include "heuristics/decode.hpp"
#include "heuristics/list_schedule.hpp"
#include "heuristics/random.hpp"
#include "portfolio/by_learning.hpp"
#include "portfolio/free_ops.hpp"
#include "portfolio/kernel.hpp"
#include "portfolio/lane_part.hpp"
#include "portfolio/neighbourhood.hpp"
#include "portfolio/success.hpp"
#include "portfolio/way_choice.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// What the work is shared among, by what each gains for it.
enum Way : std::size_t { kFreeOps, kKernel, kStretches, kWays };
// Walks of the kernel, from the best plan and from the start order, and of stretches.
enum WalkKind : std::size_t { kKernelOn, kKernelAnew, kShort, kLong, kWalkKinds, kNoWalk };

class NeighbourhoodWorker : public Worker {
 public:
  NeighbourhoodWorker(const Problem& problem, int index)
      : problem_(problem),
        in_(problem.instance),
        random_(static_cast<std::uint64_t>(problem.options->seed) * 1'000'003 + 777 +
                static_cast<std::uint64_t>(index)),
        ways_(kWays),
        free_ops_(in_, problem.budget.count(), random_),
        kernel_(in_) {}

  const char* name() const override { return "neighbourhood"; }

  double appetite() const override {
    if (!view_) return descent_ ? 2 : 0.01;
    return part_.appetite();
  }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const IncumbentPtr& best = exchange.known().best;
    if (!best) {
      Descend(budget, exchange);
      return true;
    }
    descent_.reset();
    part_.Note(exchange.clock(), best->duration(), best->worker == name(),
               view_ ? view_->duration() - in_.base_duration : 0);
    if (!part_.due()) {
      budget.Spend(LanePart::kWait);
      return true;
    }
    while (!budget.Exhausted()) {
      if (!solver_ && !walk_ && !Begin(budget, exchange)) return false;
      if (solver_)
        Solve(budget, exchange);
      else
        Walk(budget, exchange);
    }
    return true;
  }

 private:
  static constexpr Ticks kWait = 600'000;  // for each op
  static constexpr std::size_t kDescentFrom = 100'000;
  static constexpr Ticks kFirstLimit = 100'000'000, kLastLimit = 1'000'000'000;
  static constexpr std::size_t kPolishTo = 20'000;  // ops
  static constexpr Ticks kWalk = 100'000'000;
  static constexpr std::size_t kWalksTo = 5'000;                            // ops
  static constexpr Ticks kStalled = 150'000'000;                            // since somebody else's last gain
  static constexpr double kKernelStep = 0.005;                              // of what runs again
  static constexpr std::int64_t kShortStretch = 300, kLongStretch = 1'500;  // places

  AnnealingParams WalkParams() {
    AnnealingParams params;
    params.order = problem_.order;
    params.budget = problem_.budget.count();
    params.max_executions = problem_.max_executions.value_or(0);
    params.seed = static_cast<std::uint64_t>(random_.Below(1'000'000'000));
    return params;
  }
  // The order that walks begin with where no plan is known.
  [[nodiscard]] std::vector<std::int32_t> StartOrder() const {
    return problem_.order == OrderMode::kFree ? ListSchedule(in_, ListRule::kLeastMemory) : in_.order;
  }

  // Nothing to improve yet, and after a fair start of the others: a plan of a larger budget brought down to this one.
  void Descend(WorkBudget& budget, Exchange& exchange) {
    const auto wait = std::min<Ticks>(kTicksPerWork, kWait * static_cast<Ticks>(in_.num_ops));
    if (exchange.clock() < wait || in_.num_ops > kDescentFrom) {
      budget.Spend(10'000);
      return;
    }
    if (!descent_) {
      descent_.emplace(in_, WalkParams());
      descent_->Start(!problem_.hint.empty() ? problem_.hint : StartOrder());
    }
    descent_->Run(budget);
    if (descent_->has_plan()) exchange.Offer(descent_->plan(), name());
  }

  // ---- choice -------------------------------------------------------------------------------------------------------
  bool Begin(WorkBudget& budget, Exchange& exchange) {
    const IncumbentPtr& best = exchange.known().best;
    if (!view_ || best->duration() < view_->duration()) {
      if (view_ && static_cast<double>(view_->duration() - best->duration()) >
                       kKernelStep * static_cast<double>(view_->duration() - in_.base_duration))
        kernel_.Note(view_->sequence());
      view_.emplace(in_, best->sequence, problem_.budget.count());
      budget.Spend(static_cast<Ticks>(in_.num_ops) * 100);
    }
    if (view_->repeats().empty() || view_->sequence().size() < 3) return false;
    const bool walks = in_.num_ops <= kWalksTo && exchange.clock() - part_.others_gained() >= kStalled;
    const std::array<std::uint8_t, kWays> sensible = {1, walks && kernel_.plans() > 0, walks};
    way_ = static_cast<Way>(ways_.Next(sensible));
    spent_ = 0;
    before_ = best_ = view_->duration();
    if (way_ == kFreeOps)
      BeginWindow(budget);
    else
      BeginWalk(budget);
    return true;
  }

  void BeginWindow(WorkBudget& budget) {
    walk_kind_ = kNoWalk;
    double others = 0;
    for (const Success& s : success_) others = std::max(others, s.rate());
    free_ops_.Choose(*view_, others);
    cut_ = view_->Cut(free_ops_.begin(), free_ops_.end(), free_ops_.free());
    budget.Spend(static_cast<Ticks>(cut_.instance.num_ops) * 300 + static_cast<Ticks>(in_.num_ops) * 20);
    limit_ = std::min(kLastLimit, kFirstLimit + kFirstLimit / 20 * stale_);
    BoundarySolver::Params params;
    params.from = cut_.gate;
    params.entry = cut_.entry;
    params.tree_ticks = limit_ / 2;
    params.probes = 2;
    if (problem_.options->learning) params.search = ByLearning(problem_);
    solver_.emplace(cut_.instance, problem_.budget.count(), mode(), &decoder_, params);
    solver_->SetIncumbent(cut_.duration);
    loose_.clear();
    loose_duration_ = cut_.duration;
  }

  WalkKind DrawWalk() {
    if (way_ == kStretches) return random_.Chance(0.5) ? kShort : kLong;
    return random_.Chance(0.5) ? kKernelOn : kKernelAnew;
  }

  void BeginWalk(WorkBudget& budget) {
    walk_kind_ = DrawWalk();
    limit_ = kWalk;
    budget.Spend(static_cast<Ticks>(in_.num_ops) * 200);
    AnnealingParams params = WalkParams();
    if (walk_kind_ == kShort) params.window = kShortStretch;
    if (walk_kind_ == kLong) params.window = kLongStretch;
    const bool kernel = walk_kind_ == kKernelOn || walk_kind_ == kKernelAnew;
    if (kernel) narrowed_ = kernel_.Narrowed(view_->sequence());
    walk_.emplace(kernel ? narrowed_ : in_, params);
    walk_->Start(walk_kind_ == kKernelAnew ? StartOrder() : view_->sequence());
  }

  // ---- solving ------------------------------------------------------------------------------------------------------
  // The instance of a neighbourhood has the order of the plan.
  [[nodiscard]] OrderMode mode() const {
    return problem_.order == OrderMode::kFree ? OrderMode::kFixed : problem_.order;
  }

  void Spend(const WorkBudget& turn, WorkBudget& budget) {
    const Ticks work = std::max<Ticks>(turn.spent(), 10'000);
    budget.Spend(work);
    spent_ += work;
    part_.Spend(work);
  }

  void Solve(WorkBudget& budget, Exchange& exchange) {
    WorkBudget turn(limit_ - spent_, budget.stop_signal());  // learning does not keep its place from turn to turn
    const bool done = solver_->Step(turn);
    Spend(turn, budget);
    for (const BoundarySolver::Candidate& c : solver_->TakeCandidates()) {
      if (c.fits && c.duration < cut_.duration) {
        Accept(view_->With(cut_, c.sequence), exchange);
      } else if (c.duration < loose_duration_) {
        loose_ = c.sequence;
        loose_duration_ = c.duration;
      }
    }
    if (!done && spent_ < limit_) return;
    free_ops_.Solved(done, spent_, limit_);
    solver_.reset();
    if (loose_.empty() || in_.num_ops > kPolishTo || loose_duration_ - cut_.duration + before_ >= best_) {
      End();
      return;
    }
    AnnealingParams params = WalkParams();
    params.hot = 0.03;
    params.cold = 0.003;
    walk_.emplace(in_, params);
    walk_->Start(view_->With(cut_, loose_));
    limit_ = spent_ + std::min(spent_, limit_ / 2);
  }

  void Walk(WorkBudget& budget, Exchange& exchange) {
    WorkBudget turn(std::min(budget.left(), limit_ - spent_), budget.stop_signal());
    walk_->Run(turn);
    Spend(turn, budget);
    if (walk_->has_plan() && walk_->best_duration() < best_) Accept(walk_->best_sequence(), exchange);
    if (spent_ < limit_) return;
    walk_.reset();
    End();
  }

  void Accept(const std::vector<std::int32_t>& sequence, Exchange& exchange) {
    std::int64_t duration = 0;
    for (const std::int32_t op : sequence) duration += in_.duration[At(op)];
    if (duration >= best_) return;
    if (exchange.Interesting(duration, sequence.size()) && exchange.Offer(sequence, name())) best_ = duration;
  }

  void End() {
    ++stale_;
    double gain = 0;  // in per mille of what runs again
    if (best_ < before_) {
      gain = 1000.0 * static_cast<double>(before_ - best_) /
             static_cast<double>(std::max<std::int64_t>(1, before_ - in_.base_duration));
      stale_ = 0;
    }
    ways_.Book(way_, gain, spent_);
    // Of one kind: a large step of the first seconds says no more than a small one.
    if (way_ == kFreeOps)
      free_ops_.Book(std::min(1.0, gain), spent_);
    else
      success_[walk_kind_].Book(std::min(1.0, gain), spent_);
  }

  const Problem& problem_;
  const Instance& in_;
  QuickRandom random_;
  LanePart part_;
  std::optional<PlanView> view_;          // the plan that is improved
  std::optional<BudgetDescent> descent_;  // until there is a plan

  WayChoice ways_;
  FreeOps free_ops_;
  std::array<Success, kWalkKinds> success_;
  Kernel kernel_;
  Decoder decoder_;
  // The neighbourhood at work.
  Way way_ = kFreeOps;
  WalkKind walk_kind_ = kNoWalk;
  Neighbourhood cut_;
  std::optional<BoundarySolver> solver_;
  Instance narrowed_;  // that of a walk of the kernel
  std::optional<Annealing> walk_;
  Ticks limit_ = kFirstLimit, spent_ = 0;
  std::int64_t stale_ = 0;              // neighbourhoods since the last gain
  std::int64_t before_ = 0, best_ = 0;  // durations: the plan's, the best found here
  std::vector<std::int32_t> loose_;     // the shortest sequence over the budget, for a polish
  std::int64_t loose_duration_ = 0;
};

}  // namespace

bool NeighbourhoodFits(const Problem& problem) { return problem.instance.num_ops <= 200'000; }

std::unique_ptr<Worker> MakeNeighbourhoodWorker(const Problem& problem, int index) {
  return std::make_unique<NeighbourhoodWorker>(problem, index);
}

}  // namespace ebb
