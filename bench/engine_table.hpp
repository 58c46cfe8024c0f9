// SPDX-License-Identifier: Apache-2.0
//
// What the parts of bench/engine_table share: instances by name, and lines of a Markdown table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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
// Rows of such graphs are left out; then the program says which and ends with 3.
inline std::set<std::string>& LeftOut() {
  static std::set<std::string> names;
  return names;
}
inline bool Absent(const std::string& name) {
  const bool absent = name.rfind("gen ", 0) != 0 && Find(name).empty();
  if (absent) LeftOut().insert(name);
  return absent;
}

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

// `count` of the positions that are over the budget without reruns, evenly spread over them.
inline std::vector<std::int32_t> HotPositions(const Instance& in, std::int64_t budget, std::size_t count) {
  const SequenceFacts facts = EvaluateSequence(in, in.order);
  std::vector<std::int32_t> hot, at;
  for (std::size_t p = 0; p < facts.profile.size(); ++p)
    if (facts.profile[p] > budget) hot.push_back(static_cast<std::int32_t>(p));
  for (std::size_t k = 0; k < count && !hot.empty(); ++k) at.push_back(hot[hot.size() * (2 * k + 1) / (2 * count)]);
  at.erase(std::unique(at.begin(), at.end()), at.end());
  return at;
}

// As the documentation calls it.
inline std::string Label(const std::string& name, double fraction, const char* order = nullptr) {
  std::istringstream words(name);
  std::string word, text;
  words >> word;
  if (word == "gen") {
    std::string kind, first, second, plain;
    words >> kind >> first >> second >> plain;
    text = "gen " + kind;
    if (kind == "transformer")
      text += ", " + first + " layers" + (second == "1" ? "" : ", " + second + " microbatches");
    else
      text += ", " + first + " ops, seed " + second;
    if (!plain.empty()) text += ", " + plain;
  } else if (word.rfind("layered_n", 0) == 0) {
    text = "RL n=" + word.substr(9, word.size() - 10);
  } else {
    text = word == "chain" || word == "unet" ? "examples/" + word : word.substr(0, word.find('_'));
    if (word.rfind("fcn_8", 0) == 0) text = "FCN8";
  }
  std::ostringstream label;
  label << text << ", " << fraction;
  if (order != nullptr) label << ", " << order;
  return label.str();
}

void Rules();       // of the interval model, one by one
void Models();      // of the boundary relaxation's search in one model, by learning
void Tree();        // and by branch and bound
void Refinement();  // of its refinement, by learning or by the tree
void Steps();       // of its refinement in steps
void Workers();     // of the portfolio, one by one
void Open();        // what is not proved
void Size();        // memory and time to build the models
void Stop();        // from a cancel to the answer

}  // namespace ebb::bench
