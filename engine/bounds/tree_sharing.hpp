// SPDX-License-Identifier: Apache-2.0
//
// The owner's side of a tree that is searched on several threads (tree_messages.hpp): who holds nodes, under which
// bound, and what is asked of whom.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/bounds/tree_messages.hpp"

namespace ebb {

class TreeSharing {
 public:
  // Null: nobody helps. Else it must outlive this.
  explicit TreeSharing(TreeDesk* desk);

  // Of what helpers hold; TreeReport::kNothing: they hold nothing.
  [[nodiscard]] std::int64_t bound() const;
  [[nodiscard]] bool any_out() const { return bound() != TreeReport::kNothing; }

  // What was handed over since the last call.
  [[nodiscard]] std::vector<HandOver> Read();
  // A helper that holds nothing and was asked nothing; -1: none.
  [[nodiscard]] int Idle() const;
  void Give(int helper, std::shared_ptr<const TreePacket> packet, std::int64_t bound);
  // Half of what each holds that has nothing else to answer.
  void AskHalf();
  // All, from everybody.
  void CallBack();
  void Forget();
  // For all tasks, and those to come. Never raised but after Forget.
  void SetCutoff(std::int64_t cutoff);

 private:
  struct Helper {
    TreeTask task;                                   // as last sent
    std::int64_t sent_bound = TreeReport::kNothing;  // of nodes on their way there
    std::int64_t bound = TreeReport::kNothing;       // by its last report
    std::int64_t reported = 0;                       // the task that this knew
    std::int64_t forgotten = 0;                      // what was handed over before this task is of no use
    bool call_back = false;                          // when its packet has arrived
    [[nodiscard]] bool answered() const { return reported == task.serial; }
  };
  void Ask(std::size_t helper, TreeTask::Ask ask);
  void Send(std::size_t helper);

  TreeDesk* desk_;
  std::vector<Helper> helpers_;
  std::int64_t cutoff_ = TreeReport::kNothing;
};

}  // namespace ebb
