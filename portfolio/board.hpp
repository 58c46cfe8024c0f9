// SPDX-License-Identifier: Apache-2.0
//
// The board: what all lanes know together; and the exchange, one lane's view of it.
//
// Two ways to share:
//   at once     (only the clock limits the run) an offer is on the board when Offer returns, and Refresh brings in
//               whatever is there.
//   by rounds   (a work limit is set) what a lane finds waits in its exchange until the round ends; then Flush puts the
//               lanes' findings on the board one lane after the other. So what a lane sees depends on counted work
//               alone, and a run repeats byte for byte.
// Users' events (LogSink) go out as things happen in both ways.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/log.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/bounds/tree_messages.hpp"
#include "portfolio/incumbent.hpp"
#include "portfolio/problem.hpp"

namespace ebb {

// Why there is no plan at all.
struct Infeasibility {
  std::string text;
  OpId op = OpId::kNone;  // where one op alone proves it
  std::int64_t bytes_needed = -1, bytes_given = -1;
};

// What is known of one of the independent parts that the order falls into (portfolio/worker_stretches.cpp): lanes that
// search different parts prove the sum of what each proves, and plans are put together from all pieces.
struct PartFacts {
  std::int64_t lower = 0;                                  // on the part's duration
  std::int64_t upper = 0;                                  // of the piece
  std::shared_ptr<const std::vector<std::int32_t>> piece;  // null: none yet
};

// What is known at some moment.
struct Knowledge {
  IncumbentPtr best;                                    // null: no plan yet
  std::int64_t lower_bound = 0;                         // on the duration
  std::shared_ptr<const std::vector<PartFacts>> parts;  // that the order falls into, if a worker says so; else null
  std::optional<Infeasibility> infeasible;
  TreeDesk tree;  // a tree that several lanes search together

  // Nothing left to do?
  [[nodiscard]] bool closed() const { return infeasible || (best && best->duration() <= lower_bound); }
};

class Board {
 public:
  Board(const Problem& problem, bool by_rounds, LogSink sink, StopSignal& stop);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] bool by_rounds() const { return by_rounds_; }
  [[nodiscard]] StopSignal& stop() { return stop_; }
  [[nodiscard]] Knowledge Get() const;
  [[nodiscard]] double Seconds() const;

  // Thread-safe. Each returns whether it was news.
  bool PutPlan(IncumbentPtr plan);
  bool PutBound(std::int64_t bound);
  bool PutInfeasible(Infeasibility why);
  // In place of the last one of this helper.
  void PutTreeTask(std::size_t helper, std::shared_ptr<const TreeTask> task);
  void PutTreeReport(std::size_t helper, std::shared_ptr<const TreeReport> report);
  // Joined with what is known of them: the larger bound and the shorter piece of each. Always the same number of them.
  void PutParts(std::span<const PartFacts> parts);

  // Events for the user; thread-safe.
  void Announce(const Incumbent& plan);                        // if it is the best so far
  void AnnounceBound(std::int64_t bound, const char* worker);  // if it is the best so far
  void Message(std::string text, const char* worker = "");
  void Tick();  // now and then, from inner loops of lanes

 private:
  void Emit(LogEvent::Kind kind, const char* worker, std::string text = {});  // with log_mutex_ held

  const Problem& problem_;
  const bool by_rounds_;
  StopSignal& stop_;
  const StopSignal::Clock::time_point start_;

  mutable std::mutex mutex_;  // guards knowledge_
  Knowledge knowledge_;

  std::mutex log_mutex_;  // guards what follows
  LogSink sink_;
  double next_tick_ = 0;
  std::int64_t shown_duration_ = -1, shown_executions_ = -1, shown_peak_ = -1, shown_bound_ = 0;
};

// One lane's view. Not thread-safe.
class Exchange {
 public:
  explicit Exchange(Board& board) : board_(board), known_(board.Get()) {}

  [[nodiscard]] const Problem& problem() const { return board_.problem(); }
  [[nodiscard]] Board& board() { return board_; }
  [[nodiscard]] const Knowledge& known() const { return known_; }

  // Would a plan of this duration and number of executions be the best? A cheap question before Offer. (With equal
  // duration and executions the peak decides, which only a look at the plan tells.)
  [[nodiscard]] bool Interesting(std::int64_t duration, std::size_t executions) const;
  // A sequence of the instance that should be a plan. True: it is, and it is the best now.
  bool Offer(std::span<const std::int32_t> sequence, const char* worker);
  // No plan of the order asked for is shorter.
  bool RaiseBound(std::int64_t bound, const char* worker);
  // Tells what is known of the order's parts here, and has what is known of them here and elsewhere in known().
  void TellParts(std::span<const PartFacts> parts);
  void ProveInfeasible(Infeasibility why);
  // For one of those who search the tree in known(), or from it. Each has one who tells and one who reads.
  void TellTreeTask(std::size_t helper, std::shared_ptr<const TreeTask> task);
  void TellTreeReport(std::size_t helper, std::shared_ptr<const TreeReport> report);

  void Refresh();  // at-once sharing: takes over what the board has
  void Flush();    // by-rounds sharing: hands over; called for one lane after the other at the end of a round
  // The lane's clock when the present step began: ticks of all its workers together.
  [[nodiscard]] Ticks clock() const { return clock_; }
  void SetClock(Ticks clock) { clock_ = clock; }
  // Work done in Offer since the last call, for the lane's clock.
  [[nodiscard]] Ticks TakeTicks() { return std::exchange(ticks_, 0); }

 private:
  Board& board_;
  Knowledge known_;
  TreeDesk told_;  // by rounds: what waits for the end of the round
  Ticks ticks_ = 0, clock_ = 0;
};

}  // namespace ebb
