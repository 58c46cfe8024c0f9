// SPDX-License-Identifier: Apache-2.0
#include "io/onnx/onnx_reader.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/common.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include "engine/base/status.hpp"
#include "engine/problem/graph_builder.hpp"
#include "io/json_text.hpp"
#include "io/onnx/dim_expression.hpp"
#include "io/onnx/onnx_shapes.hpp"
#include "io/profile.hpp"
#include "io/reader_common.hpp"

namespace ebb {
namespace {

using onnx::TensorProto;

constexpr int kMaxSubgraphs = 32;  // levels

bool OneOf(std::string_view x, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// Bits of an element; 0: not a type with a size.
int Bits(int type) {
  switch (type) {
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32: return 32;
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::BOOL: return 8;
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16: return 16;
    case TensorProto::INT64:
    case TensorProto::UINT64:
    case TensorProto::DOUBLE:
    case TensorProto::COMPLEX64: return 64;
    case TensorProto::COMPLEX128: return 128;
    case 17:
    case 18:
    case 19:
    case 20: return 8;  // the float8 family of later versions
    case 21:
    case 22:
    case 23: return 4;  // 4-bit types: two to a byte
    default: return 0;
  }
}

struct Shape {
  std::vector<std::int64_t> dims;
  std::int64_t count = 1, bytes = 0;
};

class OnnxReader {
 public:
  OnnxReader(const std::string& name, const OnnxOptions& options)
      : name_(name), options_(options), warnings_(name + ": ") {}
  ReadGraphResult Run(std::string_view bytes);

 private:
  [[noreturn]] void Fail(const std::string& what) const { throw InputError(name_ + ": " + what); }
  void WantNames(const onnx::GraphProto& graph) const;
  void Substitute(onnx::ValueInfoProto& info) const;
  Shape Measure(int type, const std::vector<std::int64_t>& dims, const std::string& tensor) const;
  void Note(const onnx::ValueInfoProto& info);
  const Shape& Of(const std::string& tensor, const std::string& maker);
  void Free(const onnx::GraphProto& graph, int depth, boost::unordered_flat_set<std::string> defined,
            std::vector<std::string>& out) const;
  [[nodiscard]] std::int64_t Flops(const onnx::NodeProto& node) const;
  [[nodiscard]] const Shape* Known(const std::string& tensor) const {
    const auto it = shapes_.find(tensor);
    return it == shapes_.end() ? nullptr : &it->second;
  }

  const std::string& name_;
  const OnnxOptions& options_;
  Warnings warnings_;
  boost::unordered_flat_map<std::string, Shape> shapes_;
  boost::unordered_flat_map<std::string, std::string> why_;  // of tensors without a size
};

void OnnxReader::Substitute(onnx::ValueInfoProto& info) const {
  if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) return;
  for (auto& dim : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (!dim.has_dim_param()) continue;
    if (const auto value = DimValue(dim.dim_param(), options_.dims)) dim.set_dim_value(*value);
  }
}

Shape OnnxReader::Measure(int type, const std::vector<std::int64_t>& dims, const std::string& tensor) const {
  const int bits = Bits(type);
  if (bits == 0) Fail("tensor " + Quoted(tensor) + " has element type " + std::to_string(type) + ", which has no size");
  Shape s;
  s.dims = dims;
  Int128 total = 1;
  for (const std::int64_t d : dims) {
    if (d < 0) Fail("tensor " + Quoted(tensor) + " has a dimension of " + std::to_string(d));
    total *= d;
    if (total * bits > static_cast<Int128>(std::numeric_limits<std::int64_t>::max()))
      Fail("the size of tensor " + Quoted(tensor) + " overflows");
  }
  s.count = static_cast<std::int64_t>(total);
  s.bytes = static_cast<std::int64_t>((total * bits + 7) / 8);
  return s;
}

void OnnxReader::Note(const onnx::ValueInfoProto& info) {
  if (shapes_.contains(info.name())) return;
  const onnx::TypeProto& type = info.type();
  if (!type.has_tensor_type()) {
    why_[info.name()] = "it is no tensor";
    return;
  }
  if (!type.tensor_type().has_shape()) {
    why_[info.name()] = "its shape is not known";
    return;
  }
  std::vector<std::int64_t> dims;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (dim.has_dim_value()) {
      dims.push_back(dim.dim_value());
      continue;
    }
    // Inference makes up names of its own for what depends on values ("unk__0"); these can be given as well.
    if (const auto given = DimValue(dim.dim_param(), options_.dims)) {
      dims.push_back(*given);
      continue;
    }
    const std::string& symbol = dim.dim_param();
    const bool plain = symbol.find_first_of("+-*/% ()") == std::string::npos;
    why_[info.name()] = dim.has_dim_param() && !symbol.empty()
                            ? "dimension " + Quoted(symbol) + " has no value (" +
                                  (plain ? "give one: --dim " + symbol + "=N" : "give one to each name: --dim NAME=N") +
                                  ")"
                            : "one of its dimensions is not known";
    return;
  }
  shapes_.emplace(info.name(), Measure(type.tensor_type().elem_type(), dims, info.name()));
}

const Shape& OnnxReader::Of(const std::string& tensor, const std::string& maker) {
  const Shape* shape = Known(tensor);
  if (shape != nullptr) return *shape;
  const auto why = why_.find(tensor);
  Fail("the size of " + Quoted(tensor) + (maker.empty() ? std::string() : ", made by node " + Quoted(maker) + ",") +
       " is not known: " +
       (why == why_.end() ? "its shape could not be inferred; store shapes in the file, as "
                            "exporters and symbolic shape inference do"
                          : why->second));
}

// Names that a subgraph takes from outside: If, Loop and Scan read them without listing them.
void OnnxReader::Free(const onnx::GraphProto& graph, int depth, boost::unordered_flat_set<std::string> defined,
                      std::vector<std::string>& out) const {
  if (depth > kMaxSubgraphs) Fail("subgraphs are nested too deeply");
  for (const auto& x : graph.input()) defined.insert(x.name());
  for (const auto& x : graph.initializer()) defined.insert(x.name());
  const auto use = [&](const std::string& x) {
    if (!x.empty() && !defined.contains(x)) out.push_back(x);
  };
  for (const auto& node : graph.node()) {
    for (const auto& x : node.input()) use(x);
    for (const auto& a : node.attribute()) {
      if (a.has_g()) Free(a.g(), depth + 1, defined, out);
      for (const auto& g : a.graphs()) Free(g, depth + 1, defined, out);
    }
    for (const auto& x : node.output()) defined.insert(x);
  }
  for (const auto& x : graph.output()) use(x.name());
}

// As for HLO: an operation an element of the results, two a term of products and convolutions, none for moving data.
std::int64_t OnnxReader::Flops(const onnx::NodeProto& node) const {
  Int128 out = 0;
  for (const auto& x : node.output())
    if (const Shape* s = Known(x)) out += s->count;
  const auto in = [&](int i) { return i < node.input_size() ? Known(node.input(i)) : nullptr; };
  const auto attribute = [&](const char* key) {
    for (const auto& a : node.attribute())
      if (a.name() == key) return a.i();
    return std::int64_t{0};
  };
  const std::string& op = node.op_type();
  if (OneOf(op, {"Transpose",    "Concat",
                 "Split",        "Slice",
                 "Gather",       "GatherElements",
                 "GatherND",     "Expand",
                 "Pad",          "Tile",
                 "Cast",         "Shape",
                 "Size",         "ConstantOfShape",
                 "Where",        "ScatterElements",
                 "ScatterND",    "SpaceToDepth",
                 "DepthToSpace", "Range",
                 "EyeLike",      "OneHot"}))
    return 0;
  Int128 flops = out;
  if (op == "MatMul" && in(0) != nullptr && !in(0)->dims.empty())
    flops = 2 * out * in(0)->dims.back();
  else if (op == "Gemm" && in(0) != nullptr && in(0)->dims.size() == 2)
    flops = 2 * out * in(0)->dims[attribute("transA") != 0 ? 0 : 1];
  else if (op == "Conv" && in(1) != nullptr && !in(1)->dims.empty() && in(1)->dims[0] > 0)
    flops = 2 * out * (in(1)->count / in(1)->dims[0]);
  else if (op == "ConvTranspose" && in(0) != nullptr && in(1) != nullptr && !in(1)->dims.empty() && in(1)->dims[0] > 0)
    flops = Int128{2} * in(0)->count * (in(1)->count / in(1)->dims[0]);
  else if (OneOf(op, {"LSTM", "GRU", "RNN"}) && in(0) != nullptr && in(1) != nullptr && in(2) != nullptr &&
           in(0)->dims.size() == 3)
    flops = Int128{2} * in(0)->dims[0] * in(0)->dims[1] * (in(1)->count + in(2)->count);
  const Int128 most = Int128{1} << 61;
  return static_cast<std::int64_t>(flops < most ? flops : most);
}

// Protobuf lets any bytes pass as a name; what is written as JSON must be UTF-8.
void OnnxReader::WantNames(const onnx::GraphProto& graph) const {
  const auto want = [&](const std::string& name) {
    if (!IsUtf8(name)) Fail("the name " + Quoted(name) + " is not UTF-8");
  };
  want(graph.name());
  for (const auto& x : graph.input()) want(x.name());
  for (const auto& x : graph.initializer()) want(x.name());
  for (const auto& node : graph.node()) {
    want(node.name());
    want(node.op_type());
    for (const auto& x : node.input()) want(x);
    for (const auto& x : node.output()) want(x);
  }
}

ReadGraphResult OnnxReader::Run(std::string_view bytes) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  const google::protobuf::LogSilencer quiet;
#endif
  if (bytes.empty()) Fail("the file is empty");
  onnx::ModelProto model;
  {
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                              static_cast<int>(bytes.size()));
    in.SetTotalBytesLimit(std::numeric_limits<int>::max());
    if (!model.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage()) Fail("no ONNX model, or a damaged one");
  }
  if (!model.has_graph()) Fail("the ONNX model has no graph");
  WantNames(model.graph());
  if (model.functions_size() > 0)
    warnings_.Say("functions of the model are not looked into: their calls need shapes in the file");
  for (auto& x : *model.mutable_graph()->mutable_input()) Substitute(x);
  for (auto& x : *model.mutable_graph()->mutable_output()) Substitute(x);
  for (auto& x : *model.mutable_graph()->mutable_value_info()) Substitute(x);
  InferOnnxShapes(model, warnings_);
  const onnx::GraphProto& graph = model.graph();

  GraphBuilder builder;
  builder.SetName(graph.name());
  builder.SetDurationUnit("ns");
  boost::unordered_flat_set<std::string> inputs;  // without a maker
  boost::unordered_flat_set<std::string> made;
  for (const auto& x : graph.initializer()) {
    if (x.name().empty()) Fail("an initializer has no name");
    shapes_.emplace(x.name(), Measure(x.data_type(), {x.dims().begin(), x.dims().end()}, x.name()));
    inputs.insert(x.name());
  }
  if (graph.sparse_initializer_size() > 0) Fail("sparse initializers have no dense size: refused");
  for (const auto& x : graph.input()) {
    Note(x);
    inputs.insert(x.name());
  }
  for (const auto& x : graph.value_info()) Note(x);
  for (const auto& x : graph.output()) Note(x);
  for (const auto& node : graph.node()) {  // Constant: there before the program runs
    if (node.op_type() != "Constant" || node.output_size() != 1) continue;
    for (const auto& a : node.attribute())
      if (a.name() == "value" && a.has_t())
        shapes_.emplace(node.output(0),
                        Measure(a.t().data_type(), {a.t().dims().begin(), a.t().dims().end()}, node.output(0)));
    inputs.insert(node.output(0));
  }
  std::vector<std::string> sorted(inputs.begin(), inputs.end());
  std::sort(sorted.begin(), sorted.end());  // sets have no order of their own
  for (const std::string& x : sorted) builder.AddTensor(x, Of(x, "").bytes);

  boost::unordered_flat_map<std::string, int> used;
  std::size_t modelled = 0;
  Profile profile = Profile::Read(options_.costs.profile);
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (node.op_type() == "Constant" && node.output_size() == 1) continue;
    GraphBuilder::OpSpec op;
    const std::string base = !node.name().empty() ? node.name() : !node.op_type().empty() ? node.op_type() : "node";
    for (op.name = base; !used.try_emplace(op.name, 0).second;) op.name = base + "#" + std::to_string(++used[base]);
    std::int64_t traffic = 0;
    boost::unordered_flat_set<std::string> counted;
    const auto count = [&](const std::string& x) {
      const Shape* s = Known(x);
      if (s != nullptr && counted.insert(x).second) __builtin_add_overflow(traffic, s->bytes, &traffic);
    };
    for (const auto& x : node.input()) {
      op.inputs.push_back(x);
      count(x);
    }
    std::vector<std::string> captured;
    for (const auto& a : node.attribute()) {
      if (a.has_g()) Free(a.g(), 0, {}, captured);
      for (const auto& g : a.graphs()) Free(g, 0, {}, captured);
    }
    for (const std::string& x : captured) {
      if (std::find(op.inputs.begin(), op.inputs.end(), x) == op.inputs.end()) op.inputs.push_back(x);
      count(x);
    }
    const bool view = OneOf(node.op_type(), {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}) &&
                      node.input_size() > 0 && !node.input(0).empty() && node.output_size() == 1;
    for (const auto& x : node.output()) {
      if (x.empty()) continue;  // an optional result that nobody wants
      op.outputs.push_back(x);
      builder.AddTensor(x, Of(x, op.name).bytes, view ? node.input(0) : std::string());
      made.insert(x);
      count(x);
    }
    bool training = false;
    for (const auto& a : node.attribute()) training = training || (a.name() == "training_mode" && a.i() != 0);
    op.recomputable =
        !(OneOf(node.op_type(), {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
                                 "Multinomial", "Bernoulli"}) ||
          (node.op_type() == "Dropout" && (training || (node.input_size() > 2 && !node.input(2).empty()))));
    if (OneOf(node.op_type(), {"If", "Loop", "Scan"}))
      warnings_.Say("what " + Quoted(op.name) + " (" + node.op_type() +
                    ") does inside counts neither time nor memory of its own");
    if (const std::optional<std::int64_t> measured = profile.Of(op.name)) {
      op.duration = *measured;
    } else if (!view) {
      op.duration = options_.costs.Nanoseconds(Flops(node), traffic);
      ++modelled;
    }
    builder.AddOp(std::move(op));
  }
  for (const auto& x : graph.output())
    if (made.contains(x.name())) builder.AddGraphOutput(x.name());
  profile.WarnOfUnused(warnings_);
  if (modelled > 0) warnings_.Say(options_.costs.Described(modelled));
  Graph built = builder.Build();
  return {std::move(built), warnings_.Take(), "onnx"};
}

