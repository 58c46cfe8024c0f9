// SPDX-License-Identifier: Apache-2.0
//
// The other end of a tree that is searched on several threads (tree_messages.hpp): builds the owner's model, searches
// the nodes that it is given, and hands them back when asked or when it has found a solution.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/bounds/decoded_point.hpp"
#include "engine/bounds/model_search.hpp"
#include "engine/bounds/tree_messages.hpp"

namespace ebb {

class BoundaryHelper {
 public:
  // The instance, and the decoder, must outlive this; terms as the owner's.
  BoundaryHelper(const Instance& instance, const ModelTerms& terms, BoundaryDecoder& decoder)
      : instance_(instance), terms_(terms), decoder_(decoder) {}

  // The latest of the owner's tasks (null: none yet), however often.
  void Take(const std::shared_ptr<const TreeTask>& task);
  [[nodiscard]] bool busy() const { return busy_; }
  // While busy: searches until the budget is used up or there is something to tell.
  void Step(WorkBudget& work);
  // Null until there was a task.
  [[nodiscard]] const std::shared_ptr<const TreeReport>& report() const { return report_; }

 private:
  void TakeUp(const TreePacket& packet);
  void Forget();
  void Tell();
  void HandOverTree(std::vector<BranchAndBound::OpenNode> nodes,
                    std::shared_ptr<const DecodedPoint> solution = nullptr);
  void GiveAll(std::shared_ptr<const DecodedPoint> solution = nullptr);

  const Instance& instance_;
  const ModelTerms terms_;
  BoundaryDecoder& decoder_;
  ModelSearch m_;
  std::int32_t model_ = -1;  // the owner's name for m_
  std::int64_t serial_ = -1;
  bool busy_ = false;
  std::int64_t first_ = 0;  // the number of the first of
  std::vector<HandOver> handed_;
  std::shared_ptr<const TreeTask> task_;  // the last one
  std::shared_ptr<const TreeReport> report_;
};

}  // namespace ebb
