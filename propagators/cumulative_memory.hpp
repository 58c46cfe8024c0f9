// SPDX-License-Identifier: Apache-2.0
//
// Memory over time: optional intervals [start, end] (both ends included) with demands; at every position of the axis
// the demands of the present intervals that contain it sum to at most the capacity.
//
//   compulsory part   a present interval holds its demand for certain from ub(start) to lb(end)
//   profile           the sum of the compulsory parts: updated as parts grow, undone as they shrink, never rebuilt
//   overload          the profile passes the capacity somewhere
//   time-table        where profile + demand passes it at t, the interval cannot contain t: it begins later (if its end
//                     cannot be before t), ends earlier (if its start cannot be after t), or is absent
//
// (Lahrichi 1982; Beldiceanu and Carlsson 2002; explanations: Schutt, Feydy, Stuckey, Wallace, "Explaining the
// cumulative propagator", Constraints 16, 2011.) Start and end are variables of their own, so one position suffices per
// inference and no chain of steps is needed.
//
// Explanations of what the others hold at t, selectable:
//   kNaive      their bounds as they were
//   kBigStep    start <= t1 and end >= t2, [t1, t2] what the chosen parts have in common
//   kPointwise  start <= t and end >= t: the weakest
// In all three only the largest demands that suffice are named.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/engine.hpp"
#include "propagators/load_profile.hpp"

namespace ebb {

class CumulativeMemory final : public core::Propagator {
 public:
  struct Task {
    core::IntVar start, end;  // may be one variable
    core::Lit presence;
    std::int64_t demand;     // > 0
    std::int64_t delay = 0;  // it holds from start + delay on: [start + delay, end]
  };
  enum class Explanation { kNaive, kBigStep, kPointwise };

  // Positions are 0 .. horizon-1. Without `time_table` only overload is seen.
  CumulativeMemory(std::vector<Task> tasks, std::int64_t capacity, std::int64_t horizon, Explanation explanation,
                   bool time_table = true);

  void Attach(core::Engine& engine, core::PropId id) override;
  bool OnEvent(core::Engine& engine, std::int32_t data) override;
  [[nodiscard]] bool Propagate(core::Engine& engine) override;
  void OnBacktrack(core::Engine& engine, std::int32_t level) override;
  void Explain(core::Engine& engine, core::Lit lit, const core::LazyReason& reason, std::int32_t before,
               std::vector<core::Lit>& out) override;
  [[nodiscard]] bool Implies(const core::Engine& engine, std::uint16_t rule,
                             std::span<const core::Lit> clause) const override;

 private:
  struct Part {
    std::int64_t from = 0, to = 0;  // positions from..to-1; empty: both 0
  };
  struct Undo {
    std::int32_t task, level;
    Part old;
  };
  void SetPart(std::size_t task, const Part& part);
  [[nodiscard]] bool Filter(core::Engine& engine, std::size_t task);
  // The others' share of a reason at position t: enough of them, that with `own` more they pass the capacity.
  void Why(const core::Engine& engine, std::int64_t t, std::int64_t own, std::int32_t but, std::int32_t before,
           std::vector<core::Lit>& out) const;

  std::vector<Task> tasks_;  // largest demand first
  std::int64_t capacity_, horizon_;
  Explanation explanation_;
  bool time_table_;
  core::PropId id_ = core::PropId::kNone;
  LoadProfile load_;
  std::vector<Part> parts_;
  std::vector<Undo> log_;
};

}  // namespace ebb
