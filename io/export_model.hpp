// SPDX-License-Identifier: Apache-2.0
//
// The models of other systems, for a solver of the user's choice: `ebbtide export --model`. The mathematics is in
// docs/models.md.
//   checkmate   the mixed-integer program of Jain et al., "Checkmate" (MLSys 2020), section 4, as free-format MPS
//   moccasin    the retention intervals of Bartan et al., "Moccasin" (ICML 2023), staged, as JSON
// Both know one output an op and nothing else; a graph with more is refused by name. Graph inputs lie in memory
// throughout, so their bytes come off the budget; kept outputs are read by a last op "(end)" of no size and duration.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/problem/graph.hpp"

namespace ebb {

// A graph as those systems see it. Ops by their place in the graph's order.
struct SingleOutputGraph {
  std::vector<std::string> name;
  std::vector<std::int64_t> size, duration;
  std::vector<std::vector<std::int32_t>> reads;  // ascending, without repeats
  std::vector<std::vector<std::int32_t>> readers;
  std::int64_t budget = 0;  // bytes, without graph inputs
};
// `budget`: as on the command line. Throws InputError that names what the models do not know, or a budget below what
// the graph inputs alone need.
[[nodiscard]] SingleOutputGraph MakeSingleOutputGraph(const Graph& graph, std::string_view budget);

struct ModelSize {
  std::int64_t variables = 0, constraints = 0;
};
[[nodiscard]] ModelSize CheckmateSize(const SingleOutputGraph& graph);
[[nodiscard]] ModelSize MoccasinSize(const SingleOutputGraph& graph, std::int64_t intervals);

// Throws InputError where the model would have more than kMostModelVariables variables.
inline constexpr std::int64_t kMostModelVariables = 20'000'000;
[[nodiscard]] std::string CheckmateMps(const SingleOutputGraph& graph);
// `intervals`: retention intervals an op, the paper's C; 1 to 100.
[[nodiscard]] std::string MoccasinJson(const SingleOutputGraph& graph, std::int64_t intervals);

}  // namespace ebb
