// SPDX-License-Identifier: Apache-2.0
//
// libonnx infers node by node, once, from its schemas. Its schemas say nothing of some results (the mask of a Dropout
// before opset 10, the state of a Loop, whose shape may change), and those of an older libonnx nothing of attributes
// that came later (Split's num_outputs). Rules of our own fill these in; then libonnx goes on from there, and so on
// until nothing new is learnt.
#include "io/onnx/onnx_shapes.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include "engine/base/status.hpp"

namespace ebb {
namespace {

constexpr int kMaxRounds = 64;

using onnx::TypeProto;

bool IsKnown(const TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape() || type.tensor_type().elem_type() == 0) return false;
  const auto& dims = type.tensor_type().shape().dim();
  return std::all_of(dims.begin(), dims.end(), [](const auto& d) { return d.has_dim_value(); });
}

class Filler {
 public:
  explicit Filler(onnx::ModelProto& model) : graph_(*model.mutable_graph()) {
    for (const auto& opset : model.opset_import())
      if (opset.domain().empty() || opset.domain() == "ai.onnx") opset_ = opset.version();
    for (const auto& x : graph_.input()) Learn(x);
    for (const auto& x : graph_.value_info()) Learn(x);
    for (const auto& x : graph_.output()) Learn(x);
    for (const auto& x : graph_.initializer()) {
      TypeProto& type = known_[x.name()];
      type.mutable_tensor_type()->set_elem_type(x.data_type());
      auto* shape = type.mutable_tensor_type()->mutable_shape();
      for (const auto d : x.dims()) shape->add_dim()->set_dim_value(d);
    }
  }

  // Adds what the rules know; true: something was added.
  bool Fill() {
    const std::size_t before = known_.size();
    for (const onnx::NodeProto& node : graph_.node()) {
      const std::string& op = node.op_type();
      if (op == "Dropout")
        Mask(node);
      else if (op == "Split")
        Split(node);
      else if (op == "Loop")
        Loop(node);
    }
    return known_.size() > before;
  }

 private:
  void Learn(const onnx::ValueInfoProto& x) {
    if (IsKnown(x.type())) known_.emplace(x.name(), x.type());
  }
  const TypeProto* Input(const onnx::NodeProto& node, int i) const {
    if (i >= node.input_size() || node.input(i).empty()) return nullptr;
    const auto it = known_.find(node.input(i));
    return it == known_.end() ? nullptr : &it->second;
  }
  [[nodiscard]] bool Open(const onnx::NodeProto& node, int i) const {
    return i < node.output_size() && !node.output(i).empty() && !known_.contains(node.output(i));
  }
  void Put(const std::string& name, const TypeProto& type) {
    if (!IsKnown(type)) return;
    known_.emplace(name, type);
    for (auto* list : {graph_.mutable_value_info(), graph_.mutable_output()})
      for (auto& x : *list)
        if (x.name() == name) {  // there, but without a whole shape
          *x.mutable_type() = type;
          return;
        }
    auto* info = graph_.add_value_info();
    info->set_name(name);
    *info->mutable_type() = type;
  }

  void Mask(const onnx::NodeProto& node) {
    const TypeProto* data = Input(node, 0);
    if (data == nullptr || !Open(node, 1)) return;
    TypeProto mask = *data;
    if (opset_ >= 10) mask.mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
    Put(node.output(1), mask);
  }

  // num_outputs (opset 18): equal pieces, the last one smaller where they do not divide.
  void Split(const onnx::NodeProto& node) {
    const TypeProto* data = Input(node, 0);
    std::int64_t axis = 0, parts = 0;
    for (const auto& a : node.attribute()) {
      if (a.name() == "axis") axis = a.i();
      if (a.name() == "num_outputs") parts = a.i();
    }
    if (data == nullptr || parts < 1 || parts != node.output_size()) return;
    const int rank = data->tensor_type().shape().dim_size();
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return;
    const std::int64_t whole = data->tensor_type().shape().dim(static_cast<int>(axis)).dim_value();
    const std::int64_t piece = whole / parts + (whole % parts != 0 ? 1 : 0);
    if (whole < 0 || whole - piece * (parts - 1) < 0) return;
    const TypeProto from = *data;
    for (int i = 0; i < node.output_size(); ++i) {
      if (!Open(node, i)) continue;
      TypeProto to = from;
      to.mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(static_cast<int>(axis))
          ->set_dim_value(i + 1 < node.output_size() ? piece : whole - piece * (parts - 1));
      Put(node.output(i), to);
    }
  }

