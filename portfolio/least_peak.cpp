// SPDX-License-Identifier: Apache-2.0
#include "portfolio/least_peak.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "engine/bounds/memory_floor.hpp"
#include "engine/problem/instance.hpp"
#include "engine/problem/validator.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr int kTriesByWork = 16;  // shares of a work limit

class PeakSearch {
 public:
  PeakSearch(const Graph& graph, const Options& options, StopSignal& stop, LogSink sink)
      : graph_(graph), options_(options), stop_(stop), sink_(std::move(sink)), start_(StopSignal::Clock::now()) {
    limit_ = options.duration_limit >= 0 ? options.duration_limit : std::numeric_limits<std::int64_t>::max();
    by_work_ = options.work_limit > 0;
    if (!by_work_ || options.WasSet("time-limit")) {
      deadline_ = start_ + std::chrono::duration_cast<StopSignal::Clock::duration>(
                               std::chrono::duration<double>(std::min(options.time_limit * 0.98, 1e9)));
    }
  }

  Answer Run(std::span<const OpId> hint) {
    base_ = graph_.base_duration().count();
    if (const auto rule = OrderRuleOf(options_.method)) return OfOrder(*rule);
    low_ = ComputeFloor(MakeInstance(graph_)).bytes;
    std::int64_t given_peak = std::numeric_limits<std::int64_t>::max();
    if (std::optional<Plan> given = MakePlan(graph_, graph_.order())) {
      given_peak = given->peak.count();
      if (given->duration.count() <= limit_) best_ = std::move(given);
    }
    // One above the largest peak that is of interest.
    std::int64_t above = given_peak;
    if (options_.budget.kind != BudgetSpec::Kind::kNone) {
      most_ = options_.budget.Resolve(Bytes(given_peak)).count();
      if (!best_ || best_->peak.count() > most_) {
        best_.reset();
        above = most_ < std::numeric_limits<std::int64_t>::max() ? most_ + 1 : most_;
      }
    }
    TryHint(hint, above);
    if (limit_ < base_)
      return Conclude("the duration limit " + std::to_string(limit_) + " is below the " + std::to_string(base_) +
                      " that one execution of each op takes");
    Bisect(above);
    return Conclude({});
  }

 private:
  double Left() const { return std::chrono::duration<double>(deadline_ - StopSignal::Clock::now()).count(); }
  bool Over() const { return stop_.cancelled() || Left() <= 0; }
  std::int64_t Top(std::int64_t above) const { return best_ ? best_->peak.count() : above; }

  // A method that chooses an order is asked for that order alone.
  Answer OfOrder(OrderRule rule) {
    const Instance instance = MakeInstance(graph_);
    low_ = ComputeFloor(instance).bytes;
    stop_.SetDeadline(deadline_);
    const double limit = options_.work_limit * static_cast<double>(kTicksPerWork);
    WorkBudget work(by_work_ && limit < 9e18 ? static_cast<Ticks>(limit) : std::numeric_limits<Ticks>::max(), &stop_);
    const std::vector<std::int32_t> order = ListOrder(instance, rule, static_cast<std::uint64_t>(options_.seed), work);
    if (!order.empty()) best_ = MakePlan(graph_, Expand(graph_, instance, order, false));
    PlanRules rules;
    rules.order = options_.order;
    if (best_ && !Validate(graph_, *best_, rules).ok()) best_.reset();
    return Conclude({});
  }

  void TryHint(std::span<const OpId> hint, std::int64_t above) {
    if (hint.empty()) return;
    std::optional<Plan> plan = MakePlan(graph_, hint);
    if (!plan || plan->duration.count() > limit_ || plan->peak.count() >= Top(above)) return;
    PlanRules rules;
    rules.order = options_.order;
    if (options_.max_executions > 0) rules.max_executions = static_cast<std::int32_t>(options_.max_executions);
    if (Validate(graph_, *plan, rules).ok()) best_ = std::move(plan);
  }

