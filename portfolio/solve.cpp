// SPDX-License-Identifier: Apache-2.0
//
// First what takes no search: a budget that the given order meets, a budget that no order can meet. Then lanes of
// workers (lineup.hpp), one lane a thread: on the caller's thread alone, or in a TBB arena of our own.
//
// Without a work limit each of T tasks takes a lane from a queue, runs it for a short while and puts it back; lanes see
// each other's findings at once. With T lanes and T free threads a lane stays where it is; with fewer free threads all
// lanes still move on. With a work limit the lanes run in rounds with a barrier after each, and findings cross over
// only there, in the order of the lanes: the answer then depends on counted work alone.
#include "portfolio/solve.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <new>
#include <thread>

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include "portfolio/fork_join.hpp"
#include "portfolio/lane.hpp"
#include "portfolio/least_peak.hpp"
#include "portfolio/lineup.hpp"
#include "portfolio/problem.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr Ticks kRound = 100'000'000;  // by rounds: between two barriers; at once: a lane's turn

int Threads(const Options& options) {
  if (options.threads > 0) return static_cast<int>(options.threads);
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
}

void SetDeadline(const Options& options, const Problem& problem, StopSignal::Clock::time_point start,
                 StopSignal& stop) {
  // With a work limit alone the clock must not decide.
  if (options.work_limit > 0 && !options.WasSet("time-limit")) return;
  // Handing over and writing the plan takes time too: about a microsecond an execution.
  const double reserve =
      std::min(0.1 * options.time_limit, 0.02 + 2e-6 * static_cast<double>(problem.instance.num_ops));
  const double seconds = std::min(options.time_limit - reserve, 1e9);
  stop.SetDeadline(start +
                   std::chrono::duration_cast<StopSignal::Clock::duration>(std::chrono::duration<double>(seconds)));
}

void RunByRounds(std::deque<Lane>& lanes, tbb::task_arena* arena) {
  for (Ticks until = kRound;; until += kRound) {
    if (arena == nullptr) {
      for (Lane& lane : lanes) lane.Run(until);
    } else {
      ForkJoin(*arena, lanes.size(), [&](std::size_t i) { lanes[i].Run(until); });
    }
    for (Lane& lane : lanes) lane.exchange().Flush();
    for (Lane& lane : lanes) lane.exchange().Refresh();
    if (std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) { return lane.done(); })) return;
  }
}

void RunAtOnce(std::deque<Lane>& lanes, Board& board, tbb::task_arena* arena) {
  if (arena == nullptr) {
    for (Ticks until = kRound; lanes[0].Run(until); until += kRound) {
    }
    return;
  }
  struct Turn {
    Lane* lane;
    Ticks until;
  };
  tbb::concurrent_queue<Turn> queue;
  for (Lane& lane : lanes) queue.push({&lane, kRound});
  const auto work = [&] {
    Turn turn{};
    while (queue.try_pop(turn)) {
      if (turn.lane->Run(turn.until)) queue.push({turn.lane, turn.until + kRound});
    }
  };
  // A lane that ends with a proof must end the others in mid-step: their budgets look at the signal.
  const auto guarded = [&](std::size_t) {
    work();
    if (board.Get().closed()) board.stop().Cancel();
  };
  ForkJoin(*arena, lanes.size(), guarded);
}

Answer Conclude(const Problem& problem, const Knowledge& known, const StopSignal& stop) {
  Answer answer;
  answer.order = problem.order;
  answer.budget = problem.budget;
  answer.max_executions = problem.max_executions.value_or(0);
  answer.base_duration = problem.graph->base_duration().count();
  answer.lower_bound = known.lower_bound;
  if (known.best) {
    answer.plan = known.best->plan;
    answer.status = known.closed() ? SolveStatus::kOptimal : SolveStatus::kFeasible;
  } else if (known.infeasible) {
    answer.status = SolveStatus::kInfeasible;
    answer.reason = *known.infeasible;
    if (problem.max_executions) answer.reason.text += " (under the cap of max-executions)";
  } else {
    answer.reason.text = stop.cancelled() ? "stopped before a plan was found" : "no plan was found within the limits";
  }
  return answer;
}

}  // namespace

Answer Solve(const Graph& graph, const Options& options, std::span<const OpId> hint, StopSignal& stop, LogSink sink,
             FlowMemory* flows) {
  if (OrderRuleOf(options.method) && options.order != OrderMode::kFree)
    throw OptionError("method '" + options.Get("method") + "' chooses an order: it needs order = free");
  if (options.minimise == Minimise::kPeak) return SolveLeastPeak(graph, options, hint, stop, std::move(sink));
  const auto start = StopSignal::Clock::now();
  Problem problem = MakeProblem(graph, options, hint);
  problem.flows = flows;
  SetDeadline(options, problem, start, stop);
  const bool by_rounds = options.work_limit > 0;
  Board board(problem, by_rounds, std::move(sink), stop);

  AnswerAtOnce(board);
  if (Knowledge known = board.Get(); known.closed()) return Conclude(problem, known, stop);

  if (const PresolveCounts& c = problem.presolved; c.removed() > 0)
    board.Message("presolve: " + std::to_string(c.removed()) + " of " + std::to_string(c.ops) +
                  " ops never pay to run again (" + Describe(c) + ")");
  const int threads = Threads(options);
  const Ticks limit = by_rounds
                          ? static_cast<Ticks>(std::min(options.work_limit * static_cast<double>(kTicksPerWork), 9e18))
                          : std::numeric_limits<Ticks>::max();
  std::deque<Lane> lanes;
  for (auto& slots : LineUp(problem, threads)) lanes.emplace_back(board, std::move(slots), limit);
  if (!lanes.empty()) {
    std::optional<tbb::task_arena> arena;
    // TBB prints a warning when asked for more threads than there are; the lanes take turns on those.
    if (threads > 1) arena.emplace(std::min(threads, tbb::info::default_concurrency()));
    tbb::task_arena* where = arena ? &*arena : nullptr;
    by_rounds ? RunByRounds(lanes, where) : RunAtOnce(lanes, board, where);
  }
  const Knowledge known = board.Get();
  const bool starved = std::any_of(lanes.begin(), lanes.end(), [](const Lane& l) { return l.out_of_memory(); });
  if (starved && !known.best && !known.infeasible) throw std::bad_alloc();  // "not found" would not be the reason
  return Conclude(problem, known, stop);
}

}  // namespace ebb
