// SPDX-License-Identifier: Apache-2.0
#include "portfolio/part_search.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "engine/bounds/boundary_solver.hpp"
#include "heuristics/annealing.hpp"
#include "heuristics/decode.hpp"
#include "heuristics/priced_plans.hpp"
#include "portfolio/by_learning.hpp"

namespace ebb {
namespace {

constexpr Ticks kTurn = 20'000'000;
constexpr Ticks kFirstPiece = 200'000'000;  // of learning
// (RL n=1000 at 0.8: learning stands at 2.37 %, where the tree is, until it has had 6e9 ticks, and is at 2.55 % then.)
constexpr Ticks kFairStart = 8'000'000'000, kClimbStart = 2'000'000'000, kTrailing = 4;
constexpr std::size_t kLarge = 2000;  // ops
constexpr Ticks kBarren = 500'000'000;
constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();

// A work limit is not to be passed by much, and a climber's helper on the same lane not to wait for long.
Ticks LargestPiece(const Options& options, double most) {
  const double limit = options.work_limit > 0 ? options.work_limit / 10 : most;
  return std::max(kFirstPiece, static_cast<Ticks>(std::min(limit, most) * static_cast<double>(kTicksPerWork)));
}

}  // namespace

// One way through the relaxation's 0/1 programs, and the local search from what it decodes.
class PartSearch::Side {
 public:
  enum class Way { kNone, kTree, kLearning, kClimb };
  Side(PartSearch& part, Way way) : part_(part), way_(way) {
    if (way == Way::kNone) return;
    const Problem& problem = part.problem_;
    BoundarySolver::Params params;
    if (way == Way::kLearning)
      params.search = ByLearning(problem);
    else
      params.per_tree = 1;
    params.climb = way == Way::kClimb;
    if (params.climb) {
      params.told_orders = ClimbTerms(problem).told_orders;
      params.max_boundaries = 100;
      params.desk = part.desk_;
    }
    solver_.emplace(part.in_, problem.budget.count(), problem.order, &decoder_, params);
    if (part.known_ != kInfinity) solver_->SetIncumbent(part.known_);
  }

  [[nodiscard]] bool idle() const { return !solver_ && !polish_; }
  [[nodiscard]] Ticks charged() const { return charged_; }
  [[nodiscard]] bool settled() const { return !solver_ || solver_->progress().in_tree; }
  [[nodiscard]] bool waiting() const { return solver_ && solver_->waiting(); }
  [[nodiscard]] Ticks relaxed() const { return relaxed_; }
  void JoinAt(Ticks charged) { charged_ = charged; }
  void SetIncumbent(std::int64_t duration) {
    if (solver_) solver_->SetIncumbent(duration);
  }
  // Until something is to be told or the budget is used up.
  void Step(WorkBudget& work) {
    const bool polish = polish_ && (!solver_ || polished_ <= relaxed_);
    const Ticks before = work.spent();
    bool better = true;
    polish ? void(better = Polish(work)) : Relax(work);
    const Ticks spent = std::max<Ticks>(work.spent() - before, 1);
    charged_ += Trails() ? kTrailing * spent : spent;
    if (!polish) {
      relaxed_ += spent;
      return;
    }
    barren_ = better ? 0 : barren_ + spent;
    // (The climber's points are many and none is near a plan until the last.)
    polished_ += spent * (way_ == Way::kClimb ? 8 : std::clamp<Ticks>(1 + barren_ / kBarren, 1, 8));
  }

  void BeginPolish(std::span<const std::int32_t> start) {
    const Problem& problem = part_.problem_;
    AnnealingParams params;
    params.order = problem.order;
    params.budget = problem.budget.count();
    params.max_executions = problem.max_executions.value_or(0);
    params.seed = static_cast<std::uint64_t>(problem.options->seed) * 1'000'003 +
                  static_cast<std::uint64_t>(part_.index_) * 1000 + static_cast<std::uint64_t>(part_.starts_++);
    params.hot = 0.03;
    params.cold = 0.003;
    polish_.emplace(part_.in_, params);
    polish_->Start(start);
  }

