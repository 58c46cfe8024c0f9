// SPDX-License-Identifier: Apache-2.0
//
// Durations for graphs that carry none: an op takes a launch plus the longer of its arithmetic and its memory traffic
// (the roofline; Williams, Waterman, Patterson 2009). The defaults are those of the accelerator in the examples. A
// profile (JSON object: op name to nanoseconds) overrides the model op by op.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/base/int128.hpp"

namespace ebb {

struct CostModel {
  std::int64_t flops_per_second = 156'000'000'000'000;  // arithmetic rate
  std::int64_t bytes_per_second = 2'000'000'000'000;    // memory rate
  std::int64_t launch_ns = 2'000;                       // fixed part of every op that does any work
  std::filesystem::path profile;                        // empty: none

  // Nanoseconds, rounded up; exact integer arithmetic. Saturates at 2^62.
  [[nodiscard]] std::int64_t Nanoseconds(std::int64_t flops, std::int64_t bytes) const {
    const auto time = [](std::int64_t work, std::int64_t rate) {
      const Int128 t = (static_cast<Int128>(work) * 1'000'000'000 + rate - 1) / rate;
      const Int128 most = std::int64_t{1} << 61;
      return static_cast<std::int64_t>(t < most ? t : most);
    };
    const std::int64_t compute = time(flops, flops_per_second), memory = time(bytes, bytes_per_second);
    return launch_ns + (compute > memory ? compute : memory);
  }

  // For the warning that says what was assumed of `ops` ops.
  [[nodiscard]] std::string Described(std::size_t ops) const {
    return "the durations of " + std::to_string(ops) + " ops are computed, not measured: " + std::to_string(launch_ns) +
           " ns a launch and the longer of flops at " + std::to_string(flops_per_second) + "/s and bytes at " +
           std::to_string(bytes_per_second) + "/s";
  }
};

}  // namespace ebb
