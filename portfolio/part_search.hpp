// SPDX-License-Identifier: Apache-2.0
//
// The boundary relaxation, its decoded sequences, and a cold local search that starts from them, on an instance: a
// whole graph, a stretch or a window of one. Cold: a start temperature of 0.03 mean durations keeps what the relaxation
// found, 0.1 already loses it (the study's measurement). The two take turns, half of the work each until polishing
// leads to nothing for long (then down to a ninth), until the relaxation is done; then the polishing goes on alone.
//
// The 0/1 programs are searched by branch and bound, and by clause learning (propagators/learning_solver.hpp) beside
// it, each with a relaxation and a polish of its own, since neither wins everywhere: RL n=1000 at 0.9 is proved in 2 s
// by learning, not in 30 s by the tree; examples/training_step.json at 0.6 in 1 s by the tree, not in 60 s by learning.
// After a fair start the one whose bound is behind gets a fifth of the work (RL n=250 at 0.8: learning proves it in 50
// s of its own, the tree stays at 3.7 %; ResNet50 at 0.3: the tree proves it in 4 s, learning reaches 3.601 % in 18).
// They also refine in different ways. The tree gets one boundary at a time, since worst places stand side by side
// (after {180} ResNet50 at 0.3 overflows most at 273, 274, 275, 276) and the second is of no use once the first is
// there: from {180} by 273, 315, 316 and 325 it is proved after 2.8e9 ticks; four at once came to 3.6273 % with nine
// boundaries after 8e9, where the probes of further ones found nothing. Learning keeps four: with one, RL n=250 at 0.8
// comes to 3.63 % with six boundaries after 3.9e9 ticks, and their probes lead no further by 5.5e9. Learning keeps what
// it learned but not its place between two steps, so it takes its work in larger and larger pieces.
//
// A third side joins when the others have had their start, or beside local search on a lane of its own from the
// beginning: the bound in steps (BoundarySolver::Params::climb; RL n=500 at 0.8, staged: proved after 15e9 ticks, where
// learning stays at 2.951 and the tree at 2.93 of 3.013 %).
//
// Keeps the best sequence that fits and the lower bound. In free order the relaxation says nothing and only the local
// search works.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/model_search.hpp"
#include "engine/bounds/tree_messages.hpp"
#include "engine/problem/instance.hpp"
#include "portfolio/problem.hpp"

namespace ebb {

class PartSearch {
 public:
  // Which ways through the relaxation's programs.
  enum class Sides { kAll, kAllButClimb, kClimb };
  // The whole graph. The problem must outlive this, and so must the desk, over which the climber's long trees are
  // searched with helpers (null: alone).
  PartSearch(const Problem& problem, Sides sides, TreeDesk* desk = nullptr);
  // How the climber's models are made: for its helpers.
  [[nodiscard]] static ModelTerms ClimbTerms(const Problem& problem);
  // A part of it, which begins with the plans of the gap cover's prices. `index` tells the parts of one solve apart:
  // seeds follow from it.
  PartSearch(const Problem& problem, std::shared_ptr<const Instance> part, int index);
  ~PartSearch();
  PartSearch(const PartSearch&) = delete;
  PartSearch& operator=(const PartSearch&) = delete;

  [[nodiscard]] const Instance& instance() const { return in_; }
  [[nodiscard]] std::int64_t lower() const { return lower_; }
  [[nodiscard]] bool has_plan() const { return !best_.empty(); }
  [[nodiscard]] std::int64_t upper() const { return upper_; }
  [[nodiscard]] std::span<const std::int32_t> best() const { return best_; }
  [[nodiscard]] const char* finder() const { return finder_; }  // what found the best: a literal
  [[nodiscard]] bool closed() const { return has_plan() && lower_ >= upper_; }
  [[nodiscard]] bool finished() const { return closed() || infeasible_; }
  [[nodiscard]] bool infeasible() const { return infeasible_; }  // in the given order

  // The flow's bound, so that every part can have one before the first is searched.
  void Bound(WorkBudget& work);
  // A sequence from elsewhere, valid or not, fitting or not. Costs a pass over it, and more where it is shorter.
  void Take(std::span<const std::int32_t> sequence);
  // Somebody has a plan of this duration: only better ones matter to the relaxation.
  void Know(std::int64_t duration);
  // True: a better sequence than before. Returns early where nothing is left to do.
  bool Run(WorkBudget& work);
  // Nothing is left that Run could do.
  [[nodiscard]] bool exhausted() const;
  // The relaxation has its boundaries and their linear bound, the dearest step to take again: no good time to Rest
  // before.
  [[nodiscard]] bool settled() const;
  // Nothing to do until the helpers tell something.
  [[nodiscard]] bool waiting() const;
  // Gives the solvers' memory back; the next Run begins them anew from the best sequence.
  void Rest();

 private:
  class Side;

  bool Note(std::span<const std::int32_t> sequence, std::int64_t duration, const char* finder);  // news?
  void Begin(WorkBudget& work);
  [[nodiscard]] GapCoverBound Flow(const GapTable& table, WorkBudget& work) const;
  void Price(WorkBudget& work);
  [[nodiscard]] Side* Next() const;
  [[nodiscard]] bool WithinCap(std::span<const std::int32_t> sequence) const;

  const Problem& problem_;
  const std::shared_ptr<const Instance> own_;  // null: the whole
  const Instance& in_;
  const int index_;
  std::vector<std::unique_ptr<Side>> sides_;  // the tree's, the learning one, the climbing one
  std::vector<std::int32_t> best_;
  const char* finder_ = "";
  std::int64_t upper_ = 0, lower_;
  std::int64_t known_;  // the least duration that anybody has
  bool begun_ = false, priced_, infeasible_ = false;
  bool climb_late_ = false;  // a third side is to come
  const Sides which_ = Sides::kAll;
  TreeDesk* const desk_ = nullptr;
  int starts_ = 0;
};

}  // namespace ebb
