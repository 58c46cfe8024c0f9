// SPDX-License-Identifier: Apache-2.0
#include "portfolio/lane.hpp"

#include <algorithm>
#include <new>

namespace ebb {
namespace {
constexpr Ticks kSlice = 20'000'000;  // about 20 ms
constexpr Ticks kLeast = 10'000;      // counted for a step that claims less, so that the clock always moves
}  // namespace

Lane::Lane(Board& board, std::vector<WorkerSlot> slots, Ticks limit) : board_(board), exchange_(board), limit_(limit) {
  for (WorkerSlot& slot : slots) {
    const double late = slot.late;
    turns_.push_back({std::move(slot), late});
  }
}

bool Lane::Run(Ticks until) {
  while (!done_ && clock_ < until) {
    if (!board_.by_rounds()) exchange_.Refresh();
    if (turns_.empty() || clock_ >= limit_ || exchange_.known().closed() || board_.stop().Expired()) {
      done_ = true;
      break;
    }
    const auto turn =
        std::min_element(turns_.begin(), turns_.end(), [](const Turn& a, const Turn& b) { return a.had < b.had; });
    WorkBudget budget(std::min(kSlice, limit_ - clock_), &board_.stop());
    exchange_.SetClock(clock_);
    // A worker that has just become idle, or busy, worked as a busy one: 20 ms of work counted with an idle one's
    // appetite would keep it from its lane for seconds.
    double appetite = turn->slot.worker->appetite();
    bool more = false;
    const char* starved = nullptr;
    try {
      more = turn->slot.worker->Step(budget, exchange_);
    } catch (const Interrupted&) {
      // the end is near: Expired() says so in the next round
    } catch (const std::bad_alloc&) {
      starved = turn->slot.worker->name();  // what it held goes to the others, and what they found is not lost
    }
    const Ticks spent = std::max(budget.spent() + exchange_.TakeTicks(), kLeast);
    clock_ += spent;
    appetite = std::max(appetite, turn->slot.worker->appetite());
    turn->had += static_cast<double>(spent) / (turn->slot.share * appetite);
    if (!more) turns_.erase(turn);
    if (starved != nullptr) {
      out_of_memory_ = true;
      board_.Message("out of memory: ends here", starved);
    }
    board_.Tick();
  }
  return !done_;
}

}  // namespace ebb
