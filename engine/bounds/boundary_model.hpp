// SPDX-License-Identifier: Apache-2.0
//
// A relaxation with few boundaries. Fixed order; positions a_0 < a_1 < ... < a_{K-1} of first executions are chosen,
// and memory is looked at only there.
//
//         a_0          a_1               a_2
//   ------|============|=================|=============> first executions in order
//            stage 0         stage 1         stage 2
//
//   S[v,k]  the storage of value v is resident across the first execution at a_k
//   C[o,k]  op o runs again, at least once, in stage k: after the first execution at a_k, before that at a_{k+1}
//
//   a first execution in stage k reads v, made by a_k:   S[v,k] + C[maker(v),k] >= 1
//   a rerun needs its inputs:                            C[o,k] <= S[u,k] + C[maker(u),k]
//   what is there must come from somewhere:              S[v,k+1] <= S[v,k] + C[maker(v),k]
//   a costly view lives in its base's storage:           S[v,k] <= S[base,k]
//   who reads a view reads its base:                     the first two for the base as well
//   memory at a_k:   op a_k's moment, inputs and outputs + sum of bytes(v) S[v,k] <= budget
//   minimise the durations of C
//
// In a stage of reruns alone (a_{k+1} = a_k + 1) the order of two ops can be made part of it, for the moment rows
// (told_orders.hpp has the rows):
//
//   Y[a,b,k]  a and b (a the earlier one in the given order) both run again in stage k, the last time b before the last
//             time a
//   D[a,k]    a runs again more than once in stage k, for a duration more
//
// For the search, on demand:
//
//   R[o]      o runs again in any stage:  R[o] >= C[o,k],  R[o] <= sum over k of C[o,k]
//
// To branch on one C[o,k] says little, since o may run again in another stage instead; R settles all of them. Staged,
// RL n=250 at 0.8, two models and three incumbents: proofs after 61e9 ticks and 1,521 nodes, 75e9 and 2,552 without.
// (Tried with it: R for all stages from k on, 328 nodes and 18e9 ticks where R takes 132 and 6e9 and none 228 and 8e9;
// whether anything runs again in stage k, 277 and 10e9 where R takes 171 and 5e9; no branching on C, 709 and 19e9; on R
// first, 3.96 % after 30e9.)
//
// Every sequence in the given order gives such a point, whatever it runs again and how often, so the optimum bounds
// `fixed` and with it `staged`. What is left out: memory between boundaries, a second rerun inside a stage, reruns
// before a_0, and that an in-place op ends its input. Of several storages of one value (an old one may live on for its
// views) S means any: fewer bytes than the truth, never more.
//
// The base's own rows matter: without them half of a base is enough, once for the half of its view that stays and once
// more for the half that is made again (lstm-128 at 0.4 of DTR's peak, one boundary: 4.17 instead of 5.55 %, where
// 5.57 is the best plan; unroll_gan-512 at 0.5: 3.04 instead of 3.58).
//
// Only what can matter has columns: values that some first execution past a boundary still reads, and what reruns of
// their makers would read. Values without bytes are always there.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/csr.hpp"
#include "engine/linear/branch_and_bound.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

class BoundaryModel {
 public:
  static constexpr std::int32_t kAbsent = -1;  // S: not modelled (of no use there); C: cannot run again to any use
  static constexpr std::int32_t kAlways = -2;  // S only: resident for certain, and paid for

  enum class Kind : std::uint8_t { kStay, kRerun, kOrder, kTwice, kEver };  // S, C, Y, D, R
  struct Column {
    std::int32_t item;   // value (S) or op
    std::int32_t stage;  // boundary or stage index
    Kind kind;
    std::int32_t other = kAbsent;  // Y: b
    [[nodiscard]] bool rerun() const { return kind == Kind::kRerun; }
  };
  // Two ops by rank, and the position of the stage of reruns alone in which their order is told.
  struct OpPair {
    std::int32_t position, first, second;
    auto operator<=>(const OpPair&) const = default;
  };

  // `budget` counts graph inputs, as the user's does. `positions` ascending, not empty. `pairs`: ascending, each of ops
  // that may run again in a stage (position, position + 1) between two of the positions; `spare` more can be told
  // later; those count whose stage is one. Plain instances only. `ever`: with the columns R.
  BoundaryModel(const Instance& instance, std::int64_t budget, std::vector<std::int32_t> positions,
                std::span<const OpPair> pairs = {}, std::int32_t spare = 0, bool ever = false);

