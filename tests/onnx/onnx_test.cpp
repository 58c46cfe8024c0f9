// SPDX-License-Identifier: Apache-2.0
// ONNX models, built here: inferred shapes, symbolic dimensions, absent optional inputs, weights that are elsewhere.
#include <string>

#include <doctest/doctest.h>
#include <onnx/onnx_pb.h>

#include "engine/base/status.hpp"
#include "engine/problem/fingerprint.hpp"
#include "io/onnx/dim_expression.hpp"
#include "io/onnx/onnx_reader.hpp"
#include "io/write_graph.hpp"

namespace {

onnx::ModelProto Model() {
  onnx::ModelProto m;
  m.set_ir_version(8);
  auto* opset = m.add_opset_import();
  opset->set_version(13);
  m.mutable_graph()->set_name("net");
  return m;
}

void Value(onnx::ValueInfoProto* v, const std::string& name, std::initializer_list<const char*> dims) {
  v->set_name(name);
  auto* t = v->mutable_type()->mutable_tensor_type();
  t->set_elem_type(onnx::TensorProto::FLOAT);
  for (const char* d : dims) {
    auto* dim = t->mutable_shape()->add_dim();
    if (*d >= '0' && *d <= '9')
      dim->set_dim_value(std::stoll(d));
    else
      dim->set_dim_param(d);
  }
}

onnx::NodeProto* Node(onnx::ModelProto& m, const std::string& op, std::initializer_list<const char*> in,
                      std::initializer_list<const char*> out) {
  auto* n = m.mutable_graph()->add_node();
  n->set_op_type(op);
  for (const char* x : in) n->add_input(x);
  for (const char* x : out) n->add_output(x);
  return n;
}

onnx::ModelProto Net() {
  onnx::ModelProto m = Model();
  Value(m.mutable_graph()->add_input(), "x", {"batch", "8"});
  auto* w = m.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::FLOAT);
  w->add_dims(8);
  w->add_dims(4);
  w->set_data_location(onnx::TensorProto::EXTERNAL);  // no such file: must not matter
  auto* e = w->add_external_data();
  e->set_key("location");
  e->set_value("/no/such/weights.bin");
  Node(m, "MatMul", {"x", "w"}, {"y"})->set_name("product");
  Node(m, "Clip", {"y", "", "limit"}, {"z"});
  Node(m, "Flatten", {"z"}, {"f"});
  Node(m, "Clip", {"f"}, {"out"});
  auto* c = Node(m, "Constant", {}, {"limit"});
  auto* a = c->add_attribute();
  a->set_name("value");
  a->set_type(onnx::AttributeProto::TENSOR);
  a->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  a->mutable_t()->add_float_data(6);
  // constants stand before their users
  auto* nodes = m.mutable_graph()->mutable_node();
  for (int i = nodes->size() - 1; i > 0; --i) nodes->SwapElements(i, i - 1);
  Value(m.mutable_graph()->add_output(), "out", {"batch", "4"});
  return m;
}

