// SPDX-License-Identifier: Apache-2.0
//
// The entry computation of an HLO module as a graph. Every instruction that does something is an op named as it is;
// parameters and constants are graph inputs; tuples are no ops at all (a table of pointers has no bytes worth
// counting), get-tuple-element and bitcast are views that take no time. Calls are single ops with the called
// computation's time and its own peak as workspace. Aliasing that the module promises becomes in-place where the order
// of the text allows it. The choices in full: docs/importers.md.
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "engine/base/status.hpp"
#include "io/graph_readers.hpp"
#include "io/hlo_cost.hpp"
#include "io/hlo_text.hpp"
#include "io/profile.hpp"

namespace ebb {
namespace {

constexpr std::uint64_t kMaxText = std::uint64_t{2} << 30;

// One entry of "{ {0,1}: (2, {3}, may-alias), ... }".
struct AliasEntry {
  std::vector<std::int64_t> output, input;
  std::int64_t number = 0;
};

// Scans "{...}: (N, {...}..." entries; what does not look like one ends the list.
std::vector<AliasEntry> AliasEntries(std::string_view text) {
  std::vector<AliasEntry> out;
  std::size_t at = text.find('{');
  if (at == std::string_view::npos) return out;
  ++at;
  const auto skip = [&](std::string_view chars) {
    while (at < text.size() && chars.find(text[at]) != std::string_view::npos) ++at;
  };
  const auto number = [&](std::int64_t& value) {
    const auto [end, code] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (code != std::errc()) return false;
    at = static_cast<std::size_t>(end - text.data());
    return true;
  };
  const auto path = [&](std::vector<std::int64_t>& into) {
    skip(" \n");
    if (at >= text.size() || text[at] != '{') return false;
    ++at;
    for (;;) {
      skip(" ,\n");
      std::int64_t value = 0;
      if (at < text.size() && text[at] == '}') break;
      if (!number(value)) return false;
      into.push_back(value);
    }
    ++at;
    return true;
  };
  for (;;) {
    skip(" ,\n");
    AliasEntry e;
    if (!path(e.output)) return out;
    skip(" :\n");
    if (at >= text.size() || text[at] != '(') return out;
    ++at;
    skip(" ");
    if (!number(e.number)) return out;
    skip(" ,");
    if (!path(e.input)) return out;
    out.push_back(std::move(e));
    at = text.find(')', at);
    if (at == std::string_view::npos) return out;
    ++at;
  }
}

class HloReader {
 public:
  HloReader(const HloModule& module, const CostModel& costs, const std::string& name, Warnings& warnings)
      : module_(module),
        entry_(module.computations[static_cast<std::size_t>(module.entry)]),
        name_(name),
        warnings_(warnings),
        model_(costs),
        costs_(module, costs, name),
        values_(ValuesOf(entry_, name)) {}

  Graph Run();

