// SPDX-License-Identifier: Apache-2.0
#include "io/hlo_cost.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/base/status.hpp"
#include "io/hlo_trips.hpp"
#include "io/reader_common.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 61;

std::int64_t Sat(Int128 x) { return x < kMost ? static_cast<std::int64_t>(x) : kMost; }
std::int64_t Add(std::int64_t a, std::int64_t b) { return Sat(static_cast<Int128>(a) + b); }
std::int64_t Times(std::int64_t a, std::int64_t b) { return Sat(static_cast<Int128>(a) * b); }

bool OneOf(std::string_view x, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), x) != list.end();
}
bool EndsWith(std::string_view x, std::string_view end) {
  return x.size() >= end.size() && x.substr(x.size() - end.size()) == end;
}

[[noreturn]] void Fail(const std::string& name, const HloInstruction& i, const std::string& what) {
  throw InputError(name + ":" + std::to_string(i.position.line) + ":" + std::to_string(i.position.column) + ": " +
                   Quoted(i.name) + " " + what);
}

std::vector<std::int64_t> Numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < text.size();) {
    std::int64_t v = 0;
    const auto [end, code] = std::from_chars(text.data() + i, text.data() + text.size(), v);
    if (code == std::errc()) {
      out.push_back(v);
      i = static_cast<std::size_t>(end - text.data());
    } else {
      ++i;
    }
  }
  return out;
}

std::int64_t Elements(const HloShape& s) {
  if (!s.is_tuple) return s.count;
  std::int64_t sum = 0;
  for (const HloShape& e : s.elements) sum = Add(sum, Elements(e));
  return sum;
}
std::int64_t Bytes(const HloShape& s) {
  if (!s.is_tuple) return s.bytes;
  std::int64_t sum = 0;
  for (const HloShape& e : s.elements) sum = Add(sum, Bytes(e));
  return sum;
}
void Leaves(const HloShape& s, std::vector<const HloShape*>& out) {
  if (!s.is_tuple) out.push_back(&s);
  for (const HloShape& e : s.elements) Leaves(e, out);
}
// First leaf of element `e` of a tuple, and how many it has.
std::pair<std::int32_t, std::int32_t> LeavesOf(const HloShape& tuple, std::size_t e) {
  return {tuple.elements[e].first_leaf, tuple.elements[e].leaves};
}

// The halves of an asynchronous op: any opcode can be started and waited for ("async-start", "fusion-start"...). The
// start's result is a tuple of what was given, what comes out, and state. Halves that are made otherwise have names of
// their own here.
bool IsStart(std::string_view opcode) {
  return EndsWith(opcode, "-start") && !OneOf(opcode, {"copy-start", "all-reduce-start"});
}
bool IsDone(std::string_view opcode) {
  return EndsWith(opcode, "-done") && !OneOf(opcode, {"copy-done", "all-reduce-done", "send-done", "recv-done"});
}

}  // namespace

HloKind KindOf(const HloInstruction& i) {
  if (i.opcode == "parameter") return HloKind::kParameter;
  if (i.opcode == "constant") return HloKind::kConstant;
  if (i.opcode == "tuple") return HloKind::kTuple;
  if (OneOf(i.opcode, {"get-tuple-element", "bitcast", "opt-barrier", "optimization-barrier", "add-dependency",
                       "domain", "copy-done", "all-reduce-done"}) ||
      IsDone(i.opcode) || EndsWith(i.opcode, "-update"))
    return HloKind::kView;
  return HloKind::kOp;
}

bool MustRunOnce(const HloInstruction& i) {
  if (OneOf(i.opcode,
            {"rng", "rng-get-and-update-state", "infeed", "outfeed", "send", "send-done", "recv", "recv-done"}))
    return true;
  for (const std::string_view c : {"all-reduce", "all-gather", "all-to-all", "collective-permute",
                                   "collective-broadcast", "reduce-scatter", "ragged-all-to-all"})
    if (i.opcode.substr(0, c.size()) == c) return true;
  return i.Attribute("custom_call_has_side_effect") == "true";
}

