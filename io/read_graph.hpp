// SPDX-License-Identifier: Apache-2.0
//
// The one way from a file to a Graph. The format is told by the content, not by the name; gzip, xz and zstd are
// unpacked on the way. Formats and what each reader assumes: docs/formats.md, docs/importers.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/problem/graph.hpp"
#include "io/byte_source.hpp"
#include "io/cost_model.hpp"

namespace ebb {

struct ReadOptions {
  std::string format;                          // empty: by content; else one of GraphFormats()
  std::uint64_t max_bytes = kDefaultMaxBytes;  // of unpacked text
  CostModel costs;                             // for formats that carry no durations (HLO)
};

struct ReadGraphResult {
  Graph graph;
  std::vector<std::string> warnings;  // one line each, the file's name in front
  std::string format;                 // one of GraphFormats()
};

// "native", "node-link", "dtr", "hlo", "torch".
[[nodiscard]] const std::vector<std::string>& GraphFormats();

// Throws InputError: one line that starts with the file's name (and line:column where there is one) and names the
// culprit.
[[nodiscard]] ReadGraphResult ReadGraph(const std::filesystem::path& path, const ReadOptions& options = {});
// The same from memory; `name` stands for the file's name in messages.
[[nodiscard]] ReadGraphResult ReadGraph(std::string_view bytes, const std::string& name,
                                        const ReadOptions& options = {});

}  // namespace ebb
