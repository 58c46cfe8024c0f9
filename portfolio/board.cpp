// SPDX-License-Identifier: Apache-2.0
#include "portfolio/board.hpp"

#include <algorithm>
#include <utility>

namespace ebb {
namespace {
constexpr double kTickSeconds = 0.1;
constexpr Ticks kJudgeTicksPerExecution = 300;  // Expand, MakePlan and Validate, measured

using PartsPtr = std::shared_ptr<const std::vector<PartFacts>>;

PartsPtr Join(const PartsPtr& known, std::span<const PartFacts> parts) {
  auto joined = std::make_shared<std::vector<PartFacts>>(parts.begin(), parts.end());
  for (std::size_t i = 0; known && i < joined->size(); ++i) {
    PartFacts& part = (*joined)[i];
    const PartFacts& old = (*known)[i];
    part.lower = std::max(part.lower, old.lower);
    if (!old.piece || (part.piece && part.upper < old.upper)) continue;
    part.piece = old.piece;
    part.upper = old.upper;
  }
  return joined;
}

// The latest message of each slot.
template <class Message>
void Put(std::vector<std::shared_ptr<const Message>>& slots, std::size_t slot, std::shared_ptr<const Message> message) {
  if (slots.size() <= slot) slots.resize(slot + 1);
  slots[slot] = std::move(message);
}

}  // namespace

Board::Board(const Problem& problem, bool by_rounds, LogSink sink, StopSignal& stop)
    : problem_(problem), by_rounds_(by_rounds), stop_(stop), start_(StopSignal::Clock::now()), sink_(std::move(sink)) {
  knowledge_.lower_bound = problem.graph->base_duration().count();
  shown_bound_ = knowledge_.lower_bound;
}

Knowledge Board::Get() const {
  const std::scoped_lock lock(mutex_);
  return knowledge_;
}

double Board::Seconds() const { return std::chrono::duration<double>(StopSignal::Clock::now() - start_).count(); }

bool Board::PutPlan(IncumbentPtr plan) {
  const std::scoped_lock lock(mutex_);
  if (knowledge_.infeasible) throw InternalError("a plan after a proof that there is none");
  if (knowledge_.best && !Better(*plan, *knowledge_.best)) return false;
  knowledge_.best = std::move(plan);
  if (knowledge_.best->duration() < knowledge_.lower_bound) throw InternalError("a plan below the lower bound");
  return true;
}

bool Board::PutBound(std::int64_t bound) {
  const std::scoped_lock lock(mutex_);
  if (bound <= knowledge_.lower_bound) return false;
  knowledge_.lower_bound = bound;
  if (knowledge_.best && knowledge_.best->duration() < bound) throw InternalError("a lower bound above a plan");
  return true;
}

void Board::PutParts(std::span<const PartFacts> parts) {
  const std::scoped_lock lock(mutex_);
  knowledge_.parts = Join(knowledge_.parts, parts);
}

bool Board::PutInfeasible(Infeasibility why) {
  const std::scoped_lock lock(mutex_);
  if (knowledge_.best) throw InternalError("a proof of infeasibility after a plan");
  if (knowledge_.infeasible) return false;
  knowledge_.infeasible = std::move(why);
  return true;
}

void Board::PutTreeTask(std::size_t helper, std::shared_ptr<const TreeTask> task) {
  const std::scoped_lock lock(mutex_);
  Put(knowledge_.tree.tasks, helper, std::move(task));
}

void Board::PutTreeReport(std::size_t helper, std::shared_ptr<const TreeReport> report) {
  const std::scoped_lock lock(mutex_);
  Put(knowledge_.tree.reports, helper, std::move(report));
}

void Board::Announce(const Incumbent& plan) {
  const std::scoped_lock lock(log_mutex_);
  const auto executions = static_cast<std::int64_t>(plan.executions());
  const std::int64_t peak = plan.plan.peak.count();
  if (shown_duration_ >= 0 &&
      std::tuple(plan.duration(), executions, peak) >= std::tuple(shown_duration_, shown_executions_, shown_peak_)) {
    return;
  }
  shown_duration_ = plan.duration();
  shown_executions_ = executions;
  shown_peak_ = peak;
  Emit(LogEvent::Kind::kPlan, plan.worker);
}

void Board::AnnounceBound(std::int64_t bound, const char* worker) {
  const std::scoped_lock lock(log_mutex_);
  if (bound <= shown_bound_) return;
  shown_bound_ = bound;
  Emit(LogEvent::Kind::kBound, worker);
}

void Board::Message(std::string text, const char* worker) {
  const std::scoped_lock lock(log_mutex_);
  Emit(LogEvent::Kind::kMessage, worker, std::move(text));
}

void Board::Tick() {
  const std::scoped_lock lock(log_mutex_);
  if (sink_ && Seconds() >= next_tick_) Emit(LogEvent::Kind::kTick, "");
}

void Board::Emit(LogEvent::Kind kind, const char* worker, std::string text) {
  if (!sink_) return;
  LogEvent event;
  event.kind = kind;
  event.seconds = Seconds();
  event.worker = worker;
  event.duration = shown_duration_;
  event.peak = shown_peak_;
  event.executions = shown_executions_;
  event.lower_bound = shown_bound_;
  event.text = std::move(text);
  next_tick_ = event.seconds + kTickSeconds;
  if (!sink_(event)) stop_.Cancel();
}

bool Exchange::Interesting(std::int64_t duration, std::size_t executions) const {
  return !known_.best ||
         std::pair(duration, executions) <= std::pair(known_.best->duration(), known_.best->executions());
}

bool Exchange::Offer(std::span<const std::int32_t> sequence, const char* worker) {
  ticks_ += kJudgeTicksPerExecution * static_cast<Ticks>(sequence.size());
  Judgement judgement = Judge(problem(), sequence, worker);
  if (judgement.no_plan) return false;
  if (!judgement.incumbent) {
    // Our own view of the graph says that it is a plan, the validator says no: a fault in one of them.
    board_.Message("refused by the validator: " + judgement.why, worker);
#ifdef EBB_CHECK
    throw InternalError(std::string(worker) + ": " + judgement.why);
#else
    return false;
#endif
  }
  if (known_.best && !Better(*judgement.incumbent, *known_.best)) return false;
  known_.best = std::move(judgement.incumbent);
  if (!board_.by_rounds()) board_.PutPlan(known_.best);
  board_.Announce(*known_.best);
  return true;
}

bool Exchange::RaiseBound(std::int64_t bound, const char* worker) {
  if (bound <= known_.lower_bound) return false;
  known_.lower_bound = bound;
  if (!board_.by_rounds()) board_.PutBound(bound);
  board_.AnnounceBound(bound, worker);
  return true;
}

void Exchange::TellParts(std::span<const PartFacts> parts) {
  known_.parts = Join(known_.parts, parts);
  if (!board_.by_rounds()) board_.PutParts(parts);
}

void Exchange::ProveInfeasible(Infeasibility why) {
  known_.infeasible = std::move(why);
  if (!board_.by_rounds()) board_.PutInfeasible(*known_.infeasible);
}

void Exchange::TellTreeTask(std::size_t helper, std::shared_ptr<const TreeTask> task) {
  board_.by_rounds() ? Put(told_.tasks, helper, std::move(task)) : board_.PutTreeTask(helper, std::move(task));
}

void Exchange::TellTreeReport(std::size_t helper, std::shared_ptr<const TreeReport> report) {
  board_.by_rounds() ? Put(told_.reports, helper, std::move(report)) : board_.PutTreeReport(helper, std::move(report));
}

void Exchange::Refresh() { known_ = board_.Get(); }

void Exchange::Flush() {
  if (known_.best) board_.PutPlan(known_.best);
  board_.PutBound(known_.lower_bound);
  if (known_.parts) board_.PutParts(*known_.parts);
  if (known_.infeasible) board_.PutInfeasible(*known_.infeasible);
  for (std::size_t i = 0; i < told_.tasks.size(); ++i)
    if (told_.tasks[i]) board_.PutTreeTask(i, std::move(told_.tasks[i]));
  for (std::size_t i = 0; i < told_.reports.size(); ++i)
    if (told_.reports[i]) board_.PutTreeReport(i, std::move(told_.reports[i]));
}

}  // namespace ebb
