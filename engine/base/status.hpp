// SPDX-License-Identifier: Apache-2.0
//
// What an answer can be, and the exception that carries a message for people out of anything that reads input.
#pragma once

#include <stdexcept>
#include <string>

namespace ebb {

// The four answers of a solve (docs: model). kUnknown is what a time-out without a plan gives; it is never infeasible.
enum class SolveStatus { kUnknown = 0, kFeasible = 1, kOptimal = 2, kInfeasible = 3 };

// Which sequences count as plans. kFree <= kFixed <= kStaged in duration.
enum class OrderMode { kFixed = 0, kStaged = 1, kFree = 2 };

[[nodiscard]] constexpr const char* ToString(SolveStatus s) {
  switch (s) {
    case SolveStatus::kUnknown: return "unknown";
    case SolveStatus::kFeasible: return "feasible";
    case SolveStatus::kOptimal: return "optimal";
    case SolveStatus::kInfeasible: return "infeasible";
  }
  return "unknown";
}

[[nodiscard]] constexpr const char* ToString(OrderMode m) {
  switch (m) {
    case OrderMode::kFixed: return "fixed";
    case OrderMode::kStaged: return "staged";
    case OrderMode::kFree: return "free";
  }
  return "fixed";
}

// Bad input: the message names the culprit (file and line, or op and tensor) and what was expected, in one line.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A broken promise inside the library (exit code 1); never caused by input.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace ebb