std::string Refusal(const std::string& bytes, const ebb::OnnxOptions& options = {}) {
  try {
    static_cast<void>(ebb::ReadOnnx(bytes, "m.onnx", options));
  } catch (const ebb::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("shapes are inferred, dimensions given, weights not opened") {
  const std::string bytes = Net().SerializeAsString();
  CHECK(Refusal(bytes).find("dimension 'batch' has no value") != std::string::npos);
  ebb::OnnxOptions options;
  options.dims["batch"] = 32;
  options.costs = {
      .flops_per_second = 1'000'000'000, .bytes_per_second = 1'000'000'000'000'000, .launch_ns = 5, .profile = {}};
  const ebb::ReadGraphResult r = ebb::ReadOnnx(bytes, "m.onnx", options);
  CHECK(r.format == "onnx");
  CHECK(ebb::GraphToJson(r.graph) == R"({"format": "ebbtide-graph", "version": 1, "name": "net", "duration_unit": "ns",
"tensors": [
{"name": "limit", "size": 4},
{"name": "w", "size": 128},
{"name": "x", "size": 1024},
{"name": "y", "size": 512},
{"name": "z", "size": 512},
{"name": "f", "size": 512, "view_of": "z"},
{"name": "out", "size": 512}],
"ops": [
{"name": "product", "duration": 2053, "inputs": ["x", "w"], "outputs": ["y"]},
{"name": "Clip", "duration": 133, "inputs": ["y", "", "limit"], "outputs": ["z"]},
{"name": "Flatten", "duration": 0, "inputs": ["z"], "outputs": ["f"]},
{"name": "Clip#1", "duration": 133, "inputs": ["f"], "outputs": ["out"]}],
"outputs": [
"out"]}
)");
}

TEST_CASE("subgraphs read what they capture") {
  onnx::ModelProto m = Model();
  Value(m.mutable_graph()->add_input(), "x", {"4"});
  Value(m.mutable_graph()->add_input(), "big", {"1000"});
  auto* k = m.mutable_graph()->add_input();
  Value(k, "k", {});
  k->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
  k->mutable_type()->mutable_tensor_type()->mutable_shape();
  Node(m, "Neg", {"big"}, {"nb"});
  auto* n = Node(m, "If", {"k"}, {"r"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto* a = n->add_attribute();
    a->set_name(branch);
    a->set_type(onnx::AttributeProto::GRAPH);
    auto* node = a->mutable_g()->add_node();
    node->set_op_type("Neg");
    node->add_input(branch[0] == 't' ? "nb" : "x");
    node->add_output("inner");
    Value(a->mutable_g()->add_output(), "inner", {"4"});
    a->mutable_g()->set_name(branch);
  }
  Value(m.mutable_graph()->add_output(), "r", {"4"});
  const ebb::ReadGraphResult r = ebb::ReadOnnx(m.SerializeAsString(), "m.onnx");
  CHECK(r.graph.inputs(ebb::ToOpId(1)).size() == 3);
  CHECK(r.warnings.size() == 2);
}

TEST_CASE("shapes that libonnx leaves open") {
  const auto size = [](const ebb::Graph& g, const std::string& name) {
    for (std::size_t i = 0; i < g.num_tensors(); ++i)
      if (g.tensor_name(ebb::ToTensorId(i)) == name) return g.size(ebb::ToTensorId(i)).count();
    return std::int64_t{-1};
  };
  onnx::ModelProto m = Model();
  m.mutable_opset_import(0)->set_version(7);
  Value(m.mutable_graph()->add_input(), "x", {"4", "8"});
  Node(m, "Dropout", {"x"}, {"y", "mask"});
  Node(m, "Neg", {"mask"}, {"z"});  // and on from there
  ebb::ReadGraphResult r = ebb::ReadOnnx(m.SerializeAsString(), "m.onnx");
  CHECK(size(r.graph, "mask") == 128);
  CHECK(size(r.graph, "z") == 128);

  onnx::ModelProto split = Model();
  split.mutable_opset_import(0)->set_version(18);
  Value(split.mutable_graph()->add_input(), "x", {"4", "8"});
  auto* node = Node(split, "Split", {"x"}, {"a", "b", "c"});
  for (const auto& [name, value] : {std::pair<const char*, int>{"axis", -1}, {"num_outputs", 3}}) {
    auto* a = node->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INT);
    a->set_i(value);
  }
  Node(split, "Neg", {"c"}, {"d"});
  r = ebb::ReadOnnx(split.SerializeAsString(), "m.onnx");
  CHECK(size(r.graph, "a") == 4 * 3 * 4);
  CHECK(size(r.graph, "d") == 4 * 2 * 4);

  // a name that inference makes up for a dimension can be given like any other
  onnx::ModelProto zero = Model();
  Value(zero.mutable_graph()->add_input(), "x", {"4", "8"});
  Node(zero, "NonZero", {"x"}, {"i"});
  const std::string bytes = zero.SerializeAsString(), refusal = Refusal(bytes);
  const std::size_t at = refusal.find("--dim ");
  REQUIRE(at != std::string::npos);
  const std::string dim = refusal.substr(at + 6, refusal.find('=', at) - at - 6);
  ebb::OnnxOptions options;
  options.dims[dim] = 5;
  CHECK(size(ebb::ReadOnnx(bytes, "m.onnx", options).graph, "i") == 2 * 5 * 8);
}

TEST_CASE("dimensions that are arithmetic") {
  const std::map<std::string, std::int64_t> dims = {{"batch", 8}, {"seq", 5}, {"odd name", 3}};
  using ebb::DimValue;
  CHECK(DimValue("batch", dims) == 8);
  CHECK(DimValue("odd name", dims) == 3);
  CHECK(DimValue("4*batch", dims) == 32);
  CHECK(DimValue("(seq - 1)//2 + batch * (seq % 3)", dims) == 18);
  CHECK(DimValue("batch/2", dims) == 4);
  CHECK(DimValue("Max(1, seq - 9) + Min(batch, 3, 7)", dims) == 4);
  for (const char* none : {"", "n", "seq/2", "1 - batch", "batch +", "(batch", "batch)", "8 8", "seq//0", "4x",
                           "4611686018427387904*4611686018427387904", "-batch", "Max", "Max(", "99999999999999999999"})
    CHECK_MESSAGE(!DimValue(none, dims), none);
  CHECK(!DimValue(std::string(100000, '('), dims));
  onnx::ModelProto m = Model();
  Value(m.mutable_graph()->add_input(), "x", {"batch", "8"});
  Node(m, "Neg", {"x"}, {"y"});
  auto* odd = Node(m, "Unheard", {"y"}, {"z"});
  odd->set_domain("elsewhere");
  Value(m.mutable_graph()->add_value_info(), "z", {"batch*3 + 1"});
  ebb::OnnxOptions options;
  options.dims["batch"] = 2;
  const ebb::Graph g = ebb::ReadOnnx(m.SerializeAsString(), "m.onnx", options).graph;
  CHECK(g.size(ebb::ToTensorId(2)).count() == 4 * 7);
}

TEST_CASE("damaged models") {
  onnx::ModelProto scan = Model();
  Value(scan.mutable_graph()->add_input(), "x", {"4", "8"});
  Node(scan, "Scan", {"x"}, {"y"})->set_name("s");
  CHECK(Refusal(scan.SerializeAsString()).find("'s' has no attribute") != std::string::npos);
  onnx::ModelProto bytes_as_name = Net();
  bytes_as_name.mutable_graph()->mutable_node(1)->set_name("a\xe2z");
  CHECK(Refusal(bytes_as_name.SerializeAsString()).find("UTF-8") != std::string::npos);
  CHECK(Refusal("").find("empty") != std::string::npos);
  CHECK(Refusal("\x08\x08garbage").find("damaged") != std::string::npos);
  CHECK(Refusal(Model().SerializeAsString()).empty());  // no nodes: an empty graph
  onnx::ModelProto none = Model();
  none.clear_graph();
  CHECK(Refusal(none.SerializeAsString()).find("no graph") != std::string::npos);
  ebb::OnnxOptions options;
  options.dims["batch"] = -1;
  CHECK(Refusal(Net().SerializeAsString(), options).find("negative") != std::string::npos);
  options.dims["batch"] = std::int64_t{1} << 62;
  CHECK(Refusal(Net().SerializeAsString(), options).find("overflow") != std::string::npos);
  onnx::ModelProto stranger = Model();
  Node(stranger, "Neg", {"nobody"}, {"y"});
  CHECK(Refusal(stranger.SerializeAsString()).find("'y'") != std::string::npos);
  onnx::ModelProto text = Net();
  text.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::STRING);
  options.dims["batch"] = 2;
  CHECK(Refusal(text.SerializeAsString(), options).find("'x'") != std::string::npos);
  options.dims["batch"] = 32;
  const std::string bytes = Net().SerializeAsString();
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) static_cast<void>(Refusal(bytes.substr(0, cut), options));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string broken = bytes;
    broken[at] = static_cast<char>(broken[at] ^ 0x5a);
    const std::string message = Refusal(broken, options);
    CHECK(message.find('\n') == std::string::npos);
  }
}
