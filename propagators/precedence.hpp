// SPDX-License-Identifier: Apache-2.0
//
// lit -> x + d <= y. The atom of retention chains (a later interval begins after the earlier one ended), of coverage
// (the reader begins after its supplier began, and before it ended) and of start <= end.
//
// Besides the bounds of x and y it makes lit false where they leave no room.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/engine.hpp"

namespace ebb {

class Precedence final : public core::Propagator {
 public:
  Precedence(core::Lit lit, core::IntVar x, std::int64_t d, core::IntVar y);

  void Attach(core::Engine& engine, core::PropId id) override;
  bool OnEvent(core::Engine& engine, std::int32_t data) override;
  [[nodiscard]] bool Propagate(core::Engine& engine) override;
  void Explain(core::Engine& engine, core::Lit lit, const core::LazyReason& reason, std::int32_t before,
               std::vector<core::Lit>& out) override;
  [[nodiscard]] bool Implies(const core::Engine& engine, std::uint16_t rule,
                             std::span<const core::Lit> clause) const override;
  void Witness(std::uint16_t rule, std::string& out) const override;  // lit, x, d, y

 private:
  core::PropId id_ = core::PropId::kNone;
  core::Lit lit_;
  core::IntVar x_, y_;
  std::int64_t d_;
};

}  // namespace ebb
