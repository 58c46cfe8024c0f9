// SPDX-License-Identifier: Apache-2.0
//
// What the parts of bench/engine_table share: instances by name, and lines of a Markdown table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>

#include "engine/problem/instance.hpp"
#include "engine/problem/validator.hpp"
#include "io/generate.hpp"
#include "io/read_graph.hpp"

namespace ebb::bench {

// By a part of its name: the graphs of EBB_SHARED_DIR, or one of examples/.
inline std::filesystem::path Find(const std::string& name) {
  for (const std::filesystem::path& folder :
       {std::filesystem::path(EBB_SHARED_DIR) / "graphs" / "moccasin",
        std::filesystem::path(EBB_SHARED_DIR) / "graphs" / "torch", std::filesystem::path(EBB_SOURCE_DIR) / "examples"})
    if (std::filesystem::exists(folder))
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().filename().string().find(name) != std::string::npos) return entry.path();
  return {};
}

// "gen KIND OPS SEED" or "gen transformer LAYERS MICROBATCHES": made up; else a file.
inline Graph Read(const std::string& name) {
  if (name.rfind("gen ", 0) != 0) return ReadGraph(Find(name)).graph;
  std::istringstream words(name.substr(4));
  std::string kind;
  GenerateSpec spec;
  words >> kind;
  if (kind == "transformer")
    words >> spec.layers >> spec.microbatches;
  else
    words >> spec.ops >> spec.seed;
  std::string plain;
  words >> plain;
  spec.plain = plain == "plain";
  return Generate(kind, spec);
}
inline bool Absent(const std::string& name) { return name.rfind("gen ", 0) != 0 && Find(name).empty(); }

// A graph with a budget that is a fraction of its no-recompute peak, rounded up.
struct Case {
  Case(const std::string& name, double fraction) : graph(Read(name)), instance(MakeInstance(graph)) {
    const std::int64_t peak = EvaluateSequence(instance, instance.order).peak;
    const auto millis = static_cast<std::int64_t>(fraction * 1000 + 0.5);
    budget = (peak * millis + 999) / 1000;
  }
  [[nodiscard]] std::string Percent(std::int64_t duration) const {
    char text[32];
    std::snprintf(
        text, sizeof text, "%.4f %%",
        100.0 * static_cast<double>(duration - instance.base_duration) / static_cast<double>(instance.base_duration));
    return text;
  }
  Graph graph;
  Instance instance;
  std::int64_t budget = 0;
};

void Rules();       // of the interval model, one by one
void Relaxation();  // of the boundary relaxation's search, one by one
void Workers();     // of the portfolio, one by one
void Size();        // memory and time to build the models
void Stop();        // from a cancel to the answer

}  // namespace ebb::bench
