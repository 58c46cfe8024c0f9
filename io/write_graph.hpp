// SPDX-License-Identifier: Apache-2.0
//
// A Graph as an `ebbtide-graph` file: one tensor and one op a line, defaults left out, so that files can be compared
// line by line. Reading it back gives the same graph (same fingerprint).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "engine/problem/graph.hpp"

namespace ebb {

// Packed by the ending of the name (.gz, .xz, .zst). Written aside and renamed. Throws InputError with the path.
void WriteGraph(const Graph& graph, const std::filesystem::path& path);
// The same text in pieces.
void WriteGraph(const Graph& graph, const std::function<void(std::string_view)>& out);
[[nodiscard]] std::string GraphToJson(const Graph& graph);

}  // namespace ebb