HloValues ValuesOf(const HloComputation& c, const std::string& name) {
  HloValues out;
  out.leaves.resize(c.instructions.size());
  for (std::size_t index = 0; index < c.instructions.size(); ++index) {
    const HloInstruction& i = c.instructions[index];
    std::vector<const HloShape*> shapes;
    Leaves(i.shape, shapes);
    const auto operand = [&](std::size_t n) -> const std::vector<std::int32_t>& {
      if (n >= i.operands.size()) Fail(name, i, "has too few operands");
      return out.leaves[static_cast<std::size_t>(i.operands[n])];
    };
    const auto operand_shape = [&](std::size_t n) -> const HloShape& {
      operand(n);
      return c.instructions[static_cast<std::size_t>(i.operands[n])].shape;
    };
    // What each result is another name for; -1: a buffer of its own.
    std::vector<std::int32_t> alias(shapes.size(), -1);
    const auto take = [&](std::size_t first, const std::int32_t* from, std::size_t count) {
      for (std::size_t k = 0; k < count && first + k < alias.size(); ++k) alias[first + k] = from[k];
    };
    const auto take_element = [&](const std::vector<std::int32_t>& from, const HloShape& shape, std::size_t element) {
      if (!shape.is_tuple || element >= shape.elements.size())
        Fail(name, i, "wants element " + std::to_string(element) + " of a shape that has none such");
      const auto [first, count] = LeavesOf(shape, element);
      if (static_cast<std::size_t>(count) != shapes.size())
        Fail(name, i, "has another shape than the element it names");
      take(0, from.data() + first, static_cast<std::size_t>(count));
    };
    if (i.opcode == "tuple") {
      std::size_t at = 0;
      for (std::size_t n = 0; n < i.operands.size(); at += operand(n).size(), ++n)
        take(at, operand(n).data(), operand(n).size());
      if (at != shapes.size()) Fail(name, i, "has another shape than its operands together");
      out.leaves[index] = alias;
      continue;
    }
    if (i.opcode == "get-tuple-element") {
      const std::vector<std::int64_t> which = Numbers(i.Attribute("index"));
      if (which.size() != 1 || which[0] < 0) Fail(name, i, "names no element (index=)");
      take_element(operand(0), operand_shape(0), static_cast<std::size_t>(which[0]));
    } else if (IsDone(i.opcode)) {
      take_element(operand(0), operand_shape(0), 1);
    } else if (i.opcode == "copy-done") {
      take_element(operand(0), operand_shape(0), 0);
    } else if (KindOf(i) == HloKind::kView) {
      if (operand(0).size() != shapes.size()) Fail(name, i, "has another shape than its operand");
      take(0, operand(0).data(), operand(0).size());
    } else if (IsStart(i.opcode) || i.opcode == "send") {
      // the first element of the result is what was given
      if (!i.shape.is_tuple || i.shape.elements.empty()) Fail(name, i, "has no tuple shape");
      std::vector<std::int32_t> given;
      for (std::size_t n = 0; n < i.operands.size() && (n == 0 || i.opcode != "send"); ++n)
        given.insert(given.end(), operand(n).begin(), operand(n).end());
      take(0, given.data(), std::min(given.size(), static_cast<std::size_t>(i.shape.elements[0].leaves)));
    } else if (i.opcode == "copy-start") {
      if (!i.shape.is_tuple || i.shape.elements.size() < 2) Fail(name, i, "has no tuple shape");
      const auto [first, count] = LeavesOf(i.shape, 1);
      take(static_cast<std::size_t>(first), operand(0).data(),
           std::min(operand(0).size(), static_cast<std::size_t>(count)));
    } else if (i.opcode == "recv-done") {
      take(0, operand(0).data(), std::min<std::size_t>(1, operand(0).size()));
    }
    for (std::size_t leaf = 0; leaf < shapes.size(); ++leaf) {
      const auto value = static_cast<std::int32_t>(out.values.size());
      out.leaves[index].push_back(value);
      out.values.push_back({static_cast<std::int32_t>(index), static_cast<std::int32_t>(leaf), shapes[leaf]->bytes,
                            alias[leaf], alias[leaf] < 0 ? value : out.Root(alias[leaf])});
    }
  }
  return out;
}

HloCosts::HloCosts(const HloModule& module, const CostModel& model, const std::string& name)
    : module_(module), model_(model), name_(name) {
  costs_.resize(module.computations.size());
  for (std::size_t i = 0; i < costs_.size(); ++i) costs_[i] = Sum(static_cast<std::int32_t>(i));
}

