// SPDX-License-Identifier: Apache-2.0
//
// A name for a graph's content: what a plan says it belongs to. Equal for equal ops, tensors (names, numbers,
// relations), outputs and order, whatever file format they came from; the graph's own name and the unit's name do not
// count, and a given order that equals the default one counts as that.
#pragma once

#include <string>

#include "engine/problem/graph.hpp"

namespace ebb {

// A version-5 UUID (RFC 4122: SHA-1 under a fixed namespace), in its usual spelling. Linear. Guards against mix-ups,
// not against forgery.
[[nodiscard]] std::string Fingerprint(const Graph& graph);

}  // namespace ebb
