// SPDX-License-Identifier: Apache-2.0
//
// What can be said of a graph before any search, for `ebbtide info`: its sums, the run of its order without repeats and
// who holds the memory at that run's peak, the floor under any plan, the gaps that make dropping worthwhile, what
// cannot be made again, and blocks of ops that repeat along the order. All of it near linear in the graph.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/base/units.hpp"
#include "engine/problem/graph.hpp"
#include "engine/problem/presolve.hpp"

namespace ebb {

struct GraphFacts {
  // Counts
  std::int64_t ops = 0, tensors = 0, reads = 0;  // reads: pairs of op and tensor, repeats and absent inputs left out
  std::int64_t views = 0, inplace = 0, graph_inputs = 0, graph_outputs = 0;
  std::int64_t once_ops = 0;  // recomputable = false
  std::int64_t zero_ops = 0;  // duration 0
  // Sums
  Bytes bytes;         // of all storages, graph inputs included
  Bytes input_bytes;   // graph inputs
  Bytes output_bytes;  // storages of graph outputs that are no graph inputs
  Bytes largest_workspace;
  Duration duration;  // one execution each

  // The given order with no repeats. `runs` false: it needs repeats whatever the budget (a value is read after it is
  // overwritten); the members below are then empty.
  bool runs = false;
  Bytes peak;
  std::int64_t peak_position = -1;
  OpId peak_op = OpId::kNone;

  // Who holds the memory at the peak, largest first.
  enum class Role { kGraphInput, kOpInput, kOpOutput, kWaiting, kKept };  // kWaiting: not used there, read later
  static constexpr std::size_t kNumRoles = 5;
  struct Holder {
    TensorId tensor;  // that opened the storage
    Bytes bytes;
    Role role;
    OpId maker;                             // kNone: graph input
    std::int64_t born = -1, last_use = -1;  // positions; last_use = ops for what stays to the end
    std::int64_t later_readers = 0;         // reads of any name in it after the peak
    std::vector<OpId> readers;              // the first few of those
  };
  std::vector<Holder> holders;                // the top ones
  std::int64_t holders_total = 0;             // storages with bytes there
  std::array<Bytes, kNumRoles> role_bytes{};  // of all holders, by role; the rest of the peak is peak_op's workspace

  [[nodiscard]] Bytes bytes_of(Role role) const { return role_bytes[static_cast<std::size_t>(role)]; }

  // What of the waiting bytes could be made again by one more execution of its makers, the cheapest for their bytes
  // first: a first idea of the price, below what a plan pays (what the makers read has to be there as well).
  struct Price {
    int percent;  // of the bytes that can be made again
    Bytes bytes;
    Duration duration;
  };
  std::vector<Price> prices;
  Bytes waiting_once_bytes;  // of makers that cannot run again

  // No plan needs less: graph inputs, and the largest single execution (or the end with all outputs).
  Bytes floor;
  OpId floor_op = OpId::kNone;  // kNone: the end
  struct FloorPart {
    TensorId tensor;  // whose storage it is
    Bytes bytes;
    Role role;  // kOpInput, kOpOutput or kKept
  };
  std::vector<FloorPart> floor_parts;  // beside the graph inputs and the op's workspace; the top ones, largest first
  std::int64_t floor_parts_total = 0;

  // Gaps: a storage between two uses with other executions between them; what a plan may drop and make again.
  struct Gap {
    TensorId tensor;
    Bytes bytes;
    OpId from, to;            // uses (maker or reader) on either side
    std::int64_t length = 0;  // executions strictly between
    bool can_rerun = true;    // the maker may run again
  };
  std::int64_t gaps_total = 0;
  std::vector<Gap> gaps;  // the largest by bytes * length

  // What cannot be made again, by bytes.
  struct Once {
    OpId op;
    Bytes bytes;           // of its outputs' storages
    bool at_peak = false;  // some of them live at the peak
  };
  std::vector<Once> once;  // the top ones
  Bytes once_bytes;        // of all of them

  // Blocks along the order that are equal in durations, sizes, workspace, kinds of ops and wiring (inside a block by
  // distance; to the outside by size).
  struct Blocks {
    std::int64_t begin = 0;   // position of the first
    std::int64_t period = 0;  // ops in one
    std::int64_t count = 0;
    Duration duration;  // of one
    Bytes bytes;        // storages that one opens
  };
  std::vector<Blocks> blocks;   // by position; no overlaps
  std::int64_t blocks_ops = 0;  // ops in them

  // Ops that never pay to run again, in the given order.
  PresolveCounts presolved;
};

struct FactsOptions {
  std::size_t top = 10;     // rows in each list
  std::size_t readers = 6;  // names per holder
};

[[nodiscard]] GraphFacts FindFacts(const Graph& graph, const FactsOptions& options = {});
[[nodiscard]] const char* ToString(GraphFacts::Role role);

}  // namespace ebb
