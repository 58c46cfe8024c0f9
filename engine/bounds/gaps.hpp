// SPDX-License-Identifier: Apache-2.0
//
// The gaps of an instance: what could be dropped where, and what that costs at least. Every cover bound stands on this
// table (gap_cover_flow, gap_cover_integer, certificate).
//
//   rows      moments that every plan passes in this sequence: the first executions of some ops. In fixed order all of
//             them, in free order those along one path of the graph (free_order_gaps.hpp).
//   gap       a storage, and the rows strictly between two consecutive uses of it (of the value, or of values carried
//             by it). Either it is resident at all of these rows, or the ops it charges run again at least once after
//             one of the rows and before the use that ends the gap. Reruns charged by disjoint gaps are different ones.
//   pinned    bytes that nothing can free at a row: the op's inputs, outputs and moment, graph inputs, and storages of
//             values that may not be made again.
//
//   row:        0    1    2    3    4    5
//   op:         f    g    h    i    j    k          a gap of f's value: reads by g and k, rows [2, 5), charges f
//   f's value   made read ............. read
//
// Valid for every feature: several outputs of one op (one rerun makes them all: ShareDurations), carried values (they
// also charge the makers of the views on the way), values read again after their storage was taken over (forced
// reruns: no choice, so paid outside the cover), may_repeat, kept values, moments.
// Why a carried reader may not shorten a gap: the storage under it was opened by some rerun e of the root's maker and
// lives from e to the read, so a row without any storage of the root lies before e, and the view was made after e.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/csr.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

struct Gap {
  std::int32_t value;       // whose storage: a value without carrier
  std::int32_t begin, end;  // rows [begin, end), never empty
  std::int32_t reader;      // the op that ends it; -1: the end of the plan
  std::int64_t bytes;       // > 0
  std::int32_t until;       // reruns that it charges come before this row; end, except for late reads in free order
};

// `op` must run again at least once after row `begin` and before row `end` (or the end), whatever is kept.
struct ForcedRerun {
  std::int32_t op;
  std::int32_t begin, end;
  std::int32_t value;  // read at `end`, taken over at `begin`
};

// A gap that cannot be dropped, since `op` would have to run again but may not.
struct PinnedGap {
  Gap gap;
  std::int32_t op;
};

struct GapTable {
  std::vector<std::int32_t> row_op;
  std::vector<std::int64_t> pinned;  // per row
  std::vector<std::int64_t>
      resident;               // per row: pinned + all gaps that span it; in fixed order the no-recompute profile
  std::vector<Gap> gaps;      // ascending by begin, then end, then value
  Csr<std::int32_t> charges;  // gap -> ops that run again where it is dropped, without repeats
  std::vector<PinnedGap> pinned_gaps;  // part of pinned
  std::vector<ForcedRerun> forced;     // of each op with disjoint windows: different reruns
  std::int64_t forced_duration = 0;    // sum of durations of a largest set of forced reruns that are surely different
  // A value that must be made again but may not: no plan in this order, whatever the budget.
  std::optional<std::int32_t> impossible;

  [[nodiscard]] std::size_t num_rows() const { return row_op.size(); }
  [[nodiscard]] std::int64_t peak() const;  // largest resident
  // The least budget that this order does not exclude by itself: the largest pinned value, and its row.
  [[nodiscard]] std::int64_t floor() const;
  [[nodiscard]] std::int32_t floor_row() const;
};

// The gaps in the given order. Near-linear. Throws InputError where bytes could leave 63 bits, Interrupted where `stop`
// says so (a second for 4 million gaps).
[[nodiscard]] GapTable FixedOrderGaps(const Instance& instance, const StopSignal* stop = nullptr);

// What dropping each gap costs at least: cost / scale, such that the costs of dropped gaps may be added up. An op's
// duration is shared among overlapping gaps of different storages that charge it, in proportion to `weight` (per gap,
// >= 0; empty: bytes). Rounded down; scale > 1 only where something is shared.
struct GapCosts {
  std::vector<std::int64_t> cost;   // per gap, the sum of its shares
  std::vector<std::int64_t> share;  // per item of GapTable::charges
  std::int64_t scale = 1;
  bool shared = false;  // some duration is shared: other weights may give other bounds
};
[[nodiscard]] GapCosts ShareDurations(const Instance& instance, const GapTable& table,
                                      std::span<const std::int64_t> weight = {});

// All durations of reruns are multiples of this (0: no op that costs time may repeat); lower bounds are rounded up to
// it.
[[nodiscard]] std::int64_t DurationGcd(const Instance& instance);

}  // namespace ebb
