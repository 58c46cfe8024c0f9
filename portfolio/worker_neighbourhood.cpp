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
//
// Tried and taken back: two more ways, windows of up to 300 and 1500 places walked coldly by local search, all ways
// sharing the work by what each gained for it (all tried first), a polish that cools in the time it has, from a tenth
// to half of the lane, begun once local search gained less than a hundredth in 0.1 units. Seeds 1 to 5, mean with it as
// it is / so (better, equal, worse than local search alone, so): ResNet50 at 0.15 9.879 / 9.705 (5, 0, 0), densenet121
// 18.755 / 18.696 (3, 0, 2), unroll_gan 7.144 / 7.114 (3, 1, 1); but transformer 7.393 / 7.427 (2, 0, 3), treelstm
// 17.834 / 17.896 (4, 0, 1), lstm 12.135 / 12.148 (2, 0, 3), RL n=250 at 0.7 15.257 / 15.666 (1, 3, 1). With at most
// 0.7 of the lane and begun at once: densenet121 18.617 (5, 0, 0), unroll_gan 7.126 (3, 0, 2), RL n=250 at 0.7 15.124
// (3, 1, 1), the other traces not measured. RL n=500 at 0.7 has 12.12 to 12.17 on ten seeds in all variants (12.186
// alone) and 12.151 or 12.219 on five by the pivots of the linear program alone: the seeds decide. (This record is why
// the file has more than 400 lines.)
//
// Tried, the best so far, and not in for unet's sake: beside these a kernel, the ops that the best plan and the plans
// of the last four to six short walks run again (71 of 500; kernel search: Angelelli, Mansini and Speranza 2010),
// walked by local search with all other ops fixed, hot from the best plan or anew from the start order; every fourth
// walk is of all ops from the start order, for other plans. RL n=500 at 0.7, from plans of 12.32 and 12.75 %: 12.0238,
// 12.0238 and 12.0665 after 0.4 units each, with all ops 12.21 and 12.67. (The engine, given the ops in which two such
// plans differ, proves that there is nothing or little between them: no gain in ten, 0.3 units each.) With windows
// walked coldly and shares by gain, on graphs of up to 5,000 ops, 0.3 to 0.7 of the lane, half of it where nobody
// gains, walks of 0.1 units; the kernel three quarters of the work / half: n=500 at 0.7 12.075 (3, 1, 1) / 12.136 (4,
// 0, 1; best seen 11.7155), n=250 at 0.7 15.362 (2, 3, 0), densenet121 18.647 (5, 0, 0), transformer 7.3915 (5, 0, 0),
// ResNet50 at 0.15 9.861 (5, 0, 0) / 9.899 (3, 0, 2), at 0.3 3.655 (4, 1, 0), resnet32 16.685 (5, 0, 0), inceptionv4
// 13.779 (4, 0, 1), but unet 28.450 (2, 1, 2) / 28.518 (1, 2, 2), here 28.298 (3, 2, 0). Above 5,000 ops walks from the
// start order are no good (lstm 31 % after 0.15 units), and walked windows lose treelstm: 17.937 (2, 0, 3), 17.835 (4,
// 1, 0) without; unroll_gan 7.112 (3, 0, 2), 7.145 (1, 0, 4) without.
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
#include "portfolio/neighbourhood.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// How the free ops are chosen.
enum Kind : std::size_t { kHot, kClosure, kSize, kKinds };

struct Arm {
  double level;      // free ops
  double score = 0;  // gain per work, fading
};

class NeighbourhoodWorker : public Worker {
 public:
  NeighbourhoodWorker(const Problem& problem, int index)
      : problem_(problem),
        in_(problem.instance),
        random_(static_cast<std::uint64_t>(problem.options->seed) * 1'000'003 + 777 +
                static_cast<std::uint64_t>(index)) {
    for (Arm& a : arms_) a.level = 16;
  }

  const char* name() const override { return "neighbourhood"; }