 private:
  void Relax(WorkBudget& work) {
    bool done;
    if (way_ == Way::kLearning && solver_->progress().in_tree) {
      const std::int32_t models = solver_->progress().models;
      WorkBudget piece(std::max(piece_, work.left()), work.stop_signal());
      done = solver_->Step(piece);
      work.Spend(piece.spent());
      piece_ = solver_->progress().models == models
                   ? std::min(piece_ + piece_ / 2,
                              LargestPiece(*part_.problem_.options, part_.which_ == Sides::kAllButClimb ? 1.0 : 4.0))
                   : kFirstPiece;
    } else {
      WorkBudget turn(std::min(work.left(), kTurn), work.stop_signal());
      done = solver_->Step(turn);
      work.Spend(turn.spent());
    }
    for (const BoundarySolver::Candidate& c : solver_->TakeCandidates()) {
      if (!part_.WithinCap(c.sequence)) continue;
      if (c.fits) part_.Note(c.sequence, c.duration, Name());
      BeginPolish(c.sequence);
    }
    part_.infeasible_ = solver_->infeasible();
    if (part_.infeasible_) return;
    part_.lower_ = std::max(part_.lower_, solver_->lower_bound());
    if (part_.has_plan()) part_.lower_ = std::min(part_.lower_, part_.upper_);
    if (done) solver_.reset();
  }

  bool Polish(WorkBudget& work) {
    WorkBudget turn(std::min(work.left(), kTurn), work.stop_signal());
    polish_->Run(turn);
    work.Spend(turn.spent());
    return polish_->has_plan() && part_.Note(polish_->best_sequence(), polish_->best_duration(), Name(true));
  }

  [[nodiscard]] const char* Name(bool polished = false) const {
    switch (way_) {
      case Way::kLearning: return polished ? "learning+anneal" : "learning";
      case Way::kClimb: return polished ? "climbing+anneal" : "climbing";
      default: return polished ? "relaxation+anneal" : "relaxation";
    }
  }

  // Neither way through the programs wins everywhere, but mostly one wins by far: after a fair start the one whose
  // bound is behind, or that has nothing left to bound, gets a fifth of the work.
  [[nodiscard]] bool Trails() const {
    return relaxed_ > kFairStart && (!solver_ || solver_->lower_bound() < part_.lower_);
  }

