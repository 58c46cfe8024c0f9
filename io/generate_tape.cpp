// SPDX-License-Identifier: Apache-2.0
#include "io/generate_tape.hpp"

#include <algorithm>
#include <utility>

namespace ebb {

Tape::Id Tape::AddParameter(const std::string& name, std::int64_t size) {
  if (plain_) return kNone;
  builder_.AddTensor(name, size);
  tensors_.push_back({name, size, true, false, {}, 0});
  return static_cast<Id>(tensors_.size()) - 1;
}

Tape::Id Tape::AddData(const std::string& name, std::int64_t size) {
  if (plain_) return kNone;
  builder_.AddTensor(name, size);
  tensors_.push_back({name, size, false, true, {}, 0});
  return static_cast<Id>(tensors_.size()) - 1;
}

Tape::Id Tape::Add(Forward op) {
  std::erase(op.inputs, kNone);
  if (plain_) {
    op.view = op.random = false;
    op.saved = op.workspace = 0;
  }
  if (op.view) op.size = tensors_[static_cast<std::size_t>(op.inputs.front())].size;
  GraphBuilder::OpSpec spec;
  spec.name = op.name;
  spec.duration = op.duration;
  spec.workspace = op.workspace;
  spec.recomputable = !op.random;
  for (const Id t : op.inputs) spec.inputs.push_back(tensors_[static_cast<std::size_t>(t)].name);
  builder_.AddTensor(op.name + ".out", op.size, op.view ? spec.inputs.front() : std::string());
  spec.outputs.push_back(op.name + ".out");
  std::string saved;
  if (op.saved > 0) {
    saved = op.name + ".saved";
    builder_.AddTensor(saved, op.saved);
    spec.outputs.push_back(saved);
  }
  builder_.AddOp(std::move(spec));
  tensors_.push_back({op.name + ".out", op.size, false, false, {}, 0});
  const Id id = static_cast<Id>(tensors_.size()) - 1;
  steps_.push_back({std::move(op), id, std::move(saved)});
  return id;
}

void Tape::AddGradient(Id t, const std::string& part, std::int64_t duration) {
  Tensor& x = tensors_[static_cast<std::size_t>(t)];
  if (x.parts++ == 0) {
    x.gradient = part;
    return;
  }
  GraphBuilder::OpSpec sum;
  sum.name = "sum" + std::to_string(sums_++);
  const std::string name = sum.name + ".out";
  sum.duration = duration;
  sum.inputs = {x.gradient, part};
  sum.outputs = {name};
  if (!plain_) sum.inplace = {{x.gradient, name}};
  builder_.AddTensor(name, x.size);
  builder_.AddOp(std::move(sum));
  x.gradient = name;
}

void Tape::Backward(Id loss) {
  // The loss op's own backward starts without a gradient.
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Step step = steps_[s];
    const Tensor output = tensors_[static_cast<std::size_t>(step.output)];
    const bool is_loss = step.output == loss;
    if (output.gradient.empty() && !is_loss) continue;  // nobody asks for it
    std::vector<std::string> read;
    if (!is_loss) read.push_back(output.gradient);
    if (step.op.needs_inputs)
      for (const Id t : step.op.inputs) read.push_back(tensors_[static_cast<std::size_t>(t)].name);
    if (step.op.needs_output) read.push_back(output.name);
    if (!step.saved.empty()) read.push_back(step.saved);
    for (std::size_t i = 0; i < step.op.inputs.size(); ++i) {
      const Id t = step.op.inputs[i];
      if (tensors_[static_cast<std::size_t>(t)].data) continue;
      GraphBuilder::OpSpec back;
      back.name = step.op.name + ".back" + (step.op.inputs.size() > 1 ? std::to_string(i) : std::string());
      const std::string gradient = back.name + ".out";
      back.duration = step.op.backward;
      back.inputs = read;
      back.outputs = {gradient};
      back.workspace = step.op.workspace;
      const bool view = step.op.view && i == 0 && !is_loss;
      builder_.AddTensor(gradient, GradientSize(t), view ? output.gradient : std::string());
      if (view) back.inputs = {output.gradient};
      builder_.AddOp(std::move(back));
      AddGradient(t, gradient, std::max<std::int64_t>(1, step.op.backward / 8));
    }
  }
  steps_.clear();
}

void Tape::Finish() {
  for (const Tensor& t : tensors_)
    if (t.parameter && !t.gradient.empty()) builder_.AddGraphOutput(t.gradient);
}

}  // namespace ebb
