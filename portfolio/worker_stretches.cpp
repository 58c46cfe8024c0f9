// SPDX-License-Identifier: Apache-2.0
//
// The order falls apart (engine/problem/stretches.hpp): each stretch that is over the budget is solved by itself, equal
// ones once (part_classes.hpp). Plans are put together from the best known piece of each stretch, also from pieces of
// others' plans; bounds add up. So stretches are windows that nothing crosses: they need no plan to begin with, and
// what is proved of them is proved of the whole. Each lane has such a worker and its own classes; what it knows of them
// goes to the others by the exchange, and all put together what all know.
//
// A training step of 40 microbatches is 40 problems of 2,306 ops, of which each is proved optimal in a second or so,
// where one relaxation of 92,240 ops has more columns than an LP can take.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/problem/stretches.hpp"
#include "portfolio/part_classes.hpp"
#include "portfolio/part_rounds.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr Ticks kFirstVisit = 300'000'000;  // per class
constexpr double kGrowth = 2;
constexpr Ticks kOfferTicksPerExecution = 300 * 10;  // work between two plans: ten times what judging one takes

// Those that are over the budget; none where the order is one stretch.
std::vector<Stretch> StretchesOver(const Problem& problem) {
  const Instance& in = problem.instance;
  std::vector<Stretch> stretches = IndependentStretches(in);
  if (stretches.size() < 2) return {};
  const SequenceFacts facts = EvaluateSequence(in, in.order);
  if (facts.valid)
    std::erase_if(stretches, [&](const Stretch& s) {
      return std::all_of(facts.profile.begin() + s.begin, facts.profile.begin() + s.end,
                         [&](std::int64_t b) { return b <= problem.budget.count(); });
    });
  return stretches;
}

// What the lanes have in common. Taking the stretches apart is left to whichever lane comes to it first.
struct Apart {
  std::vector<Stretch> over;
  std::vector<std::int32_t> stretch_of;  // op -> index in over, -1
  std::once_flag taken;
  std::vector<std::size_t> class_of;  // index in over -> class
  PartClasses classes;

  Apart(const Instance& in, std::vector<Stretch> stretches) : over(std::move(stretches)), stretch_of(in.num_ops, -1) {
    for (std::size_t i = 0; i < over.size(); ++i)
      for (std::int32_t p = over[i].begin; p < over[i].end; ++p) stretch_of[in.order[p]] = static_cast<std::int32_t>(i);
  }
  void Take(const Instance& in) {
    std::call_once(taken, [&] {
      std::vector<std::size_t> found;
      for (const Stretch& s : over) found.push_back(classes.Add(TakeStretch(in, s)));
      class_of = std::move(found);
    });
  }
};

class StretchesWorker : public Worker {
 public:
  StretchesWorker(const Problem& problem, std::shared_ptr<Apart> apart, std::size_t lane, std::size_t lanes)
      : problem_(problem),
        apart_(std::move(apart)),
        lane_(lane),
        lanes_(lanes),
        parts_(problem, kFirstVisit, kGrowth) {}

  const char* name() const override { return "stretches"; }

  // The last lane stays until all is answered, to put together what the others end with.
  double appetite() const override { return done_ ? 0.05 : 1; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (!begun_) Begin(budget);
    if (exchange.known().best && exchange.known().best != taken_) TakePieces(exchange.known().best, budget);
    if (bounded_ < parts_.size()) return BoundNext(budget, exchange);
    const Ticks before = budget.spent();
    const std::size_t k = parts_.Work(budget);
    since_told_ += budget.spent() - before;
    if (k != PartRounds::kNone && parts_[k].infeasible()) return Infeasible(k, exchange);
    done_ = k == PartRounds::kNone;
    Tell(exchange);
    PutTogether(exchange);
    if (done_) budget.Spend(budget.left());
    return !done_ || lane_ + 1 == lanes_;
  }

 private:
  // The last lane has the first class: where there is only one it is the lane for proofs that has it. The classes of a
  // lane are `lanes_` apart, so class c is its part c / lanes_.
  [[nodiscard]] bool Mine(std::size_t c) const { return c % lanes_ == lanes_ - 1 - lane_; }

  void Begin(WorkBudget& budget) {
    apart_->Take(problem_.instance);
    budget.Spend(static_cast<Ticks>(problem_.instance.num_ops) * 100);
    begun_ = true;
    for (std::size_t c = 0; c < apart_->classes.size(); ++c) {
      if (!Mine(c)) continue;
      class_of_part_.push_back(c);
      parts_.Add(apart_->classes[c]);
    }
  }

  bool BoundNext(WorkBudget& budget, Exchange& exchange) {
    for (; bounded_ < parts_.size() && !budget.Exhausted(); ++bounded_) {
      parts_[bounded_].Bound(budget);
      if (parts_[bounded_].infeasible()) return Infeasible(bounded_, exchange);
    }
    parts_.SetChanged();
    if (bounded_ < parts_.size()) return true;
    parts_.Begin([](std::size_t) { return true; });
    if (lane_ + 1 == lanes_)
      exchange.board().Message(std::to_string(apart_->over.size()) + " independent stretches over the budget, " +
                                   std::to_string(apart_->classes.size()) + " different",
                               name());
    return true;
  }

