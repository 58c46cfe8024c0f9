// SPDX-License-Identifier: Apache-2.0
//
// The gap-cover bound as a certificate: prices of the flow, and of the gaps those that its value rests on.
#pragma once

#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gaps.hpp"
#include "engine/problem/gap_cover_certificate.hpp"
#include "engine/problem/graph.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

// `table` from FixedOrderGaps, `bound` without shortage for it and `budget`; `instance` of `graph`.
[[nodiscard]] GapCoverCertificate MakeCertificate(const Graph& graph, const Instance& instance, const GapTable& table,
                                                  const GapCoverBound& bound, std::int64_t budget);

}  // namespace ebb
