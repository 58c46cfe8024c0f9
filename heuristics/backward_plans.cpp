// SPDX-License-Identifier: Apache-2.0
#include "heuristics/backward_plans.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }
bool Has(std::span<const std::uint64_t> set, std::size_t i) { return ((set[i / 64] >> (i % 64)) & 1) != 0; }
void Put(ValueWords& set, std::size_t i) { set[i / 64] |= std::uint64_t{1} << (i % 64); }

// RL n=100 at 0.6, staged: one attempt in forty finds a plan, with 4,000 and with 8,000 states an op; with up to
// 200,000 one plan came of 300 attempts in six times the work. In fixed order patience pays: plans by 15e6 to 800e6
// ticks.
constexpr int kStagedDoublings = 1, kDoublings = 10;

// Ways that are tried for an op, one after the other, by a share of the states that an attempt has.
struct Way {
  double weight;
  bool by_number;
  double states;
};
constexpr Way kWays[] = {{1.0, false, 0.25}, {2.0, false, 0.25}, {5.0, false, 0.5}, {1.0, true, 1.0}};
constexpr std::int64_t kFirstStates = 4'000, kMostStates = 200'000;
constexpr std::int64_t kFirstFromNothing = 500'000, kMostFromNothing = 4'000'000;
constexpr std::size_t kMostExecutions = 200'000;

}  // namespace

BackwardPlans::BackwardPlans(const Instance& instance, const BackwardPlansParams& params)
    : in_(instance), params_(params), search_(instance, params.budget), random_(params.seed) {
  stamp_.assign(in_.num_ops, 0);
  ready_.assign(in_.num_ops + 1, kUnknown);
}

ValueWords BackwardPlans::Needs(std::int32_t position) const {
  ValueWords out(search_.words(), 0);
  if (At(position) < in_.num_ops) {
    for (const std::int32_t v : in_.reads[At(in_.order[At(position)])]) Put(out, At(v));
  } else {
    for (std::size_t v = 0; v < in_.num_values; ++v)
      if (in_.kept[v]) Put(out, v);
  }
  return out;
}

std::int64_t BackwardPlans::BytesOf(std::span<const std::uint64_t> set) const {
  std::int64_t bytes = 0;
  for (std::size_t w = 0; w < set.size(); ++w)
    for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1)
      bytes += in_.bytes[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))];
  return bytes;
}

std::int64_t BackwardPlans::BytesAt(std::int32_t position, const ValueWords& wanted) const {
  if (At(position) == in_.num_ops) return BytesOf(wanted);
  const std::size_t op = At(in_.order[At(position)]);
  ValueWords all = wanted;
  for (const std::int32_t v : in_.makes[op]) Put(all, At(v));
  return BytesOf(all) + in_.moment[op];
}

void BackwardPlans::FromNothing(std::int64_t states, WorkBudget& work) {
  const std::vector<std::uint8_t> all(in_.num_ops, 1);
  WantedQuestion question;
  question.held.assign(search_.words(), 0);
  question.by_number = question.from_library = true;
  question.most = states;
  for (std::int32_t p = 0; p <= position_ && impossible_ == kUnknown; ++p) {
    if (ready_[At(p)] != kUnknown) continue;
    const std::int32_t op = At(p) < in_.num_ops ? in_.order[At(p)] : -1;
    question.wanted = Needs(p);
    if (BytesAt(p, question.wanted) > search_.room()) {
      impossible_ = op;
      return;
    }
    WorkBudget own(std::numeric_limits<Ticks>::max(), work.stop_signal());
    const WantedSearch::Answer answer = search_.Find(question, all, own);
    work.Spend(own.spent());
    if (own.stopped()) return;
    if (answer == WantedSearch::Answer::kFound) ready_[At(p)] = search_.Learn(question.wanted, op);
    if (answer == WantedSearch::Answer::kNever) impossible_ = op;
  }
}

