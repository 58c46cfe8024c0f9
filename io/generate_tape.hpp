// SPDX-License-Identifier: Apache-2.0
//
// A tape of forward ops that writes the backward pass itself, as autograd does: for every forward op, last first, ops
// that read the gradient of its output and whatever the op said its backward needs, and make the gradients of its
// inputs; a tensor read more than once sums its gradients; a parameter's gradient is summed over the microbatches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/problem/graph_builder.hpp"

namespace ebb {

class Tape {
 public:
  using Id = std::int32_t;
  static constexpr Id kNone = -1;

  // Plain: one output an op, own storages only, and no parameters.
  Tape(GraphBuilder& builder, bool plain) : builder_(builder), plain_(plain) {}

  // A tensor that stays: a parameter (its gradient is a graph output) or data (it gets none). kNone where plain.
  Id AddParameter(const std::string& name, std::int64_t size);
  Id AddData(const std::string& name, std::int64_t size);

  struct Forward {
    std::string name;
    std::vector<Id> inputs;  // tensors; parameters and data among them; kNone is skipped
    std::int64_t size = 0;   // of the output
    std::int64_t duration = 0;
    std::int64_t backward = 0;  // duration of the backward of one input
    bool needs_inputs = true;   // the backward reads the inputs
    bool needs_output = false;  // or the output (softmax, relu)
    std::int64_t saved = 0;     // bytes of a second output for the backward alone (mask, statistics); 0: none
    std::int64_t workspace = 0;
    bool random = false;  // may run once only (dropout); with `saved`, which is its mask
    bool view = false;    // the output is a view of the first input
  };
  Id Add(Forward op);
  // Backward of everything added since the last call, from `loss` (a tensor added by Add).
  void Backward(Id loss);
  // Lists the gradients of the parameters as graph outputs.
  void Finish();

 private:
  struct Tensor {
    std::string name;
    std::int64_t size = 0;
    bool parameter = false, data = false;
    std::string gradient;    // name of the sum so far; empty: none yet
    std::int32_t parts = 0;  // summed into it
  };
  struct Step {
    Forward op;
    Id output;
    std::string saved;
  };
  std::int64_t GradientSize(Id t) const { return tensors_[static_cast<std::size_t>(t)].size; }
  void AddGradient(Id t, const std::string& part, std::int64_t duration);

  GraphBuilder& builder_;
  bool plain_;
  std::vector<Tensor> tensors_;
  std::vector<Step> steps_;
  std::int64_t sums_ = 0;
};

}  // namespace ebb
