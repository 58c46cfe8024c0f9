// SPDX-License-Identifier: Apache-2.0
// Where the large graphs live. They are not part of the repository, so a test that reads them must skip, and say so,
// when they are absent:
//
//     TEST_CASE("...") {
//         auto shared = ebb::test::SharedDir();
//         if (!shared) return;
//         ... *shared / "graphs" / "moccasin" ...
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>

namespace ebb::test {

/// The folder EBB_SHARED_DIR, or nothing (with one line on standard output) when it is absent.
inline std::optional<std::filesystem::path> SharedDir() {
  std::filesystem::path dir = EBB_SHARED_DIR;
  if (std::filesystem::is_directory(dir / "graphs")) return dir;
  std::printf("skipped: no folder %s (set the CMake variable EBB_SHARED_DIR)\n", dir.c_str());
  return std::nullopt;
}

}  // namespace ebb::test
