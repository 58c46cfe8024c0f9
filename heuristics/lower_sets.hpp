// SPDX-License-Identifier: Apache-2.0
//
// The forward part of a training step as a graph of its own, and families of its lower sets: sets of nodes that with a
// node hold all its predecessors (Kusumoto et al., NeurIPS 2019, section 3: the checkpoints of a canonical strategy).
//
// A node is a forward op (position in the given order up to TurnPosition, replay.hpp) that makes something which may be
// thrown away and is read at all. What can never be made again stays resident whatever a method does, so it is neither
// a node nor an edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/csr.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

struct ForwardGraph {
  std::vector<std::int32_t> op;     // node -> op, by rank
  std::vector<std::int64_t> time;   // node -> duration
  std::vector<std::int64_t> bytes;  // node -> what it makes that may be thrown away
  Csr<std::int32_t> preds, succs;   // node -> nodes, ascending
  std::vector<std::int32_t> node;   // op -> node; -1: none
};
[[nodiscard]] ForwardGraph MakeForwardGraph(const Instance& instance);

// Lower sets with what the dynamic program asks about each; the empty set first, the set of all nodes last, by size.
class LowerSets {
 public:
  // All of them. Nothing where there are more than `most`, or the work budget ends.
  [[nodiscard]] static std::optional<LowerSets> All(const ForwardGraph& graph, std::size_t most, WorkBudget& work);
  // The pruned family: for each node, it and everything that it depends on (the paper's L^v), with the empty and the
  // full set.
  [[nodiscard]] static std::optional<LowerSets> Pruned(const ForwardGraph& graph, WorkBudget& work);

  [[nodiscard]] std::size_t size() const { return count_.size(); }
  [[nodiscard]] std::int32_t count(std::size_t set) const { return count_[set]; }  // nodes in it
  [[nodiscard]] std::int64_t time(std::size_t set) const { return time_[set]; }
  [[nodiscard]] std::int64_t bytes(std::size_t set) const { return bytes_[set]; }
  // Nodes of the set that have a successor outside: what stays cached (the paper's boundary).
  [[nodiscard]] std::span<const std::int32_t> boundary(std::size_t set) const { return boundary_[set]; }
  // Bytes of the successors outside the set (whose gradients are there) and of their other predecessors outside it.
  [[nodiscard]] std::int64_t beyond(std::size_t set) const { return beyond_[set]; }
  [[nodiscard]] bool Holds(std::size_t set, std::int32_t node) const {
    return (bits_[set * words_ + static_cast<std::size_t>(node) / 64] >> (node % 64) & 1) != 0;
  }
  [[nodiscard]] bool Within(std::size_t inner, std::size_t outer) const {
    const std::uint64_t* a = bits_.data() + inner * words_;
    const std::uint64_t* b = bits_.data() + outer * words_;
    for (std::size_t w = 0; w < words_; ++w)
      if ((a[w] & ~b[w]) != 0) return false;
    return true;
  }
  [[nodiscard]] std::size_t words() const { return words_; }
  [[nodiscard]] std::int64_t node_time(std::int32_t node) const { return node_time_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] std::int64_t node_bytes(std::int32_t node) const { return node_bytes_[static_cast<std::size_t>(node)]; }

 private:
  using Bits = std::vector<std::uint64_t>;
  static LowerSets Measure(const ForwardGraph& graph, std::vector<Bits> sets, WorkBudget& work);

  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
  std::vector<std::int32_t> count_;
  std::vector<std::int64_t> time_, bytes_, beyond_, node_time_, node_bytes_;
  Csr<std::int32_t> boundary_;
};

}  // namespace ebb
