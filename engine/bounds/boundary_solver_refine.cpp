// SPDX-License-Identifier: Apache-2.0
//
// Which boundaries and orders come next, and the way from one tree to the next.
#include <algorithm>
#include <utility>

#include "engine/bounds/boundary_places.hpp"
#include "engine/bounds/boundary_solver_impl.hpp"

namespace ebb {

namespace {
// In steps: after such a tree the next boundary is worth probes (a root each, some twenty nodes of a tree).
constexpr Ticks kLongTree = 2'000'000'000;
constexpr std::int64_t kLongTreeNodes = 200;
// In steps: after such a tree the next one begins anew, with what branching has learnt, instead of going on with its
// nodes, each of which is a long way from the finer model's root. RL n=250 at 0.8, one lane, seconds to the proof:
// staged with incumbents of 4.28 and 4.2607 % 13.5 and 14.7, with nodes always carried 13.6 and 39, after 0.7e9 ticks
// 18.8 and 15.1; fixed 118, with nodes always carried 4.056 % after 104. Not where three fourths of the way to the
// ceiling are done and few of its nodes are open: on two lanes a tree that had come to 4.249 of 4.261 % after 60 s
// began anew, for 40 more; but RL n=1000 at 0.8, staged, went on with 1,975 nodes for 160 s where a new tree took 40.
constexpr Ticks kFreshTree = 3'000'000'000;
}  // namespace

// Adds up to `count` of the wanted positions; false where there is none.
bool BoundarySolver::Impl::Refine(std::int32_t count, std::int32_t spacing) {
  if (static_cast<std::int32_t>(positions.size()) >= params.max_boundaries ||
      model->columns().size() > params.max_columns)
    return false;
  const std::vector<std::int32_t> added = SpreadPlaces(overflow, count, spacing, positions);
  if (added.empty()) return false;
  positions.insert(positions.end(), added.begin(), added.end());
  std::sort(positions.begin(), positions.end());
  overflow.clear();
  return true;
}

void BoundarySolver::Impl::AddPair(const BoundaryModel::OpPair& pair) {
  const auto at = std::lower_bound(pairs.begin(), pairs.end(), pair);
  if (at == pairs.end() || *at != pair) pairs.insert(at, pair);
}

// What no boundary refutes: reruns in one stage of reruns alone. First their order is made part of the model, then
// what even that leaves is cut off.
bool BoundarySolver::Impl::RefineStages() {
  if (!TellsOrders(instance, terms)) return false;
  if (!untold.empty() && model->columns().size() <= params.max_columns) {
    for (const BoundaryModel::OpPair& pair : untold) AddPair(pair);
    untold.clear();
    return true;
  }
  return !std::exchange(cut_stages, true);
}

// The model has a solution so cheap that little of the gap to the incumbent is left for its bound to rise by.
bool BoundarySolver::Impl::SpentForce() const {
  if (overflow.empty() || !search->has_solution()) return false;
  const std::int64_t bound = std::max(search->lower_bound(), floor - instance.base_duration);
  if (search->solution_cost() <= bound) return true;
  return incumbent != kInfinity && search->solution_cost() - bound < (incumbent - instance.base_duration - bound) / 4;
}

// Leaves the tree for a finer model, if there is one; else gives it more time.
void BoundarySolver::Impl::NextTree() {
  const bool long_tree = tree_spent > kLongTree && progress.nodes > kLongTreeNodes;
  const bool near_its_end = tree != nullptr && 4 * static_cast<std::int64_t>(tree->num_open()) <= progress.nodes &&
                            (floor - floor_at_ceiling) / 3 >= (Limit() - floor_at_ceiling) / 4;
  const bool fresh = tree_spent > kFreshTree && !near_its_end;
  tree_spent = 0;
  tree_limit = static_cast<Ticks>(static_cast<double>(tree_limit) * params.tree_growth);
  search->SetDiving(false);
  TakeFacts();
  carried_rows = TakeRows();
  TakeBranching();
  // Where the relaxation has hardly a gap left, the first places can be added unseen. In a large model each costs
  // time and the right one counts (RL n=250 at 0.8: after eight boundaries 240 leads to the proof, the worst
  // overflow, 241, to 3.87 % and no further), so there the LPs choose.
  std::shared_ptr<const CarriedTree> nodes;
  const bool climbs = tree != nullptr;
  if (climbs && !fresh) nodes = std::make_shared<CarriedTree>(*model, tree->OpenNodes());
  if (params.probes == 0 || (params.climb && !long_tree) || (SpentForce() && positions.size() < 6)) {
    if (Refine(params.climb ? 1 : params.per_tree, 1) || RefineStages()) phase = Phase::kBuild;
  } else if (BeginProbes()) {
    phase = Phase::kProbe;
  } else if (RefineStages()) {
    phase = Phase::kBuild;
  }
  if (phase == Phase::kTree) {
    StayAlone();
    return;
  }
  if (!climbs) return;
  if (fresh) {
    anew = true;
    sharing.Forget();
  } else {
    carried_trees.push_back(std::move(nodes));
    sharing.CallBack();
  }
}

bool BoundarySolver::Impl::BeginProbes() {
  if (static_cast<std::int32_t>(positions.size()) >= params.max_boundaries ||
      model->columns().size() > params.max_columns)
    return false;
  probes = ProbeSets(overflow, params.probes, positions);
  overflow.clear();
  base_positions = positions;
  next_probe = best_probe = 0;
  best_probe_bound = -1;
  best_rows = {};
  if (probes.empty()) return false;
  now.DropSearch();
  return true;
}

// (Facts are remembered from trees only: a probe's search is cut short.)
void BoundarySolver::Impl::SetProbe(std::size_t index) {
  positions = base_positions;
  positions.insert(positions.end(), probes[index].begin(), probes[index].end());
  std::sort(positions.begin(), positions.end());
}

}  // namespace ebb
