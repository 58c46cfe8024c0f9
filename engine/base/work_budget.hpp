// SPDX-License-Identifier: Apache-2.0
//
// Counted work. Every loop that can run long spends ticks from a WorkBudget and stops when it says so. Ticks make a run
// repeatable (same input, seed, threads and limit: same bytes); the clock and the cancel flag serve only the user's
// deadline and Ctrl-C. One tick is about a nanosecond of simple work: a million ticks a millisecond or so,
// kTicksPerWork of them one unit of the command's --work-limit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>

namespace ebb {

using Ticks = std::int64_t;
inline constexpr Ticks kTicksPerWork = 1'000'000'000;

// Shared by all workers of one solve: when the user wants an end. Thread-safe; owned by the caller.
class StopSignal {
 public:
  using Clock = std::chrono::steady_clock;

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }  // safe in a signal handler
  // For the next solve; no worker may be running.
  void Reset() {
    cancelled_.store(false, std::memory_order_relaxed);
    deadline_ = Clock::time_point::max();
  }
  void SetDeadline(Clock::time_point t) { deadline_ = t; }  // before any worker starts
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }
  [[nodiscard]] bool Expired() const { return cancelled() || Clock::now() >= deadline_; }

 private:
  std::atomic<bool> cancelled_{false};
  Clock::time_point deadline_ = Clock::time_point::max();
};

// Thrown from the middle of a long pass (a table of a million gaps, say) when the user wants an end: what was being
// made is of no use to anybody then. Lanes catch it.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};
inline void ThrowIfExpired(const StopSignal* stop) {
  if (stop != nullptr && stop->Expired()) throw Interrupted();
}

// One worker's purse. Not thread-safe.
class WorkBudget {
 public:
  WorkBudget() = default;
  explicit WorkBudget(Ticks limit, const StopSignal* stop = nullptr) : limit_(limit), stop_(stop) {}

  void Spend(Ticks ticks) { spent_ += ticks; }
  [[nodiscard]] Ticks spent() const { return spent_; }
  [[nodiscard]] Ticks left() const { return limit_ - spent_; }

  // True once the ticks are used up or the user wants an end. Looks at the clock only every kClockTicks of work, so it
  // may be called in inner loops.
  [[nodiscard]] bool Exhausted() {
    if (stopped_ || spent_ >= limit_) return true;
    if (stop_ != nullptr && spent_ >= next_look_) {
      next_look_ = spent_ + kClockTicks;
      stopped_ = stop_->Expired();
    }
    return stopped_;
  }
  // True where the end came from the clock or a cancel, not from ticks.
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] const StopSignal* stop_signal() const { return stop_; }

 private:
  static constexpr Ticks kClockTicks = 1'000'000;
  Ticks spent_ = 0;
  Ticks limit_ = std::numeric_limits<Ticks>::max();
  Ticks next_look_ = 0;
  const StopSignal* stop_ = nullptr;
  bool stopped_ = false;
};

}  // namespace ebb
