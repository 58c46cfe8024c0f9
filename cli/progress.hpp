// SPDX-License-Identifier: Apache-2.0
//
// A solve's progress on standard error: on a terminal one line rewritten in place, elsewhere a line now and then; or
// one JSON object a line; or nothing.
#pragma once

#include <cstdint>
#include <string>

#include <ebbtide/ebbtide.h>

namespace ebb::cli {

enum class LogFormat { kText, kJsonLines, kNone };

class ProgressPrinter {
 public:
  // `base`: duration of one execution of each op.
  ProgressPrinter(LogFormat format, std::int64_t base);
  ~ProgressPrinter() { EndLine(); }
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  // For ebb_solver_on_progress; `user` is the printer.
  static int Callback(const ebb_progress* progress, void* user);
  // The graph is in memory, so many seconds after the command began: an event for programs, nothing for people.
  void Loaded(std::int64_t ops, double seconds);
  // A line of its own.
  void Note(const std::string& text);
  // The answer: a line for people or a JSON object.
  void Summary(const ebb_plan* plan, double seconds, bool interrupted);

 private:
  void Show(const ebb_progress* progress);
  void EndLine();  // leaves the line that is rewritten

  LogFormat format_;
  std::int64_t base_;
  bool terminal_;
  bool open_ = false;  // the cursor stands in a line that is rewritten
  double last_ = -1;   // when the last line went out, not on a terminal
  std::string worker_;
};

}  // namespace ebb::cli
