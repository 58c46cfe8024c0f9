// SPDX-License-Identifier: Apache-2.0
//
// The order falls apart (engine/problem/stretches.hpp): each stretch that is over the budget is solved by itself, by
// the boundary relaxation and a cold local search, as in worker_relax.cpp. Plans are put together from the best known
// piece of each stretch, also from pieces of others' plans; bounds add up. Equal stretches (microbatches) are searched
// once.
//
// A training step of 40 microbatches is 40 problems of 2,306 ops, of which each is proved optimal in a second or so,
// where one relaxation of 92,240 ops has more columns than an LP can take.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "engine/problem/stretches.hpp"
#include "engine/problem/windows.hpp"
#include "portfolio/part_search.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr Ticks kFirstTurn = 300'000'000;            // a stretch's, doubled from pass to pass
constexpr Ticks kOfferTicksPerExecution = 300 * 10;  // work between two plans: ten times what judging one takes

// The op of a stretch instance back to the whole.
std::vector<std::int32_t> Globally(const Instance& in, const Stretch& s, std::span<const std::int32_t> sequence) {
  std::vector<std::int32_t> out;
  out.reserve(sequence.size());
  for (std::int32_t op : sequence) out.push_back(in.order[s.begin + op]);
  return out;
}

class StretchesWorker : public Worker {
 public:
  explicit StretchesWorker(const Problem& problem) : problem_(problem) {
    const Instance& in = problem.instance;
    const SequenceFacts facts = EvaluateSequence(in, in.order);
    stretch_of_.assign(in.num_ops, -1);
    for (const Stretch& s : IndependentStretches(in)) {
      const bool over = !facts.valid || std::any_of(facts.profile.begin() + s.begin, facts.profile.begin() + s.end,
                                                    [&](std::int64_t b) { return b > problem.budget.count(); });
      if (!over) continue;
      for (std::int32_t p = s.begin; p < s.end; ++p) stretch_of_[in.order[p]] = static_cast<std::int32_t>(over_.size());
      over_.push_back(s);
    }
  }

  const char* name() const override { return "stretches"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (exchange.known().best && exchange.known().best != taken_) TakePieces(exchange);
    if (search_of_.size() < over_.size()) return BoundNext(budget, exchange);
    if (at_ == turn_.size()) {
      std::erase_if(turn_, [&](std::size_t i) { return searches_[i]->finished(); });
      if (turn_.empty()) {
        Tell(exchange, true);
        return false;
      }
      at_ = 0;
      patience_ *= 2;
      // the widest gaps first
      std::stable_sort(turn_.begin(), turn_.end(), [&](std::size_t a, std::size_t b) { return Width(a) > Width(b); });
    }
    PartSearch& search = *searches_[turn_[at_]];
    const std::int64_t lower = search.lower();
    const Ticks before = budget.spent();
    changed_ |= search.Run(budget) | (search.lower() > lower);
    worked_ += budget.spent() - before;
    since_offer_ += budget.spent() - before;
    if (search.infeasible()) return Infeasible(over_[first_of_[turn_[at_]]], exchange);
    if (search.finished() || worked_ >= patience_) {
      worked_ = 0;
      ++at_;
    }
    Tell(exchange, false);
    return true;
  }

 private:
  bool BoundNext(WorkBudget& budget, Exchange& exchange) {
    while (search_of_.size() < over_.size() && !budget.Exhausted()) {
      const std::size_t i = search_of_.size();
      Instance stretch = TakeStretch(problem_.instance, over_[i]);
      budget.Spend(static_cast<Ticks>(stretch.num_ops) * 50);
      const std::uint64_t hash = InstanceHash(stretch);
      const auto [from, to] = by_hash_.equal_range(hash);
      const auto same =
          std::find_if(from, to, [&](const auto& k) { return SameInstance(searches_[k.second]->instance(), stretch); });
      search_of_.push_back(same == to ? searches_.size() : same->second);
      if (same == to) {
        by_hash_.emplace(hash, searches_.size());
        first_of_.push_back(i);
        searches_.push_back(std::make_unique<PartSearch>(problem_, std::move(stretch), static_cast<int>(i)));
        searches_.back()->Bound(budget);
        if (searches_.back()->infeasible()) return Infeasible(over_[i], exchange);
      }
      Hand(i);
    }
    changed_ = true;
    if (search_of_.size() < over_.size()) return true;
    by_hash_.clear();
    turn_.resize(searches_.size());
    std::iota(turn_.begin(), turn_.end(), std::size_t{0});
    exchange.board().Message(std::to_string(over_.size()) + " independent stretches over the budget, " +
                                 std::to_string(searches_.size()) + " different",
                             name());
    return true;
  }

