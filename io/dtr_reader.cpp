// SPDX-License-Identifier: Apache-2.0
//
// Operation logs of the DTR prototype (Kirisame et al., "Dynamic Tensor Rematerialization", ICLR 2021): one JSON object
// a line, what a PyTorch program did with its tensors during one training step. The log speaks of variables: a name can
// be copied, re-bound and released, and MUTATE changes a tensor under its name. The graph speaks of values, so every
// MUTATE makes a new version of the storage, in place, and all names of that storage mean the new version from then on.
// What each instruction becomes, and how this compares with DTR's own simulator: docs/importers.md.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/status.hpp"
#include "io/graph_readers.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMaxLine = std::size_t{64} << 20;

class DtrReader {
 public:
  explicit DtrReader(Warnings& warnings) : warnings_(&warnings) {}
  void Line(JsonView line);
  Graph Finish();

 private:
  struct Tensor {
    std::string name;
    std::int64_t size = -1;  // -1: no MEMORY yet
    std::int32_t view_of = -1;
    std::int32_t storage = -1;  // index of the tensor at the end of the chain of views
    std::int32_t op = -1;       // -1: a constant
    std::int32_t newer = -1;    // of a storage: the version that replaced it, or a later one
  };
  struct Op {
    std::string name;
    std::int64_t time = 0;
    std::vector<std::int32_t> inputs, outputs;
    std::vector<std::pair<std::int32_t, std::int32_t>> inplace;
  };
  struct Name {
    std::string text;
    std::int32_t tensor = -1;  // what it means now; -1: nothing
    std::int32_t uses = 0;     // tensors that were called so
  };
  // The fields of a line, as the instructions name them.
  struct Fields {
    std::string_view instruction, name, dst, src, annotation;
    bool has_name = false, has_dst = false, has_src = false, has_annotation = false;
    std::int64_t time = -1, memory = -1, alias = -2;
    std::vector<std::string_view> args, result;
    std::vector<std::int64_t> mutate;
    bool has_args = false, has_result = false, has_mutate = false;
  };
  static Fields Take(JsonView line);
  static std::int64_t Number(JsonView v, const std::string& what);

  std::int32_t NameId(std::string_view text);
  std::int32_t Meaning(std::string_view text, const char* role);  // the tensor that a name means; throws if none
  std::int32_t NewTensor(std::string_view base, std::int32_t op);
  std::int32_t Newest(std::int32_t tensor);
  Op Begin(const Fields& f);
  void Call(const Fields& f);
  void Mutate(const Fields& f);
  void Alias(const Fields& f);

  Warnings* warnings_;
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
  std::vector<Name> names_;
  boost::unordered_flat_map<std::string, std::int32_t> name_index_;
  boost::unordered_flat_map<std::string, std::int32_t> versions_;  // of tensor names, so that they stay unique
};

std::int64_t DtrReader::Number(JsonView v, const std::string& what) {
  if (!v.is(JsonKind::kString)) return WholeNumber(v, what);
  std::int64_t value = 0;  // the prototype writes its numbers as strings
  const std::string_view text = v.text();
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) throw InputError(what + " is " + Quoted(text) + ", past 2^63-1");
  if (code != std::errc() || end != text.data() + text.size())
    throw InputError(what + " is " + Quoted(text) + ", a whole number is wanted");
  return value;
}

