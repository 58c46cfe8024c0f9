// SPDX-License-Identifier: Apache-2.0
#include "portfolio/least_peak.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include "engine/bounds/memory_floor.hpp"
#include "engine/problem/instance.hpp"
#include "engine/problem/validator.hpp"
#include "heuristics/backward_plans.hpp"
#include "heuristics/list_orders.hpp"
#include "heuristics/order_search.hpp"
#include "portfolio/fork_join.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr int kTriesByWork = 16;              // shares of a work limit
constexpr std::size_t kProofOps = 64;         // ops up to which the search over states may prove something
constexpr Ticks kOrderRound = 50'000'000;     // of a walk over orders, between two comparisons
constexpr Ticks kStartTicks = 2'000'000'000;  // a beam over a large graph is given up for the next start
constexpr std::int64_t kMostWalks = 4;

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
    const bool searches = options_.method == Method::kAuto || options_.method == Method::kAnneal;
    if (options_.order == OrderMode::kFree && searches && limit_ >= base_ && SearchOrders(above)) return Conclude({});
    if (limit_ < base_)
      return Conclude("the duration limit " + std::to_string(limit_) + " is below the " + std::to_string(base_) +
                      " that one execution of each op takes");
    if (AtFloor(above)) {
      // Nothing needs less; a shorter plan of the same peak is the better one.
      Answer answer = Try(low_, 0.3, true);
      if (answer.plan && answer.plan->duration < best_->duration) best_ = std::move(answer.plan);
      return Conclude({});
    }
    Bisect(above);
    return Conclude({});
  }

 private:
  double Left() const { return std::chrono::duration<double>(deadline_ - StopSignal::Clock::now()).count(); }
  bool Over() const { return stop_.cancelled() || Left() <= 0; }
  std::int64_t Top(std::int64_t above) const { return best_ ? best_->peak.count() : above; }

  // Free order: what an order alone can do, by local search from several starts. All there is where no op may run
  // again, except that small graphs leave time for a proof; else a start for the rest. True: nothing else is to be
  // done.
  bool SearchOrders(std::int64_t above) {
    const Instance instance = MakeInstance(graph_);
    const bool alone = options_.max_executions == 1 && instance.num_ops > kProofOps;
    const double share = alone ? 1.0 : options_.max_executions == 1 ? 0.3 : 0.1;
    StopSignal stop;
    if (deadline_ != StopSignal::Clock::time_point::max())
      stop.SetDeadline(StopSignal::Clock::now() + std::chrono::duration_cast<StopSignal::Clock::duration>(
                                                      std::chrono::duration<double>(std::max(0.0, share * Left()))));
    const double limit = by_work_ ? share * options_.work_limit * static_cast<double>(kTicksPerWork) : 9e18;
    const std::int64_t threads = std::clamp<std::int64_t>(
        options_.threads > 0 ? options_.threads : tbb::info::default_concurrency(), 1, kMostWalks);
    std::vector<OrderSearch> walks;
    for (const OrderRule rule : {OrderRule::kBeam, OrderRule::kGreedy, OrderRule::kDepthFirst, OrderRule::kBeam}) {
      if (static_cast<std::int64_t>(walks.size()) >= std::max<std::int64_t>(2, threads) || stop_.cancelled()) break;
      WorkBudget work(by_work_ ? std::min(kStartTicks, static_cast<Ticks>(0.1 * limit)) : kStartTicks, &stop);
      const std::vector<std::int32_t> start = ListOrder(instance, rule, 1, work);
      if (start.empty()) continue;
      TakeOrder(instance, start, above);
      walks.emplace_back(instance, start, static_cast<std::uint64_t>(options_.seed) * 1000 + walks.size());
    }
    if (walks.empty()) return false;
    std::optional<tbb::task_arena> arena;
    if (threads > 1) arena.emplace(static_cast<int>(threads));
    for (double used = 0; used < limit && low_ < Top(above) && !stop.Expired() && !stop_.cancelled();
         used += static_cast<double>(kOrderRound) * static_cast<double>(walks.size())) {
      const auto step = [&](std::size_t i) {
        WorkBudget work(kOrderRound, by_work_ ? nullptr : &stop);
        walks[i].Run(work);
      };
      if (arena) {
        ForkJoin(*arena, walks.size(), step);
      } else {
        for (std::size_t i = 0; i < walks.size(); ++i) step(i);
      }
      std::size_t least = 0;
      for (std::size_t i = 1; i < walks.size(); ++i)
        if (walks[i].best_peak() < walks[least].best_peak()) least = i;
      // One walk keeps to its own ways.
      for (std::size_t i = 0; i < walks.size(); ++i)
        if (i != 1 && i != least) walks[i].Offer(walks[least].best());
      TakeOrder(instance, walks[least].best(), above);
      LogEvent tick;
      if (sink_ && !Pass(tick)) break;
    }
    return alone;
  }

  // The floor is often the least peak itself (RL n=100, n=250), and a search backwards over wanted sets meets it at any
  // price in duration. True: it did.
  bool AtFloor(std::int64_t above) {
    const Instance instance = MakeInstance(graph_);
    if (!BackwardFits(instance) || options_.max_executions >= 1 || !options_.backward ||
        options_.method != Method::kAuto || limit_ != std::numeric_limits<std::int64_t>::max() || low_ >= Top(above))
      return false;
    StopSignal stop;
    if (deadline_ != StopSignal::Clock::time_point::max())
      stop.SetDeadline(StopSignal::Clock::now() + std::chrono::duration_cast<StopSignal::Clock::duration>(
                                                      std::chrono::duration<double>(std::max(0.0, 0.4 * Left()))));
    const double limit = by_work_ ? 0.3 * options_.work_limit * static_cast<double>(kTicksPerWork) : 9e18;
    BackwardPlans plans(instance,
                        {low_, options_.order == OrderMode::kStaged, static_cast<std::uint64_t>(options_.seed)});
    for (Ticks spent = 0; static_cast<double>(spent) < limit && !stop.Expired() && !stop_.cancelled();) {
      WorkBudget work(kOrderRound, &stop);
      if (plans.Run(work)) TakeOrder(instance, plans.sequence(), above);
      spent += work.spent();
      if (low_ >= Top(above)) return true;
      if (plans.impossible() >= -1) return false;
      LogEvent tick;
      if (sink_ && !Pass(tick)) return false;
    }
    return false;
  }

  void TakeOrder(const Instance& instance, const std::vector<std::int32_t>& order, std::int64_t above) {
    if (EvaluateSequence(instance, order).peak >= Top(above)) return;
    std::optional<Plan> plan = MakePlan(graph_, Expand(graph_, instance, order, options_.order == OrderMode::kStaged));
    PlanRules rules;
    rules.order = options_.order;
    if (!plan || plan->peak.count() >= Top(above) || plan->duration.count() > limit_ ||
        !Validate(graph_, *plan, rules).ok())
      return;
    best_ = std::move(plan);
    Tell();
  }

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

  // `whole`: with all of its share of the time, even if a plan is known.
  Answer Try(std::int64_t budget, double share, bool whole = false) {
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
      return by_work_ || whole || !enough;
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
