// SPDX-License-Identifier: Apache-2.0
#include "heuristics/budget_descent.hpp"

#include <algorithm>

namespace ebb {
namespace {

constexpr std::int64_t kCycles = 4;
constexpr int kFailures = 2;
constexpr double kPart = 0.3, kNear = 0.015;

}  // namespace

void BudgetDescent::Start(std::span<const std::int32_t> sequence) {
  start_.assign(sequence.begin(), sequence.end());
  const SequenceFacts facts = EvaluateSequence(in_, start_);
  start_peak_ = facts.peak;
  if (facts.valid && facts.peak <= params_.budget)
    plan_ = start_;
  else
    Begin();
}

void BudgetDescent::Begin() {
  ++descents_;
  failed_ = 0;
  from_ = start_;
  good_ = start_peak_;
  Approach();
}

// Nearer to the budget by a part of the way.
void BudgetDescent::Approach() {
  const auto way = static_cast<double>(good_ - params_.budget);
  aim_ = good_ - std::max<std::int64_t>(1, static_cast<std::int64_t>(kPart * way));
  if (static_cast<double>(aim_ - params_.budget) < kNear * static_cast<double>(params_.budget)) aim_ = params_.budget;
  BeginStage();
}

void BudgetDescent::BeginStage() {
  AnnealingParams params = params_;
  params.goal = AnnealingParams::Goal::kDuration;
  params.budget = aim_;
  params.seed = params_.seed + 7 * static_cast<std::uint64_t>(stages_++);
  params.hot = 0;
  stage_.emplace(in_, params);
  stage_->Start(from_);
}

void BudgetDescent::EndStage() {
  if (stage_->has_plan()) {
    from_ = stage_->best_sequence();
    good_ = aim_;
    if (stage_->best_peak() <= params_.budget) {
      plan_ = from_;
      stage_.reset();
    } else {
      Approach();
    }
  } else if (++failed_ == kFailures) {
    Begin();
  } else {
    aim_ += (good_ - aim_) / 2;
    BeginStage();
  }
}

void BudgetDescent::Run(WorkBudget& work) {
  while (!has_plan() && stage_ && !work.Exhausted()) {
    const std::int64_t cycles = stage_->counts().cycles;
    if (cycles < 1 || (!stage_->has_plan() && cycles < kCycles)) {
      WorkBudget turn(std::min<Ticks>(work.left(), 5'000'000), work.stop_signal());
      stage_->Run(turn);
      work.Spend(turn.spent());
    } else {
      EndStage();
    }
  }
}

}  // namespace ebb
