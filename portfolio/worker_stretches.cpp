// SPDX-License-Identifier: Apache-2.0
//
// The order falls apart (engine/problem/stretches.hpp): each stretch that is over the budget is solved by itself, equal
// ones once (part_rounds.hpp). Plans are put together from the best known piece of each stretch, also from pieces of
// others' plans; bounds add up. So stretches are windows that nothing crosses: they need no plan to begin with, and
// what is proved of them is proved of the whole.
//
// A training step of 40 microbatches is 40 problems of 2,306 ops, of which each is proved optimal in a second or so,
// where one relaxation of 92,240 ops has more columns than an LP can take.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/problem/stretches.hpp"
#include "portfolio/part_rounds.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr Ticks kFirstVisit = 300'000'000;  // per class
constexpr double kGrowth = 2;
constexpr Ticks kOfferTicksPerExecution = 300 * 10;  // work between two plans: ten times what judging one takes

// Those that are over the budget.
std::vector<Stretch> StretchesOver(const Problem& problem) {
  const Instance& in = problem.instance;
  const SequenceFacts facts = EvaluateSequence(in, in.order);
  std::vector<Stretch> stretches = IndependentStretches(in);
  if (facts.valid)
    std::erase_if(stretches, [&](const Stretch& s) {
      return std::all_of(facts.profile.begin() + s.begin, facts.profile.begin() + s.end,
                         [&](std::int64_t b) { return b <= problem.budget.count(); });
    });
  return stretches;
}

class StretchesWorker : public Worker {
 public:
  explicit StretchesWorker(const Problem& problem)
      : problem_(problem), over_(StretchesOver(problem)), parts_(problem, kFirstVisit, kGrowth) {
    stretch_of_.assign(problem.instance.num_ops, -1);
    for (std::size_t i = 0; i < over_.size(); ++i)
      for (std::int32_t p = over_[i].begin; p < over_[i].end; ++p)
        stretch_of_[problem.instance.order[p]] = static_cast<std::int32_t>(i);
  }

  const char* name() const override { return "stretches"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (exchange.known().best && exchange.known().best != taken_) TakePieces(*(taken_ = exchange.known().best));
    if (class_of_.size() < over_.size()) return BoundNext(budget, exchange);
    const Ticks before = budget.spent();
    const std::size_t c = parts_.Work(budget);
    since_offer_ += budget.spent() - before;
    if (c != PartRounds::kNone && parts_[c].infeasible()) return Infeasible(c, exchange);
    Tell(exchange, c == PartRounds::kNone);
    return c != PartRounds::kNone;
  }

 private:
  bool BoundNext(WorkBudget& budget, Exchange& exchange) {
    while (class_of_.size() < over_.size() && !budget.Exhausted()) {
      const std::size_t i = class_of_.size(), known = parts_.size();
      Instance part = TakeStretch(problem_.instance, over_[i]);
      budget.Spend(static_cast<Ticks>(part.num_ops) * 100);
      const std::size_t c = parts_.Add(std::move(part));
      class_of_.push_back(c);
      if (c == known) parts_[c].Bound(budget);
      if (parts_[c].infeasible()) return Infeasible(c, exchange);
      Hand(i);
    }
    parts_.SetChanged();
    if (class_of_.size() < over_.size()) return true;
    parts_.Begin([](std::size_t) { return true; });
    exchange.board().Message(std::to_string(over_.size()) + " independent stretches over the budget, " +
                                 std::to_string(parts_.size()) + " different",
                             name());
    return true;
  }

  bool Infeasible(std::size_t c, Exchange& exchange) const {
    const Stretch& stretch =
        over_[static_cast<std::size_t>(std::find(class_of_.begin(), class_of_.end(), c) - class_of_.begin())];
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

  void TakePieces(const Incumbent& plan) {
    if (plan.worker == name()) return;  // its pieces are ours
    pieces_.assign(over_.size(), {});
    for (std::int32_t op : plan.sequence)
      if (stretch_of_[op] >= 0)
        pieces_[stretch_of_[op]].push_back(problem_.instance.rank[op] - over_[stretch_of_[op]].begin);
    for (std::size_t i = 0; i < class_of_.size(); ++i) Hand(i);
  }
  void Hand(std::size_t i) {
    if (i < pieces_.size() && !pieces_[i].empty()) parts_[class_of_[i]].Take(pieces_[i]);
  }

  void Tell(Exchange& exchange, bool last) {
    const Instance& in = problem_.instance;
    if (!last && since_offer_ < static_cast<Ticks>(in.num_ops) * kOfferTicksPerExecution) return;
    if (!parts_.TakeChanged()) return;
    since_offer_ = 0;
    std::int64_t lower = in.base_duration;
    for (const std::size_t c : class_of_) lower += parts_[c].lower() - parts_[c].instance().base_duration;
    exchange.RaiseBound(lower, name());
    std::vector<std::int32_t> sequence;
    std::int64_t duration = 0;
    std::int32_t position = 0;
    for (std::size_t i = 0; i < over_.size(); ++i) {
      sequence.insert(sequence.end(), in.order.begin() + position, in.order.begin() + over_[i].begin);
      position = over_[i].end;
      const PartSearch& part = parts_[class_of_[i]];
      std::span<const std::int32_t> piece = part.best();
      if (!part.has_plan() && i < pieces_.size()) piece = pieces_[i];
      if (piece.empty()) return;  // no plan for this stretch yet
      for (const std::int32_t op : piece) sequence.push_back(in.order[over_[i].begin + op]);
    }
    sequence.insert(sequence.end(), in.order.begin() + position, in.order.end());
    for (std::int32_t op : sequence) duration += in.duration[op];
    if (exchange.Interesting(duration, sequence.size())) exchange.Offer(sequence, name());
  }

  const Problem& problem_;
  const std::vector<Stretch> over_;
  std::vector<std::int32_t> stretch_of_;           // op -> index in over_, -1
  std::vector<std::size_t> class_of_;              // index in over_ -> class; as far as bounded
  std::vector<std::vector<std::int32_t>> pieces_;  // of the plan taken last, per stretch
  PartRounds parts_;
  IncumbentPtr taken_;
  Ticks since_offer_ = 0;
};

}  // namespace

bool FallsApart(const Problem& problem) {
  return IndependentStretches(problem.instance).size() > 1 && StretchesOver(problem).size() > 1;
}

std::unique_ptr<Worker> MakeStretchesWorker(const Problem& problem) {
  return std::make_unique<StretchesWorker>(problem);
}

}  // namespace ebb
