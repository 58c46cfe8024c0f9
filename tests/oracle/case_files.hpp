// SPDX-License-Identifier: Apache-2.0
//
// PROGRAM DIR SEED COUNT: random graphs, each with what somebody else is to check, as DIR/graphN.json and a file beside
// it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "io/write_graph.hpp"
#include "tests/oracle/random_graph.hpp"

namespace ebb::test {

class CaseFiles {
 public:
  explicit CaseFiles(char** argv)
      : rng(std::strtoull(argv[2], nullptr, 10)), dir_(argv[1]), count_(std::atoi(argv[3])) {}

  Rng rng;
  [[nodiscard]] bool Wanted() const { return written_ < count_; }
  // Writes the graph; the name of the file that goes with it.
  [[nodiscard]] std::filesystem::path Add(const Graph& graph, const std::string& what, const std::string& ending) {
    const std::string number = std::to_string(written_++);
    WriteGraph(graph, dir_ / ("graph" + number + ".json"));
    return dir_ / (what + number + ending);
  }

 private:
  std::filesystem::path dir_;
  int count_, written_ = 0;
};

// Sizes and durations of a digit or of many, by the toss of a coin.
inline void DrawScale(RandomGraphOptions& options, Rng& rng) {
  options.max_size = Chance(rng, 50) ? 9 : 1'000'000'000'000;
  options.max_duration = Chance(rng, 50) ? 9 : 1'000'000;
}

}  // namespace ebb::test
