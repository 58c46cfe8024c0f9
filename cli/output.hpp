// SPDX-License-Identifier: Apache-2.0
//
// Where files go.
#pragma once

#include <string>

#include "io/write_graph.hpp"
#include <ebbtide/ebbtide.h>

namespace ebb::cli {

// Throws CommandError, naming the path, where a file cannot be made there; leaves nothing behind. For `path` empty or
// "-" (standard output) all is well.
void WantWritable(const std::string& path);
// To the file, or to standard output where `path` is empty or "-".
void WritePlanTo(ebb_plan* plan, const std::string& path);
// In the native format.
void WriteGraphTo(const Graph& graph, const std::string& path);
void WriteTextTo(const std::string& text, const std::string& path);

}  // namespace ebb::cli