  // A state that has one shape before the loop and after its body keeps it. What is collected has as many slices as
  // there are trips at most.
  void Loop(const onnx::NodeProto& node) {
    const onnx::GraphProto* body = nullptr;
    for (const auto& a : node.attribute())
      if (a.name() == "body" && a.has_g()) body = &a.g();
    if (body == nullptr) return;
    const int states = node.input_size() - 2;
    for (int i = 0; i < node.output_size() && i + 1 < body->output_size(); ++i) {
      const TypeProto& one = body->output(i + 1).type();
      if (!Open(node, i) || !IsKnown(one)) continue;
      if (i < states) {
        const TypeProto* start = Input(node, i + 2);
        if (start != nullptr && start->SerializeAsString() == one.SerializeAsString()) Put(node.output(i), one);
        continue;
      }
      const std::int64_t trips = Scalar(node.input(0));
      if (trips < 0) continue;
      TypeProto all = one;
      auto* shape = all.mutable_tensor_type()->mutable_shape();
      shape->clear_dim();
      shape->add_dim()->set_dim_value(trips);
      for (const auto& d : one.tensor_type().shape().dim()) *shape->add_dim() = d;
      Put(node.output(i), all);
    }
  }

  // The value of a whole number that the file holds; -1: it does not.
  [[nodiscard]] std::int64_t Scalar(const std::string& name) const {
    const auto value = [](const onnx::TensorProto& t) -> std::int64_t {
      if (t.data_type() != onnx::TensorProto::INT64) return -1;
      if (t.int64_data_size() == 1) return t.int64_data(0);
      if (t.raw_data().size() != 8) return -1;
      std::uint64_t v = 0;  // little-endian, as the format says
      for (int i = 7; i >= 0; --i) v = v << 8 | static_cast<unsigned char>(t.raw_data()[static_cast<std::size_t>(i)]);
      return static_cast<std::int64_t>(v);
    };
    for (const auto& x : graph_.initializer())
      if (x.name() == name) return value(x);
    for (const auto& node : graph_.node())
      if (node.op_type() == "Constant" && node.output_size() == 1 && node.output(0) == name)
        for (const auto& a : node.attribute())
          if (a.name() == "value" && a.has_t()) return value(a.t());
    return -1;
  }

  onnx::GraphProto& graph_;
  std::int64_t opset_ = 1;
  boost::unordered_flat_map<std::string, TypeProto> known_;  // types with a whole shape
};

// libonnx takes the attributes that a schema requires for granted and follows a null pointer where one is missing
// (found by the fuzzer: a Scan without num_scan_inputs), so they are looked for first.
void WantAttributes(const onnx::GraphProto& graph, const boost::unordered_flat_map<std::string, int>& opsets) {
  for (const onnx::NodeProto& node : graph.node()) {
    const auto opset = opsets.find(node.domain() == "ai.onnx" ? std::string() : node.domain());
    const onnx::OpSchema* schema =
        opset == opsets.end() ? nullptr : onnx::OpSchemaRegistry::Schema(node.op_type(), opset->second, opset->first);
    const auto& has = node.attribute();
    if (schema != nullptr)
      for (const auto& [name, attribute] : schema->attributes()) {
        const std::string& wanted = name;
        if (attribute.required &&
            std::none_of(has.begin(), has.end(), [&](const auto& a) { return a.name() == wanted; }))
          throw InputError("node " + Quoted(node.name().empty() ? node.op_type() : node.name()) + " has no attribute " +
                           Quoted(wanted) + ", which every " + Quoted(node.op_type()) + " has");
      }
    for (const auto& a : has) {
      if (a.has_g()) WantAttributes(a.g(), opsets);  // protobuf bounds the depth
      for (const auto& g : a.graphs()) WantAttributes(g, opsets);
    }
  }
}

}  // namespace

void InferOnnxShapes(onnx::ModelProto& model, Warnings& warnings) {
  boost::unordered_flat_map<std::string, int> opsets;
  for (const auto& opset : model.opset_import())
    opsets[opset.domain() == "ai.onnx" ? std::string() : opset.domain()] =
        static_cast<int>(std::clamp<std::int64_t>(opset.version(), 0, 1 << 20));
  WantAttributes(model.graph(), opsets);
  for (const auto& function : model.functions()) {
    onnx::GraphProto body;
    *body.mutable_node() = function.node();
    WantAttributes(body, opsets);
  }
  const auto& range = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const auto& opset : model.opset_import()) {
    const auto known = range.find(opset.domain() == "ai.onnx" ? std::string() : opset.domain());
    if (known != range.end() && opset.version() > known->second.second)
      warnings.Say("opset " + std::to_string(opset.version()) + " is newer than the " +
                   std::to_string(known->second.second) +
                   " that this build's libonnx knows: shapes are inferred by the older rules");
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    try {
      // types not checked; faults of single nodes skipped; values of shape tensors followed
      const onnx::ShapeInferenceOptions options(false, 0, true);
      onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
    } catch (const std::exception& e) {
      std::string what = e.what();
      std::replace(what.begin(), what.end(), '\n', ' ');
      warnings.Say("shapes could not all be inferred: " + what.substr(0, 200));
      if (round > 0) return;
    }
    if (!Filler(model).Fill()) return;
  }
}

}  // namespace ebb
