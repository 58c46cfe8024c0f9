// SPDX-License-Identifier: Apache-2.0
//
// The way to a Graph: readers and generators hand over ops and tensors by name, in file order; Build checks the whole
// and throws InputError with one line that names the culprit.
//
// A name is kept once (name_table.hpp) and everything goes straight to where the graph holds it, so that a graph of a
// million ops is built in little more memory than it takes. Names may be used before they are declared; where all are
// declared first, as in a native file, their indices are the tensors' own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/problem/graph.hpp"
#include "engine/problem/name_table.hpp"

namespace ebb {

class GraphBuilder {
 public:
  // A name of a tensor that this builder has heard of.
  enum class TensorName : std::int32_t { kNone = -1 };

  template <class Name>
  struct BasicOp {
    std::string name;
    std::int64_t duration = 0;
    std::int64_t workspace = 0;
    bool recomputable = true;
    std::vector<Name> inputs;  // "" or kNone is an absent optional input
    std::vector<Name> outputs;
    std::vector<std::pair<Name, Name>> inplace;  // {input, output}
  };
  using OpSpec = BasicOp<std::string>;
  using OpRow = BasicOp<TensorName>;  // for many ops: one object filled again and again allocates nothing

  void SetName(std::string_view name) { graph_.name_ = name; }
  void SetDurationUnit(std::string_view unit) { graph_.duration_unit_ = unit; }

  // kNone for "".
  TensorName Mention(std::string_view tensor);
  [[nodiscard]] const std::string& NameOf(TensorName name) const { return names_[static_cast<std::int32_t>(name)]; }
  [[nodiscard]] bool IsDeclared(TensorName name) const;

  // `view_of` empty: a tensor of its own. Throws InputError on an empty or repeated name and on a negative size.
  void AddTensor(std::string_view name, std::int64_t size, std::string_view view_of = {});
  void AddTensor(TensorName name, std::int64_t size, TensorName view_of = TensorName::kNone);
  // Tensors may be declared after the ops that use them. Throws InputError on an empty or repeated op name, a negative
  // duration or workspace.
  void AddOp(const OpSpec& op);
  void AddOp(const OpRow& op);
  void AddGraphOutput(std::string_view tensor) { AddGraphOutput(Mention(tensor)); }
  void AddGraphOutput(TensorName tensor);
  // The next op of the order, which then has to name them all, also where it names none (BeginOrder). Absent: stable
  // topological order.
  void BeginOrder() { graph_.order_was_given_ = true; }
  void AddToOrder(std::string_view op) { graph_.order_.push_back(ToOpId(OpNamed(op))); }
  void SetOrder(const std::vector<std::string>& order) {
    BeginOrder();
    for (const std::string& op : order) AddToOrder(op);
  }

  // Checks everything (model: "Errors are named") and builds. Leaves the builder empty. Throws InputError.
  [[nodiscard]] Graph Build();

 private:
  std::size_t OpNamed(std::string_view op);
  void RefuseUndeclared() const;
  void LinkNames(Graph& g);
  static void LinkTensors(Graph& g);
  static void LinkOps(Graph& g);
  static void ResolveStorage(Graph& g);
  static void CheckInplace(const Graph& g);
  static void SortOutputs(Graph& g);
  static void CheckSums(Graph& g);
  static void FindOrder(Graph& g);

  // The graph, but for: its tensors' and ops' names (in the tables below), and that everything speaks of tensors by
  // the index of their name, the order of ops by the index of theirs.
  Graph graph_;
  NameTable names_, op_names_;                                 // of tensors; of ops
  std::vector<std::int32_t> tensor_of_name_, name_of_tensor_;  // the first: -1 where only mentioned so far
  std::vector<std::int32_t> op_of_name_, name_of_op_;
};

}  // namespace ebb
