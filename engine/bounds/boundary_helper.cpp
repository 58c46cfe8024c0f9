// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/boundary_helper.hpp"

#include <utility>

namespace ebb {

void BoundaryHelper::Take(const std::shared_ptr<const TreeTask>& task) {
  if (task == nullptr || task == task_) return;
  task_ = task;
  if (first_ < task->received) {
    handed_.erase(handed_.begin(), handed_.begin() + (task->received - first_));
    first_ = task->received;
  }
  if (task->serial != serial_) {
    serial_ = task->serial;
    switch (task->ask) {
      case TreeTask::Ask::kSearch: TakeUp(*task->packet); break;
      case TreeTask::Ask::kGiveHalf:
        if (busy_) HandOverTree(m_.tree->GiveHalf());
        break;
      case TreeTask::Ask::kGiveAll:
        if (busy_) GiveAll();
        break;
      case TreeTask::Ask::kForget: Forget(); break;
    }
  }
  if (busy_) m_.search->SetCutoff(task->cutoff);
  Tell();
}

void BoundaryHelper::TakeUp(const TreePacket& packet) {
  busy_ = true;
  if (model_ == packet.model) {
    m_.tree->Adopt(packet.tree.Give(*m_.model));
    return;
  }
  model_ = packet.model;
  m_.SetModel(instance_, terms_, packet.positions, packet.pairs, packet.cut_stages);
  std::vector<BranchAndBound::OpenNode> nodes = packet.tree.Give(*m_.model);
  m_.SetTree(m_.Program(packet.facts, packet.rows), std::move(nodes), packet.thorough);
  m_.tree->SetPseudoCosts(packet.branching.Give(*m_.model));
}

void BoundaryHelper::Forget() {
  busy_ = false;
  model_ = -1;
  m_ = {};
}

void BoundaryHelper::Step(WorkBudget& work) {
  const BinarySolver::State state = m_.search->Step(work);
  if (state != BinarySolver::State::kLimit && m_.search->has_solution()) {
    const std::vector<double> x(m_.search->solution().begin(), m_.search->solution().end());
    auto point = DecodePoint(*m_.model, x, decoder_, {terms_.budget, terms_.mode, -1, {}}, true);
    GiveAll(std::make_shared<DecodedPoint>(point ? std::move(*point) : DecodedPoint()));
  } else if (state == BinarySolver::State::kFinished) {
    busy_ = false;
  }
  Tell();
}

void BoundaryHelper::Tell() {
  auto report = std::make_shared<TreeReport>();
  report->serial = serial_;
  if (busy_) report->bound = m_.tree->open_bound();
  report->first = first_;
  report->handed = handed_;
  report_ = std::move(report);
}

void BoundaryHelper::HandOverTree(std::vector<BranchAndBound::OpenNode> nodes,
                                  std::shared_ptr<const DecodedPoint> solution) {
  if (nodes.empty() && solution == nullptr) return;
  handed_.push_back({serial_, std::make_shared<CarriedTree>(*m_.model, std::move(nodes)), std::move(solution)});
}

// The search is over: a solution would stand in the way of the nodes of another packet.
void BoundaryHelper::GiveAll(std::shared_ptr<const DecodedPoint> solution) {
  HandOverTree(m_.tree->OpenNodes(), std::move(solution));
  Forget();
}

}  // namespace ebb