std::vector<std::int32_t> HloCosts::Callees(std::int32_t computation, const HloInstruction& i) const {
  std::vector<std::int32_t> out;
  for (const auto& [key, value] : i.attributes) {
    if (!OneOf(key, {"calls", "to_apply", "body", "condition", "branch_computations", "true_computation",
                     "false_computation", "called_computations", "select", "scatter", "comparator"}))
      continue;
    for (const std::string_view callee : HloNameList(value)) {
      const auto it = module_.by_name.find(callee);
      if (it == module_.by_name.end()) Fail(name_, i, "calls " + Quoted(callee) + ", which the module does not have");
      if (it->second >= computation) Fail(name_, i, "calls " + Quoted(callee) + ", which is not defined before it");
      out.push_back(it->second);
    }
  }
  return out;
}

// Elementwise: one operation an element of the result. Products and convolutions: a multiplication and an addition a
// term. What only moves data counts as none.
std::int64_t HloCosts::Flops(std::int32_t computation, const HloInstruction& i) const {
  const std::vector<HloInstruction>& all = module_.computations[static_cast<std::size_t>(computation)].instructions;
  const auto shape = [&](std::size_t n) -> const HloShape& {
    return all[static_cast<std::size_t>(i.operands[n])].shape;
  };
  const std::int64_t out = Elements(i.shape);
  if (OneOf(
          i.opcode,
          {"copy",        "broadcast",   "reshape", "transpose", "slice",       "dynamic-slice", "dynamic-update-slice",
           "concatenate", "pad",         "reverse", "gather",    "iota",        "copy-start",    "after-all",
           "infeed",      "outfeed",     "send",    "recv",      "send-done",   "recv-done",     "partition-id",
           "replica-id",  "custom-call", "call",    "while",     "conditional", "async-start",   "bitcast-convert"}) ||
      KindOf(i) != HloKind::kOp || EndsWith(i.opcode, "-start"))
    return 0;
  if (i.opcode == "dot" && !i.operands.empty()) {
    std::int64_t terms = 1;
    for (const std::int64_t d : Numbers(i.Attribute("lhs_contracting_dims")))
      if (d >= 0 && d < static_cast<std::int64_t>(shape(0).dims.size()))
        terms = Times(terms, shape(0).dims[static_cast<std::size_t>(d)]);
    return Times(2, Times(out, terms));
  }
  if (i.opcode == "convolution" && i.operands.size() > 1) {
    const std::string_view labels = i.Attribute("dim_labels");  // as b01f_01io->b01f
    const std::size_t from = labels.find('_'), to = labels.find("->");
    std::int64_t features = 1;
    if (from != std::string_view::npos && to != std::string_view::npos && from < to) {
      const std::size_t o = labels.substr(from + 1, to - from - 1).find('o');
      if (o < shape(1).dims.size()) features = std::max<std::int64_t>(1, shape(1).dims[o]);
    }
    return Times(2, Times(out, shape(1).count / features));
  }
  if (OneOf(i.opcode, {"reduce", "scatter", "select-and-scatter", "reduce-scatter"})) {
    std::int64_t in = 0;
    for (std::size_t n = 0; n < i.operands.size(); ++n) in = Add(in, Elements(shape(n)));
    return in;
  }
  if (i.opcode == "reduce-window") {
    std::int64_t window = 1;
    const std::string_view text = i.Attribute("window");
    if (const std::size_t at = text.find("size="); at != std::string_view::npos)
      for (const std::int64_t d : Numbers(text.substr(at, text.find_first_of(" }", at) - at)))
        window = Times(window, std::max<std::int64_t>(1, d));
    return Times(out, window);
  }
  if (i.opcode == "sort" && !i.operands.empty()) {
    std::int64_t log = 1;
    for (std::int64_t n = 2; n < shape(0).count; n *= 2) ++log;
    return Times(Elements(shape(0)), log);
  }
  return out;
}

