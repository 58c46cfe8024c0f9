// SPDX-License-Identifier: Apache-2.0
//
// One model: built with what is known, its bound, its points as plans.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/bounds/boundary_rounding.hpp"
#include "engine/bounds/boundary_solver_impl.hpp"

namespace ebb {

void BoundarySolver::Impl::Build(bool root_only) {
  if (!root_only && params.climb && steps.ceiling() == BoundSteps::kNone) {
    steps.Begin(floor, incumbent);
    floor_at_ceiling = floor;
  }
  if (model != nullptr)
    for (const auto& [pair, column] : model->orders()) AddPair(pair);
  now.SetModel(instance, terms, positions, pairs, cut_stages);
  if (model->impossible()) {
    infeasible = done = true;
    return;
  }
  BinaryProgram program = now.Program(carried_facts, carried_rows);
  if (params.from >= 0)
    for (std::size_t v = 0; v < instance.num_values; ++v)
      if (const std::int32_t c = model->stay(0, static_cast<std::int32_t>(v)); c >= 0 && !params.entry[v])
        program.upper[At(c)] = 0;
  if (!root_only && params.search) {
    search = params.search(std::move(program), now.separator.get());
  } else if (!root_only && params.climb) {
    std::vector<BranchAndBound::OpenNode> nodes;
    if (std::exchange(anew, false)) carried_trees.clear();
    for (const auto& carried : std::exchange(carried_trees, {}))
      for (BranchAndBound::OpenNode& node : carried->Give(*model)) nodes.push_back(std::move(node));
    now.SetTree(std::move(program), std::move(nodes), thorough());
    if (!carried_branching.empty()) tree->SetPseudoCosts(carried_branching.Give(*model));
  } else {
    BranchAndBound::Params p;
    p.root_only = root_only;
    search = std::make_unique<BranchAndBound>(std::move(program), now.separator.get(), p);
  }
  if (Limit() != kInfinity) search->SetCutoff(Limit() - instance.base_duration);
  ++progress.models;
  progress.columns = model->columns().size();
  progress.rows = model->program().rows.size();
  tree_spent = 0;
}

void BoundarySolver::Impl::RaiseFloor() {
  std::int64_t relaxed = std::min(search->lower_bound(), search->cutoff());
  if (tree != nullptr) relaxed = std::min(relaxed, sharing.bound());
  if (relaxed > 0 && relaxed < kInfinity) floor = std::max(floor, instance.base_duration + relaxed);
  if (floor > incumbent) floor = incumbent;
  progress.nodes = search->nodes();
  progress.lp_iterations = search->lp_iterations();
  progress.rows = search->rows().size();
}

// A fractional point is decoded in three ways: with what is nearly whole staying, with as much of the rest as fits
// the boundaries' memory besides (largest fraction first), and with all above a half. The last may be over the
// budget; it is the nearest to the bound and comes last, for local search to start from.
void BoundarySolver::Impl::TryRoundings(std::span<const double> x) {
  std::vector<double> rounded(x.size());
  for (std::size_t c = 0; c < x.size(); ++c) rounded[c] = x[c] >= 0.999 ? 1.0 : 0.0;
  TryDecode(rounded, false, true);
  FillUp(*model, x, rounded);
  TryDecode(rounded, false, true);
  for (std::size_t c = 0; c < x.size(); ++c) rounded[c] = x[c] >= 0.5 ? 1.0 : 0.0;
  TryDecode(rounded, false);
}

// Decodes and measures; collects where the sequence overflows. What does not fit is worth keeping too (local search
// mends it), but not where it comes from dropping too much.
void BoundarySolver::Impl::TryDecode(std::span<const double> x, bool collect, bool only_better) {
  if (decoder == nullptr) return;
  auto point = DecodePoint(*model, x, *decoder, {budget, mode, params.from, params.entry}, collect);
  if (point) Take(std::move(*point), collect, only_better);
}

void BoundarySolver::Impl::Take(DecodedPoint point, bool collect, bool only_better) {
  if (collect) {
    overflow = std::exchange(point.overflow, {});
    untold = std::exchange(point.untold, {});
  }
  if (only_better && (!point.fits || point.duration >= incumbent)) return;
  if (point.fits && point.duration < incumbent) {
    incumbent = point.duration;
    if (search != nullptr) search->SetCutoff(incumbent - instance.base_duration);
  }
  candidates.push_back(std::move(point));
}

}  // namespace ebb
