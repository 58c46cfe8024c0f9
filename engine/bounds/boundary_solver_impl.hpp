// SPDX-License-Identifier: Apache-2.0
//
// The inside of BoundarySolver: one machine of phases (model built, its root, its tree, probes of the next) over one
// state, which all its parts share. The parts have a file each:
//   boundary_solver.cpp          the phases, ceilings, and the class seen from outside
//   boundary_solver_model.cpp    one model: built, its bound, its points as plans
//   boundary_solver_refine.cpp   which boundaries and orders come next
//   boundary_solver_sharing.cpp  together with helpers
// For these files only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "engine/bounds/bound_steps.hpp"
#include "engine/bounds/boundary_solver.hpp"
#include "engine/bounds/carry_over.hpp"
#include "engine/bounds/model_search.hpp"
#include "engine/bounds/tree_sharing.hpp"

namespace ebb {

struct BoundarySolver::Impl {
  static constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();
  static std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

  Impl(const Instance& in, std::int64_t budget_in, OrderMode mode_in, BoundaryDecoder* decoder_in,
       const Params& params_in);

  const Instance& instance;
  std::int64_t budget;
  OrderMode mode;
  BoundaryDecoder* decoder;
  Params params;
  const ModelTerms terms;

  std::vector<std::int32_t> positions;
  std::int64_t floor = 0;              // total duration
  std::int64_t incumbent = kInfinity;  // total duration
  bool done = false, infeasible = false;
  enum class Phase { kBuild, kRoot, kTree, kProbe } phase = Phase::kBuild;
  bool tree_wanted = false;
  std::int32_t lp_rounds = 0;
  std::vector<Candidate> candidates;
  Progress progress;
  std::vector<std::int32_t> overflow;         // positions wanted next, worst first
  std::vector<BoundaryModel::OpPair> pairs;   // whose order is told; ascending
  std::vector<BoundaryModel::OpPair> untold;  // and should be, by the last solution
  bool cut_stages = false;

  ModelSearch now;
  std::unique_ptr<BoundaryModel>& model = now.model;
  std::unique_ptr<BinarySolver>& search = now.search;
  BranchAndBound*& tree = now.tree;
  Ticks tree_spent = 0, tree_limit = 0;

  // ---- in steps: Params::climb --------------------------------------------------------------------------------------
  BoundSteps steps{params.steps, instance.base_duration};
  std::int64_t floor_at_ceiling = 0;                              // when this ceiling was set
  std::int32_t models_at_ceiling = 0;                             // built before this ceiling was set
  std::vector<std::shared_ptr<const CarriedTree>> carried_trees;  // nodes for the next tree
  bool anew = false;                                              // it begins without them
  CarriedFacts lasting_facts;  // true below the incumbent, not only below the ceiling
  [[nodiscard]] std::int64_t Limit() const { return std::min(incumbent, steps.ceiling()); }
  // The last tree, up to the incumbent, is the longest by far.
  [[nodiscard]] bool thorough() const { return steps.ceiling() >= incumbent; }
  void NothingThere();  // below Limit()
  void LowerCeiling();

  CarriedFacts carried_facts;
  CarriedRows carried_rows, best_rows;  // the latter of the best probe so far
  CarriedBranching carried_branching;
  void TakeFacts();
  void TakeBranching() {
    if (tree != nullptr) carried_branching = CarriedBranching(*model, tree->pseudo_costs());
  }
  [[nodiscard]] CarriedRows TakeRows() const {
    return params.carry_rows && search != nullptr ? CarriedRows(*model, *search) : CarriedRows();
  }

  // ---- one model ----------------------------------------------------------------------------------------------------
  void Build(bool root_only);
  void RaiseFloor();
  void TryRoundings(std::span<const double> x);
  void TryDecode(std::span<const double> x, bool collect, bool only_better = false);
  void Take(DecodedPoint point, bool collect, bool only_better);
  // The search has a solution that still counts.
  [[nodiscard]] bool HasPoint() const {
    return search->has_solution() &&
           (Limit() == kInfinity || search->solution_cost() < Limit() - instance.base_duration);
  }

  // ---- which boundaries next ----------------------------------------------------------------------------------------
  bool Refine(std::int32_t count, std::int32_t spacing);
  void AddPair(const BoundaryModel::OpPair& pair);
  bool RefineStages();
  [[nodiscard]] bool SpentForce() const;
  void NextTree();
  std::vector<std::vector<std::int32_t>> probes;
  std::size_t next_probe = 0, best_probe = 0;
  std::int64_t best_probe_bound = 0;
  std::vector<std::int32_t> base_positions;
  bool BeginProbes();
  void SetProbe(std::size_t index);

  // ---- together with helpers ----------------------------------------------------------------------------------------
  TreeSharing sharing;
  // A point was found that nothing refutes: all nodes go back to the owner, who searches below it. Until the ceiling is
  // another one: the point is not below that, or was refuted, or is found again.
  bool alone = false;
  bool waits = false;  // helpers hold what is left of the tree
  void StayAlone();
  void ReadHelpers();
  void GiveToHelpers();

  bool Step(WorkBudget& work);
};

}  // namespace ebb