  bool Infeasible(std::size_t part, Exchange& exchange) const {
    const auto& classes = apart_->class_of;
    const auto i = std::find(classes.begin(), classes.end(), class_of_part_[part]) - classes.begin();
    const Stretch& stretch = apart_->over[static_cast<std::size_t>(i)];
    const auto name_at = [&](std::int32_t position) {
      return "'" + problem_.graph->op_name(ToOpId(static_cast<std::size_t>(problem_.instance.order[position]))) + "'";
    };
    Infeasibility why;
    why.bytes_given = problem_.budget.count();
    why.text = "no plan in the given order fits into " + std::to_string(problem_.budget.count()) +
               " bytes between ops " + name_at(stretch.begin) + " and " + name_at(stretch.end - 1);
    exchange.ProveInfeasible(std::move(why));
    return false;
  }

  void TakePieces(const IncumbentPtr& plan, WorkBudget& budget) {
    taken_ = plan;
    budget.Spend(static_cast<Ticks>(plan->sequence.size()) * 20);
    std::vector<std::vector<std::int32_t>> pieces(apart_->over.size());
    for (const std::int32_t op : plan->sequence)
      if (const std::int32_t i = apart_->stretch_of[op]; i >= 0)
        pieces[i].push_back(problem_.instance.rank[op] - apart_->over[i].begin);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (const std::size_t c = apart_->class_of[i]; Mine(c)) parts_[c / lanes_].Take(pieces[i]);
    parts_.SetChanged();
  }

  [[nodiscard]] bool Due() const {
    return done_ || since_told_ >= static_cast<Ticks>(problem_.instance.num_ops) * kOfferTicksPerExecution;
  }

  void Tell(Exchange& exchange) {
    if (!Due() || !parts_.TakeChanged()) return;
    std::vector<PartFacts> facts(apart_->classes.size());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      PartFacts& fact = facts[class_of_part_[k]];
      fact.lower = parts_[k].lower();
      if (!parts_[k].has_plan()) continue;
      if (exchange.known().parts) {  // what is known and no longer stays: no copy
        const PartFacts& old = (*exchange.known().parts)[class_of_part_[k]];
        if (old.piece && old.upper <= parts_[k].upper()) continue;
      }
      fact.upper = parts_[k].upper();
      fact.piece = std::make_shared<const std::vector<std::int32_t>>(parts_[k].best().begin(), parts_[k].best().end());
    }
    exchange.TellParts(facts);
  }

  // The bound and the plan that all lanes' parts make.
  void PutTogether(Exchange& exchange) {
    if (!Due() || exchange.known().parts == nullptr || exchange.known().parts == together_) return;
    since_told_ = 0;
    together_ = exchange.known().parts;
    const Instance& in = problem_.instance;
    std::int64_t lower = in.base_duration, duration = in.base_duration;
    bool whole = true;
    for (const std::size_t c : apart_->class_of) {
      const PartFacts& fact = (*together_)[c];
      const std::int64_t base = apart_->classes[c]->base_duration;
      lower += std::max<std::int64_t>(fact.lower - base, 0);
      duration += fact.upper - base;
      whole = whole && fact.piece;
    }
    exchange.RaiseBound(lower, name());
    if (!whole) return;
    std::vector<std::int32_t> sequence;
    std::int32_t position = 0;
    for (std::size_t i = 0; i < apart_->over.size(); ++i) {
      const Stretch& stretch = apart_->over[i];
      sequence.insert(sequence.end(), in.order.begin() + position, in.order.begin() + stretch.begin);
      position = stretch.end;
      for (const std::int32_t op : *(*together_)[apart_->class_of[i]].piece)
        sequence.push_back(in.order[stretch.begin + op]);
    }
    sequence.insert(sequence.end(), in.order.begin() + position, in.order.end());
    if (exchange.Interesting(duration, sequence.size()) && exchange.Offer(sequence, name()))
      taken_ = exchange.known().best;  // its pieces are ours
  }

  const Problem& problem_;
  const std::shared_ptr<Apart> apart_;
  const std::size_t lane_, lanes_;
  std::vector<std::size_t> class_of_part_;
  PartRounds parts_;
  std::size_t bounded_ = 0;  // of parts_
  bool begun_ = false, done_ = false;
  IncumbentPtr taken_;
  std::shared_ptr<const std::vector<PartFacts>> together_;
  Ticks since_told_ = 0;
};

}  // namespace

StretchesWorkers MakeStretchesWorkers(const Problem& problem, int lanes) {
  StretchesWorkers out;
  std::vector<Stretch> over = StretchesOver(problem);
  if (over.size() < 2) return out;
  for (const Stretch& s : over) out.largest = std::max(out.largest, static_cast<std::size_t>(s.end - s.begin));
  const auto apart = std::make_shared<Apart>(problem.instance, std::move(over));
  for (int i = 0; i < lanes; ++i)
    out.lanes.push_back(std::make_unique<StretchesWorker>(problem, apart, static_cast<std::size_t>(i),
                                                          static_cast<std::size_t>(lanes)));
  return out;
}

}  // namespace ebb