HloCosts::Of HloCosts::Instruction(std::int32_t computation, std::int32_t index) const {
  const std::vector<HloInstruction>& all = module_.computations[static_cast<std::size_t>(computation)].instructions;
  const HloInstruction& i = all[static_cast<std::size_t>(index)];
  Of of;
  const HloKind kind = KindOf(i);
  const std::vector<std::int32_t> callees = Callees(computation, i);
  of.once = MustRunOnce(i);
  for (const std::int32_t c : callees) of.once |= Computation(c).once;
  if (kind != HloKind::kOp || OneOf(i.opcode, {"after-all", "recv-done", "send-done"})) return of;

  const std::int64_t out = Bytes(i.shape);
  std::vector<std::int32_t> operands = i.operands;
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  of.bytes = out;
  if (OneOf(i.opcode, {"slice", "dynamic-slice", "gather"})) {
    of.bytes = Times(2, out);  // reads only what it takes
  } else if (i.opcode == "dynamic-update-slice" && i.operands.size() > 1) {
    of.bytes = Add(of.bytes, Add(Bytes(all[static_cast<std::size_t>(i.operands[0])].shape),
                                 Bytes(all[static_cast<std::size_t>(i.operands[1])].shape)));
  } else if (i.opcode != "iota") {
    for (const std::int32_t o : operands) of.bytes = Add(of.bytes, Bytes(all[static_cast<std::size_t>(o)].shape));
  }
  of.flops = Flops(computation, i);

  const auto callee = [&](std::size_t n) -> const HloCost& { return Computation(callees[n]); };
  if (i.opcode == "fusion" || i.opcode == "map" || IsStart(i.opcode)) {
    if (i.opcode == "fusion" && callees.empty()) Fail(name_, i, "is a fusion without calls=");
    of.flops = 0;
    for (std::size_t n = 0; n < callees.size(); ++n)
      of.flops = Add(of.flops, i.opcode == "map" ? Times(callee(n).flops, Elements(i.shape)) : callee(n).flops);
  } else if (i.opcode == "call" || i.opcode == "conditional" || i.opcode == "while") {
    if (callees.empty()) Fail(name_, i, "calls no computation");
    std::int64_t trips = 1;
    if (i.opcode == "while") {
      if (const std::optional<std::int64_t> known = TripCount(module_, computation, index))
        trips = *known;
      else
        of.unknown = "is a loop without a known trip count (none is written, and no counter to follow)";
    }
    for (std::size_t n = 0; n < callees.size(); ++n) {
      const HloCost& c = callee(n);
      if (!c.unknown.empty() && of.unknown.empty()) of.unknown = c.unknown;
      if (i.opcode == "conditional") {
        of.nanoseconds = std::max(of.nanoseconds, c.nanoseconds);
        of.flops = std::max(of.flops, c.flops);
      } else {
        of.nanoseconds = Add(of.nanoseconds, Times(c.nanoseconds, trips));
        of.flops = Add(of.flops, Times(c.flops, trips));
      }
      of.workspace = std::max(of.workspace, c.temp_bytes);
    }
    return of;
  }
  of.nanoseconds = model_.Nanoseconds(of.flops, of.bytes);
  return of;
}

// Time and memory of a computation that runs from top to bottom and frees each buffer after its last use.
HloCost HloCosts::Sum(std::int32_t computation) const {
  const HloComputation& c = module_.computations[static_cast<std::size_t>(computation)];
  const HloValues values = ValuesOf(c, name_);
  std::vector<std::int32_t> last(values.values.size(), -1);
  const auto use = [&](std::int32_t instruction, std::int32_t at) {
    for (const std::int32_t v : values.leaves[static_cast<std::size_t>(instruction)])
      last[static_cast<std::size_t>(values.Root(v))] = at;
  };
  const auto count = static_cast<std::int32_t>(c.instructions.size());
  for (std::int32_t i = 0; i < count; ++i)
    for (const std::int32_t o : c.instructions[static_cast<std::size_t>(i)].operands) use(o, i);
  use(c.root, count);

  HloCost cost;
  std::vector<std::vector<std::int32_t>> dying(static_cast<std::size_t>(count) + 1);
  std::int64_t live = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const HloInstruction& instruction = c.instructions[static_cast<std::size_t>(i)];
    const Of of = Instruction(computation, i);
    cost.once |= of.once;
    cost.flops = Add(cost.flops, of.flops);
    cost.nanoseconds = Add(cost.nanoseconds, of.nanoseconds);
    if (!of.unknown.empty() && cost.unknown.empty())
      cost.unknown = "holds '" + std::string(instruction.name) + "', which " + of.unknown;
    if (KindOf(instruction) == HloKind::kParameter || KindOf(instruction) == HloKind::kTuple) continue;
    for (const std::int32_t v : values.leaves[static_cast<std::size_t>(i)]) {
      if (values.values[static_cast<std::size_t>(v)].alias_of >= 0) continue;
      live = Add(live, values.values[static_cast<std::size_t>(v)].bytes);
      dying[static_cast<std::size_t>(std::max(i, last[static_cast<std::size_t>(v)]))].push_back(v);
    }
    cost.temp_bytes = std::max(cost.temp_bytes, Add(live, of.workspace));
    for (const std::int32_t v : dying[static_cast<std::size_t>(i)])
      live -= values.values[static_cast<std::size_t>(v)].bytes;
  }
  return cost;
}

}  // namespace ebb
