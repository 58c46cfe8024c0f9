// SPDX-License-Identifier: Apache-2.0
//
// What the solvers see: the graph flattened into index arrays, with names, graph inputs and free views taken out.
// Ops keep their indices (op i here is OpId i there), so a solver's answer is a sequence of op indices; Expand turns it
// into a sequence for the graph.
//
// Values. A value is what an op makes and later ops read. Graph inputs are resident throughout: they are in
// resident_bytes and nobody reads them here (but see "overwritten inputs"). Three rules cover the rest:
//
//  own storage   bytes > 0 or a control edge: the storage is born with the execution of the maker and dies after the
//                last read of it (or of a value carried by it) that this execution serves.
//  carried       carrier[v] >= 0: a view that costs time. It has no bytes; the storage that its maker's execution
//                found under carrier[v] lives on while v is read.
//  in place      output o of op m in input i's storage: o gets a storage of its own with the root's bytes, and m's
//                moment is smaller by the same bytes (`moment` may be negative). What remains is a rule: `consumes`
//                lists i for m, and the storage that served m's read of i must have no use after m.
//
// Free views: a view op that takes no time and no workspace, may run again and makes nothing but views of one and the
// same storage, which nobody overwrites, is no solver's business: its readers read the base instead, the op itself
// stays in the sequence as a reader of the base that makes nothing (view_op[m] = 1; solvers run it exactly once), and
// Expand puts in the repeats of it that the graph wants. Exact: an old view's storage can always be replaced by the
// newest one of the same base.
//
// Overwritten inputs: a graph input that an op overwrites is kept as a value without maker (maker = -1, bytes 0, alive
// from the start), so that reads of it after its end are seen as what they are: impossible.
//
// Moment of an execution of op o = what is resident across it + inputs + all outputs + moment[o].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/csr.hpp"
#include "engine/base/units.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

struct Instance {
  // Ops
  std::size_t num_ops = 0;
  std::vector<std::int64_t> duration;
  std::vector<std::int64_t> moment;      // workspace less what in-place outputs save
  std::vector<std::uint8_t> may_repeat;  // recomputable, and not a free view op
  std::vector<std::uint8_t> view_op;     // free view op: runs once here, Expand repeats it
  Csr<std::int32_t> reads;               // op -> values, without repeats, in input order
  Csr<std::int32_t> makes;               // op -> values
  Csr<std::int32_t> consumes;            // op -> values whose storage it takes over (each also in reads)

  // Values
  std::size_t num_values = 0;
  std::vector<std::int32_t> maker;     // -1: an overwritten graph input
  std::vector<std::int64_t> bytes;     // of its own storage; 0 for carried values
  std::vector<std::int32_t> carrier;   // value in whose storage this one lives; -1: its own
  std::vector<std::uint8_t> kept;      // must be there at the end
  std::vector<std::uint8_t> in_place;  // made in another one's storage; empty: none is known to be (windows, stretches)
  Csr<std::int32_t> readers;           // value -> ops that read it, ascending by rank
  std::vector<TensorId> tensor;        // value -> the tensor it stands for

  // The given order
  std::vector<std::int32_t> order;  // position -> op
  std::vector<std::int32_t> rank;   // op -> position

  std::int64_t resident_bytes = 0;  // graph inputs: take them off the budget
  std::int64_t base_duration = 0;
  bool plain = true;  // no carried values and nothing consumed: the quick code may be used
};

[[nodiscard]] Instance MakeInstance(const Graph& graph);

// A sequence over the instance as a sequence for the graph: free view ops are repeated where a reader needs them; in
// `staged` form they stand at their place in the graph's order within the stage. Durations are equal, the peak is not
// higher. The sequence must be valid for the instance (EvaluateSequence).
[[nodiscard]] std::vector<OpId> Expand(const Graph& graph, const Instance& instance,
                                       std::span<const std::int32_t> sequence, bool staged);
// The other way: drops repeats of free view ops.
[[nodiscard]] std::vector<std::int32_t> Collapse(const Graph& graph, const Instance& instance,
                                                 std::span<const OpId> sequence);

// The reference evaluation, for oracles and for judging a finished sequence: linear, no incremental state.
struct SequenceFacts {
  bool valid = false;                // every read is served, nothing consumed is used later, repeats allowed
  std::int32_t fault_position = -1;  // first execution at fault, where not valid
  std::int32_t fault_value = -1;
  std::int64_t duration = 0;
  std::int64_t peak = 0;  // with resident_bytes
  std::int32_t peak_position = -1;
  std::vector<std::int64_t> profile;  // per position, with resident_bytes
};
[[nodiscard]] SequenceFacts EvaluateSequence(const Instance& instance, std::span<const std::int32_t> sequence);

// Also: is it what the order asks for? kFree: always; kFixed: first executions by rank; kStaged: repeats too.
[[nodiscard]] bool FollowsOrder(const Instance& instance, std::span<const std::int32_t> sequence, bool fixed,
                                bool staged);

}  // namespace ebb