  [[nodiscard]] const Instance& instance() const { return *instance_; }
  [[nodiscard]] std::span<const std::int32_t> positions() const { return positions_; }
  [[nodiscard]] std::int32_t num_stages() const { return static_cast<std::int32_t>(positions_.size()); }
  [[nodiscard]] std::span<const Column> columns() const { return columns_; }
  // Column, kAbsent or kAlways.
  [[nodiscard]] std::int32_t stay(std::int32_t stage, std::int32_t value) const {
    return stay_[static_cast<std::size_t>(stage) * instance_->num_values + static_cast<std::size_t>(value)];
  }
  [[nodiscard]] std::int32_t rerun(std::int32_t stage, std::int32_t op) const {
    return rerun_[static_cast<std::size_t>(stage) * instance_->num_ops + static_cast<std::size_t>(op)];
  }
  // The column Y of two ops, whichever comes first; kAbsent where their order is not told.
  [[nodiscard]] std::int32_t order(std::int32_t stage, std::int32_t first, std::int32_t second) const;
  // Gives two ops a column whose order was not told; false where none is left, or one cannot run again.
  bool Tell(std::int32_t stage, std::int32_t first, std::int32_t second);
  [[nodiscard]] const std::map<OpPair, std::int32_t>& orders() const { return orders_; }
  // D; kAbsent where there is none.
  [[nodiscard]] std::int32_t twice(std::int32_t stage, std::int32_t op) const;
  // R; kAbsent where there is none.
  [[nodiscard]] std::int32_t ever(std::int32_t op) const {
    return ever_.empty() ? kAbsent : ever_[static_cast<std::size_t>(op)];
  }
  // The first boundary at or after the position; num_stages(): none.
  [[nodiscard]] std::int32_t StageAt(std::int32_t position) const;
  [[nodiscard]] bool reruns_only(std::int32_t stage) const {
    return stage + 1 < num_stages() &&
           positions_[static_cast<std::size_t>(stage) + 1] == positions_[static_cast<std::size_t>(stage)] + 1;
  }
  // Values with a use at or after stage k that were made by a_k, by descending rank of their maker.
  [[nodiscard]] std::span<const std::int32_t> useful(std::int32_t stage) const {
    return useful_[static_cast<std::size_t>(stage)];
  }
  // What the op cannot run without: what it reads, and the bases of views among that.
  [[nodiscard]] std::span<const std::int32_t> needs(std::size_t op) const {
    return instance_->plain ? instance_->reads[op] : needs_[op];
  }
  // The other way, in no particular order.
  [[nodiscard]] std::span<const std::int32_t> users(std::size_t value) const {
    return instance_->plain ? instance_->readers[value] : users_[value];
  }
  // The first stage >= k in which a first execution needs v (the end counts for kept values); num_stages(): none.
  [[nodiscard]] std::int32_t next_read(std::int32_t stage, std::int32_t value) const {
    return next_read_[static_cast<std::size_t>(stage) * instance_->num_values + static_cast<std::size_t>(value)];
  }
  // A value that takes no room on its own and is never the reason for anything.
  [[nodiscard]] bool weightless(std::int32_t value) const { return weightless_[static_cast<std::size_t>(value)] != 0; }

  [[nodiscard]] const BinaryProgram& program() const { return program_; }
  // The memory row of boundary k in program().rows; kAbsent where it cannot bind.
  [[nodiscard]] std::int32_t memory_row(std::int32_t stage) const {
    return memory_row_[static_cast<std::size_t>(stage)];
  }
  // One boundary's op does not fit by itself: no plan in this order at all.
  [[nodiscard]] bool impossible() const { return impossible_; }

 private:
  // Needed by a first execution after a_k, and its maker may not run again.
  [[nodiscard]] bool Forced(std::int32_t stage, std::int32_t value) const {
    return !instance_->may_repeat[static_cast<std::size_t>(instance_->maker[static_cast<std::size_t>(value)])] &&
           next_read(stage, value) < num_stages();
  }
  void FindNeeds();
  void FindUseful();
  void MakeColumns();
  void MakeRows(std::int64_t budget);
  void MakeEver();
  void MakeOrders(std::span<const OpPair> pairs, std::int32_t spare);
  [[nodiscard]] OpPair PairOf(std::int32_t stage, std::int32_t a, std::int32_t b) const;
  std::int32_t Root(std::int32_t value) const;

  const Instance* instance_;
  std::vector<std::int32_t> positions_;
  std::vector<std::int32_t> ever_;
  std::map<OpPair, std::int32_t> orders_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> twice_;  // (stage, op)
  std::int32_t spare_begin_ = 0;
  std::vector<std::int32_t> stay_, rerun_, next_read_;
  Csr<std::int32_t> needs_, users_;  // empty for plain instances
  std::vector<std::vector<std::int32_t>> useful_;
  std::vector<std::uint8_t> weightless_;
  std::vector<Column> columns_;
  std::vector<std::int32_t> memory_row_;
  BinaryProgram program_;
  bool impossible_ = false;
};

// Path cuts: what carries the bound. Where everything on a way v -> ... -> x0 is gone at a_k and x0 is read in stages
// k..b (or there again at a_{b+1}), v's maker must run again in one of these stages:
//   sum of S[x,k] over the way + sum over j = k..b of C[maker(v),j] >= 1 (or >= S[x0,b+1]).
// One sweep from late to early for each pair (k, b) finds the most violated way into each op. For b = k the rows of the
// model imply it, but those of a long way come into the LP one link a round: with these too, a training step of 2,304
// ops at 0.2 took two cutting rounds a boundary instead of a hundred (proved after 0.6 s; before, not in 12 s).
class PathCuts : public RowSeparator {
 public:
  explicit PathCuts(const BoundaryModel& model) : model_(model) {}
  void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override;

 private:
  const BoundaryModel& model_;
  std::vector<double> need_;           // op -> how much of it must run again in stages k..b
  std::vector<std::int32_t> through_;  // op -> the value whose need that is
  std::vector<std::int32_t> next_;     // value -> reader op that passes its need on; -1: read by a first execution;
                                       // -2: stays at a_{b+1}
};

}  // namespace ebb
