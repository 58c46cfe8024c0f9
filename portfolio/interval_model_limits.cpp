// SPDX-License-Identifier: Apache-2.0
//
// Memory, objective and the linear relaxation of the interval model.
#include <algorithm>

#include "portfolio/interval_model.hpp"
#include "propagators/linear_proof.hpp"
#include "propagators/linear_relaxation.hpp"
#include "propagators/linear_rows.hpp"
#include "propagators/weighted_sum.hpp"

namespace ebb {

using core::IntVar;
using core::Lit;

namespace {
std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace

void IntervalModel::Memory(std::int64_t capacity) {
  const Instance& in = instance_;
  std::vector<CumulativeMemory::Task> tasks, turns;
  bool taken_over = false;
  for (std::size_t op = 0; op < in.num_ops; ++op) {
    taken_over |= !in.consumes[op].empty();
    std::int64_t workspace = in.moment[op];
    for (const std::int32_t v : in.makes[op])
      if (!in.in_place.empty() && in.in_place[At(v)]) workspace += in.bytes[At(v)];
    for (const Copy& copy : copies_[op]) {
      turns.push_back({copy.start, copy.start, copy.presence, 1});
      for (std::size_t k = 0; k < copy.until.size(); ++k) {
        const auto v = At(in.makes[op][k]);
        if (in.bytes[v] == 0) continue;
        // What is made in another's storage takes room of its own once that one's time is over.
        const bool in_place = !in.in_place.empty() && in.in_place[v];
        tasks.push_back({copy.start, copy.until[k], copy.presence, in.bytes[v], in_place ? 1 : 0});
      }
      if (workspace > 0) tasks.push_back({copy.start, copy.start, copy.presence, workspace});
    }
  }
  engine_.Add(std::make_unique<CumulativeMemory>(std::move(tasks), capacity, axis_.end() + 1, params_.explanation,
                                                 params_.time_table));
  // Who takes a storage over must come after its other readers: one at a time.
  if (taken_over && axis_.order() != OrderMode::kStaged)
    engine_.Add(std::make_unique<CumulativeMemory>(std::move(turns), 1, axis_.end() + 1, params_.explanation));
}

void IntervalModel::Objective() {
  std::vector<WeightedSum::Term> terms;
  std::int64_t most = 0;
  for (std::size_t op = 0; op < instance_.num_ops; ++op) {
    const std::int64_t d = instance_.duration[op];
    if (d == 0) continue;
    for (std::size_t c = 1; c < copies_[op].size(); ++c) terms.push_back({copies_[op][c].presence, d});
    if (!extra_[op].none()) terms.push_back({extra_[op], d});
  }
  for (const WeightedSum::Term& t : terms) most += t.weight;
  // Beyond the copies: the LP's columns may count more reruns of an op than there are copies.
  most += instance_.base_duration * (params_.boundaries + 1);
  total_ = engine_.NewInt(0, most);
  Name(total_, "total", {most});
  engine_.Add(std::make_unique<WeightedSum>(std::move(terms), 0, total_));
}

void IntervalModel::Relax(std::span<const std::int32_t> positions, std::int64_t budget) {
  boundary_ =
      std::make_unique<BoundaryModel>(instance_, budget, std::vector<std::int32_t>(positions.begin(), positions.end()));
  if (boundary_->impossible()) {
    engine_.AddClause({~engine_.True()});
    return;
  }
  const BinaryProgram& program = boundary_->program();
  linear_.cost = program.cost;
  linear_.rows = program.rows;
  for (std::size_t j = 0; j < boundary_->columns().size(); ++j) {
    const BoundaryModel::Column& column = boundary_->columns()[j];
    const Lit lit = engine_.NewLit();
    engine_.Prefer(~lit);
    Name(lit, column.rerun() ? "rerun" : "stay", {column.item, column.stage});
    linear_.column.push_back(lit);
    const std::int64_t a = axis_.First(positions[At(column.stage)]);
    if (!column.rerun()) {
      const std::size_t k = Slot(column.item);
      for (const Copy& copy : copies_[At(instance_.maker[At(column.item)])]) {
        const IntVar end = instance_.carrier[At(column.item)] >= 0 ? copy.last[k] : copy.until[k];
        engine_.AddClause({lit, ~copy.presence, ~engine_.Leq(copy.start, a), ~engine_.Geq(end, a + 1)});
      }
    } else {
      const bool last = column.stage + 1 == boundary_->num_stages();
      const std::int64_t b = last ? axis_.end() : axis_.First(positions[At(column.stage) + 1]);
      const auto& list = copies_[At(column.item)];
      for (std::size_t c = 1; c < list.size(); ++c)
        engine_.AddClause({lit, ~list[c].presence, ~engine_.Geq(list[c].start, a + 1), ~engine_.Leq(list[c].start, b)});
    }
  }
  if (params_.proof != nullptr) LogRows(*params_.proof, linear_);
  cuts_ = std::make_unique<PathCuts>(*boundary_);
  std::vector<std::int32_t> lazy;
  for (std::size_t r = 0; r < linear_.rows.size(); ++r)
    if (linear_.rows.rhs(r) == 0) lazy.push_back(static_cast<std::int32_t>(r));
  LinearRelaxation::Params relaxed;
  relaxed.keep_duals = params_.proof != nullptr;
  relaxed.reduced_cost_fixing = params_.reduced_costs;
  relaxed.knapsack_cuts = params_.knapsack_cuts;
  auto rows = std::make_unique<LinearRows>(linear_);
  auto relaxation = std::make_unique<LinearRelaxation>(linear_, rows.get(), params_.path_cuts ? cuts_.get() : nullptr,
                                                       total_, program.knapsacks, lazy, relaxed);
  brancher_ = std::make_unique<RelaxationBrancher>(*relaxation, RelaxationBrancher::Params{});
  engine_.SetBrancher(brancher_.get());
  engine_.Add(std::move(rows));
  engine_.Add(std::move(relaxation));
}

}  // namespace ebb
