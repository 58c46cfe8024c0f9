// SPDX-License-Identifier: Apache-2.0
//
// The memory profile of a plan as a picture that needs nothing else: bytes resident while each execution runs, the
// budget, and where ops run again. The same plan gives the same bytes.
#pragma once

#include <string>

#include <ebbtide/ebbtide.h>

namespace ebb::cli {

[[nodiscard]] std::string ProfileSvg(const ebb_graph* graph, const ebb_plan* plan);

}  // namespace ebb::cli
