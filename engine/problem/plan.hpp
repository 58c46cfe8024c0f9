// SPDX-License-Identifier: Apache-2.0
//
// A plan: what runs when, which execution serves each input, and when each storage dies. Pure data; whether it holds is
// the validator's word alone (validator.hpp). MakePlan turns a bare sequence of ops into a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/csr.hpp"
#include "engine/base/units.hpp"
#include "engine/problem/graph.hpp"

namespace ebb {

struct Plan {
  // Producer of an input: index of the execution that made it, or one of these.
  static constexpr std::int32_t kGraphInput = -1;
  static constexpr std::int32_t kAbsent = -2;

  // A storage dies after position `after`: the storage that execution `execution` opened for its output `tensor`.
  struct Free {
    std::int32_t after;
    std::int32_t execution;
    TensorId tensor;
    bool operator==(const Free&) const = default;
  };

  std::vector<OpId> executions;  // the sequence
  Csr<std::int32_t> inputs;      // per execution, per listed input of its op: its producer
  std::vector<Free> frees;       // ascending by `after`, then execution, then output position
  Duration duration;             // sum over the executions
  Bytes peak;                    // the largest resident value
};

// Why a sequence is not a plan.
struct SequenceFault {
  enum class Kind { kMissingInput, kMissingOutput, kOpNeverRuns, kRunsAgain, kOverflow } kind;
  std::int32_t position = -1;  // of the execution at fault; -1: the end
  OpId op = OpId::kNone;
  TensorId tensor = TensorId::kNone;
};
[[nodiscard]] std::string Describe(const Graph& graph, const SequenceFault& fault);

// Binds every input to the latest earlier execution of its maker, lets every storage die after its last use, and
// measures. Linear in the sequence. Returns nothing and fills *fault (if given) where the sequence is no plan.
// Memory budget and order are not looked at.
[[nodiscard]] std::optional<Plan> MakePlan(const Graph& graph, std::span<const OpId> sequence,
                                           SequenceFault* fault = nullptr);

}  // namespace ebb