 private:
  struct Op {
    GraphBuilder::OpSpec spec;
    std::vector<std::int32_t> inputs;  // values, as in spec.inputs
    bool is_op = false;
  };
  [[nodiscard]] const HloInstruction& At(std::int32_t i) const {
    return entry_.instructions[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const std::string& Name(std::int32_t value) const { return names_[static_cast<std::size_t>(value)]; }
  void NameValues();
  void NamePaths(const HloShape& shape, const std::string& prefix, std::vector<std::string>& out) const;
  // The leaf that a path of an instruction's shape leads to; -1 where it leads to none or to a tuple.
  [[nodiscard]] std::int32_t LeafAt(const HloShape& shape, const std::vector<std::int64_t>& path) const;
  void MakeOps();
  void FindLastUses();
  bool TakeOver(std::int32_t input, std::int32_t output);
  void Alias();
  void Times();

  const HloModule& module_;
  const HloComputation& entry_;
  const std::string& name_;
  Warnings& warnings_;
  CostModel model_;
  HloCosts costs_;
  HloValues values_;
  std::vector<std::string> names_;        // of values
  std::vector<Op> ops_;                   // by instruction
  std::vector<std::int32_t> last_use_;    // of the buffer that a value owns; INT32_MAX: it is a result
  std::vector<std::uint8_t> taken_;       // the buffer was taken over
  std::vector<std::uint8_t> overwrites_;  // the value lives in a buffer taken over
  std::vector<std::string> control_;      // 0-byte tensors
};

void HloReader::NamePaths(const HloShape& shape, const std::string& prefix, std::vector<std::string>& out) const {
  if (!shape.is_tuple) {
    out.push_back(prefix.empty() ? std::string() : "{" + prefix + "}");
    return;
  }
  for (std::size_t i = 0; i < shape.elements.size(); ++i)
    NamePaths(shape.elements[i], prefix + (prefix.empty() ? "" : ",") + std::to_string(i), out);
}

void HloReader::NameValues() {
  names_.resize(values_.values.size());
  for (std::size_t i = 0; i < entry_.instructions.size(); ++i) {
    if (KindOf(entry_.instructions[i]) == HloKind::kTuple) continue;
    std::vector<std::string> paths;
    NamePaths(entry_.instructions[i].shape, "", paths);
    for (std::size_t leaf = 0; leaf < paths.size(); ++leaf)
      names_[static_cast<std::size_t>(values_.leaves[i][leaf])] =
          std::string(entry_.instructions[i].name) + paths[leaf];
  }
}

std::int32_t HloReader::LeafAt(const HloShape& shape, const std::vector<std::int64_t>& path) const {
  const HloShape* s = &shape;
  std::int32_t leaf = 0;
  for (const std::int64_t p : path) {
    if (!s->is_tuple || p < 0 || p >= static_cast<std::int64_t>(s->elements.size())) return -1;
    s = &s->elements[static_cast<std::size_t>(p)];
    leaf += s->first_leaf;
  }
  return s->is_tuple ? -1 : leaf;
}

void HloReader::MakeOps() {
  ops_.resize(entry_.instructions.size());
  boost::unordered_flat_map<std::string_view, std::int32_t> index;
  std::vector<std::int32_t> listed(values_.values.size(), -1);  // the last op that lists a value
  for (std::size_t i = 0; i < entry_.instructions.size(); ++i) {
    const HloInstruction& instruction = entry_.instructions[i];
    index.emplace(instruction.name, static_cast<std::int32_t>(i));
    const HloKind kind = KindOf(instruction);
    if (kind != HloKind::kView && kind != HloKind::kOp) continue;
    Op& op = ops_[i];
    op.is_op = true;
    op.spec.name = instruction.name;
    const auto add = [&](std::int32_t value) {
      if (std::exchange(listed[static_cast<std::size_t>(value)], static_cast<std::int32_t>(i)) ==
          static_cast<std::int32_t>(i))
        return;
      op.inputs.push_back(value);
      op.spec.inputs.push_back(Name(value));
    };
    if (kind == HloKind::kView) {  // reads only what it names
      for (const std::int32_t v : values_.leaves[i]) add(values_.values[static_cast<std::size_t>(v)].alias_of);
    } else {
      for (const std::int32_t o : instruction.operands)
        for (const std::int32_t v : values_.leaves[static_cast<std::size_t>(o)]) add(v);
    }
    for (const std::int32_t v : values_.leaves[i]) op.spec.outputs.push_back(Name(v));
    for (const std::string_view before : HloNameList(instruction.Attribute("control-predecessors"))) {
      const auto it = index.find(before);
      if (it == index.end() || !ops_[static_cast<std::size_t>(it->second)].is_op) continue;  // always there
      GraphBuilder::OpSpec& maker = ops_[static_cast<std::size_t>(it->second)].spec;
      const std::string edge = maker.name + "{control}";
      if (maker.outputs.empty() || maker.outputs.back() != edge) {
        maker.outputs.push_back(edge);
        control_.push_back(edge);
      }
      op.spec.inputs.push_back(edge);
    }
  }
}

void HloReader::FindLastUses() {
  last_use_.assign(values_.values.size(), -1);
  taken_.assign(values_.values.size(), 0);
  overwrites_.assign(values_.values.size(), 0);
  for (std::size_t i = 0; i < ops_.size(); ++i)
    for (const std::int32_t v : ops_[i].inputs)
      last_use_[static_cast<std::size_t>(values_.Root(v))] = static_cast<std::int32_t>(i);
  for (const std::int32_t v : values_.leaves[static_cast<std::size_t>(entry_.root)])
    last_use_[static_cast<std::size_t>(values_.Root(v))] = std::numeric_limits<std::int32_t>::max();
}

// The value `output` lives in the buffer of `input`, which its maker reads, from then on. False where that cannot be:
// somebody reads the buffer later, it was taken over already, or the sizes differ.
bool HloReader::TakeOver(std::int32_t input, std::int32_t output) {
  const std::int32_t root = values_.Root(input);
  const HloValues::Value& out = values_.values[static_cast<std::size_t>(output)];
  if (out.alias_of >= 0 || taken_[static_cast<std::size_t>(root)] != 0 ||
      last_use_[static_cast<std::size_t>(root)] > out.instruction ||
      values_.values[static_cast<std::size_t>(root)].bytes != out.bytes)
    return false;
  Op& op = ops_[static_cast<std::size_t>(out.instruction)];
  if (std::exchange(overwrites_[static_cast<std::size_t>(output)], 1) != 0) return false;
  taken_[static_cast<std::size_t>(root)] = 1;
  op.spec.inplace.emplace_back(Name(input), Name(output));
  return true;
}

void HloReader::Alias() {
  std::size_t left_out = 0;
  const auto is_input = [&](std::int32_t value) {
    const HloKind kind = KindOf(At(values_.values[static_cast<std::size_t>(values_.Root(value))].instruction));
    return kind == HloKind::kParameter || kind == HloKind::kConstant;
  };
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const HloInstruction& instruction = entry_.instructions[i];
    if (instruction.opcode == "while" && !instruction.operands.empty()) {  // the loop's state lives in its operand
      const auto& in = values_.leaves[static_cast<std::size_t>(instruction.operands[0])];
      for (std::size_t leaf = 0; leaf < in.size() && leaf < values_.leaves[i].size(); ++leaf)
        if (!is_input(in[leaf])) TakeOver(in[leaf], values_.leaves[i][leaf]);
    }
    for (const AliasEntry& e : AliasEntries(instruction.Attribute("output_to_operand_aliasing"))) {
      const std::int32_t out = LeafAt(instruction.shape, e.output);
      if (out < 0 || e.number < 0 || e.number >= static_cast<std::int64_t>(instruction.operands.size())) continue;
      const std::int32_t operand = instruction.operands[static_cast<std::size_t>(e.number)];
      const std::int32_t in = LeafAt(At(operand).shape, e.input);
      if (in < 0) continue;
      const std::int32_t value = values_.leaves[static_cast<std::size_t>(operand)][static_cast<std::size_t>(in)];
      if (is_input(value) || !TakeOver(value, values_.leaves[i][static_cast<std::size_t>(out)])) ++left_out;
    }
  }
  std::vector<std::int32_t> parameters;
  for (std::size_t i = 0; i < entry_.instructions.size(); ++i) {
    if (entry_.instructions[i].opcode != "parameter") continue;
    std::size_t number = 0;
    const std::string_view text = entry_.instructions[i].literal;
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (number > entry_.instructions.size()) continue;
    if (parameters.size() <= number) parameters.resize(number + 1, -1);
    parameters[number] = static_cast<std::int32_t>(i);
  }
  for (const AliasEntry& e : AliasEntries(module_.Attribute("input_output_alias"))) {
    const std::int32_t out = LeafAt(At(entry_.root).shape, e.output);
    if (out < 0 || e.number < 0 || e.number >= static_cast<std::int64_t>(parameters.size())) continue;
    const std::int32_t parameter = parameters[static_cast<std::size_t>(e.number)];
    const std::int32_t in = parameter < 0 ? -1 : LeafAt(At(parameter).shape, e.input);
    if (in < 0) continue;
    const std::int32_t given = values_.leaves[static_cast<std::size_t>(parameter)][static_cast<std::size_t>(in)];
    const std::int32_t result =
        values_.Root(values_.leaves[static_cast<std::size_t>(entry_.root)][static_cast<std::size_t>(out)]);
    if (result == given) continue;  // handed through
    bool taken = false;
    for (const std::int32_t v :
         ops_[static_cast<std::size_t>(values_.values[static_cast<std::size_t>(result)].instruction)].inputs)
      if (values_.Root(v) == given && !taken) taken = TakeOver(v, result);
    if (!taken) ++left_out;
  }
  if (left_out > 0)
    warnings_.Say(std::to_string(left_out) +
                  " aliasing annotations are left out: the buffer is read later, or not by the op "
                  "that would write it; these results count with bytes of their own");
}

void HloReader::Times() {
  Profile profile = Profile::Read(model_.profile);
  std::size_t modelled = 0, custom = 0;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    Op& op = ops_[i];
    if (!op.is_op) continue;
    const HloInstruction& instruction = entry_.instructions[i];
    const HloCosts::Of of = costs_.Instruction(module_.entry, static_cast<std::int32_t>(i));
    op.spec.recomputable = !of.once;
    op.spec.workspace = of.workspace;
    op.spec.duration = of.nanoseconds;
    if (const std::optional<std::int64_t> measured = profile.Of(op.spec.name)) {
      op.spec.duration = *measured;
      continue;
    }
    if (!of.unknown.empty())
      throw InputError(name_ + ":" + std::to_string(instruction.position.line) + ":" +
                       std::to_string(instruction.position.column) + ": " + Quoted(instruction.name) + " " +
                       of.unknown + ": its duration must come from a profile (--durations)");
    if (of.nanoseconds > 0) ++modelled;
    if (instruction.opcode == "custom-call") ++custom;
  }
  profile.WarnOfUnused(warnings_);
  if (modelled > 0) warnings_.Say(model_.Described(modelled));
  if (custom > 0) warnings_.Say(std::to_string(custom) + " custom-calls are opaque: their durations count bytes only");
}

Graph HloReader::Run() {
  NameValues();
  MakeOps();
  FindLastUses();
  Alias();
  Times();
  GraphBuilder builder;
  builder.SetName(std::string(module_.name));
  builder.SetDurationUnit("ns");
  for (std::size_t v = 0; v < values_.values.size(); ++v) {
    const HloValues::Value& value = values_.values[v];
    builder.AddTensor(names_[v], value.bytes, value.alias_of < 0 ? std::string() : Name(value.alias_of));
  }
  for (std::string& edge : control_) builder.AddTensor(std::move(edge), 0);
  std::vector<std::string> order;
  for (Op& op : ops_) {
    if (!op.is_op) continue;
    order.push_back(op.spec.name);
    builder.AddOp(std::move(op.spec));
  }
  for (const std::int32_t v : values_.leaves[static_cast<std::size_t>(entry_.root)]) {
    const HloKind kind = KindOf(At(values_.values[static_cast<std::size_t>(v)].instruction));
    if (kind == HloKind::kOp || kind == HloKind::kView) builder.AddGraphOutput(Name(v));
  }
  if (module_.Attribute("is_scheduled") == "true") builder.SetOrder(std::move(order));
  try {
    return builder.Build();
  } catch (const InputError& e) {
    throw InputError(name_ + ": " + e.what());
  }
}

}  // namespace

Graph ReadHlo(ByteSource& source, const std::string& name, const CostModel& costs, Warnings& warnings) {
  if (costs.flops_per_second <= 0 || costs.bytes_per_second <= 0 || costs.launch_ns < 0)
    throw InputError("the cost model's rates must be positive");
  const std::string text = ReadAll(source, name, kMaxText);
  const HloModule module = ParseHlo(text, name);
  return HloReader(module, costs, name, warnings).Run();
}

}  // namespace ebb
