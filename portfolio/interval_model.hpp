// SPDX-License-Identifier: Apache-2.0
//
// The retention-interval model of the paper (Bartan, Li, Teague, Lott, Dilkina, "Moccasin: efficient tensor
// rematerialization for neural networks", ICML 2023) for every order and feature of ours, in the learning engine:
// complete, so what it proves it proves of plans themselves.
//
//   copies      op o has copies 0, 1, ...; copy 0 is its first execution, the others may be absent
//   start       where on the axis (time_axis.hpp) a copy runs
//   last[v]     the last read of the v that this copy made
//   until[v]    how long that v's storage lives: for a view until[base] of the copy whose storage it lies in
//   serves      one literal for each read and each copy that could have made what it reads
//   extra[o]    "o runs more often than the model knows": it then serves everybody and takes no room. The search holds
//               for any number of reruns; only where a solution uses extra[o] the op gets one copy more
//
//   serves(x, y, v)  ->  start(x) < start(y) <= last[v](x)      present(x, next)  ->  last[v](x) < start(x, next)
//                        y makes a view in v's storage: until(view)(y) = until[v](x)
//                        y takes v's storage over: until[v](x) <= start(y)
//   memory           over [start, until] of each storage, an in-place one after its start, and workspaces
//   objective        durations of the copies >= 1 that are present
//
// Values that take no room and are never taken over have no intervals: they can always be there.
//
// Beside the clauses stands, in fixed and staged order, the LP of the boundary relaxation at the worst few positions:
// its columns are literals of the same engine, tied to the intervals in the direction that a relaxation needs.
//
// Tried and dropped: literals R[o,a,b], "o runs again in one of the stages a..b between the LP's boundaries", so that
// unit propagation follows a way of inputs although the stage of each rerun is open. The LP's path cuts say the same
// sooner (conflicts and millions of ticks without and with: RL n=100 at 0.8 fixed 170, 34 and 289, 50; examples/chain
// at 0.5 212, 89 and 261, 119; gen layered, 80 ops, seed 2, at 0.8 71, 53 and 108, 99; at best gen random, 45 ops, seed
// 2, at 0.8 1942, 1828 and 2098, 1634).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/bounds/boundary_model.hpp"
#include "engine/core/engine.hpp"
#include "engine/core/known_solution.hpp"
#include "engine/core/proof_log.hpp"
#include "engine/problem/instance.hpp"
#include "portfolio/time_axis.hpp"
#include "propagators/cumulative_memory.hpp"
#include "propagators/linear_model.hpp"
#include "propagators/relaxation_brancher.hpp"

namespace ebb {

struct IntervalParams {
  CumulativeMemory::Explanation explanation = CumulativeMemory::Explanation::kPointwise;
  bool relaxation = true;           // the LP beside the clauses
  bool useful = true;               // a rerun serves somebody
  std::int32_t boundaries = 6;      // of the LP
  std::int32_t max_executions = 0;  // per op; 0: any number
  std::int32_t seed = 0;
  core::ProofLog* proof = nullptr;  // written if not null: portfolio/proof.cpp
  // A plan that nothing may exclude (portfolio/known_plan.hpp); empty: none. For tests and the check preset.
  std::vector<std::int32_t> known;
  // Rules one by one, for tests and for docs/engine.md's table.
  bool time_table = true;      // memory: begins later, ends earlier, absent; off: overload alone
  bool reduced_costs = true;   // the LP fixes
  bool path_cuts = true;       // of the LP
  bool knapsack_cuts = false;  // of the LP
};

class IntervalModel {
 public:
  struct Serving {
    core::Lit lit;
    std::int32_t reader, reader_copy;  // an op's copy; reader -1: the end
    std::int32_t value;
  };
  struct Copy {
    core::Lit presence;
    core::IntVar start = core::IntVar::kNone;
    std::vector<core::IntVar> last, until;  // per value made; kNone: has no interval
    std::vector<Serving> serves;
  };

  // `positions`: boundaries of the LP, may be empty. The instance must outlive this.
  IntervalModel(const Instance& instance, OrderMode order, std::int64_t budget, std::span<const std::int32_t> copies,
                std::span<const std::int32_t> positions, const IntervalParams& params);
  ~IntervalModel();
  IntervalModel(const IntervalModel&) = delete;
  IntervalModel& operator=(const IntervalModel&) = delete;

  [[nodiscard]] core::Engine& engine() { return engine_; }
  [[nodiscard]] core::IntVar total() const { return total_; }
  [[nodiscard]] core::IntVar end() const { return end_; }
  [[nodiscard]] core::Lit extra(std::int32_t op) const { return extra_[static_cast<std::size_t>(op)]; }  // may be none
  // The sequence of the last solution (no extra[o] was used).
  [[nodiscard]] std::vector<std::int32_t> Sequence() const;

  [[nodiscard]] const Instance& instance() const { return instance_; }
  [[nodiscard]] const TimeAxis& axis() const { return axis_; }
  [[nodiscard]] std::span<const Copy> copies(std::int32_t op) const { return copies_[static_cast<std::size_t>(op)]; }
  [[nodiscard]] std::span<const Copy> origins() const { return origins_; }  // overwritten graph inputs, by value
  [[nodiscard]] const BoundaryModel* boundary() const { return boundary_.get(); }
  [[nodiscard]] const LinearModel& linear() const { return linear_; }
  [[nodiscard]] bool matters(std::int32_t v) const { return matters_[static_cast<std::size_t>(v)] != 0; }

 private:
  void FindShared();
  void MakeCopies(std::span<const std::int32_t> count);
  void Chain();
  void Cover();
  void Supply(std::int32_t value, std::int32_t reader, std::int32_t reader_copy, core::IntVar time);
  void Serve(Copy& supplier, std::int32_t value, std::int32_t reader, std::int32_t reader_copy, core::IntVar time);
  void Memory(std::int64_t capacity);
  void Objective();
  void Relax(std::span<const std::int32_t> positions, std::int64_t budget);
  void Below(core::Lit lit, core::IntVar x, std::int64_t d, core::IntVar y);           // lit -> x + d <= y
  void Name(core::Lit lit, const char* what, std::initializer_list<std::int64_t> of);  // in the proof, if there is one
  void Name(core::IntVar x, const char* what, std::initializer_list<std::int64_t> of);
  [[nodiscard]] std::size_t Slot(std::int32_t value) const;  // among what its maker makes

  const Instance& instance_;
  IntervalParams params_;
  std::vector<std::uint8_t> matters_, shared_;
  TimeAxis axis_;
  std::unique_ptr<BoundaryModel> boundary_;  // before the engine, whose propagators read these
  std::unique_ptr<PathCuts> cuts_;
  LinearModel linear_;
  core::Engine engine_;
  std::unique_ptr<RelaxationBrancher> brancher_;
  std::vector<std::vector<Copy>> copies_;
  std::vector<Copy> origins_;  // by value; used where the value has no maker
  std::vector<core::Lit> extra_;
  core::IntVar total_ = core::IntVar::kNone, end_ = core::IntVar::kNone;
  core::KnownSolution known_;
};

// Values that take room or that somebody takes over: those that intervals are for.
[[nodiscard]] std::vector<std::uint8_t> MatteringValues(const Instance& instance);

}  // namespace ebb
