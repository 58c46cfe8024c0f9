// SPDX-License-Identifier: Apache-2.0
#include "portfolio/interval_solver.hpp"

#include <algorithm>

#include "engine/base/status.hpp"

namespace ebb {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

bool IntervalSolver::Fits(const Instance& instance, OrderMode order) {
  constexpr std::size_t kMostOps = 130, kMostOpsFree = 24;
  constexpr std::int64_t kMostDuration = std::int64_t{1} << 52;  // times copies and boundaries it must stay in range
  return instance.num_ops <= (order == OrderMode::kFree ? kMostOpsFree : kMostOps) &&
         instance.base_duration <= kMostDuration && (instance.plain || !instance.in_place.empty());
}

IntervalSolver::IntervalSolver(const Instance& instance, OrderMode order, std::int64_t budget, const Params& params)
    : instance_(instance), order_(order), budget_(budget), params_(params) {
  const std::vector<std::int32_t> last = LastUsefulStages(instance, order, MatteringValues(instance));
  for (std::size_t op = 0; op < instance.num_ops; ++op)
    copies_.push_back(last[op] >= 0 && params.max_executions != 1 ? 2 : 1);
  if (order != OrderMode::kFree) ChooseBoundaries();
}

IntervalSolver::~IntervalSolver() = default;

// The highest positions over the budget, not too near to each other.
void IntervalSolver::ChooseBoundaries() {
  const SequenceFacts facts = EvaluateSequence(instance_, instance_.order);
  std::vector<std::int32_t> hot;
  for (std::size_t p = 0; p < facts.profile.size(); ++p)
    if (facts.profile[p] > budget_) hot.push_back(static_cast<std::int32_t>(p));
  std::sort(hot.begin(), hot.end(), [&](std::int32_t a, std::int32_t b) {
    return facts.profile[At(a)] != facts.profile[At(b)] ? facts.profile[At(a)] > facts.profile[At(b)] : a < b;
  });
  const auto apart = static_cast<std::int32_t>(instance_.num_ops / 40);
  for (const std::int32_t p : hot) {
    if (static_cast<std::int32_t>(positions_.size()) >= params_.boundaries) break;
    if (std::none_of(positions_.begin(), positions_.end(), [&](std::int32_t q) { return std::abs(p - q) <= apart; }))
      positions_.push_back(p);
  }
  std::sort(positions_.begin(), positions_.end());
}

std::int64_t IntervalSolver::conflicts() const {
  return model_ == nullptr ? 0 : model_->engine().statistics().conflicts;
}

void IntervalSolver::SetIncumbent(std::int64_t duration) {
  if (incumbent_ && duration >= *incumbent_) return;
  incumbent_ = duration;
  if (model_ == nullptr) return;
  core::Engine& engine = model_->engine();
  const std::int64_t most = duration - 1 - instance_.base_duration;
  engine.AddClause({most < 0 ? ~engine.True() : engine.Leq(model_->total(), most)});
}

void IntervalSolver::Build() {
  model_.reset();
  model_ = std::make_unique<IntervalModel>(instance_, order_, budget_, copies_, positions_, params_);
  ++models_;
  if (const auto known = incumbent_) {
    incumbent_.reset();
    SetIncumbent(*known);
  }
}

IntervalSolver::State IntervalSolver::Step(WorkBudget& work) {
  if (budget_ < instance_.resident_bytes) proved_ = true;
  while (!proved_) {
    if (work.Exhausted()) return State::kLimit;
    if (model_ == nullptr) Build();
    const core::SatResult result = model_->engine().Solve({}, work);
    if (result == core::SatResult::kUnknown) return State::kLimit;
    if (result == core::SatResult::kUnsat) {
      proved_ = true;
      break;
    }
    bool grown = false;
    for (std::size_t op = 0; op < instance_.num_ops; ++op) {
      const core::Lit extra = model_->extra(static_cast<std::int32_t>(op));
      if (extra.none() || !model_->engine().SolutionValue(extra)) continue;
      if (++copies_[op] > kMostCopies) return State::kGivenUp;
      grown = true;
    }
    if (grown) {
      model_.reset();
      continue;
    }
    plan_ = model_->Sequence();
    const SequenceFacts facts = EvaluateSequence(instance_, plan_);
    if (!facts.valid || facts.peak > budget_ ||
        !FollowsOrder(instance_, plan_, order_ != OrderMode::kFree, order_ == OrderMode::kStaged))
      throw InternalError("the interval model gave a sequence that is no plan");
    SetIncumbent(facts.duration);
    return State::kPlan;
  }
  return State::kProved;
}

}  // namespace ebb
