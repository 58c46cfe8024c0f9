// SPDX-License-Identifier: Apache-2.0
//
// Neighbourhood search: a few ops of the best plan are set free in a window (neighbourhood.hpp) and solved anew by the
// boundary relaxation, by learning or by the tree, for what local search's single moves do not reach: many values
// exchanged at once. What the relaxation decodes and does not quite fit goes through a short cold local search. (Large
// neighbourhood search: Shaw 1998; choice by success: Ropke and Pisinger 2006.)
//
// Kinds of free ops:
//   hot       that run again near a place with little room, or whose values lie across it
//   closure   that run again and read each other's values
//   size      that run again or lie across a place, of one size class
// Each kind has its own number of free ops, which grows while neighbourhoods are solved to the end and shrinks when
// they are not; kinds are drawn by what they gained lately for their work. A neighbourhood has 0.1 units of work, more
// where long nothing was gained.
//
// Its part of the lane follows from what plans became shorter by for its work and for the others', both fading: a tenth
// while local search finds the better plans sooner (the first seconds are its own), up to 0.7 where it does not.
//
// While nobody has a plan it takes a larger budget's and brings it down (heuristics/budget_descent.hpp).
//
// Measured (neighbourhoods tried / with a gain; RL n=250 and 500 at 0.7, ResNet50 at 0.3 and 0.15, unroll_gan at 0.5,
// several seeds): hot 313 / 23, closure 237 / 13 (all of the RL graphs' and none of unroll_gan's), size 387 / 19. Any
// ops at random: 190 / 1, dropped. Dropped too, on five to ten seeds each: the best plan shortened at a budget larger
// by 2 to 8 % and brought down again (RL n=250 at 0.7 15.78 on average, 15.22 without; n=500 12.23 and 12.18), a new
// descent where long nothing was gained (15.54 and 15.42), local search not cold twice in a row after plans from here
// (densenet121 at 0.3 18.81 and 18.76), levels doubled where a neighbourhood took next to nothing (densenet121 18.74
// and 18.76, unroll_gan 7.132 and 7.115), also with closures continued nearby (18.76, 7.137), and these with at most a
// quarter of the lane (densenet121 18.70, n=500 12.14 and 12.20, but ResNet50 at 0.3 3.656 and 3.644, at 0.15 9.93 and
// 9.88).
#include <algorithm>
#include <cmath>
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
#include "portfolio/gain_shares.hpp"
#include "portfolio/neighbourhood.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// The ways to make a neighbourhood. Those of FreeKind come first and are solved by the engine.
constexpr std::size_t kEngineWays = 3, kWays = 5;
constexpr std::int64_t kWalkWidth[kWays - kEngineWays] = {300, 1500};  // places

class NeighbourhoodWorker : public Worker {
 public:
  NeighbourhoodWorker(const Problem& problem, int index)
      : problem_(problem),
        in_(problem.instance),
        random_(static_cast<std::uint64_t>(problem.options->seed) * 1'000'003 + 777 +
                static_cast<std::uint64_t>(index)),
        shares_(in_.num_ops <= kWalkUpTo ? kWays : kEngineWays) {
    for (double& level : level_) level = 16;
  }

  const char* name() const override { return "neighbourhood"; }

  double appetite() const override {
    if (!plan_) return descent_ ? 2 : 0.01;
    if (!begun_) return 0.01;
    const double trifle = 1e-3 * static_cast<double>(plan_->duration() - in_.base_duration) / kTicksPerWork;
    const double mine = mine_.Rate(), others = others_.Rate();
    const double part = std::clamp((mine + trifle / 2) / (mine + others + trifle), kLeastPart, kMostPart);
    return 2 * part / (1 - part);  // its slot has half the share of local search's (lineup.cpp)
  }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (!exchange.known().best) {
      Descend(budget, exchange);
      return true;
    }
    descent_.reset();
    if (!begun_ && !MayBegin(exchange)) {
      budget.Spend(10'000);
      return true;
    }
    while (!budget.Exhausted()) {
      if (!solver_ && !polish_ && !walk_ && !Begin(budget, exchange)) return false;
      if (solver_)
        Solve(budget, exchange);
      else if (polish_)
        Polish(budget, exchange);
      else if (walk_)
        Walk(budget, exchange);
    }
    return true;
  }