DtrReader::Fields DtrReader::Take(JsonView line) {
  WantKind(line, JsonKind::kObject, "the line");
  Fields f;
  const auto texts = [](JsonView v, const char* what, std::vector<std::string_view>& into) {
    WantKind(v, JsonKind::kArray, what);
    for (const JsonView x : v) into.push_back(Text(x, std::string("one of ") + what));
  };
  const auto positive = [](JsonView v, const char* what) {
    const std::int64_t n = Number(v, what);
    if (n < 0) throw InputError(std::string(what) + " is " + std::to_string(n) + ", negative");
    return n;
  };
  line.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "INSTRUCTION")
      f.instruction = Text(v, "INSTRUCTION");
    else if (key == "NAME")
      f.name = Text(v, "NAME"), f.has_name = true;
    else if (key == "DST")
      f.dst = Text(v, "DST"), f.has_dst = true;
    else if (key == "SRC")
      f.src = Text(v, "SRC"), f.has_src = true;
    else if (key == "ANNOTATION")
      f.annotation = Text(v, "ANNOTATION"), f.has_annotation = true;
    else if (key == "TIME")
      f.time = positive(v, "TIME");
    else if (key == "MEMORY")
      f.memory = positive(v, "MEMORY");
    else if (key == "ALIAS") {
      f.alias = Number(v, "ALIAS");
      if (f.alias < -1)
        throw InputError("ALIAS is " + std::to_string(f.alias) + ", an argument's index or -1 is wanted");
    } else if (key == "ARGS")
      texts(v, "ARGS", f.args), f.has_args = true;
    else if (key == "RESULT")
      texts(v, "RESULT", f.result), f.has_result = true;
    else if (key == "MUTATE") {
      WantKind(v, JsonKind::kArray, "MUTATE");
      f.has_mutate = true;
      for (const JsonView x : v) f.mutate.push_back(Number(x, "one of MUTATE"));
    }
  });
  if (f.instruction.empty()) throw InputError("the line has no INSTRUCTION");
  const auto want = [&](bool has, const char* what) {
    if (!has) throw InputError(std::string(f.instruction) + " without " + what);
  };
  const std::string_view i = f.instruction;
  if (i == "CONSTANT" || i == "RELEASE")
    want(f.has_name, "NAME");
  else if (i == "MEMORY")
    want(f.has_name, "NAME"), want(f.memory >= 0, "MEMORY");
  else if (i == "ALIAS")
    want(f.has_name, "NAME"), want(f.alias >= -1, "ALIAS");
  else if (i == "COPY" || i == "COPY_FROM")
    want(f.has_dst, "DST"), want(f.has_src, "SRC");
  else if (i == "ANNOTATE")
    want(f.has_annotation, "ANNOTATION");
  else if (i == "CALL")
    want(f.has_name, "NAME"), want(f.has_args, "ARGS"), want(f.has_result, "RESULT"), want(f.time >= 0, "TIME");
  else if (i == "MUTATE")
    want(f.has_name, "NAME"), want(f.has_args, "ARGS"), want(f.has_mutate, "MUTATE"), want(f.time >= 0, "TIME");
  else
    throw InputError("unknown INSTRUCTION " + Quoted(i));
  return f;
}

std::int32_t DtrReader::NameId(std::string_view text) {
  if (text.empty()) throw InputError("a tensor's name is empty");
  const auto [it, fresh] = name_index_.try_emplace(std::string(text), static_cast<std::int32_t>(names_.size()));
  if (fresh) names_.push_back({it->first, -1, 0});
  return it->second;
}

std::int32_t DtrReader::Meaning(std::string_view text, const char* role) {
  const auto it = name_index_.find(std::string(text));
  const std::int32_t tensor = it == name_index_.end() ? -1 : names_[static_cast<std::size_t>(it->second)].tensor;
  if (tensor < 0) throw InputError(std::string(role) + " " + Quoted(text) + " names no tensor at this point");
  return Newest(tensor);
}

