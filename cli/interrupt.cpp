// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

namespace ebb::cli {

InterruptGuard::InterruptGuard(ebb_solver* solver) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  waiter_ = std::thread([this, solver] {
    constexpr timespec kPause{0, 50'000'000};
    while (!over_.load()) {
      const int signal = sigtimedwait(&signals_, nullptr, &kPause);
      if (signal <= 0) continue;
      if (!interrupted_.exchange(true)) {
        ebb_solver_cancel(solver);
        continue;
      }
      ::signal(signal, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
      kill(getpid(), signal);
    }
  });
}

InterruptGuard::~InterruptGuard() {
  over_.store(true);
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace ebb::cli