ReadGraphResult Read(std::string_view bytes, const std::string& name, const OnnxOptions& options) {
  for (const auto& [dim, value] : options.dims)
    if (value < 0) throw InputError("dimension " + Quoted(dim) + " is " + std::to_string(value) + ", negative");
  try {
    return OnnxReader(name, options).Run(bytes);
  } catch (const InputError& e) {
    const std::string what = e.what();  // the builder knows no file
    if (what.rfind(name + ": ", 0) == 0) throw;
    throw InputError(name + ": " + what);
  }
}

}  // namespace

bool LooksLikeOnnx(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe's bytes can be read only once
  std::ifstream in(path, std::ios::binary);
  char head[2] = {0, 0};
  in.read(head, 2);
  return in.gcount() == 2 && head[0] == 0x08 && head[1] > 0 && head[1] < 100;  // field 1 (ir_version), a small number
}

ReadGraphResult ReadOnnx(const std::filesystem::path& path, const OnnxOptions& options) {
  const std::unique_ptr<ByteSource> source = OpenFile(path, options.max_bytes);
  const std::string name = path.string();
  const std::uint64_t most = std::min<std::uint64_t>(options.max_bytes, std::numeric_limits<std::int32_t>::max());
  return Read(ReadAll(*source, name, most), name, options);
}

ReadGraphResult ReadOnnx(std::string_view bytes, const std::string& name, const OnnxOptions& options) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw InputError(name + ": an ONNX file is at most 2 GiB");
  return Read(bytes, name, options);
}

}  // namespace ebb
