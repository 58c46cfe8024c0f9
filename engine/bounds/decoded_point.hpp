// SPDX-License-Identifier: Apache-2.0
//
// What a point of a boundary model is worth: the sequence decoded from it, and where that says that the model should be
// refined.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/bounds/boundary_model.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

// Turns a point of the relaxation into a sequence over the instance (heuristics/decode.hpp).
class BoundaryDecoder {
 public:
  virtual ~BoundaryDecoder() = default;
  // `x` may be fractional. Empty: nothing can be made of it.
  [[nodiscard]] virtual std::vector<std::int32_t> Decode(const BoundaryModel& model, std::span<const double> x) = 0;
};

struct DecodedPoint {
  std::vector<std::int32_t> sequence;  // valid and in the given order; may be over the budget
  std::int64_t duration = 0, peak = 0;
  bool fits = false;
  std::vector<std::int32_t> overflow;         // positions wanted as boundaries, worst first
  std::vector<BoundaryModel::OpPair> untold;  // whose order should be told
};

// What is asked of the sequence.
struct DecodeTerms {
  std::int64_t budget = 0;
  OrderMode mode = OrderMode::kFixed;
  // Only what follows this position counts; -1: everything. `entry` as in BoundarySolver::Params.
  std::int32_t from = -1;
  std::span<const std::uint8_t> entry;
};

// None: no valid sequence. `places`: look for the last two members as well (x a 0/1 point).
[[nodiscard]] std::optional<DecodedPoint> DecodePoint(const BoundaryModel& model, std::span<const double> x,
                                                      BoundaryDecoder& decoder, const DecodeTerms& terms, bool places);

}  // namespace ebb
