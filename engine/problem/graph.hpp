// SPDX-License-Identifier: Apache-2.0
//
// The compute graph: ops with durations, tensors with sizes. Immutable once built, and valid by construction: the only
// way to one is GraphBuilder::Build (graph_builder.hpp), which refuses whatever the model forbids.
//
//   tensor   a value with one maker op, or none: then it is a graph input, resident throughout.
//   view     a tensor without bytes of its own (view_of); its bytes are its root's storage.
//   in-place an op's output that takes over the storage of one of its inputs.
//
// Invariants:
//  G1 every tensor has at most one maker; names of ops and of tensors are unique and not empty.
//  G2 the ops form no cycle, also with "reads a value before it is overwritten for good" counted as an edge.
//  G3 sizes, durations, workspaces are >= 0; the sum of all durations, and of all sizes and workspaces, fits 63 bits.
//  G4 views form no ring; a view without a maker has a root without a maker.
//  G5 order() holds each op once and is topological.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/csr.hpp"
#include "engine/base/units.hpp"

namespace ebb {

struct InplacePair {
  TensorId input;   // whose storage is taken over
  TensorId output;  // who lives in it from then on
};

class Graph {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& duration_unit() const { return duration_unit_; }
  [[nodiscard]] std::size_t num_ops() const { return ops_.size(); }
  [[nodiscard]] std::size_t num_tensors() const { return tensors_.size(); }

  [[nodiscard]] const std::string& op_name(OpId op) const { return ops_[Index(op)].name; }
  [[nodiscard]] Duration duration(OpId op) const { return ops_[Index(op)].duration; }
  [[nodiscard]] Bytes workspace(OpId op) const { return ops_[Index(op)].workspace; }
  [[nodiscard]] bool recomputable(OpId op) const { return ops_[Index(op)].recomputable; }
  // As listed in the file: a tensor may stand twice, TensorId::kNone is an absent optional input.
  [[nodiscard]] std::span<const TensorId> inputs(OpId op) const { return inputs_[Index(op)]; }
  [[nodiscard]] std::span<const TensorId> outputs(OpId op) const { return outputs_[Index(op)]; }
  [[nodiscard]] std::span<const InplacePair> inplace(OpId op) const { return inplace_[Index(op)]; }

  [[nodiscard]] const std::string& tensor_name(TensorId t) const { return tensors_[Index(t)].name; }
  [[nodiscard]] Bytes size(TensorId t) const { return tensors_[Index(t)].size; }  // as written; see storage_bytes
  [[nodiscard]] TensorId view_of(TensorId t) const { return tensors_[Index(t)].view_of; }  // kNone: not a view
  [[nodiscard]] OpId maker(TensorId t) const { return tensors_[Index(t)].maker; }          // kNone: graph input
  // The input whose storage this tensor takes over in place; kNone otherwise.
  [[nodiscard]] TensorId overwrites(TensorId t) const { return tensors_[Index(t)].overwrites; }
  // The tensor at the end of the chain of views and in-place pairs: the one whose size counts.
  [[nodiscard]] TensorId storage_root(TensorId t) const { return tensors_[Index(t)].root; }
  [[nodiscard]] Bytes storage_bytes(TensorId t) const { return size(storage_root(t)); }

  // Listed graph outputs, in file order, without repeats.
  [[nodiscard]] std::span<const TensorId> graph_outputs() const { return graph_outputs_; }
  [[nodiscard]] bool is_graph_output(TensorId t) const { return tensors_[Index(t)].graph_output; }
  // The given order, or the stable topological order by file position.
  [[nodiscard]] std::span<const OpId> order() const { return order_; }
  [[nodiscard]] bool order_was_given() const { return order_was_given_; }

  // One execution of each op.
  [[nodiscard]] Duration base_duration() const { return base_duration_; }
  // The storages of graph inputs, which are resident throughout.
  [[nodiscard]] Bytes input_bytes() const { return input_bytes_; }

 private:
  friend class GraphBuilder;
  Graph() = default;

  struct Op {
    std::string name;
    Duration duration;
    Bytes workspace;
    bool recomputable = true;
  };
  struct Tensor {
    std::string name;
    Bytes size;
    TensorId view_of = TensorId::kNone;
    TensorId overwrites = TensorId::kNone;
    TensorId root = TensorId::kNone;
    OpId maker = OpId::kNone;
    bool graph_output = false;
  };

  std::string name_, duration_unit_;
  std::vector<Op> ops_;
  std::vector<Tensor> tensors_;
  Csr<TensorId> inputs_, outputs_;
  Csr<InplacePair> inplace_;
  std::vector<TensorId> graph_outputs_;
  std::vector<OpId> order_;
  bool order_was_given_ = false;
  Duration base_duration_;
  Bytes input_bytes_;
};

}  // namespace ebb
