// SPDX-License-Identifier: Apache-2.0
//
// Recomputation by lower sets: Kusumoto, Inoue, Watanabe, Akiba, Koyama, "A Graph Theoretic Framework of Recomputation
// Algorithms for Memory-Efficient Backpropagation" (NeurIPS 2019), sections 3 and 4.
//
// A canonical strategy is a chain of lower sets {} = L_0 < L_1 < ... < L_k = V of the forward graph. Forward, once L_i
// is computed only its boundary stays (nodes with a successor outside), so U_i = union of the boundaries so far is
// cached. Backward, from L_k down, V_i = L_i \ L_{i-1} is made again from U_{i-1} and then differentiated. In the
// paper's model (a value and its gradient take the same bytes M)
//   overhead  sum over i < k of T(V_i \ U_i); the last part is still there, so nothing of it is made again;
//   memory    max over i of M(U_{i-1}) + 2 M(V_i) + M(succ(L_i) \ L_i) + M(pred(succ(L_i)) \ L_i).
// The dynamic program over lower sets keeps, for each set, the pairs (overhead, M(U)) that no other pair beats, and so
// finds for a budget on that memory
//   time-centric    the chain of least overhead,
//   memory-centric  the one of most overhead: its parts are small, and what the model does not see (values die early)
//                   makes its true peak the lower one.
// Exact over all lower sets, approximate over those of single nodes (LowerSets::Pruned), of which there are only n.
//
// From chain to plan: values outside U_k and V_k are thrown away at the turn, and a backward op that misses one lets
// what it needs run again (replay.hpp), which then stays for its later readers: at most the paper's overhead, at most
// its memory. The true peak is measured, so the model's budget is a parameter to be swept, as in the paper.
//
// Limits: one recomputation an op; forward is what the order does up to its peak; the model's memory is not the true
// one, in both directions (gradients of another size, optimizer steps).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/lower_sets.hpp"

namespace ebb {

enum class KusumotoAim { kTime, kMemory };

struct KusumotoChain {
  std::vector<std::int32_t> sets;  // of the family, without the empty one, ending in the full one
  std::int64_t overhead = 0;       // the paper's, duration
  std::int64_t memory = 0;         // the paper's peak, bytes
};

// The best chain whose memory in the model is at most `budget`; nothing where there is none, or the work ends.
// `most_points`: pairs kept a set, the rest thinned out; 0: all, exact.
[[nodiscard]] std::optional<KusumotoChain> KusumotoBest(const LowerSets& family, std::int64_t budget, KusumotoAim aim,
                                                        WorkBudget& work, std::size_t most_points = 0);
// The least budget that has a chain. Nothing where the work ends.
[[nodiscard]] std::optional<std::int64_t> KusumotoLeastBudget(const LowerSets& family, WorkBudget& work);

// Valid for the given order; the peak is whatever it is. Empty where the given order itself needs repeats.
[[nodiscard]] std::vector<std::int32_t> KusumotoSequence(const Instance& instance, const ForwardGraph& graph,
                                                         const LowerSets& family, const KusumotoChain& chain);

}  // namespace ebb
