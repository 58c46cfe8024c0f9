// SPDX-License-Identifier: Apache-2.0
//
// Which op must stand before which. Data edges: the maker of an input, and the maker of the base of a view that the op
// makes. Hazard edges: a reader of a value before the op that overwrites the value's storage in place.
//
// A storage's life is cut into segments by in-place ops: the root and its views are one segment, the in-place output
// and its views the next. An op that overwrites kills every name of the input's segment.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/csr.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

// The tensor that opens t's segment: the end of the chain of views, not of in-place pairs.
[[nodiscard]] TensorId SegmentHead(const Graph& graph, TensorId t);
[[nodiscard]] inline bool SameSegment(const Graph& graph, TensorId a, TensorId b) {
  return SegmentHead(graph, a) == SegmentHead(graph, b);
}

// SegmentHead of every tensor, in linear time whatever the length of the chains.
[[nodiscard]] std::vector<TensorId> SegmentHeads(const Graph& graph);

// The makers of what `op` needs, with repeats: of its inputs, and of the base of a view that it makes. A base made by
// the op itself is no edge; an op that reads its own output is a cycle of one.
template <class F>
void ForEachDataPredecessor(const Graph& graph, OpId op, F f) {
  const auto need = [&](TensorId t) {
    if (t != TensorId::kNone && graph.maker(t) != OpId::kNone) f(graph.maker(t));
  };
  for (const TensorId t : graph.inputs(op)) need(t);
  for (const TensorId t : graph.outputs(op)) {
    const TensorId base = graph.view_of(t);
    if (base != TensorId::kNone && graph.maker(base) != op) need(base);
  }
}

// Op -> ops that must have run before it, without repeats.
[[nodiscard]] Csr<std::int32_t> DataPredecessors(const Graph& graph);

enum class HazardScope {
  kForGood,  // only where the overwritten value can never be made again: these bind every plan
  kAll,      // every overwritten value: an order that keeps these needs no repeat for them
};
[[nodiscard]] Csr<std::int32_t> WithHazards(const Graph& graph, const Csr<std::int32_t>& data, HazardScope scope);

}  // namespace ebb