std::int32_t DtrReader::NewTensor(std::string_view base, std::int32_t op) {
  if (tensors_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw InputError("more than 2^31 tensors");
  std::string name(base);
  for (;;) {  // "x", then "x@1", "x@2"...; another name of that spelling moves it further
    const auto [it, fresh] = versions_.try_emplace(name, 0);
    if (fresh) break;
    name = std::string(base) + "@" + std::to_string(++versions_[std::string(base)]);
  }
  const auto id = static_cast<std::int32_t>(tensors_.size());
  tensors_.push_back({std::move(name), -1, -1, id, op});
  return id;
}

// The tensor that a name bound to `tensor` means by now. Names are not touched when a storage changes: they are looked
// up through the chain of versions, which is shortened on the way.
std::int32_t DtrReader::Newest(std::int32_t tensor) {
  const auto storage = [&](std::int32_t t) -> Tensor& {
    return tensors_[static_cast<std::size_t>(tensors_[static_cast<std::size_t>(t)].storage)];
  };
  std::int32_t last = tensor;
  while (storage(last).newer >= 0) last = storage(last).newer;
  while (storage(tensor).newer >= 0) tensor = std::exchange(storage(tensor).newer, last);
  return last;
}

// The op of a CALL or a MUTATE, with what it reads.
DtrReader::Op DtrReader::Begin(const Fields& f) {
  Op op;
  op.name = std::string(f.name) + "/" + std::to_string(ops_.size());
  op.time = f.time;
  for (const std::string_view a : f.args) op.inputs.push_back(Meaning(a, "argument"));
  return op;
}

void DtrReader::Call(const Fields& f) {
  Op op = Begin(f);
  const auto index = static_cast<std::int32_t>(ops_.size());
  for (const std::string_view r : f.result) {
    const std::int32_t name = NameId(r);
    if (names_[static_cast<std::size_t>(name)].tensor >= 0)
      throw InputError("the result " + Quoted(r) + " of " + Quoted(op.name) + " names a tensor already");
    const std::int32_t tensor = NewTensor(r, index);
    op.outputs.push_back(tensor);
    names_[static_cast<std::size_t>(name)].tensor = tensor;
  }
  ops_.push_back(std::move(op));
}

// ALIAS follows its CALL: the result shares the storage of that argument.
void DtrReader::Alias(const Fields& f) {
  const std::int32_t id = Meaning(f.name, "ALIAS of");
  Tensor& t = tensors_[static_cast<std::size_t>(id)];
  if (f.alias < 0) return;
  if (t.op < 0) throw InputError("the constant " + Quoted(f.name) + " cannot be an alias");
  const Op& op = ops_[static_cast<std::size_t>(t.op)];
  if (t.op != static_cast<std::int32_t>(ops_.size()) - 1 || t.view_of >= 0)
    throw InputError("ALIAS of " + Quoted(f.name) + ", which is no fresh result of the last CALL");
  if (f.alias >= static_cast<std::int64_t>(op.inputs.size()))
    throw InputError("ALIAS of " + Quoted(f.name) + " is " + std::to_string(f.alias) + ", but " + Quoted(op.name) +
                     " has " + std::to_string(op.inputs.size()) + " arguments");
  t.view_of = op.inputs[static_cast<std::size_t>(f.alias)];
  t.storage = tensors_[static_cast<std::size_t>(t.view_of)].storage;
}

void DtrReader::Mutate(const Fields& f) {
  Op op = Begin(f);
  const auto index = static_cast<std::int32_t>(ops_.size());
  std::vector<std::int32_t> done;  // storages
  for (const std::int64_t m : f.mutate) {
    if (m < 0 || m >= static_cast<std::int64_t>(op.inputs.size()))
      throw InputError("MUTATE of " + Quoted(op.name) + " holds " + std::to_string(m) + ", but there are " +
                       std::to_string(op.inputs.size()) + " arguments");
    const std::int32_t old = op.inputs[static_cast<std::size_t>(m)];
    const std::int32_t storage = tensors_[static_cast<std::size_t>(old)].storage;
    if (std::find(done.begin(), done.end(), storage) != done.end()) continue;  // two names of one storage
    done.push_back(storage);
    const std::string base = tensors_[static_cast<std::size_t>(storage)].name;
    const std::int32_t fresh = NewTensor(base.substr(0, base.find('@')), index);
    tensors_[static_cast<std::size_t>(fresh)].size = tensors_[static_cast<std::size_t>(storage)].size;
    op.outputs.push_back(fresh);
    op.inplace.emplace_back(old, fresh);
    tensors_[static_cast<std::size_t>(storage)].newer = fresh;
  }
  ops_.push_back(std::move(op));
}

void DtrReader::Line(JsonView line) {
  const Fields f = Take(line);
  const std::string_view i = f.instruction;
  if (i == "CONSTANT") {
    const std::int32_t name = NameId(f.name);
    if (names_[static_cast<std::size_t>(name)].tensor >= 0)
      throw InputError("CONSTANT " + Quoted(f.name) + " names a tensor already");
    names_[static_cast<std::size_t>(name)].tensor = NewTensor(f.name, -1);
  } else if (i == "MEMORY") {
    Tensor& t = tensors_[static_cast<std::size_t>(Meaning(f.name, "MEMORY of"))];
    if (t.size >= 0) throw InputError("MEMORY of " + Quoted(f.name) + " comes twice");
    t.size = f.memory;
  } else if (i == "ALIAS") {
    Alias(f);
  } else if (i == "CALL") {
    Call(f);
  } else if (i == "MUTATE") {
    Mutate(f);
  } else if (i == "COPY" || i == "COPY_FROM") {
    const std::int32_t tensor = Meaning(f.src, "SRC");
    names_[static_cast<std::size_t>(NameId(f.dst))].tensor = tensor;
  } else if (i == "RELEASE") {
    const auto it = name_index_.find(std::string(f.name));
    if (it == name_index_.end() || names_[static_cast<std::size_t>(it->second)].tensor < 0)
      warnings_->Say("RELEASE of names that mean no tensor is ignored (the first is " + Quoted(f.name) + ")");
    else
      names_[static_cast<std::size_t>(it->second)].tensor = -1;
  } else if (f.annotation == "START") {  // ANNOTATE; others, as BACKWARD, say nothing about the graph
    if (!ops_.empty() || !tensors_.empty()) warnings_->Say("what stands before the annotation START is left out");
    *this = DtrReader(*warnings_);
  }
}

Graph DtrReader::Finish() {
  if (ops_.empty()) throw InputError("the log holds no CALL and no MUTATE");
  GraphBuilder builder;
  builder.SetDurationUnit("ns");
  for (const Tensor& t : tensors_) {
    const bool view = t.view_of >= 0;
    if (t.size < 0 && !view)
      throw InputError("the tensor " + Quoted(t.name) +
                       (t.op < 0 ? std::string() : " of " + Quoted(ops_[static_cast<std::size_t>(t.op)].name)) +
                       " has no MEMORY");
    builder.AddTensor(t.name, t.size < 0 ? 0 : t.size,
                      view ? tensors_[static_cast<std::size_t>(t.view_of)].name : std::string());
  }
  const auto names = [&](const std::vector<std::int32_t>& tensors, std::vector<GraphBuilder::TensorName>& into) {
    into.clear();
    for (const std::int32_t t : tensors) into.push_back(builder.Mention(tensors_[static_cast<std::size_t>(t)].name));
  };
  const auto name = [&](std::int32_t t) { return builder.Mention(tensors_[static_cast<std::size_t>(t)].name); };
  builder.BeginOrder();
  GraphBuilder::OpRow row;
  for (const Op& op : ops_) {
    row.name = op.name;
    row.duration = op.time;
    names(op.inputs, row.inputs);
    names(op.outputs, row.outputs);
    row.inplace.clear();
    for (const auto& [from, to] : op.inplace) row.inplace.emplace_back(name(from), name(to));
    builder.AddToOrder(op.name);
    builder.AddOp(row);
  }
  std::vector<std::uint8_t> held(tensors_.size(), 0);
  for (const Name& n : names_)
    if (n.tensor >= 0) held[static_cast<std::size_t>(Newest(n.tensor))] = 1;
  for (std::size_t t = 0; t < tensors_.size(); ++t)
    if (held[t] != 0 && tensors_[t].op >= 0) builder.AddGraphOutput(tensors_[t].name);
  return builder.Build();
}

}  // namespace

