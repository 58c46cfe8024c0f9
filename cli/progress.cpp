// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <cstdio>
#include <string_view>

#include <unistd.h>

#include "cli/format.hpp"

namespace ebb::cli {
namespace {

constexpr double kQuietSeconds = 1;  // between two lines where there is no terminal

void Put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string Percent(double gap) { return Fixed(100 * gap, 4) + " %"; }

}  // namespace

ProgressPrinter::ProgressPrinter(LogFormat format, std::int64_t base)
    : format_(format), base_(base), terminal_(isatty(STDERR_FILENO) == 1) {}

int ProgressPrinter::Callback(const ebb_progress* progress, void* user) {
  static_cast<ProgressPrinter*>(user)->Show(progress);
  return 0;
}

void ProgressPrinter::EndLine() {
  if (open_) Put("\n");
  open_ = false;
}

void ProgressPrinter::Note(const std::string& text) {
  if (format_ == LogFormat::kNone) return;
  if (format_ == LogFormat::kJsonLines) {
    Put("{\"event\":\"note\",\"text\":" + JsonText(text) + "}\n");
    return;
  }
  if (open_) Put("\r\033[K");
  open_ = false;
  Put("ebbtide: " + text + "\n");
}

void ProgressPrinter::Loaded(std::int64_t ops, double seconds) {
  if (format_ != LogFormat::kJsonLines) return;
  Put("{\"event\":\"loaded\",\"seconds\":" + Fixed(seconds, 3) + ",\"ops\":" + std::to_string(ops) + "}\n");
}

void ProgressPrinter::Show(const ebb_progress* p) {
  if (format_ == LogFormat::kNone) return;
  const std::string_view kind = ebb_progress_kind(p);
  const std::int64_t duration = ebb_progress_duration(p);
  const std::int64_t bound = ebb_progress_lower_bound(p);
  if (format_ == LogFormat::kJsonLines) {
    if (kind == "tick") return;
    std::string line = "{\"event\":\"" + std::string(kind) + "\",\"seconds\":" + Fixed(ebb_progress_seconds(p), 3);
    line += ",\"worker\":" + JsonText(ebb_progress_worker(p));
    if (duration >= 0) {
      line += ",\"duration\":" + std::to_string(duration) + ",\"peak\":" + std::to_string(ebb_progress_peak(p));
      line += ",\"executions\":" + std::to_string(ebb_progress_executions(p));
      line += ",\"gap\":" + Fixed(ebb_progress_gap(p), 9);
    }
    line += ",\"lower_bound\":" + std::to_string(bound);
    if (kind == "message") line += ",\"text\":" + JsonText(ebb_progress_message(p));
    Put(line + "}\n");
    return;
  }
  if (kind == "message") {
    const std::string worker = ebb_progress_worker(p);
    Note((worker.empty() ? "" : worker + ": ") + ebb_progress_message(p));
    return;
  }
  if (kind == "plan") worker_ = ebb_progress_worker(p);
  std::string line = Fixed(ebb_progress_seconds(p), 1) + " s  ";
  if (duration < 0) {
    line += "no plan yet  bound +" + Overhead(bound, base_) + " %";
  } else {
    line += "plan +" + Overhead(duration, base_) + " % (" + worker_ + ")  bound +" + Overhead(bound, base_) +
            " %  gap " + Percent(ebb_progress_gap(p)) + "  peak " + ReadableBytes(ebb_progress_peak(p));
  }
  if (terminal_) {
    Put("\r\033[K" + line);
    open_ = true;
    return;
  }
  if (kind == "tick" || (last_ >= 0 && ebb_progress_seconds(p) < last_ + kQuietSeconds)) return;
  last_ = ebb_progress_seconds(p);
  Put("ebbtide: " + line + "\n");
}

void ProgressPrinter::Summary(const ebb_plan* plan, double seconds, bool interrupted) {
  if (format_ == LogFormat::kNone) return;
  const std::int64_t duration = ebb_plan_duration(plan);
  const std::string status = ebb_status_name(ebb_plan_status(plan));
  if (format_ == LogFormat::kJsonLines) {
    std::string line = "{\"event\":\"answer\",\"seconds\":" + Fixed(seconds, 3) + ",\"status\":\"" + status + "\"";
    line += ",\"budget\":" + std::to_string(ebb_plan_budget(plan));
    line += ",\"base_duration\":" + std::to_string(ebb_plan_base_duration(plan));
    line += ",\"lower_bound\":" + std::to_string(ebb_plan_lower_bound(plan));
    if (duration >= 0) {
      line += ",\"duration\":" + std::to_string(duration) + ",\"peak\":" + std::to_string(ebb_plan_peak(plan));
      line += ",\"executions\":" + std::to_string(ebb_plan_num_executions(plan));
      line += ",\"gap\":" + Fixed(ebb_plan_gap(plan), 9);
    } else {
      line += ",\"reason\":" + JsonText(ebb_plan_reason(plan));
    }
    if (ebb_plan_peak_bound(plan) > 0) line += ",\"peak_bound\":" + std::to_string(ebb_plan_peak_bound(plan));
    line += std::string(",\"interrupted\":") + (interrupted ? "true" : "false");
    Put(line + "}\n");
    return;
  }
  std::string text = status + (interrupted ? " (interrupted)" : "");
  if (duration >= 0) {
    text += ": duration " + std::to_string(duration) + " (+" + Overhead(duration, base_) + " %), bound +" +
            Overhead(ebb_plan_lower_bound(plan), base_) + " %, gap " + Percent(ebb_plan_gap(plan)) + ", peak " +
            ReadableBytes(ebb_plan_peak(plan)) + " of " + ReadableBytes(ebb_plan_budget(plan)) + ", " +
            std::to_string(ebb_plan_num_executions(plan)) + " executions";
    if (ebb_plan_peak_bound(plan) > 0) text += ", no plan needs less than " + ReadableBytes(ebb_plan_peak_bound(plan));
    Note(text + ", " + Fixed(seconds, 2) + " s");
  }
}

}  // namespace ebb::cli