bool BackwardPlans::StartOver(const ValueWords& pinned) {
  std::vector<std::int32_t> places;
  if (ready_[At(position_)] == kUnknown) return false;
  for (std::int32_t place = ready_[At(position_)]; place >= 0; place = search_.library(place).previous)
    places.push_back(place);
  if (sequence_.size() + places.size() > kMostExecutions) return false;
  std::reverse(places.begin(), places.end());
  const auto before = [&](std::int32_t place) {
    ValueWords set = pinned;
    const std::int32_t previous = search_.library(place).previous;
    if (previous >= 0)
      for (std::size_t w = 0; w < set.size(); ++w) set[w] |= search_.library(previous).set[w];
    return set;
  };
  // Its outputs are pinned: they are there.
  const auto needless = [&](std::int32_t op) {
    const auto makes = in_.makes[At(op)];
    return std::all_of(makes.begin(), makes.end(), [&](std::int32_t v) { return Has(pinned, At(v)); });
  };
  for (const std::int32_t place : places) {
    const std::int32_t op = search_.library(place).op;
    if (needless(op)) continue;
    if (!may_run_[At(op)]) return false;
    // (The step's set need not hold all that was there before; what it needs of that it holds.)
    ValueWords set = search_.library(place).set;
    for (std::size_t w = 0; w < set.size(); ++w) set[w] |= pinned[w];
    if (BytesOf(set) + in_.moment[At(op)] > search_.room()) return false;
  }
  for (const std::int32_t place : places) {
    const std::int32_t op = search_.library(place).op;
    if (needless(op)) continue;
    ValueWords wanted = before(place);
    for (std::size_t w = 0; w < wanted.size(); ++w) wanted[w] &= search_.library(place).set[w] | pinned[w];
    Execute(op, wanted);
  }
  return true;
}

void BackwardPlans::Begin() {
  position_ = 0;
  held_.assign(search_.words(), 0);
  may_run_.assign(in_.num_ops, 0);
  sequence_.clear();
  duration_ = 0;
  noise_.assign(in_.num_values, 1.0);
  if (attempt_ > 0)
    for (double& x : noise_) x = std::exp((random_.Unit() - 0.5) * 2);
}

// What can still be of use: kept, or read by an op that has not run, or by one that may run again and makes such a
// value.
ValueWords BackwardPlans::Relevant() const {
  ValueWords out(search_.words(), 0);
  for (std::size_t r = in_.num_ops; r-- > 0;) {
    const std::size_t op = At(in_.order[r]);
    bool use = static_cast<std::int32_t>(r) >= position_;
    for (const std::int32_t v : in_.makes[op]) {
      if (in_.kept[At(v)]) Put(out, At(v));
      use = use || (in_.may_repeat[op] && Has(out, At(v)));
    }
    if (use)
      for (const std::int32_t v : in_.reads[op]) Put(out, At(v));
  }
  return out;
}

// What it would take to have the value again, for each byte, and the sooner it is read the more.
double BackwardPlans::Worth(std::int32_t value) {
  ++now_;
  stack_.assign(1, in_.maker[At(value)]);
  double cost = 1e-9;
  while (!stack_.empty()) {
    const std::size_t op = At(stack_.back());
    stack_.pop_back();
    if (stamp_[op] == now_) continue;
    stamp_[op] = now_;
    cost += static_cast<double>(in_.duration[op]);
    for (const std::int32_t v : in_.reads[op])
      if (!Has(held_, At(v)) && in_.maker[At(v)] >= 0) stack_.push_back(in_.maker[At(v)]);
  }
  const auto readers = in_.readers[value];
  double distance = static_cast<double>(in_.num_ops);  // read by repeats alone
  for (const std::int32_t op : readers)
    if (in_.rank[At(op)] >= position_) {
      distance = in_.rank[At(op)] - position_ + 1;
      break;
    }
  return noise_[At(value)] * cost / (distance * static_cast<double>(std::max<std::int64_t>(1, in_.bytes[At(value)])));
}

