// SPDX-License-Identifier: Apache-2.0
#include "io/onnx/onnx_reader.hpp"
#include "tests/fuzz/graph_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ebb::OnnxOptions options;
  options.dims["batch"] = 32;
  ebb::fuzz::CheckRead(
      [&] { return ebb::ReadOnnx(std::string_view(reinterpret_cast<const char*>(data), size), "input", options); });
  return 0;
}
