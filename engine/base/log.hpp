// SPDX-License-Identifier: Apache-2.0
//
// What happens during a solve, as data. The library prints nothing: whoever wants to see the events gives a sink.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ebb {

struct LogEvent {
  enum class Kind {
    kPlan,     // a better plan was accepted by the validator
    kBound,    // the lower bound rose
    kMessage,  // text for people: presolve, a phase begins
    kTick,     // nothing new, time goes on
  };
  Kind kind = Kind::kTick;
  double seconds = 0;          // since the solve began
  const char* worker = "";     // who reports: a literal
  std::int64_t duration = -1;  // of the best plan; -1: none yet
  std::int64_t peak = -1;
  std::int64_t executions = -1;
  std::int64_t lower_bound = 0;  // on the duration
  std::string text;              // kMessage

  // (duration - lower_bound) / duration; -1 where there is no plan.
  [[nodiscard]] double gap() const {
    if (duration < 0) return -1;
    return duration == 0 ? 0 : static_cast<double>(duration - lower_bound) / static_cast<double>(duration);
  }
};

// Called from worker threads, never from two at once. Must not throw. Returns false to end the solve.
using LogSink = std::function<bool(const LogEvent&)>;

}  // namespace ebb
