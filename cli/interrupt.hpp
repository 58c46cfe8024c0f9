// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C while a solve runs. SIGINT and SIGTERM are blocked in every thread (so this is made before the solver starts
// any) and waited for by one thread of ours: the first cancels the solve, the second has its usual effect. No signal
// handler and no global variable is needed.
#pragma once

#include <atomic>
#include <thread>

#include <signal.h>

#include <ebbtide/ebbtide.h>

namespace ebb::cli {

class InterruptGuard {
 public:
  explicit InterruptGuard(ebb_solver* solver);
  ~InterruptGuard();  // signals have their usual effect again
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  [[nodiscard]] bool interrupted() const { return interrupted_.load(); }

 private:
  sigset_t signals_, before_;
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> over_{false};
  std::thread waiter_;
};

}  // namespace ebb::cli
