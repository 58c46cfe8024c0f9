// SPDX-License-Identifier: Apache-2.0
//
// How often a loop of an HLO module runs: what the compiler wrote beside it, else what its counter says.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "io/hlo_text.hpp"

namespace ebb {

// Of the `while` that is instruction `loop` of computation `computation`. Nothing where it is not known: not written in
// its backend_config, and no counter that starts at a constant, moves by a constant, and is compared with a constant.
[[nodiscard]] std::optional<std::int64_t> TripCount(const HloModule& module, std::int32_t computation,
                                                    std::int32_t loop);

}  // namespace ebb