  bool Infeasible(const Stretch& stretch, Exchange& exchange) const {
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

  [[nodiscard]] std::int64_t Width(std::size_t i) const {
    return searches_[i]->has_plan() ? searches_[i]->upper() - searches_[i]->lower() : INT64_MAX;
  }

  void TakePieces(Exchange& exchange) {
    taken_ = exchange.known().best;
    if (taken_->worker == name()) return;  // its pieces are ours
    pieces_.assign(over_.size(), {});
    for (std::int32_t op : taken_->sequence)
      if (stretch_of_[op] >= 0)
        pieces_[stretch_of_[op]].push_back(problem_.instance.rank[op] - over_[stretch_of_[op]].begin);
    for (std::size_t i = 0; i < search_of_.size(); ++i) Hand(i);
  }
  [[nodiscard]] PartSearch& SearchOf(std::size_t i) const { return *searches_[search_of_[i]]; }
  void Hand(std::size_t i) {
    if (i < pieces_.size() && !pieces_[i].empty()) SearchOf(i).Take(pieces_[i]);
  }

  void Tell(Exchange& exchange, bool last) {
    if (!changed_ || search_of_.size() < over_.size()) return;
    const Instance& in = problem_.instance;
    const Ticks wait = static_cast<Ticks>(in.num_ops) * kOfferTicksPerExecution;
    if (!last && since_offer_ < wait) return;
    since_offer_ = 0;
    changed_ = false;
    std::int64_t lower = in.base_duration;
    for (std::size_t i = 0; i < over_.size(); ++i) lower += SearchOf(i).lower() - SearchOf(i).instance().base_duration;
    exchange.RaiseBound(lower, name());
    std::vector<std::int32_t> sequence;
    std::int64_t duration = 0;
    std::int32_t position = 0;
    for (std::size_t i = 0; i < over_.size(); ++i) {
      sequence.insert(sequence.end(), in.order.begin() + position, in.order.begin() + over_[i].begin);
      position = over_[i].end;
      if (SearchOf(i).has_plan()) {
        const std::vector<std::int32_t> piece = Globally(in, over_[i], SearchOf(i).best());
        sequence.insert(sequence.end(), piece.begin(), piece.end());
      } else if (i < pieces_.size() && !pieces_[i].empty()) {
        const std::vector<std::int32_t> piece = Globally(in, over_[i], pieces_[i]);
        sequence.insert(sequence.end(), piece.begin(), piece.end());
      } else {
        return;  // no plan for this stretch yet
      }
    }
    sequence.insert(sequence.end(), in.order.begin() + position, in.order.end());
    for (std::int32_t op : sequence) duration += in.duration[op];
    if (exchange.Interesting(duration, sequence.size())) exchange.Offer(sequence, name());
  }

  const Problem& problem_;
  std::vector<Stretch> over_;                          // stretches over the budget
  std::vector<std::int32_t> stretch_of_;               // op -> index in over_, -1
  std::vector<std::size_t> search_of_;                 // per stretch, as far as bounded: index in searches_
  std::vector<std::unique_ptr<PartSearch>> searches_;  // of different stretches
  std::vector<std::size_t> first_of_;                  // per search, the first such stretch
  std::multimap<std::uint64_t, std::size_t> by_hash_;  // of searches_, while stretches are bounded
  std::vector<std::vector<std::int32_t>> pieces_;      // of the plan taken last, per stretch
  IncumbentPtr taken_;
  std::vector<std::size_t> turn_;
  std::size_t at_ = 0;
  Ticks worked_ = 0, patience_ = kFirstTurn, since_offer_ = 0;
  bool changed_ = false;
};

}  // namespace

bool FallsApart(const Problem& problem) {
  const Instance& in = problem.instance;
  const std::vector<Stretch> stretches = IndependentStretches(in);
  if (stretches.size() < 2) return false;
  const SequenceFacts facts = EvaluateSequence(in, in.order);
  if (!facts.valid) return true;
  int over = 0;
  for (const Stretch& s : stretches)
    over += std::any_of(facts.profile.begin() + s.begin, facts.profile.begin() + s.end,
                        [&](std::int64_t b) { return b > problem.budget.count(); });
  return over > 1;
}

std::unique_ptr<Worker> MakeStretchesWorker(const Problem& problem) {
  return std::make_unique<StretchesWorker>(problem);
}

}  // namespace ebb
