// SPDX-License-Identifier: Apache-2.0
#include "engine/bounds/tree_sharing.hpp"

#include <algorithm>
#include <utility>

namespace ebb {

TreeSharing::TreeSharing(TreeDesk* desk) : desk_(desk), helpers_(desk == nullptr ? 0 : desk->tasks.size()) {}

std::int64_t TreeSharing::bound() const {
  std::int64_t least = TreeReport::kNothing;
  for (const Helper& h : helpers_) least = std::min({least, h.bound, h.sent_bound});
  return least;
}

std::vector<HandOver> TreeSharing::Read() {
  std::vector<HandOver> news;
  for (std::size_t i = 0; i < helpers_.size(); ++i) {
    const TreeReport* report = desk_->reports[i].get();
    if (report == nullptr) continue;
    Helper& h = helpers_[i];
    h.reported = report->serial;
    h.bound = report->serial < h.forgotten ? TreeReport::kNothing : report->bound;
    if (h.answered()) {
      h.sent_bound = TreeReport::kNothing;
      if (std::exchange(h.call_back, false)) Ask(i, TreeTask::Ask::kGiveAll);
    }
    const std::int64_t end = report->first + static_cast<std::int64_t>(report->handed.size());
    if (end <= h.task.received) continue;
    for (std::int64_t n = std::max(h.task.received, report->first); n < end; ++n) {
      const HandOver& handed = report->handed[static_cast<std::size_t>(n - report->first)];
      if (handed.serial >= h.forgotten) news.push_back(handed);
    }
    h.task.received = end;
    Send(i);
  }
  return news;
}

int TreeSharing::Idle() const {
  for (std::size_t i = 0; i < helpers_.size(); ++i)
    if (helpers_[i].answered() && helpers_[i].bound == TreeReport::kNothing) return static_cast<int>(i);
  return -1;
}

void TreeSharing::Give(int helper, std::shared_ptr<const TreePacket> packet, std::int64_t bound) {
  Helper& h = helpers_[static_cast<std::size_t>(helper)];
  ++h.task.serial;
  h.task.ask = TreeTask::Ask::kSearch;
  h.task.packet = std::move(packet);
  h.sent_bound = bound;
  h.call_back = false;
  Send(static_cast<std::size_t>(helper));
}

void TreeSharing::AskHalf() {
  for (std::size_t i = 0; i < helpers_.size(); ++i)
    if (helpers_[i].answered() && helpers_[i].bound != TreeReport::kNothing) Ask(i, TreeTask::Ask::kGiveHalf);
}

// A packet must not be replaced before it was taken up.
void TreeSharing::CallBack() {
  for (std::size_t i = 0; i < helpers_.size(); ++i) {
    Helper& h = helpers_[i];
    if (h.task.ask == TreeTask::Ask::kSearch && !h.answered())
      h.call_back = true;
    else if (h.bound != TreeReport::kNothing)
      Ask(i, TreeTask::Ask::kGiveAll);
  }
}

void TreeSharing::Ask(std::size_t helper, TreeTask::Ask ask) {
  Helper& h = helpers_[helper];
  ++h.task.serial;
  h.task.ask = ask;
  h.task.packet = nullptr;
  Send(helper);
}

void TreeSharing::Forget() {
  cutoff_ = TreeReport::kNothing;
  for (std::size_t i = 0; i < helpers_.size(); ++i) {
    Helper& h = helpers_[i];
    if (desk_->tasks[i] == nullptr) continue;
    h.call_back = false;
    h.bound = h.sent_bound = TreeReport::kNothing;
    h.forgotten = h.task.serial + 1;
    Ask(i, TreeTask::Ask::kForget);
  }
}

void TreeSharing::SetCutoff(std::int64_t cutoff) {
  if (cutoff >= cutoff_) return;
  cutoff_ = cutoff;
  for (std::size_t i = 0; i < helpers_.size(); ++i)
    if (desk_->tasks[i] != nullptr) Send(i);
}

void TreeSharing::Send(std::size_t helper) {
  helpers_[helper].task.cutoff = cutoff_;
  desk_->tasks[helper] = std::make_shared<TreeTask>(helpers_[helper].task);
}

}  // namespace ebb
