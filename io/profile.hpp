// SPDX-License-Identifier: Apache-2.0
//
// Measured durations beside a graph: a JSON object from op name to nanoseconds. They override the cost model op by op.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "io/byte_source.hpp"
#include "io/reader_common.hpp"

namespace ebb {

class Profile {
 public:
  // An empty path: no times. Throws InputError with the file's name, line and column.
  [[nodiscard]] static Profile Read(const std::filesystem::path& path);
  [[nodiscard]] static Profile Read(ByteSource& source, const std::string& name);

  // Nanoseconds; none where the profile does not name the op.
  [[nodiscard]] std::optional<std::int64_t> Of(std::string_view op);
  [[nodiscard]] bool empty() const { return times_.empty(); }
  // Says how many of the names no op was asked for.
  void WarnOfUnused(Warnings& warnings) const;

 private:
  boost::unordered_flat_map<std::string, std::int64_t> times_;
  std::size_t used_ = 0;
};

}  // namespace ebb
