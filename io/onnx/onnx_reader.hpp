// SPDX-License-Identifier: Apache-2.0
//
// ONNX models as graphs. An optional part (CMake: EBB_WITH_ONNX), with the distribution's libonnx and protobuf, and a
// target of its own: the core library never links them. What becomes of what: docs/importers.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "io/byte_source.hpp"
#include "io/cost_model.hpp"
#include "io/read_graph.hpp"

namespace ebb {

struct OnnxOptions {
  std::map<std::string, std::int64_t> dims;          // values of symbolic dimensions: {"batch", 32}
  CostModel costs;                                   // ONNX carries no durations
  std::uint64_t max_bytes = std::uint64_t{2} << 30;  // of the file; external weights are never opened
};

// Does the file start as a serialized ModelProto does? False where it cannot be read.
[[nodiscard]] bool LooksLikeOnnx(const std::filesystem::path& path);

// Infers shapes, then builds. Throws InputError: the file's name, and node and tensor at fault.
[[nodiscard]] ReadGraphResult ReadOnnx(const std::filesystem::path& path, const OnnxOptions& options = {});
[[nodiscard]] ReadGraphResult ReadOnnx(std::string_view bytes, const std::string& name,
                                       const OnnxOptions& options = {});

}  // namespace ebb
