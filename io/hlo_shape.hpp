// SPDX-License-Identifier: Apache-2.0
//
// Shapes in HLO text: "f32[2,<=3]{1,0}", tuples of them, and those that the text leaves out.
#pragma once

#include <cstddef>
#include <vector>

#include "io/hlo_scanner.hpp"
#include "io/hlo_text.hpp"

namespace ebb {

// Throws InputError with its position where there is none.
[[nodiscard]] HloShape ReadHloShape(HloScanner& in);

// Arrays, tuples and dimensions in it: what a copy of it costs.
[[nodiscard]] std::size_t HloShapeParts(const HloShape& shape);

// XLA's own tests leave shapes out where they follow from the operands; its dumps always have them. False where the
// shape of `out` does not follow from those of its operands, which are among `before`.
[[nodiscard]] bool InferHloShape(HloInstruction& out, const std::vector<HloInstruction>& before);

}  // namespace ebb
