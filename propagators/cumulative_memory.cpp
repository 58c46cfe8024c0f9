// SPDX-License-Identifier: Apache-2.0
#include "propagators/cumulative_memory.hpp"

#include <algorithm>

namespace ebb {

using core::Engine;
using core::Lit;

namespace {
constexpr std::string_view kRules[] = {"overload", "begins later", "ends earlier", "absent"};
constexpr std::uint16_t kOverload = 0, kBegins = 1, kEnds = 2, kAbsent = 3;
std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace

CumulativeMemory::CumulativeMemory(std::vector<Task> tasks, std::int64_t capacity, std::int64_t horizon,
                                   Explanation explanation, bool time_table)
    : Propagator("cumulative memory", kRules, core::Priority::kGlobal),
      tasks_(std::move(tasks)),
      capacity_(capacity),
      horizon_(horizon),
      explanation_(explanation),
      time_table_(time_table),
      load_(At(horizon)),
      parts_(tasks_.size()) {
  std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.demand > b.demand; });
}

void CumulativeMemory::Attach(Engine& engine, core::PropId id) {
  id_ = id;
  engine.WatchBacktrack(id);
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const auto data = static_cast<std::int32_t>(i);
    engine.Watch(tasks_[i].presence, id, data);
    engine.WatchUpper(tasks_[i].start, id, data);
    engine.WatchLower(tasks_[i].end, id, data);
    OnEvent(engine, data);
  }
}

void CumulativeMemory::SetPart(std::size_t task, const Part& part) {
  Part& now = parts_[task];
  const std::int64_t demand = tasks_[task].demand;
  // Parts grow and shrink at their ends: only the difference is touched.
  if (now.from < now.to && part.from < part.to && part.from <= now.from && part.to >= now.to) {
    load_.Add(At(part.from), At(now.from), demand);
    load_.Add(At(now.to), At(part.to), demand);
  } else if (now.from < now.to && part.from < part.to && part.from >= now.from && part.to <= now.to) {
    load_.Add(At(now.from), At(part.from), -demand);
    load_.Add(At(part.to), At(now.to), -demand);
  } else {
    if (now.from < now.to) load_.Add(At(now.from), At(now.to), -demand);
    if (part.from < part.to) load_.Add(At(part.from), At(part.to), demand);
  }
  now = part;
}

bool CumulativeMemory::OnEvent(Engine& engine, std::int32_t data) {
  const Task& task = tasks_[At(data)];
  if (engine.IsFalse(task.presence)) return false;
  const std::int64_t from = engine.ub(task.start) + task.delay, to = engine.lb(task.end) + 1;
  if (!engine.IsTrue(task.presence)) return from < to;
  const Part& now = parts_[At(data)];
  if (from >= to || (from == now.from && to == now.to)) return true;
  if (engine.level() > 0) log_.push_back({data, engine.level(), now});
  SetPart(At(data), {from, to});
  engine.budget().Spend(50 + (to - from) / 16);
  return true;
}

void CumulativeMemory::OnBacktrack(Engine&, std::int32_t level) {
  while (!log_.empty() && log_.back().level > level) {
    SetPart(At(log_.back().task), log_.back().old);
    log_.pop_back();
  }
}

bool CumulativeMemory::Propagate(Engine& engine) {
  engine.budget().Spend(static_cast<Ticks>(20 * tasks_.size()));
  if (const std::int64_t t = load_.First(0, At(horizon_), capacity_); t >= 0) {
    std::vector<Lit> why;
    Why(engine, t, 0, -1, core::kNow, why);
    return engine.Conflict(id_, kOverload, why);
  }
  for (std::size_t i = 0; time_table_ && i < tasks_.size(); ++i)
    if (!engine.IsFalse(tasks_[i].presence) && !Filter(engine, i)) return false;
  return true;
}