// Runs op now; `wanted` is what must be there before it.
void BackwardPlans::Execute(std::int32_t op, std::span<const std::uint64_t> wanted) {
  ValueWords all = held_;
  for (const std::int32_t v : in_.makes[At(op)]) Put(all, At(v));
  std::int64_t over = BytesOf(all) + in_.moment[At(op)] - search_.room();
  if (over > 0) {
    struct Candidate {
      double worth;
      std::int32_t value;
    };
    std::vector<Candidate> candidates;
    for (std::size_t v = 0; v < in_.num_values; ++v)
      if (Has(held_, v) && !Has(wanted, v) && in_.bytes[v] > 0 && in_.maker[v] != op)
        candidates.push_back({Worth(static_cast<std::int32_t>(v)), static_cast<std::int32_t>(v)});
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.worth < b.worth; });
    std::vector<std::int32_t> dropped;
    for (const Candidate& c : candidates) {
      if (over <= 0) break;
      dropped.push_back(c.value);
      over -= in_.bytes[At(c.value)];
    }
    // The last one may have made others needless.
    for (std::size_t i = dropped.size(); i-- > 0;) {
      const std::int64_t bytes = in_.bytes[At(dropped[i])];
      if (over + bytes <= 0) {
        over += bytes;
        continue;
      }
      all[At(dropped[i]) / 64] &= ~(std::uint64_t{1} << (dropped[i] % 64));
    }
  }
  held_ = all;
  sequence_.push_back(op);
  duration_ += in_.duration[At(op)];
}

bool BackwardPlans::Next(WorkBudget& work) {
  const bool end = At(position_) == in_.num_ops;
  const std::int32_t op = end ? -1 : in_.order[At(position_)];
  relevant_ = Relevant();
  for (std::size_t w = 0; w < held_.size(); ++w) held_[w] &= relevant_[w];
  ValueWords pinned(search_.words(), 0);
  for (std::size_t v = 0; v < in_.num_values; ++v)
    if (Has(held_, v) && !in_.may_repeat[At(in_.maker[v])]) Put(pinned, v);
  WantedQuestion question;
  question.held = held_;
  question.staged = staged();
  question.wanted = Needs(position_);
  for (std::size_t w = 0; w < pinned.size(); ++w) question.wanted[w] |= pinned[w];
  work.Spend(static_cast<Ticks>(in_.num_values * 8 + in_.num_ops * 8));
  if (BytesAt(position_, Needs(position_)) > search_.room()) impossible_ = op;
  if (BytesAt(position_, question.wanted) > search_.room()) return false;
  const double states = static_cast<double>(
      std::min(kMostStates, kFirstStates << std::min(attempt_ / 4, staged() ? kStagedDoublings : kDoublings)));
  WantedSearch::Answer answer = WantedSearch::Answer::kUnknown;
  for (const Way& way : kWays) {
    question.weight = way.weight;
    question.by_number = way.by_number;
    question.most = static_cast<std::int64_t>(way.states * states);
    WorkBudget own(std::numeric_limits<Ticks>::max(), work.stop_signal());
    answer = search_.Find(question, may_run_, own);
    work.Spend(own.spent());
    if (answer != WantedSearch::Answer::kUnknown || own.stopped()) break;
  }
  if (answer != WantedSearch::Answer::kFound) {
    if (work.stopped()) return false;
    // Again and again, but less and less often.
    const bool due = attempt_ < 8 ? attempt_ % 2 == 1 : std::has_single_bit(static_cast<unsigned>(attempt_) + 1);
    if (due) FromNothing(std::min(kMostFromNothing, kFirstFromNothing << std::min(attempt_, 10)), work);
    if (staged() || !StartOver(pinned)) return false;
  } else {
    for (std::size_t i = 0; i < search_.reruns().size(); ++i) {
      ValueWords wanted(search_.wanted_at(i).begin(), search_.wanted_at(i).end());
      for (const std::int32_t v : in_.reads[At(search_.reruns()[i])]) Put(wanted, At(v));
      Execute(search_.reruns()[i], wanted);
    }
  }
  if (!end) {
    Execute(op, question.wanted);
    if (in_.may_repeat[At(op)]) may_run_[At(op)] = 1;
  }
  return true;
}

bool BackwardPlans::Run(WorkBudget& work) {
  while (!work.Exhausted() && impossible_ == kUnknown) {
    if (position_ < 0) Begin();
    const bool went_on = Next(work);
    furthest_ = std::max(furthest_, position_);
    if (went_on && At(position_++) < in_.num_ops) continue;
    position_ = -1;
    if (!went_on && work.stopped()) return false;
    ++attempt_;
    if (!went_on) return false;
    plan_ = sequence_;
    plan_duration_ = duration_;
    return true;
  }
  return false;
}

}  // namespace ebb