  void Bisect(std::int64_t above) {
    double share = 0.1;  // of the time that is left, for one try
    std::int64_t from = low_;
    bool undecided = false;
    for (int tries = 0; low_ < Top(above) && !Over(); ++tries) {
      if (by_work_ && tries >= kTriesByWork) return;
      if (from >= Top(above)) {
        // A method of the literature has nothing else to say the second time.
        if (!undecided || IsClassic(options_.method)) return;
        from = low_;
        undecided = false;
        share = std::min(0.8, 2 * share);
      }
      const std::int64_t budget = from + (Top(above) - 1 - from) / 2;
      Answer answer = Try(budget, share);
      if (answer.plan && answer.plan->duration.count() <= limit_) {
        best_ = std::move(answer.plan);
        Tell();
      } else if (answer.status == SolveStatus::kInfeasible || answer.lower_bound > limit_) {
        low_ = budget + 1;
        if (answer.status == SolveStatus::kInfeasible) low_ = std::max(low_, answer.reason.bytes_needed);
        from = std::max(from, low_);
      } else {
        from = budget + 1;
        undecided = true;
      }
    }
  }

  Answer Try(std::int64_t budget, double share) {
    Options options = options_;
    options.minimise = Minimise::kDuration;
    options.Set("budget", std::to_string(budget));
    if (by_work_) options.Set("work-limit", std::to_string(options_.work_limit / kTriesByWork));
    if (deadline_ != StopSignal::Clock::time_point::max()) {
      const double seconds = by_work_ ? Left() : std::max(0.05, share * Left());
      options.Set("time-limit", std::to_string(std::clamp(seconds, 0.0, 1e9)));
    }
    StopSignal stop;
    const LogSink watch = [&](const LogEvent& event) {
      if (stop_.cancelled()) return false;
      if (event.kind == LogEvent::Kind::kTick && sink_ && !Pass(event)) return false;
      // By work a try goes on: when an event comes is the clock's choice.
      const bool enough = event.kind == LogEvent::Kind::kPlan && event.duration <= limit_;
      return by_work_ || !enough;
    };
    std::vector<OpId> start;
    if (best_) start = best_->executions;
    return Solve(graph_, options, start, stop, watch);
  }

  bool Pass(LogEvent event) {
    event.seconds = std::chrono::duration<double>(StopSignal::Clock::now() - start_).count();
    event.duration = best_ ? best_->duration.count() : -1;
    event.peak = best_ ? best_->peak.count() : -1;
    event.executions = best_ ? static_cast<std::int64_t>(best_->executions.size()) : -1;
    event.lower_bound = base_;
    if (sink_(event)) return true;
    stop_.Cancel();
    return false;
  }

  void Tell() {
    if (!sink_) return;
    LogEvent event;
    event.kind = LogEvent::Kind::kPlan;
    event.worker = "least peak";
    static_cast<void>(Pass(event));
  }

  Answer Conclude(std::string impossible) {
    Answer answer;
    answer.order = options_.order;
    answer.base_duration = answer.lower_bound = base_;
    answer.peak_bound = low_;
    if (!impossible.empty()) {
      answer.status = SolveStatus::kInfeasible;
      answer.reason.text = std::move(impossible);
    } else if (best_) {
      answer.budget = best_->peak;
      answer.status = low_ >= best_->peak.count() ? SolveStatus::kOptimal : SolveStatus::kFeasible;
      answer.plan = std::move(best_);
    } else {
      const bool excluded = low_ > most_;
      answer.status = excluded ? SolveStatus::kInfeasible : SolveStatus::kUnknown;
      answer.reason.text = excluded
                               ? "no plan within the duration limit needs less than " + std::to_string(low_) + " bytes"
                               : "no plan was found within the limits";
    }
    return answer;
  }

  const Graph& graph_;
  const Options& options_;
  StopSignal& stop_;
  LogSink sink_;
  const StopSignal::Clock::time_point start_;
  StopSignal::Clock::time_point deadline_ = StopSignal::Clock::time_point::max();
  std::int64_t limit_ = 0, base_ = 0;
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();  // the user's budget
  bool by_work_ = false;
  std::int64_t low_ = 0;      // proved: no plan within the limit has a lower peak
  std::optional<Plan> best_;  // within the limit
};

}  // namespace

Answer SolveLeastPeak(const Graph& graph, const Options& options, std::span<const OpId> hint, StopSignal& stop,
                      LogSink sink) {
  return PeakSearch(graph, options, stop, std::move(sink)).Run(hint);
}

}  // namespace ebb
