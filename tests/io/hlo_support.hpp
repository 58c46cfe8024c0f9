// SPDX-License-Identifier: Apache-2.0
// What the tests of the HLO reader share.
#pragma once

#include <string>

#include <doctest/doctest.h>

#include "engine/base/status.hpp"
#include "io/read_graph.hpp"

namespace hlo {

inline ebb::ReadGraphResult Read(const std::string& text, const ebb::ReadOptions& options = {}) {
  return ebb::ReadGraph(text, "m.hlo", options);
}
inline std::string Refusal(const std::string& text, const ebb::ReadOptions& options = {}) {
  try {
    static_cast<void>(Read(text, options));
  } catch (const ebb::InputError& e) {
    return e.what();
  }
  return "";
}
inline ebb::OpId Op(const ebb::Graph& g, const std::string& name) {
  for (std::size_t i = 0; i < g.num_ops(); ++i)
    if (g.op_name(ebb::ToOpId(i)) == name) return ebb::ToOpId(i);
  FAIL("no op ", name);
  return ebb::OpId::kNone;
}
inline ebb::TensorId Tensor(const ebb::Graph& g, const std::string& name) {
  for (std::size_t i = 0; i < g.num_tensors(); ++i)
    if (g.tensor_name(ebb::ToTensorId(i)) == name) return ebb::ToTensorId(i);
  FAIL("no tensor ", name);
  return ebb::TensorId::kNone;
}

// A scheduled module as XLA dumps it.
inline const char* const kLong =
    R"(HloModule jit_step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }, entry_computation_layout={(f32[4,8]{1,0}, f32[8]{0})->(f32[4,8]{1,0}, f32[8]{0}, /*index=2*/f32[])}

FileNames
1 "model.py"

FunctionNames
1 "step {"

%region_0.3 (Arg_0.4: f32[], Arg_1.5: f32[]) -> f32[] {
  %Arg_0.4 = f32[] parameter(0)
  %Arg_1.5 = f32[] parameter(1)
  ROOT %add.6 = f32[] add(f32[] %Arg_0.4, f32[] %Arg_1.5), metadata={op_name="jit(step)/reduce_sum[axes=(0, 1)]" source_file="m.py" source_line=3}
}

%fused_computation (param_0.1: f32[4,8], param_1.2: f32[8]) -> (f32[4,8], f32[4,8]) {
  %param_0.1 = f32[4,8]{1,0} parameter(0)
  %param_1.2 = f32[8]{0} parameter(1)
  %broadcast.1 = f32[4,8]{1,0} broadcast(f32[8]{0} %param_1.2), dimensions={1}
  %multiply.1 = f32[4,8]{1,0} multiply(f32[4,8]{1,0} %param_0.1, f32[4,8]{1,0} %broadcast.1)
  %tanh.1 = f32[4,8]{1,0} tanh(f32[4,8]{1,0} %multiply.1)
  ROOT %tuple.9 = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(f32[4,8]{1,0} %multiply.1, f32[4,8]{1,0} %tanh.1)
}

ENTRY %main.42 (Arg_0.1: f32[4,8], Arg_1.2: f32[8]) -> (f32[4,8], f32[8], f32[]) {
  %Arg_0.1 = f32[4,8]{1,0:T(8,128)S(1)} parameter(0), metadata={op_name="w"}
  %Arg_1.2 = f32[8]{0} parameter(1)
  %constant.7 = f32[] constant(0)
  %constant.8 = f32[2,2]{1,0} constant({ { 1, 2 }, /*i0=1*/ { -3, inf } })
  %fusion = (f32[4,8]{1,0}, f32[4,8]{1,0}) fusion(f32[4,8]{1,0} %Arg_0.1, f32[8]{0} %Arg_1.2), kind=kLoop, calls=%fused_computation, backend_config={"a":"}{"}
  %get-tuple-element.1 = f32[4,8]{1,0} get-tuple-element((f32[4,8]{1,0}, f32[4,8]{1,0}) %fusion), index=1
  %bitcast.5 = f32[32]{0} bitcast(f32[4,8]{1,0} %get-tuple-element.1)
  %reduce.1 = f32[] reduce(f32[32]{0} %bitcast.5, f32[] %constant.7), dimensions={0}, to_apply=%region_0.3
  %subtract.3 = f32[4,8]{1,0} subtract(f32[4,8]{1,0} %Arg_0.1, f32[4,8]{1,0} %get-tuple-element.1)
  %negate.1 = f32[8]{0} negate(f32[8]{0} %Arg_1.2), control-predecessors={%subtract.3}
  ROOT %tuple.11 = (f32[4,8]{1,0}, f32[8]{0}, f32[]) tuple(f32[4,8]{1,0} %subtract.3, f32[8]{0} %negate.1, /*index=2*/f32[] %reduce.1)
}
)";

}  // namespace hlo
