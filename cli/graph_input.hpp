// SPDX-License-Identifier: Apache-2.0
//
// The graph file of a command and the flags that say how to read it: the same for every command.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/handles.hpp"
#include "io/read_graph.hpp"

namespace ebb::cli {

class GraphInput {
 public:
  // GRAPH, --format, and the flags for formats that lack durations or sizes. This object must outlive the app.
  void AddTo(CLI::App& command);

  // For commands that look into the graph. Throws CommandError.
  [[nodiscard]] ReadGraphResult Read() const;

  // For commands that solve and judge through the API.
  struct Opened {
    Handle<ebb_graph> graph;
    std::vector<std::string> warnings;
  };
  // By the API's own reader, except where a flag was given that the API does not have. Throws CommandError.
  [[nodiscard]] Opened Open() const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] bool IsOnnx() const;
  [[nodiscard]] ReadGraphResult ReadFile() const;
  [[nodiscard]] std::string GivenCosts() const;  // the first of the flags on durations that was given; else empty

  std::string path_, format_, profile_;
  CostModel costs_;
  std::vector<std::string> dims_;  // NAME=N
  std::vector<const CLI::Option*> cost_options_;
};

// One line each on standard error.
void PrintWarnings(const std::vector<std::string>& warnings);

}  // namespace ebb::cli
