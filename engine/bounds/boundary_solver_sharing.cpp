// SPDX-License-Identifier: Apache-2.0
//
// Together with helpers (tree_messages.hpp): what they handed over, and what they are given.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/bounds/boundary_solver_impl.hpp"

namespace ebb {

void BoundarySolver::Impl::ReadHelpers() {
  for (HandOver& handed : sharing.Read()) {
    if (phase == Phase::kTree && tree != nullptr)
      tree->Adopt(handed.tree->Give(*model));
    else
      carried_trees.push_back(std::move(handed.tree));
    if (handed.solution == nullptr || handed.solution->sequence.empty()) continue;
    const bool refines = phase == Phase::kTree;
    const std::int64_t before = incumbent;
    Take(*handed.solution, refines, false);
    // A better plan is not to be refuted: the tree goes on below it.
    if (refines && incumbent == before) NextTree();
  }
}

void BoundarySolver::Impl::StayAlone() {
  if (!alone) ++progress.alone;
  alone = true;
  sharing.CallBack();
}

void BoundarySolver::Impl::GiveToHelpers() {
  if (done || alone || steps.since_raised() < params.share_after || phase != Phase::kTree || tree == nullptr) return;
  for (int helper = sharing.Idle(); helper >= 0; helper = sharing.Idle()) {
    if (tree->num_open() < params.share_least) return;
    std::vector<BranchAndBound::OpenNode> half = tree->GiveHalf();
    if (half.empty()) return;
    std::int64_t bound = kInfinity;
    for (const BranchAndBound::OpenNode& node : half) bound = std::min(bound, node.bound);
    auto packet = std::make_shared<TreePacket>();
    packet->model = progress.models;
    packet->positions = positions;
    for (const auto& [pair, column] : model->orders()) packet->pairs.push_back(pair);
    packet->cut_stages = cut_stages;
    packet->thorough = thorough();
    packet->facts.Take(*model, *search);
    packet->rows = CarriedRows(*model, *search);
    packet->branching = CarriedBranching(*model, tree->pseudo_costs());
    packet->tree = CarriedTree(*model, std::move(half));
    sharing.Give(helper, std::move(packet), bound);
  }
}

}  // namespace ebb
