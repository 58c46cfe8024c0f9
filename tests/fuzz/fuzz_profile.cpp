// SPDX-License-Identifier: Apache-2.0
// Measured durations: a JSON object from op name to nanoseconds.
#include "io/profile.hpp"
#include "tests/fuzz/graph_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ebb;
  try {
    const auto source = OpenMemory(std::string_view(reinterpret_cast<const char*>(data), size), "input", 1 << 22);
    Profile profile = Profile::Read(*source, "input");
    if (const auto time = profile.Of("dot.3"); time && *time < 0) fuzz::Fault("a negative time", "dot.3");
    Warnings warnings("input: ");
    profile.WarnOfUnused(warnings);
    for (const std::string& w : warnings.Take()) fuzz::CheckMessage(w, "input");
  } catch (const InputError& e) {
    fuzz::CheckMessage(e.what(), "input");
  }
  return 0;
}