  double appetite() const override {
    if (!view_) return descent_ ? 2 : 0.01;
    const double trifle = 1e-5 * static_cast<double>(view_->duration() - in_.base_duration) / kTicksPerWork;
    const double mine = mine_.Rate(), others = others_.Rate();
    const double part = std::clamp((mine + trifle / 3) / (mine + others + trifle), kLeastPart, kMostPart);
    return 2 * part / (1 - part);  // its slot has half the share of local search's (lineup.cpp)
  }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (!exchange.known().best) {
      Descend(budget, exchange);
      return true;
    }
    descent_.reset();
    while (!budget.Exhausted()) {
      if (!solver_ && !polish_ && !Begin(budget, exchange)) return false;
      if (solver_)
        Solve(budget, exchange);
      else if (polish_)
        Polish(budget, exchange);
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
      AnnealingParams params;
      params.order = problem_.order;
      params.budget = problem_.budget.count();
      params.max_executions = problem_.max_executions.value_or(0);
      params.seed = static_cast<std::uint64_t>(random_.Below(1'000'000'000));
      descent_.emplace(in_, params);
      descent_->Start(!problem_.hint.empty()               ? problem_.hint
                      : problem_.order == OrderMode::kFree ? ListSchedule(in_, ListRule::kLeastMemory)
                                                           : in_.order);
    }
    descent_->Run(budget);
    if (descent_->has_plan()) exchange.Offer(descent_->plan(), name());
  }

  static constexpr Ticks kWait = 600'000;  // for each op
  static constexpr std::size_t kDescentFrom = 100'000;
  static constexpr Ticks kFirstLimit = 100'000'000, kLastLimit = 1'000'000'000;
  static constexpr double kMemory = 5e8;  // ticks of the lane
  static constexpr double kLeastPart = 0.1, kMostPart = 0.7;
  static constexpr std::int64_t kWidest = 3000;  // places of a window

  // ---- its part of the lane ----------------------------------------------------------------------------------------
  struct Record {
    double gain = 0, ticks = 0;  // fading
    [[nodiscard]] double Rate() const { return gain / std::max(ticks, 1e7); }
  };
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

  // ---- choice -------------------------------------------------------------------------------------------------------
  std::size_t Choose() {
    double best = 0;
    for (const Arm& a : arms_) best = std::max(best, a.score);
    double total = 0;
    const auto weight = [&](const Arm& a) { return a.score + 0.15 * best + 1e-12; };
    for (const Arm& a : arms_) total += weight(a);
    double at = random_.Unit() * total;
    for (std::size_t k = 0; k < kKinds; ++k) {
      at -= weight(arms_[k]);
      if (at < 0) return k;
    }
    return kKinds - 1;
  }

  std::size_t RandomRepeat() { return At(view_->repeats()[At(random_.Below32(std::ssize(view_->repeats())))]); }
  // Where little room is left.
  std::size_t TightPlace() {
    const std::int64_t room = problem_.budget.count() / 50;
    for (int i = 0; i < 30; ++i) {
      const auto place = static_cast<std::size_t>(random_.Below(std::ssize(view_->sequence())));
      if (view_->room(place) <= room) return place;
    }
    return RandomRepeat();
  }
  [[nodiscard]] std::int64_t SizeOf(std::int32_t op) const {
    std::int64_t bytes = 0;
    for (const std::int32_t v : in_.makes[At(op)]) bytes += in_.bytes[At(v)];
    return bytes;
  }
  // A random `count` of the ops.
  void Free(std::vector<std::int32_t> ops, std::size_t count) {
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    for (std::size_t i = 0; i < ops.size() && i < count; ++i) {
      std::swap(ops[i], ops[i + static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(ops.size() - i)))]);
      SetFree(ops[i]);
    }
  }
  // With the ops that make views of what it makes.
  void SetFree(std::int32_t op) {
    if (free_[At(op)]) return;
    free_[At(op)] = 1;
    if (in_.plain) return;
    for (const std::int32_t v : in_.makes[At(op)])
      for (const std::int32_t reader : in_.readers[At(v)])
        for (const std::int32_t w : in_.makes[At(reader)])
          if (in_.carrier[At(w)] == v) SetFree(reader);
  }
  // Ops that run again in a stretch of places.
  [[nodiscard]] std::vector<std::int32_t> Again(std::int64_t low, std::int64_t high) const {
    std::vector<std::int32_t> ops;
    for (const std::int32_t place : view_->repeats())
      if (place >= low && place < high) ops.push_back(view_->sequence()[At(place)]);
    return ops;
  }
  static void Append(std::vector<std::int32_t>& to, const std::vector<std::int32_t>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  void Choose(std::size_t kind, std::size_t count) {
    const std::int64_t length = std::ssize(view_->sequence());
    const std::size_t centre = random_.Chance(0.5) ? TightPlace() : RandomRepeat();
    begin_ = 1;
    end_ = length;
    if (length > kWidest) {
      begin_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(centre) - random_.Below(kWidest), 1, length - 1);
      end_ = std::min(length, begin_ + kWidest);
    }
    switch (kind) {
      case kHot: {
        const auto half = static_cast<std::int64_t>(2 * count);
        const auto at = static_cast<std::int64_t>(centre);
        std::vector<std::int32_t> ops = Again(at - half, at + half);
        Append(ops, view_->MakersAcross(centre));
        Free(std::move(ops), count);
        break;
      }
      case kClosure: {
        // From one op that runs again over reads to others that do, and now and then to one that does not.
        std::vector<std::uint8_t> again(in_.num_ops, 0);
        for (const std::int32_t op : Again(begin_, end_)) again[At(op)] = 1;
        std::vector<std::int32_t> found{view_->sequence()[RandomRepeat()]};
        free_[At(found[0])] = 1;
        const auto visit = [&](std::int32_t op) {
          if (op < 0 || free_[At(op)] || found.size() >= count || !view_->Freeable(op)) return;
          if (!random_.Chance(again[At(op)] ? 0.9 : 0.3)) return;
          SetFree(op);
          found.push_back(op);
        };
        for (std::size_t i = 0; i < found.size(); ++i) {
          for (const std::int32_t v : in_.reads[At(found[i])]) visit(in_.maker[At(v)]);
          for (const std::int32_t v : in_.makes[At(found[i])])
            for (const std::int32_t reader : in_.readers[At(v)]) visit(reader);
        }
        break;
      }
      default: {  // kSize
        std::vector<std::int32_t> ops = Again(begin_, end_);
        Append(ops, view_->MakersAcross(centre));
        if (ops.empty()) break;
        const std::int64_t size = SizeOf(ops[At(random_.Below32(std::ssize(ops)))]);
        std::erase_if(ops, [&](std::int32_t op) { return SizeOf(op) / 2 > size || size / 2 > SizeOf(op); });
        Free(std::move(ops), count);
        break;
      }
    }
  }

  bool Begin(WorkBudget& budget, Exchange& exchange) {
    const IncumbentPtr& best = exchange.known().best;
    Judge(exchange);
    if (!view_ || best->duration() < view_->duration()) {
      if (view_)
        (best->worker == name() ? mine_ : others_).gain += static_cast<double>(view_->duration() - best->duration());
      view_.emplace(in_, best->sequence, problem_.budget.count());
      budget.Spend(static_cast<Ticks>(in_.num_ops) * 100);
    }
    if (view_->repeats().empty() || view_->sequence().size() < 3) return false;
    kind_ = Choose();
    Arm& arm = arms_[kind_];
    free_.assign(in_.num_ops, 0);
    Choose(kind_, static_cast<std::size_t>(arm.level));
    cut_ = view_->Cut(static_cast<std::size_t>(begin_), static_cast<std::size_t>(end_), free_);
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
    spent_ = 0;
    before_ = best_ = view_->duration();
    loose_.clear();
    loose_duration_ = cut_.duration;
    return true;
  }

  // ---- solving ------------------------------------------------------------------------------------------------------
  // The instance of a neighbourhood has the order of the plan.
  [[nodiscard]] OrderMode mode() const {
    return problem_.order == OrderMode::kFree ? OrderMode::kFixed : problem_.order;
  }

  void Solve(WorkBudget& budget, Exchange& exchange) {
    WorkBudget turn(limit_ - spent_, budget.stop_signal());  // learning does not keep its place from turn to turn
    const bool done = solver_->Step(turn);
    const Ticks work = std::max<Ticks>(turn.spent(), 10'000);
    budget.Spend(work);
    spent_ += work;
    own_ += work;
    for (const BoundarySolver::Candidate& c : solver_->TakeCandidates()) {
      if (c.fits && c.duration < cut_.duration) {
        Accept(view_->With(cut_, c.sequence), exchange);
      } else if (c.duration < loose_duration_) {
        loose_ = c.sequence;
        loose_duration_ = c.duration;
      }
    }
    if (!done && spent_ < limit_) return;
    Arm& arm = arms_[kind_];
    if (done && spent_ < limit_ / 2)
      arm.level = std::min(arm.level * (spent_ < limit_ / 20 ? 1.25 : 1.1), static_cast<double>(in_.num_ops));
    if (!done) arm.level = std::max(arm.level * 0.9, 5.0);
    if (!loose_.empty() && in_.num_ops <= 20'000 && loose_duration_ - cut_.duration + before_ < best_) {
      AnnealingParams params;
      params.order = problem_.order;
      params.budget = problem_.budget.count();
      params.max_executions = problem_.max_executions.value_or(0);
      params.seed = static_cast<std::uint64_t>(random_.Below(1'000'000'000));
      params.hot = 0.03;
      params.cold = 0.003;
      polish_.emplace(in_, params);
      polish_->Start(view_->With(cut_, loose_));
      polish_until_ = spent_ + std::min(spent_, limit_ / 2);
    } else {
      End();
    }
    solver_.reset();
  }

  void Polish(WorkBudget& budget, Exchange& exchange) {
    WorkBudget turn(std::min(budget.left(), polish_until_ - spent_), budget.stop_signal());
    polish_->Run(turn);
    const Ticks work = std::max<Ticks>(turn.spent(), 10'000);
    budget.Spend(work);
    spent_ += work;
    own_ += work;
    if (polish_->has_plan() && polish_->best_duration() < best_) Accept(polish_->best_sequence(), exchange);
    if (spent_ < polish_until_) return;
    polish_.reset();
    End();
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
    Arm& arm = arms_[kind_];
    ++stale_;
    double gain =
        0;  // in per mille of what runs again; a large step of the first seconds says no more than a small one
    if (best_ < before_) {
      gain = std::min(1.0, 1000.0 * static_cast<double>(before_ - best_) /
                               static_cast<double>(std::max<std::int64_t>(1, before_ - in_.base_duration)));
      stale_ = 0;
    }
    arm.score = 0.9 * arm.score + 0.1 * gain / static_cast<double>(std::max<Ticks>(spent_, 5'000'000));
  }

  const Problem& problem_;
  const Instance& in_;
  QuickRandom random_;
  Arm arms_[kKinds];
  Record mine_, others_;          // what plans became shorter by, here and elsewhere, and for what work
  Ticks judged_ = 0, own_ = 0;    // the lane's clock then; own work since
  std::optional<PlanView> view_;  // the plan that neighbourhoods are cut out of
  Decoder decoder_;

  std::optional<BudgetDescent> descent_;  // until there is a plan
  // The neighbourhood at work.
  std::size_t kind_ = 0;
  std::vector<std::uint8_t> free_;
  std::int64_t begin_ = 0, end_ = 0;
  Neighbourhood cut_;
  std::optional<BoundarySolver> solver_;
  std::optional<Annealing> polish_;
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
