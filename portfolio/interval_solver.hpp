// SPDX-License-Identifier: Apache-2.0
//
// Plans and proofs from the interval model (portfolio/interval_model.hpp), whose number of copies grows until it does
// not matter: a solution that runs an op more often than the model knows makes the model larger, and where there is no
// solution there is none with any number of reruns. In staged order that ends by itself (a rerun a stage), in fixed and
// free order where the incumbent bounds what reruns may cost; else, at kMostCopies, the solver gives up and says so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "portfolio/interval_model.hpp"

namespace ebb {

class IntervalSolver {
 public:
  enum class State {
    kPlan,     // a better plan: plan(); call again to go on
    kLimit,    // the budget is used up
    kProved,   // nothing beats the incumbent; without one: no plan fits
    kGivenUp,  // too many reruns to tell
  };
  using Params = IntervalParams;
  static constexpr std::int32_t kMostCopies = 12;  // of one op

  // Instances whose time axis is of a size that pays, and whose sums stay in range.
  [[nodiscard]] static bool Fits(const Instance& instance, OrderMode order);

  // `budget` as the user's, graph inputs included. The instance must outlive this.
  IntervalSolver(const Instance& instance, OrderMode order, std::int64_t budget, const Params& params);
  ~IntervalSolver();
  IntervalSolver(const IntervalSolver&) = delete;
  IntervalSolver& operator=(const IntervalSolver&) = delete;

  // A plan of this duration is known: only better ones matter.
  void SetIncumbent(std::int64_t duration);
  // A plan that no inference of models built from now on may exclude: InternalError from Step where one does.
  void SetKnown(std::span<const std::int32_t> sequence) { params_.known.assign(sequence.begin(), sequence.end()); }
  State Step(WorkBudget& work);

  [[nodiscard]] std::optional<std::int64_t> incumbent() const { return incumbent_; }
  [[nodiscard]] std::span<const std::int32_t> plan() const { return plan_; }
  [[nodiscard]] std::int64_t conflicts() const;
  [[nodiscard]] std::int32_t models() const { return models_; }
  [[nodiscard]] std::span<const std::int32_t> copies() const { return copies_; }        // per op
  [[nodiscard]] std::span<const std::int32_t> positions() const { return positions_; }  // boundaries of the LP

 private:
  void ChooseBoundaries();
  void Build();

  const Instance& instance_;
  OrderMode order_;
  std::int64_t budget_;
  Params params_;
  std::optional<std::int64_t> incumbent_;
  std::vector<std::int32_t> copies_, positions_;
  std::unique_ptr<IntervalModel> model_;
  std::vector<std::int32_t> plan_;
  std::int32_t models_ = 0;
  bool proved_ = false;
};

}  // namespace ebb
