// SPDX-License-Identifier: Apache-2.0
#include "portfolio/part_search.hpp"

#include <algorithm>
#include <utility>

#include "engine/bounds/gap_cover_flow.hpp"
#include "heuristics/priced_plans.hpp"

namespace ebb {

void PartSearch::Bound(WorkBudget& work) {
  const GapTable table = FixedOrderGaps(in_);
  const GapCoverBound flow = SolveGapCover(in_, table, problem_.budget.count(), 1, &work);
  infeasible_ = table.impossible || flow.shortage;
  if (!infeasible_) lower_ = std::max(lower_, in_.base_duration + flow.extra);
}

void PartSearch::Take(std::span<const std::int32_t> sequence) {
  const SequenceFacts facts = EvaluateSequence(in_, sequence);
  if (facts.valid && facts.peak <= problem_.budget.count()) Note(sequence, facts.duration);
}

bool PartSearch::Run(WorkBudget& work) {
  const auto before = std::pair(has_plan() ? upper_ : INT64_MAX, best_.size());
  if (!begun_) Begin(work);
  while (!finished() && !work.Exhausted()) {
    const bool polish = polish_ && (relaxed_all_ || polished_ <= relaxed_);
    if (!polish && relaxed_all_) break;
    WorkBudget turn(std::min<Ticks>(work.left(), 20'000'000), work.stop_signal());
    polish ? Polish(turn) : Relax(turn);
    (polish ? polished_ : relaxed_) += turn.spent();
    work.Spend(std::max<Ticks>(turn.spent(), 10'000));
  }
  if (closed()) Rest();  // what is proved needs no memory any more
  return has_plan() && std::pair(upper_, best_.size()) < before;
}

void PartSearch::Rest() {
  solver_.reset();
  polish_.reset();
  begun_ = relaxed_all_ = false;
  relaxed_ = polished_ = 0;
}

void PartSearch::Note(std::span<const std::int32_t> sequence, std::int64_t duration) {
  if (has_plan() && std::pair(duration, sequence.size()) >= std::pair(upper_, best_.size())) return;
  best_.assign(sequence.begin(), sequence.end());
  upper_ = duration;
  if (solver_) solver_->SetIncumbent(upper_);
}

void PartSearch::Begin(WorkBudget& work) {
  begun_ = true;
  if (!std::exchange(priced_, true)) Price(work);
  if (closed()) return;
  relaxed_all_ = problem_.order == OrderMode::kFree || !problem_.options->relax;
  if (!relaxed_all_) solver_.emplace(in_, problem_.budget.count(), problem_.order, &decoder_, BoundarySolver::Params{});
  if (has_plan()) {
    if (solver_) solver_->SetIncumbent(upper_);
    BeginPolish(best_);
  }
}

void PartSearch::Price(WorkBudget& work) {
  const GapTable table = FixedOrderGaps(in_);
  if (table.impossible) return;
  const GapCoverBound flow = SolveGapCover(in_, table, problem_.budget.count(), 1, &work);
  PlanByPrices(in_, table, problem_.budget.count(), flow, 2, problem_.max_executions.value_or(0), work,
               [&](const EvictionResult& r) {
                 if (r.peak <= problem_.budget.count() && (problem_.order != OrderMode::kStaged || r.staged))
                   Note(r.sequence, r.duration);
               });
}

bool PartSearch::WithinCap(std::span<const std::int32_t> sequence) const {
  if (!problem_.max_executions) return true;
  std::vector<std::int32_t> count(in_.num_ops, 0);
  return std::all_of(sequence.begin(), sequence.end(),
                     [&](std::int32_t op) { return ++count[op] <= *problem_.max_executions; });
}

void PartSearch::Relax(WorkBudget& work) {
  relaxed_all_ = solver_->Step(work);
  for (const BoundarySolver::Candidate& c : solver_->TakeCandidates()) {
    if (!WithinCap(c.sequence)) continue;
    if (c.fits) Note(c.sequence, c.duration);
    BeginPolish(c.sequence);
  }
  infeasible_ = solver_->infeasible();
  if (infeasible_) return;
  lower_ = std::max(lower_, solver_->lower_bound());
  if (has_plan()) lower_ = std::min(lower_, upper_);
}

void PartSearch::BeginPolish(std::span<const std::int32_t> start) {
  AnnealingParams params;
  params.order = problem_.order;
  params.budget = problem_.budget.count();
  params.max_executions = problem_.max_executions.value_or(0);
  params.seed = static_cast<std::uint64_t>(problem_.options->seed) * 1'000'003 +
                static_cast<std::uint64_t>(index_) * 1000 + static_cast<std::uint64_t>(starts_++);
  params.hot = 0.03;
  params.cold = 0.003;
  polish_.emplace(in_, params);
  polish_->Start(start);
}

void PartSearch::Polish(WorkBudget& work) {
  polish_->Run(work);
  if (polish_->has_plan()) Note(polish_->best_sequence(), polish_->best_duration());
}

}  // namespace ebb
