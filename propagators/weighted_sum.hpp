// SPDX-License-Identifier: Apache-2.0
//
// The objective: total >= sum of the weights of the true literals, total an integer variable whose upper bound carries
// the incumbent (as an assumption literal [total <= best - 1]). Raises total's lower bound; literals whose weight no
// longer fits are made false. The bound literal stands in every reason that used it, so nothing learned goes stale.
//
// Explanations take the heaviest true literals until they suffice.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/engine.hpp"

namespace ebb {

class WeightedSum final : public core::Propagator {
 public:
  struct Term {
    core::Lit lit;
    std::int64_t weight;  // > 0
  };
  // `constant` is added to the sum. With `raise` total's lower bound follows the sum during the search; without it only
  // in complete assignments (bounds between are of use only where something else reads total).
  WeightedSum(std::vector<Term> terms, std::int64_t constant, core::IntVar total, bool raise);

  void Attach(core::Engine& engine, core::PropId id) override;
  bool OnEvent(core::Engine& engine, std::int32_t data) override;
  [[nodiscard]] bool Propagate(core::Engine& engine) override;
  void Explain(core::Engine& engine, core::Lit lit, const core::LazyReason& reason, std::int32_t before,
               std::vector<core::Lit>& out) override;
  [[nodiscard]] bool FinalCheck(core::Engine& engine) override;
  [[nodiscard]] bool Implies(const core::Engine& engine, std::uint16_t rule,
                             std::span<const core::Lit> clause) const override;

 private:
  bool Raise(core::Engine& engine);
  // True literals (before `before`, not `but`) whose weights sum to more than `target`.
  void Why(const core::Engine& engine, std::int64_t target, core::Lit but, std::int32_t before,
           std::vector<core::Lit>& out) const;

  std::vector<Term> terms_;  // heaviest first
  std::int64_t constant_;
  core::IntVar total_;
  bool raise_;
  core::PropId id_ = core::PropId::kNone;
  core::CellId sum_{};
};

}  // namespace ebb