 private:
  // Nothing to improve yet, and after a fair start of the others: a plan of a larger budget brought down to this one.
  void Descend(WorkBudget& budget, Exchange& exchange) {
    const auto wait = std::min<Ticks>(kTicksPerWork, kWait * static_cast<Ticks>(in_.num_ops));
    if (exchange.clock() < wait || in_.num_ops > kDescentFrom) {
      budget.Spend(10'000);
      return;
    }
    if (!descent_) {
      descent_.emplace(in_, Local());
      descent_->Start(!problem_.hint.empty()               ? problem_.hint
                      : problem_.order == OrderMode::kFree ? ListSchedule(in_, ListRule::kLeastMemory)
                                                           : in_.order);
    }
    descent_->Run(budget);
    if (descent_->has_plan()) exchange.Offer(descent_->plan(), name());
  }

  static constexpr Ticks kWait = 600'000;  // for each op
  static constexpr Ticks kBarren = 100'000'000;
  static constexpr std::size_t kDescentFrom = 100'000;
  static constexpr Ticks kFirstLimit = 50'000'000, kLastLimit = 1'000'000'000;
  static constexpr double kMemory = 5e8;  // ticks of the lane
  static constexpr double kLeastPart = 0.1, kMostPart = 0.5;
  static constexpr Ticks kWalk = 20'000'000, kLeastPolish = 10'000'000;
  static constexpr std::size_t kWalkUpTo = 20'000;  // ops; above, local search itself walks in windows

  // Plans from here disturb local search in its first cycles, which gain most for their work: it has the lane to itself
  // until it gained next to nothing for a while.
  bool MayBegin(const Exchange& exchange) {
    const std::int64_t again = exchange.known().best->duration() - in_.base_duration;
    if (!plan_ || static_cast<double>(again) < 0.99 * static_cast<double>(plan_->duration() - in_.base_duration)) {
      plan_ = exchange.known().best;
      judged_ = exchange.clock();
    }
    begun_ = exchange.clock() - judged_ >= kBarren;
    return begun_;
  }

  // ---- its part of the lane ----------------------------------------------------------------------------------------
  struct Record {
    double gain = 0, ticks = 0;  // fading
    [[nodiscard]] double Rate() const { return gain / std::max(ticks, 1e7); }
  };
  void Spend(WorkBudget& budget, Ticks work) {  // on the present neighbourhood
    budget.Spend(work);
    spent_ += work;
    own_ += work;
  }
  // Books the lane's work since the last neighbourhood.
  void Judge(const Exchange& exchange) {
    const auto lane = static_cast<double>(exchange.clock() - judged_), own = static_cast<double>(own_);
    judged_ = exchange.clock();
    own_ = 0;
    const double keep = std::exp(-lane / kMemory);
    for (Record* r : {&mine_, &others_}) {
      r->gain *= keep;
      r->ticks *= keep;
    }
    mine_.ticks += own;
    others_.ticks += std::max(0.0, lane - own);
  }

  bool Begin(WorkBudget& budget, Exchange& exchange) {
    const IncumbentPtr& best = exchange.known().best;
    Judge(exchange);
    if (best->duration() < plan_->duration()) {
      (best->worker == name() ? mine_ : others_).gain += static_cast<double>(plan_->duration() - best->duration());
      plan_ = best;
      view_.reset();
    }
    if (plan_->sequence.size() <= in_.num_ops || plan_->sequence.size() < 3) return false;
    way_ = shares_.Next();
    spent_ = 0;
    before_ = best_ = plan_->duration();
    loose_.clear();
    if (way_ < kEngineWays)
      BeginSolving(budget);
    else
      BeginWalk(budget);
    return true;
  }

  void BeginSolving(WorkBudget& budget) {
    if (!view_) {
      view_.emplace(in_, plan_->sequence, problem_.budget.count());
      budget.Spend(static_cast<Ticks>(in_.num_ops) * 100);
    }
    const FreeOps chosen = ChooseFreeOps(in_, problem_.budget.count(), *view_, static_cast<FreeKind>(way_),
                                         static_cast<std::size_t>(level_[way_]), random_);
    free_ = chosen.count;
    cut_ = view_->Cut(static_cast<std::size_t>(chosen.begin), static_cast<std::size_t>(chosen.end), chosen.free);
    Spend(budget, static_cast<Ticks>(cut_.instance.num_ops) * 300 + static_cast<Ticks>(in_.num_ops) * 20);
    limit_ = std::min(kLastLimit, kFirstLimit + kFirstLimit / 20 * stale_);
    BoundarySolver::Params params;
    params.from = cut_.gate;
    params.entry = cut_.entry;
    params.tree_ticks = limit_ / 2;
    params.probes = 2;
    if (problem_.options->learning) params.search = ByLearning(problem_);
    solver_.emplace(cut_.instance, problem_.budget.count(), mode(), &decoder_, params);
    solver_->SetIncumbent(cut_.duration);
    loose_duration_ = cut_.duration;
  }

  // ---- solving ------------------------------------------------------------------------------------------------------
  // The instance of a neighbourhood has the order of the plan.
  [[nodiscard]] OrderMode mode() const {
    return problem_.order == OrderMode::kFree ? OrderMode::kFixed : problem_.order;
  }

  void Solve(WorkBudget& budget, Exchange& exchange) {
    WorkBudget turn(limit_ - spent_, budget.stop_signal());  // learning does not keep its place from turn to turn
    const bool done = solver_->Step(turn);
    Spend(budget, std::max<Ticks>(turn.spent(), 10'000));
    for (const BoundarySolver::Candidate& c : solver_->TakeCandidates()) {
      if (c.fits && c.duration < cut_.duration) {
        Accept(view_->With(cut_, c.sequence), exchange);
      } else if (c.duration < loose_duration_) {
        loose_ = c.sequence;
        loose_duration_ = c.duration;
      }
    }
    if (!done && spent_ < limit_) return;
    double& level = level_[way_];
    if (done && spent_ < limit_ / 2 && static_cast<double>(free_) >= level / 2)
      level = std::min(level * (spent_ < limit_ / 50   ? 1.6
                                : spent_ < limit_ / 10 ? 1.25
                                                       : 1.1),
                       static_cast<double>(in_.num_ops));
    if (!done) level = std::max(level * 0.9, 5.0);
    if (!loose_.empty() && in_.num_ops <= kWalkUpTo && loose_duration_ - cut_.duration + before_ < best_) {
      AnnealingParams params = Local();
      params.hot = 0.03;
      params.cold = 0.003;
      polish_until_ = spent_ + std::clamp(spent_, kLeastPolish, limit_ / 2);
      params.cycle = std::max<std::int64_t>(2'000, (polish_until_ - spent_) / 400);
      polish_.emplace(in_, params);
      polish_->Start(view_->With(cut_, loose_));
    } else {
      End();
    }
    solver_.reset();
  }

  void Polish(WorkBudget& budget, Exchange& exchange) {
    WorkBudget turn(std::min(budget.left(), polish_until_ - spent_), budget.stop_signal());
    polish_->Run(turn);
    Spend(budget, std::max<Ticks>(turn.spent(), 10'000));
    if (polish_->has_plan() && polish_->best_duration() < best_) Accept(polish_->best_sequence(), exchange);
    if (spent_ < polish_until_) return;
    polish_.reset();
    End();
  }

  // ---- windows walked -----------------------------------------------------------------------------------------------
  void BeginWalk(WorkBudget& budget) {
    std::optional<Annealing>& walk = walks_[way_ - kEngineWays];
    if (!walk) {
      AnnealingParams params = Local();
      params.window = kWalkWidth[way_ - kEngineWays];
      walk.emplace(in_, params);
      walk->Start(plan_->sequence);
    } else if (!walk->has_plan() || plan_->duration() < walk->best_duration()) {
      walk->Offer(plan_->sequence);
    }
    budget.Spend(static_cast<Ticks>(in_.num_ops) * 100);
    walk_ = &*walk;
    limit_ = kWalk;
  }

  void Walk(WorkBudget& budget, Exchange& exchange) {
    WorkBudget turn(std::min(budget.left(), limit_ - spent_), budget.stop_signal());
    walk_->Run(turn);
    Spend(budget, std::max<Ticks>(turn.spent(), 10'000));
    if (walk_->has_plan() && walk_->best_duration() < best_) Accept(walk_->best_sequence(), exchange);
    if (spent_ < limit_) return;
    walk_ = nullptr;
    End();
  }

  [[nodiscard]] AnnealingParams Local() {
    AnnealingParams params;
    params.order = problem_.order;
    params.budget = problem_.budget.count();
    params.max_executions = problem_.max_executions.value_or(0);
    params.seed = static_cast<std::uint64_t>(random_.Below(1'000'000'000));
    return params;
  }

  void Accept(const std::vector<std::int32_t>& sequence, Exchange& exchange) {
    std::int64_t duration = 0;
    for (const std::int32_t op : sequence) duration += in_.duration[At(op)];
    if (duration >= best_) return;
    if (exchange.Interesting(duration, sequence.size()) && exchange.Offer(sequence, name())) {
      best_ = duration;
    }
  }

  void End() {
    ++stale_;
    double gain = 0;  // per mille of what runs again; a large step of the first seconds says no more than a small one
    if (best_ < before_) {
      gain = std::min(1.0, 1000.0 * static_cast<double>(before_ - best_) /
                               static_cast<double>(std::max<std::int64_t>(1, before_ - in_.base_duration)));
      stale_ = 0;
    }
    shares_.Book(way_, gain, spent_);
  }

  const Problem& problem_;
  const Instance& in_;
  QuickRandom random_;
  GainShares shares_;
  double level_[kEngineWays];   // free ops
  Record mine_, others_;        // what plans became shorter by, here and elsewhere, and for what work
  Ticks judged_ = 0, own_ = 0;  // the lane's clock then; own work since
  IncumbentPtr plan_;           // that neighbourhoods are made of
  bool begun_ = false;
  std::optional<PlanView> view_;  // of it, once one is cut out
  Decoder decoder_;

  std::optional<BudgetDescent> descent_;  // until there is a plan
  // The neighbourhood at work.
  std::size_t way_ = 0, free_ = 0;
  Neighbourhood cut_;
  std::optional<BoundarySolver> solver_;
  std::optional<Annealing> polish_;
  std::optional<Annealing> walks_[kWays - kEngineWays];
  Annealing* walk_ = nullptr;  // the one at work
  Ticks limit_ = kFirstLimit, spent_ = 0, polish_until_ = 0;
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