bool CumulativeMemory::Filter(Engine& engine, std::size_t i) {
  const Task& task = tasks_[i];
  const std::int64_t limit = capacity_ - task.demand;
  const auto b = static_cast<std::int32_t>(i);
  const bool point = task.start == task.end;
  std::int64_t certain_from = engine.ub(task.start) + task.delay, certain_to = engine.lb(task.end);
  if (!engine.IsTrue(task.presence)) {
    if (certain_from > certain_to) return true;
    const std::int64_t t = load_.First(At(certain_from), At(certain_to) + 1, limit);
    return t < 0 || engine.Infer(id_, ~task.presence, {kAbsent, t, b});
  }
  // Positions outside its own part. Up to lb(end) it cannot have ended; from ub(start) on it has begun.
  const Part& own = parts_[i];
  const bool has_part = own.from < own.to;
  const std::int64_t left_to = has_part ? own.from : certain_to + 1, left_from = engine.lb(task.start) + task.delay;
  if (left_from < left_to) {
    const std::int64_t t = load_.Last(At(left_from), At(left_to), limit);
    if (t >= 0 && !engine.Infer(id_, engine.Geq(task.start, t + 1 - task.delay), {kBegins, t, b})) return false;
  }
  if (point) certain_from = engine.ub(task.start) + task.delay;
  const std::int64_t right_from = has_part ? own.to : certain_from, right_to = engine.ub(task.end) + 1;
  if (right_from < right_to) {
    const std::int64_t t = load_.First(At(right_from), At(right_to), limit);
    if (t >= 0 && !engine.Infer(id_, engine.Leq(task.end, t - 1), {kEnds, t, b})) return false;
  }
  return true;
}

void CumulativeMemory::Why(const Engine& engine, std::int64_t t, std::int64_t own, std::int32_t but,
                           std::int32_t before, std::vector<Lit>& out) const {
  std::int64_t sum = own, from = 0, to = horizon_ - 1;
  std::vector<const Task*> chosen;
  for (std::size_t i = 0; i < tasks_.size() && sum <= capacity_; ++i) {
    const Task& task = tasks_[i];
    if (static_cast<std::int32_t>(i) == but || !engine.WasTrue(task.presence, before)) continue;
    const std::int64_t a = engine.UbAt(task.start, before) + task.delay, b = engine.LbAt(task.end, before);
    if (a > t || b < t) continue;
    sum += task.demand;
    from = std::max(from, a);
    to = std::min(to, b);
    chosen.push_back(&task);
  }
  for (const Task* task : chosen) {
    out.push_back(task->presence);
    switch (explanation_) {
      case Explanation::kNaive:
        engine.WhyLeq(task->start, engine.UbAt(task->start, before), before, out);
        engine.WhyGeq(task->end, engine.LbAt(task->end, before), before, out);
        break;
      case Explanation::kBigStep:
        engine.WhyLeq(task->start, from - task->delay, before, out);
        engine.WhyGeq(task->end, to, before, out);
        break;
      case Explanation::kPointwise:
        engine.WhyLeq(task->start, t - task->delay, before, out);
        engine.WhyGeq(task->end, t, before, out);
        break;
    }
  }
}

void CumulativeMemory::Explain(Engine& engine, Lit, const core::LazyReason& reason, std::int32_t before,
                               std::vector<Lit>& out) {
  const Task& task = tasks_[At(reason.b)];
  const std::int64_t t = reason.a;
  Why(engine, t, task.demand, reason.b, before, out);
  if (reason.rule != kAbsent) out.push_back(task.presence);
  if (reason.rule != kBegins) engine.WhyLeq(task.start, t - task.delay, before, out);
  if (reason.rule != kEnds) engine.WhyGeq(task.end, t, before, out);
  engine.budget().Spend(static_cast<Ticks>(20 * tasks_.size()));
}

// Where the clause is false, some position is overfull by what is certain there. Such a position can be moved back to
// where a certain part begins.
bool CumulativeMemory::Implies(const Engine& engine, std::uint16_t, std::span<const Lit> clause) const {
  std::vector<Part> certain;
  const auto side = [&](core::IntVar x, core::IntVars::Side s) {
    std::int64_t bound = s == core::IntVars::Side::kLower ? engine.ints().root_lo(x) : engine.ints().root_hi(x);
    for (const Lit lit : clause) {
      const auto b = engine.ints().Meaning(~lit);
      if (b.var != x || b.side != s) continue;
      bound = s == core::IntVars::Side::kLower ? std::max(bound, b.value) : std::min(bound, b.value);
    }
    return bound;
  };
  for (const Task& task : tasks_) {
    const bool present =
        task.presence == engine.True() || std::find(clause.begin(), clause.end(), ~task.presence) != clause.end();
    certain.push_back(present ? Part{side(task.start, core::IntVars::Side::kUpper) + task.delay,
                                     side(task.end, core::IntVars::Side::kLower) + 1}
                              : Part{});
  }
  for (const Part& at : certain) {
    if (at.from >= at.to) continue;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (certain[i].from <= at.from && at.from < certain[i].to) sum += tasks_[i].demand;
    if (sum > capacity_) return true;
  }
  return false;
}

}  // namespace ebb
