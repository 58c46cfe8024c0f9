// SPDX-License-Identifier: Apache-2.0
//
// What an HLO instruction does to buffers and what it costs, without a machine: which of its results are other names
// for what it was given, how many arithmetic operations and how many bytes it stands for, and what a called computation
// takes as a whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/cost_model.hpp"
#include "io/hlo_text.hpp"

namespace ebb {

// The arrays ("leaves") of every instruction of a computation, as values. A value is a buffer of its own or another
// name for an earlier value.
struct HloValues {
  struct Value {
    std::int32_t instruction;
    std::int32_t leaf;  // which array of the instruction's shape
    std::int64_t bytes;
    std::int32_t alias_of;  // an earlier value; -1: a buffer of its own
    std::int32_t root;      // the end of the chain of aliases: the value that owns the buffer
  };
  std::vector<Value> values;
  std::vector<std::vector<std::int32_t>> leaves;  // instruction -> values, in the order of its shape

  [[nodiscard]] std::int32_t Root(std::int32_t value) const { return values[static_cast<std::size_t>(value)].root; }
};

enum class HloKind {
  kParameter,
  kConstant,
  kTuple,  // a table of pointers: its arrays are its operands' arrays
  kView,   // only other names for its operands: takes no time
  kOp,
};
[[nodiscard]] HloKind KindOf(const HloInstruction& instruction);
// Must run exactly once, whatever it calls: random state, communication, side effects.
[[nodiscard]] bool MustRunOnce(const HloInstruction& instruction);

// Throws InputError "name:line:column: what" where shapes and operands do not fit.
[[nodiscard]] HloValues ValuesOf(const HloComputation& computation, const std::string& name);

// Costs of a computation that is called.
struct HloCost {
  std::int64_t flops = 0;
  std::int64_t nanoseconds = 0;  // all its instructions, one after the other
  std::int64_t temp_bytes = 0;   // the most that its own buffers take at a time; parameters not counted
  bool once = false;             // it holds something that must run exactly once
  std::string unknown;           // not empty: why nothing can be said (a loop without a trip count)
};

class HloCosts {
 public:
  HloCosts(const HloModule& module, const CostModel& model, const std::string& name);

  // For an instruction of computation `index`: time, and workspace beside its operands and results.
  struct Of {
    std::int64_t flops = 0, bytes = 0, nanoseconds = 0, workspace = 0;
    bool once = false;  // must run exactly once, itself or something it calls
    std::string unknown;
  };
  [[nodiscard]] Of Instruction(std::int32_t computation, std::int32_t instruction) const;
  [[nodiscard]] const HloCost& Computation(std::int32_t index) const { return costs_[static_cast<std::size_t>(index)]; }

 private:
  std::vector<std::int32_t> Callees(std::int32_t computation, const HloInstruction& instruction) const;
  HloCost Sum(std::int32_t computation) const;
  [[nodiscard]] std::int64_t Flops(std::int32_t computation, const HloInstruction& instruction) const;

  const HloModule& module_;
  CostModel model_;
  std::string name_;
  std::vector<HloCost> costs_;
};

}  // namespace ebb
