// SPDX-License-Identifier: Apache-2.0
//
// Plans as `ebbtide-plan` files (docs/formats.md): fixed key order, one execution a line, no times of day, so that two
// plans can be compared line by line and equal runs give equal bytes. Reading checks that the plan belongs to the graph
// (fingerprint) and that its indices mean something; whether it holds is the validator's business.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/base/units.hpp"
#include "engine/problem/graph.hpp"
#include "engine/problem/plan.hpp"

namespace ebb {

// What a plan file says beside the plan itself.
struct PlanFile {
  Plan plan;
  std::optional<Bytes> budget;  // none: unlimited
  OrderMode order = OrderMode::kFixed;
  SolveStatus status = SolveStatus::kFeasible;
  std::optional<Duration> lower_bound;  // none: no bound known, no gap written
  // Address of every storage, where asked for: the storage that `execution` opened for `tensor`.
  struct Offset {
    std::int32_t execution;  // Plan::kGraphInput for a graph input
    TensorId tensor;
    Bytes offset;
    bool operator==(const Offset&) const = default;
  };
  std::vector<Offset> offsets;
};

[[nodiscard]] std::string PlanToJson(const Graph& graph, const PlanFile& file);
// Written aside and renamed; packed by the name's ending. Throws InputError with the full path.
void WritePlan(const Graph& graph, const PlanFile& file, const std::filesystem::path& path);

struct ReadPlanResult {
  PlanFile file;
  std::vector<std::string> warnings;
};
// Throws InputError (one line, the file's name in front): no plan, a newer version, another graph's plan, an unknown op
// or tensor, a producer or a death that points outside.
[[nodiscard]] ReadPlanResult ReadPlan(const Graph& graph, const std::filesystem::path& path);
[[nodiscard]] ReadPlanResult ReadPlan(const Graph& graph, std::string_view bytes, const std::string& name);

}  // namespace ebb