  PartSearch& part_;
  const Way way_;
  Decoder decoder_;
  std::optional<BoundarySolver> solver_;
  std::optional<Annealing> polish_;
  Ticks piece_ = kFirstPiece, relaxed_ = 0, charged_ = 0;
  Ticks polished_ = 0;  // what led to nothing counts more and more
  Ticks barren_ = 0;    // polished since something better came of it
};

ModelTerms PartSearch::ClimbTerms(const Problem& problem) {
  ModelTerms terms;
  terms.budget = problem.budget.count();
  terms.mode = problem.order;
  terms.told_orders = terms.ever = true;
  return terms;
}

PartSearch::PartSearch(const Problem& problem, Sides sides, TreeDesk* desk)
    : problem_(problem),
      in_(problem.instance),
      index_(0),
      lower_(in_.base_duration),
      known_(kInfinity),
      priced_(true),
      which_(sides),
      desk_(desk) {}

PartSearch::PartSearch(const Problem& problem, std::shared_ptr<const Instance> part, int index)
    : problem_(problem),
      own_(std::move(part)),
      in_(*own_),
      index_(index + 1),
      lower_(in_.base_duration),
      known_(kInfinity),
      priced_(false) {}

PartSearch::~PartSearch() = default;

// The ticks of one turn are no reason for half a flow.
GapCoverBound PartSearch::Flow(const GapTable& table, WorkBudget& work) const {
  WorkBudget whole(std::numeric_limits<Ticks>::max(), work.stop_signal());
  GapCoverBound flow = SolveGapCover(in_, table, problem_.budget.count(), 1, &whole);
  work.Spend(whole.spent());
  return flow;
}

void PartSearch::Bound(WorkBudget& work) {
  const GapTable table = FixedOrderGaps(in_, work.stop_signal());
  const GapCoverBound flow = Flow(table, work);
  infeasible_ = table.impossible || flow.shortage;
  if (!infeasible_) lower_ = std::max(lower_, in_.base_duration + flow.extra);
}

void PartSearch::Take(std::span<const std::int32_t> sequence) {
  std::int64_t duration = 0;
  for (const std::int32_t op : sequence) duration += in_.duration[op];
  if (has_plan() && duration >= upper_) return;
  const SequenceFacts facts = EvaluateSequence(in_, sequence);
  if (facts.valid && facts.peak <= problem_.budget.count()) Note(sequence, facts.duration, "");
}

void PartSearch::Know(std::int64_t duration) {
  if (duration >= known_) return;
  known_ = duration;
  for (const auto& side : sides_) side->SetIncumbent(known_);
}

bool PartSearch::exhausted() const { return finished() || (begun_ && !climb_late_ && Next() == nullptr); }

bool PartSearch::waiting() const { return which_ == Sides::kClimb && !sides_.empty() && sides_.front()->waiting(); }

bool PartSearch::settled() const { return exhausted() || (begun_ && sides_.front()->settled()); }

PartSearch::Side* PartSearch::Next() const {
  // Both ways take the same steps to the tree: on large graphs the bound is wanted before they are taken twice.
  if (in_.num_ops >= kLarge && !sides_.front()->idle() && !sides_.front()->settled()) return sides_.front().get();
  Side* next = nullptr;
  for (const auto& side : sides_)
    if (!side->idle() && (next == nullptr || side->charged() < next->charged())) next = side.get();
  return next;
}

bool PartSearch::Run(WorkBudget& work) {
  const auto before = std::pair(has_plan() ? upper_ : kInfinity, best_.size());
  if (!begun_) Begin(work);
  while (!finished() && !work.Exhausted()) {
    Side* side = Next();
    // (The others may have ended where the climber still tells orders and cuts stages.)
    if (climb_late_ && (side == nullptr || side->relaxed() > kClimbStart)) {
      climb_late_ = false;
      sides_.push_back(std::make_unique<Side>(*this, Side::Way::kClimb));
      if (side != nullptr) sides_.back()->JoinAt(side->charged());
      side = sides_.back().get();
    }
    if (side == nullptr) break;
    const Ticks spent = work.spent();
    side->Step(work);
    if (work.spent() - spent < 10'000) work.Spend(10'000);
    if (waiting()) break;
  }
  if (closed()) Rest();  // what is proved needs no memory any more
  return has_plan() && std::pair(upper_, best_.size()) < before;
}

void PartSearch::Rest() {
  sides_.clear();
  begun_ = false;
}

bool PartSearch::Note(std::span<const std::int32_t> sequence, std::int64_t duration, const char* finder) {
  if (has_plan() && std::pair(duration, sequence.size()) >= std::pair(upper_, best_.size())) return false;
  best_.assign(sequence.begin(), sequence.end());
  upper_ = duration;
  finder_ = finder;
  Know(duration);
  return true;
}

void PartSearch::Begin(WorkBudget& work) {
  begun_ = true;
  if (!std::exchange(priced_, true)) Price(work);
  if (closed()) return;
  const bool relax = problem_.order != OrderMode::kFree && problem_.options->relax;
  const bool climb = relax && problem_.options->climb && which_ != Sides::kAllButClimb;
  if (climb && which_ == Sides::kClimb) {
    sides_.push_back(std::make_unique<Side>(*this, Side::Way::kClimb));
    return;
  }
  sides_.push_back(std::make_unique<Side>(*this, relax ? Side::Way::kTree : Side::Way::kNone));
  if (relax && problem_.options->learning) sides_.push_back(std::make_unique<Side>(*this, Side::Way::kLearning));
  climb_late_ = climb;
  if (has_plan()) sides_.front()->BeginPolish(best_);
}

void PartSearch::Price(WorkBudget& work) {
  const GapTable table = FixedOrderGaps(in_, work.stop_signal());
  if (table.impossible) return;
  WorkBudget plans(work.left(), work.stop_signal());
  const GapCoverBound flow = Flow(table, work);
  PlanByPrices(in_, table, problem_.budget.count(), flow, 2, problem_.max_executions.value_or(0), plans,
               [&](const EvictionResult& r) {
                 if (r.peak <= problem_.budget.count() && (problem_.order != OrderMode::kStaged || r.staged))
                   Note(r.sequence, r.duration, "prices");
               });
  work.Spend(plans.spent());
}

bool PartSearch::WithinCap(std::span<const std::int32_t> sequence) const {
  if (!problem_.max_executions) return true;
  std::vector<std::int32_t> count(in_.num_ops, 0);
  return std::all_of(sequence.begin(), sequence.end(),
                     [&](std::int32_t op) { return ++count[op] <= *problem_.max_executions; });
}

}  // namespace ebb
