// SPDX-License-Identifier: Apache-2.0
#include "propagators/learning_solver.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "propagators/linear_proof.hpp"
#include "propagators/linear_rows.hpp"
#include "propagators/weighted_sum.hpp"

namespace ebb {

using core::Lit;

namespace {

constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();

// Rows that the point 0 obeys wait outside the LP until they are violated: of the thousands of "a rerun needs its
// inputs" few ever bind, and the LP without them is solved ten times faster.
std::vector<std::int32_t> LazyRows(const BinaryProgram& program) {
  if (!program.lazy.empty()) return program.lazy;
  std::vector<std::int32_t> lazy;
  for (std::size_t r = 0; r < program.rows.size(); ++r) {
    const auto row = static_cast<std::int32_t>(r);
    const bool knapsack = std::find(program.knapsacks.begin(), program.knapsacks.end(), row) != program.knapsacks.end();
    if (program.rows.rhs(r) <= 0 && !knapsack) lazy.push_back(row);
  }
  return lazy;
}

}  // namespace

LearningSolver::LearningSolver(BinaryProgram program, RowSeparator* separator, const Params& params)
    : engine_(params.seed, params.proof != nullptr ? params.proof->derived() : nullptr),
      cutoff_(kInfinity),
      conflict_limit_(params.probe_conflicts),
      halvings_(params.first_halvings),
      solution_cost_(kInfinity) {
  const std::vector<std::int32_t> lazy = LazyRows(program);
  model_.rows = std::move(program.rows);
  model_.cost = std::move(program.cost);
  std::vector<WeightedSum::Term> terms;
  std::int64_t least = 0, most = 0;
  for (const std::int64_t c : model_.cost) {
    const Lit lit = engine_.NewLit();
    model_.column.push_back(lit);
    if (c > 0) terms.push_back({lit, c});
    if (c < 0) terms.push_back({~lit, -c});
    (c < 0 ? least : most) += c;
    step_ = std::gcd(step_, c);
  }
  if (step_ == 0) step_ = 1;
  floor_ = least;
  total_ = engine_.NewInt(least, most);
  LinearRelaxation::Params relaxed = params.relaxation;
  if (params.proof != nullptr) {
    relaxed.keep_duals = true;
    params.proof->Attach(engine_);
    BeginLinearProof(*params.proof, model_, params.names, total_, params.notes);
  }
  if (!params.known.empty()) {
    known_.Attach(engine_);
    std::int64_t cost = 0;
    for (std::size_t j = 0; j < params.known.size(); ++j) {
      known_.Set(model_.column[j], params.known[j] != 0);
      cost += params.known[j] * model_.cost[j];
    }
    known_.Set(total_, cost);
    known_.Begin(total_);
  }
  auto rows = std::make_unique<LinearRows>(model_);
  auto relaxation =
      std::make_unique<LinearRelaxation>(model_, rows.get(), separator, total_, program.knapsacks, lazy, relaxed);
  relaxation_ = relaxation.get();
  brancher_ = std::make_unique<RelaxationBrancher>(*relaxation, params.branching);
  engine_.SetBrancher(brancher_.get());
  engine_.Add(std::move(rows));
  engine_.Add(std::make_unique<WeightedSum>(std::move(terms), least, total_));
  engine_.Add(std::move(relaxation));
  for (std::size_t j = 0; j < program.lower.size(); ++j)
    if (program.lower[j] == program.upper[j])
      engine_.AddClause({program.lower[j] == 1 ? model_.column[j] : ~model_.column[j]});
  ReadRoot();
}

LearningSolver::~LearningSolver() = default;

void LearningSolver::SetCutoff(std::int64_t cutoff) {
  if (cutoff >= cutoff_) return;
  std::int64_t multiple = cutoff / step_;
  if (multiple * step_ < cutoff) ++multiple;
  cutoff = multiple * step_;
  if (cutoff >= cutoff_) return;
  cutoff_ = cutoff;
  if (cutoff_ <= floor_) finished_ = true;
  engine_.AddClause({engine_.Leq(total_, cutoff - 1)});
}

// The largest cost asked for: what is still wanted at all (halvings = 0), or part of the way up from the bound.
std::int64_t LearningSolver::Target(std::int32_t halvings) const {
  const std::int64_t wanted = std::min(cutoff_ - 1, engine_.ints().root_hi(total_));
  std::int64_t gap = (wanted - floor_) / step_;
  for (std::int32_t i = 0; i < halvings; ++i) gap /= 2;
  return halvings == 0 ? wanted : floor_ + gap * step_;
}

LearningSolver::State LearningSolver::Step(WorkBudget& work) {
  constexpr std::int32_t kHalvings = 6;
  constexpr std::int64_t kNear = 32;
  while (!finished_ && floor_ < cutoff_) {
    if (work.Exhausted()) return State::kLimit;
    // Without an incumbent the first solution is what is wanted; close to it halving on would only prove the same thing
    // again and again.
    const std::int64_t wanted = Target(0);
    const bool near = wanted - floor_ <= wanted / kNear;
    const bool all = halvings_ == 0 || cutoff_ == kInfinity || near;
    const std::int64_t target = all ? wanted : Target(halvings_);
    std::vector<Lit> assumptions;
    if (!all) assumptions.push_back(engine_.Leq(total_, target));
    relaxation_->SetRootLevel(static_cast<std::int32_t>(assumptions.size()));
    const std::int64_t before = statistics().conflicts;
    const std::int64_t limit = cutoff_ == kInfinity || near ? -1 : std::max<std::int64_t>(conflict_limit_ - probed_, 1);
    const core::SatResult result = engine_.Solve(assumptions, work, limit);
    probed_ = result == core::SatResult::kUnknown ? probed_ + statistics().conflicts - before : 0;
    // What the root said holds for costs up to the target only.
    const std::int64_t beyond = all ? kInfinity : target + step_;
    floor_ = std::max(floor_, std::min({relaxation_->root_bound(), beyond, cutoff_}));
    switch (result) {
      case core::SatResult::kSat: {
        solution_.resize(model_.column.size());
        solution_cost_ = 0;
        for (std::size_t j = 0; j < solution_.size(); ++j) {
          solution_[j] = engine_.SolutionValue(model_.column[j]) ? 1 : 0;
          solution_cost_ += solution_[j] * model_.cost[j];
        }
        ReadRoot();
        SetCutoff(solution_cost_);
        return State::kSolution;
      }
      case core::SatResult::kUnsat:
        if (all) {
          finished_ = true;
        } else {
          floor_ = std::max(floor_, std::min(target + step_, cutoff_));
          halvings_ = std::max(halvings_ - 1, 1);
        }
        break;
      case core::SatResult::kUnknown:
        if (probed_ < conflict_limit_ || near) break;
        probed_ = 0;
        if (++halvings_ > kHalvings) halvings_ = 0;
        conflict_limit_ += conflict_limit_ / 4;
        break;
    }
    ReadRoot();
  }
  finished_ = true;
  floor_ = std::max(floor_, cutoff_);
  return State::kFinished;
}

void LearningSolver::ReadRoot() {
  root_lower_.assign(model_.column.size(), 0);
  root_upper_.assign(model_.column.size(), 1);
  for (std::size_t j = 0; j < model_.column.size(); ++j) {
    if (engine_.IsTrue(model_.column[j])) root_lower_[j] = 1;
    if (engine_.IsFalse(model_.column[j])) root_upper_[j] = 0;
  }
}

}  // namespace ebb
