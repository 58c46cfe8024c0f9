// SPDX-License-Identifier: Apache-2.0
// Any bytes, format and packing told by content.
#include "tests/fuzz/graph_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ebb::fuzz::ReadOnce(data, size, "");
  return 0;
}
