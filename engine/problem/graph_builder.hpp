// SPDX-License-Identifier: Apache-2.0
//
// The way to a Graph: readers and generators hand over ops and tensors by name, in file order; Build checks the whole
// and throws InputError with one line that names the culprit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/status.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

class GraphBuilder {
 public:
  struct OpSpec {
    std::string name;
    std::int64_t duration = 0;
    std::int64_t workspace = 0;
    bool recomputable = true;
    std::vector<std::string> inputs;  // "" is an absent optional input
    std::vector<std::string> outputs;
    std::vector<std::pair<std::string, std::string>> inplace;  // {input, output}
  };

  void SetName(std::string name) { name_ = std::move(name); }
  void SetDurationUnit(std::string unit) { unit_ = std::move(unit); }

  // `view_of` empty: a tensor of its own. Throws InputError on an empty or repeated name and on a negative size.
  void AddTensor(std::string name, std::int64_t size, std::string view_of = {});
  // Tensors may be declared after the ops that use them. Throws InputError on an empty or repeated op name, a negative
  // duration or workspace.
  void AddOp(OpSpec op);
  void AddGraphOutput(std::string tensor) { outputs_.push_back(std::move(tensor)); }
  // All ops in their order; absent: stable topological order.
  void SetOrder(std::vector<std::string> order) {
    order_ = std::move(order);
    has_order_ = true;
  }

  // Checks everything (model: "Errors are named") and builds. Leaves the builder empty. Throws InputError.
  [[nodiscard]] Graph Build();

 private:
  struct TensorSpec {
    std::string name;
    std::int64_t size;
    std::string view_of;
  };
  static constexpr std::size_t kMaxCount = 2147483646;
  TensorId FindTensor(const std::string& name) const;  // kNone where unknown

  void LinkTensors(Graph& g);
  void LinkOps(Graph& g);
  static void ResolveStorage(Graph& g);
  static void CheckInplace(const Graph& g);
  static void SortOutputs(Graph& g);
  static void CheckSums(Graph& g);
  void FindOrder(Graph& g);

  std::string name_, unit_;
  std::vector<TensorSpec> tensors_;
  std::vector<OpSpec> ops_;
  std::vector<std::string> outputs_, order_;
  bool has_order_ = false;
  boost::unordered_flat_map<std::string, std::int32_t> tensor_index_, op_index_;
};

}  // namespace ebb