Graph ReadDtrLog(ByteSource& source, const std::string& name, Warnings& warnings) {
  DtrReader reader(warnings);
  JsonLineParser parser;
  std::int64_t number = 0;
  const auto take = [&](std::string_view line) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const std::string where = name + ":" + std::to_string(number) + ":";
    std::string message;
    JsonView* view = nullptr;
    try {
      JsonView parsed = parser.Parse(line);
      view = &parsed;
      reader.Line(parsed);
    } catch (const InputError& e) {  // the parser's own messages start with the column
      throw InputError(where + (view == nullptr ? "" : " ") + e.what());
    }
  };
  std::string carry;
  for (std::string_view piece = source.Next(); !piece.empty(); piece = source.Next()) {
    for (;;) {
      const std::size_t end = piece.find('\n');
      if (end == std::string_view::npos) break;
      if (carry.empty()) {
        take(piece.substr(0, end));
      } else {
        carry.append(piece.substr(0, end));
        take(carry);
        carry.clear();
      }
      piece.remove_prefix(end + 1);
    }
    if (carry.size() + piece.size() > kMaxLine)
      throw InputError(name + ":" + std::to_string(number + 1) + ": the line is longer than " +
                       std::to_string(kMaxLine) + " bytes");
    carry.append(piece);
  }
  if (!carry.empty()) take(carry);
  try {
    return reader.Finish();
  } catch (const InputError& e) {
    throw InputError(name + ": " + e.what());
  }
}

}  // namespace ebb
