// SPDX-License-Identifier: Apache-2.0
//
// The search on one part of a large graph (a stretch, a window): the gap cover's bound and plans first, then the
// boundary relaxation and a cold local search in turn, half of the work each. Keeps the best sequence that fits and the
// lower bound. In free order the relaxation says nothing and only the local search works.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/bounds/boundary_solver.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/annealing.hpp"
#include "heuristics/decode.hpp"
#include "portfolio/problem.hpp"

namespace ebb {

class PartSearch {
 public:
  // `index` tells the parts of one solve apart: seeds follow from it. The problem must outlive this.
  PartSearch(const Problem& problem, Instance part, int index)
      : problem_(problem), in_(std::move(part)), index_(index), lower_(in_.base_duration) {}

  [[nodiscard]] const Instance& instance() const { return in_; }
  [[nodiscard]] std::int64_t lower() const { return lower_; }
  [[nodiscard]] bool has_plan() const { return !best_.empty(); }
  [[nodiscard]] std::int64_t upper() const { return upper_; }
  [[nodiscard]] std::span<const std::int32_t> best() const { return best_; }
  [[nodiscard]] bool closed() const { return has_plan() && lower_ >= upper_; }
  [[nodiscard]] bool finished() const { return closed() || infeasible_; }
  [[nodiscard]] bool infeasible() const { return infeasible_; }  // in the given order

  // The flow's bound, so that every part can have one before the first is searched.
  void Bound(WorkBudget& work);
  // A sequence from elsewhere, valid or not, fitting or not. Costs a pass over it.
  void Take(std::span<const std::int32_t> sequence);
  // True: a better sequence than before.
  bool Run(WorkBudget& work);
  // Gives the solvers' memory back; the next Run begins them anew from the best sequence.
  void Rest();

 private:
  void Note(std::span<const std::int32_t> sequence, std::int64_t duration);
  void Begin(WorkBudget& work);
  void Price(WorkBudget& work);
  void Relax(WorkBudget& work);
  void Polish(WorkBudget& work);
  void BeginPolish(std::span<const std::int32_t> start);
  [[nodiscard]] bool WithinCap(std::span<const std::int32_t> sequence) const;

  const Problem& problem_;
  Instance in_;
  int index_;
  Decoder decoder_;
  std::optional<BoundarySolver> solver_;
  std::optional<Annealing> polish_;
  std::vector<std::int32_t> best_;
  std::int64_t upper_ = 0, lower_;
  bool begun_ = false, priced_ = false, relaxed_all_ = false, infeasible_ = false;
  int starts_ = 0;
  Ticks relaxed_ = 0, polished_ = 0;
};

}  // namespace ebb
