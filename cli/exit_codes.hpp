// SPDX-License-Identifier: Apache-2.0
//
// How the command ends, and the error that says so.
#pragma once

#include <stdexcept>
#include <string>

#include <ebbtide/ebbtide.h>

namespace ebb::cli {

enum class Exit : int {
  kOk = 0,          // a plan was written; the check held; the file was made
  kInternal = 1,    // a fault of the program
  kUsage = 2,       // flags
  kInput = 3,       // files
  kInfeasible = 4,  // proved: there is no plan
  kNoPlan = 5,      // no plan within the limits
};

// Ends the command with one line on standard error.
class CommandError : public std::runtime_error {
 public:
  CommandError(Exit exit, const std::string& text) : std::runtime_error(text), code(exit) {}
  Exit code;
};

[[nodiscard]] inline Exit ExitOf(ebb_code code) {
  switch (code) {
    case EBB_OK: return Exit::kOk;
    case EBB_ERROR_USAGE: return Exit::kUsage;
    case EBB_ERROR_INPUT:
    case EBB_ERROR_IO: return Exit::kInput;
    case EBB_ERROR_INTERNAL:
    case EBB_ERROR_MEMORY: return Exit::kInternal;
  }
  return Exit::kInternal;
}

// Throws where an API call failed. The handle's text is asked for only after the call, which the arguments of one call
// would not guarantee.
inline void Want(ebb_code code, const ebb_graph* handle) {
  if (code != EBB_OK) throw CommandError(ExitOf(code), ebb_graph_error(handle));
}
inline void Want(ebb_code code, const ebb_solver* handle) {
  if (code != EBB_OK) throw CommandError(ExitOf(code), ebb_solver_error(handle));
}
inline void Want(ebb_code code, const ebb_plan* handle) {
  if (code != EBB_OK) throw CommandError(ExitOf(code), ebb_plan_error(handle));
}

}  // namespace ebb::cli
