// SPDX-License-Identifier: Apache-2.0
#include "io/hlo_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "engine/base/status.hpp"
#include "io/cost_model.hpp"
#include "io/reader_common.hpp"

namespace ebb {
namespace {

constexpr int kMaxDepth = 64;                               // of tuple shapes
constexpr std::size_t kMaxInferred = std::size_t{1} << 20;  // parts of all shapes that the text leaves out

struct ElementType {
  std::string_view name;
  int bits;
};
// From XLA's primitive types. Types under a byte take a byte each unless the layout packs them ("E(4)").
constexpr std::array<ElementType, 34> kTypes = {{
    {"pred", 8},       {"s1", 1},
    {"u1", 1},         {"s2", 2},
    {"u2", 2},         {"s4", 4},
    {"u4", 4},         {"s8", 8},
    {"u8", 8},         {"s16", 16},
    {"u16", 16},       {"s32", 32},
    {"u32", 32},       {"s64", 64},
    {"u64", 64},       {"f16", 16},
    {"bf16", 16},      {"f32", 32},
    {"f64", 64},       {"c64", 64},
    {"c128", 128},     {"f8e5m2", 8},
    {"f8e4m3", 8},     {"f8e4m3fn", 8},
    {"f8e3m4", 8},     {"f8e4m3b11fnuz", 8},
    {"f8e5m2fnuz", 8}, {"f8e4m3fnuz", 8},
    {"f8e8m0fnu", 8},  {"f4e2m1fn", 4},
    {"token", 0},      {"opaque", 0},
    {"tf32", 32},      {"s128", 128},
}};

int Depth(const HloShape& shape) {
  int most = 0;
  for (const HloShape& e : shape.elements) most = std::max(most, Depth(e) + 1);
  return most;
}
std::size_t Parts(const HloShape& shape) {
  std::size_t sum = 1 + shape.dims.size();
  for (const HloShape& e : shape.elements) sum += Parts(e);
  return sum;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameChar(char c) { return IsNameStart(c) || IsDigit(c) || c == '.' || c == '-' || c == '$' || c == ':'; }

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}
  HloModule Run();

 private:
  // Where the next token starts; blanks and comments are skipped.
  void Skip();
  [[nodiscard]] char Peek() {
    Skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Try(std::string_view token) {
    Skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void Want(std::string_view token, const char* where) {
    if (!Try(token)) Fail("'" + std::string(token) + "' is wanted " + where + ", there is " + Next());
  }
  std::string_view Name(const char* what);
  std::string Next() const;
  std::string_view Balanced(std::string_view stop);  // up to one of `stop` outside of brackets and strings
  std::string_view Value();
  void Attributes(std::vector<std::pair<std::string_view, std::string_view>>& into);
  HloShape Shape(int depth);
  std::int64_t Dimension();
  HloComputation Computation();
  HloInstruction Instruction(const boost::unordered_flat_map<std::string_view, std::int32_t>& names,
                             const std::vector<HloInstruction>& before);
  bool ShapeFollows();
  bool Infer(HloInstruction& out, const std::vector<HloInstruction>& before);
  void Operands(HloInstruction& out, const boost::unordered_flat_map<std::string_view, std::int32_t>& names);
  [[nodiscard]] TextPosition Position(std::size_t at);
  [[noreturn]] void Fail(const std::string& what) { FailAt(Position(at_), what); }
  [[noreturn]] void FailAt(TextPosition p, const std::string& what) const {
    throw InputError(file_ + ":" + std::to_string(p.line) + ":" + std::to_string(p.column) + ": " + what);
  }
  [[nodiscard]] bool LineEnds(std::size_t from) const {  // only blanks and a comment up to the end of the line
    const std::size_t end = text_.find_first_not_of(" \t\r", from);
    return end == std::string_view::npos || text_[end] == '\n' || text_.substr(end, 2) == "//";
  }
  bool SkipTable();

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0, line_start_ = 0;  // lines are counted as positions are asked for, in ascending order
  std::int64_t line_ = 1;
  std::size_t inferred_ = 0;
};

TextPosition Parser::Position(std::size_t at) {
  if (at < counted_) {  // rare: a fault in something read before
    std::int64_t line = 1;
    std::size_t start = 0;
    for (std::size_t i = 0; i < at; ++i)
      if (text_[i] == '\n') ++line, start = i + 1;
    return {line, static_cast<std::int64_t>(at - start) + 1};
  }
  for (; counted_ < at; ++counted_)
    if (text_[counted_] == '\n') ++line_, line_start_ = counted_ + 1;
  return {line_, static_cast<std::int64_t>(at - line_start_) + 1};
}

void Parser::Skip() {
  while (at_ < text_.size()) {
    if (IsSpace(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) Fail("a comment does not end");
      at_ = end + 2;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

std::string Parser::Next() const {
  if (at_ >= text_.size()) return "the end of the text";
  const std::string_view line = text_.substr(at_, 40);
  return Quoted(line.substr(0, line.find('\n')));
}

std::string_view Parser::Name(const char* what) {
  Try("%");
  Skip();
  const std::size_t begin = at_;
  if (at_ < text_.size() && (IsNameStart(text_[at_]) || IsDigit(text_[at_])))
    while (at_ < text_.size() && IsNameChar(text_[at_]) && text_.substr(at_, 2) != "->") ++at_;
  if (at_ == begin) Fail(std::string(what) + " is wanted, there is " + Next());
  return text_.substr(begin, at_ - begin);
}

std::string_view Parser::Balanced(std::string_view stop) {
  const std::size_t begin = at_;
  std::string open;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (open.empty() && stop.find(c) != std::string_view::npos) break;
    if (c == '"') {
      const std::size_t start = at_++;
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      if (at_ >= text_.size()) FailAt(Position(start), "a string does not end");
    } else if (text_.substr(at_, 2) == "/*") {
      Skip();
      continue;
    } else if (c == '(' || c == '{' || c == '[') {
      if (open.size() > 10000) Fail("brackets are nested too deeply");
      open += c == '(' ? ')' : c == '{' ? '}' : ']';
    } else if (c == ')' || c == '}' || c == ']') {
      if (open.empty() || open.back() != c) Fail(std::string("'") + c + "' closes nothing");
      open.pop_back();
    }
    ++at_;
  }
  if (!open.empty()) Fail(std::string("'") + open.back() + "' is missing, there is the end of the text");
  return text_.substr(begin, at_ - begin);
}

std::string_view Parser::Value() {
  std::string_view value = Balanced(",\n");
  while (!value.empty() && IsSpace(value.back())) value.remove_suffix(1);
  while (!value.empty() && IsSpace(value.front())) value.remove_prefix(1);
  return value;
}

// ", key=value, key=value" up to the end of the line. A flag may stand without a value.
void Parser::Attributes(std::vector<std::pair<std::string_view, std::string_view>>& into) {
  while (!LineEnds(at_)) {
    if (Peek() != ',') {
      if (text_.substr(at_, 1) == "}") return;
      Fail("',' or the end of the line is wanted, there is " + Next());
    }
    ++at_;
    const std::string_view key = Name("an attribute");
    std::string_view value;
    if (at_ < text_.size() && text_[at_] == '=') {
      ++at_;
      value = Value();
    }
    into.emplace_back(key, value);
  }
}

std::int64_t Parser::Dimension() {
  Try("<=");  // a bounded dynamic dimension
  Skip();
  if (Try("?")) Fail("a dimension without a bound has no size");
  std::int64_t value = 0;
  const char* const begin = text_.data() + at_;
  const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (code != std::errc() || value < 0) Fail("a dimension is wanted, there is " + Next());
  at_ += static_cast<std::size_t>(end - begin);
  return value;
}

HloShape Parser::Shape(int depth) {
  HloShape shape;
  if (Try("(")) {
    if (depth >= kMaxDepth) Fail("tuples are nested too deeply");
    shape.is_tuple = true;
    shape.leaves = 0;
    while (!Try(")")) {
      if (!shape.elements.empty()) Want(",", "between the elements of a tuple shape");
      shape.elements.push_back(Shape(depth + 1));
      shape.elements.back().first_leaf = shape.leaves;
      shape.leaves += shape.elements.back().leaves;
    }
    return shape;
  }
  Skip();
  const std::size_t begin = at_;
  while (at_ < text_.size() && (IsNameStart(text_[at_]) || IsDigit(text_[at_]))) ++at_;
  shape.type = text_.substr(begin, at_ - begin);
  const auto* type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& t) { return t.name == shape.type; });
  if (type == kTypes.end() || Peek() != '[') {
    at_ = begin;
    Fail("a shape as f32[2,3] is wanted, there is " + Next());
  }
  Want("[", "in a shape");
  while (!Try("]")) {
    if (!shape.dims.empty()) Want(",", "between dimensions");
    shape.dims.push_back(Dimension());
  }
  int bits = type->bits == 0 ? 0 : std::max(type->bits, 8);
  if (at_ < text_.size() && text_[at_] == '{') {  // the layout, right behind the shape
    const std::size_t start = at_++;
    Balanced("}");
    Want("}", "after a layout");
    const std::string_view layout = text_.substr(start, at_ - start);
    if (const std::size_t e = layout.find("E("); e != std::string_view::npos) {
      int packed = 0;
      std::from_chars(layout.data() + e + 2, layout.data() + layout.size(), packed);
      if (packed > 0 && packed < bits) bits = packed;
    }
  }
  Int128 total = 1;
  for (const std::int64_t d : shape.dims) {
    total *= d;
    if (total * (bits > 0 ? bits : 8) > static_cast<Int128>(std::numeric_limits<std::int64_t>::max())) {
      at_ = begin;
      Fail("the size of the shape overflows");
    }
  }
  shape.count = static_cast<std::int64_t>(total);
  shape.bytes = static_cast<std::int64_t>((total * bits + 7) / 8);
  return shape;
}

void Parser::Operands(HloInstruction& out, const boost::unordered_flat_map<std::string_view, std::int32_t>& names) {
  while (!Try(")")) {
    if (!out.operands.empty()) Want(",", "between operands");
    // A shape may stand in front of the name; a name may look like a shape's type, so look for the bracket.
    if (Peek() == '(') {
      Shape(0);
    } else if (Peek() != '%') {
      std::size_t i = at_;
      while (i < text_.size() && (IsNameStart(text_[i]) || IsDigit(text_[i]))) ++i;
      if (i < text_.size() && text_[i] == '[') Shape(0);
    }
    Skip();
    const std::size_t start = at_;
    const std::string_view name = Name("an operand");
    const auto it = names.find(name);
    if (it == names.end())
      FailAt(Position(start), "operand " + Quoted(name) + " of " + Quoted(out.name) + " is not defined before it");
    out.operands.push_back(it->second);
  }
}

// A shape or an opcode with its parenthesis?
bool Parser::ShapeFollows() {
  if (Peek() == '(') return true;
  std::size_t i = at_;
  while (i < text_.size() && IsNameChar(text_[i])) ++i;
  while (i < text_.size() && IsSpace(text_[i])) ++i;
  return i >= text_.size() || text_[i] != '(' || !IsNameStart(text_[at_]);
}

HloInstruction Parser::Instruction(const boost::unordered_flat_map<std::string_view, std::int32_t>& names,
                                   const std::vector<HloInstruction>& before) {
  HloInstruction out;
  Skip();
  out.position = Position(at_);
  out.name = Name("an instruction");
  if (names.contains(out.name)) FailAt(out.position, "two instructions are called " + Quoted(out.name));
  Want("=", "after an instruction's name");
  const bool shaped = ShapeFollows();
  if (shaped) out.shape = Shape(0);
  out.opcode = Name("an opcode");
  Want("(", "after an opcode");
  if (out.opcode == "parameter" || out.opcode == "constant" || out.opcode == "iota") {
    out.literal = Balanced(")");
    Want(")", "after a literal");
  } else {
    Operands(out, names);
  }
  Attributes(out.attributes);
  if (!shaped && !Infer(out, before))
    FailAt(out.position, Quoted(out.name) + " has no shape, and the shape of a " + Quoted(out.opcode) +
                             " does not follow from its operands' alone");
  return out;
}

// XLA's own tests leave shapes out where they follow from the operands; its dumps always have them.
bool Parser::Infer(HloInstruction& out, const std::vector<HloInstruction>& before) {
  const auto operand = [&](std::size_t n) -> const HloShape& {
    return before[static_cast<std::size_t>(out.operands[n])].shape;
  };
  const auto one_of = [&](std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), out.opcode) != list.end();
  };
  for (std::size_t n = 0; n < out.operands.size() && inferred_ <= kMaxInferred; ++n) inferred_ += Parts(operand(n));
  if (inferred_ > kMaxInferred) FailAt(out.position, "too many and too large shapes are left out");
  if (out.opcode == "tuple") {
    out.shape = HloShape();
    out.shape.is_tuple = true;
    out.shape.leaves = 0;
    for (std::size_t n = 0; n < out.operands.size(); ++n) {
      if (Depth(operand(n)) >= kMaxDepth) return false;
      out.shape.elements.push_back(operand(n));
      out.shape.elements.back().first_leaf = out.shape.leaves;
      out.shape.leaves += operand(n).leaves;
    }
    return true;
  }
  if (out.operands.empty()) return false;
  if (out.opcode == "get-tuple-element") {
    const std::string_view text = out.Attribute("index");
    std::size_t index = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (code != std::errc() || end != text.data() + text.size() || index >= operand(0).elements.size()) return false;
    HloShape element = operand(0).elements[index];
    element.first_leaf = 0;
    out.shape = std::move(element);
    return true;
  }
  if (one_of({"compare", "is-finite"}) && !operand(0).is_tuple) {
    out.shape = operand(0);
    out.shape.type = "pred";
    out.shape.bytes = out.shape.count;
    return true;
  }
  if (one_of({"select", "clamp"}) && out.operands.size() == 3) {
    out.shape = operand(1);
    return true;
  }
  if (!one_of({"abs",
               "add",
               "and",
               "atan2",
               "cbrt",
               "ceil",
               "copy",
               "cosine",
               "divide",
               "erf",
               "exponential",
               "floor",
               "log",
               "log-plus-one",
               "logistic",
               "maximum",
               "minimum",
               "multiply",
               "negate",
               "not",
               "opt-barrier",
               "or",
               "popcnt",
               "power",
               "remainder",
               "rsqrt",
               "shift-left",
               "shift-right-logical",
               "sign",
               "sine",
               "sqrt",
               "subtract",
               "tan",
               "tanh",
               "exponential-minus-one",
               "while",
               "xor",
               "domain",
               "reverse",
               "all-reduce",
               "round-nearest-even",
               "optimization-barrier",
               "shift-right-arithmetic",
               "dynamic-update-slice"}))
    return false;
  out.shape = operand(0);
  out.shape.first_leaf = 0;
  return true;
}

HloComputation Parser::Computation() {
  HloComputation out;
  out.position = Position(at_);
  out.name = Name("a computation");
  if (Peek() != '{') {  // "(parameters) -> result"; both are said again by the instructions
    Balanced("{");
    // the result's layout has braces of its own: the body's brace is the one that ends its line
    while (at_ < text_.size() && !LineEnds(at_ + 1)) {
      ++at_;
      Balanced("}");
      Want("}", "after a layout");
      Balanced("{");
    }
  }
  Want("{", "before a computation's body");
  boost::unordered_flat_map<std::string_view, std::int32_t> names;
  bool has_root = false;
  while (!Try("}")) {
    Skip();
    if (at_ >= text_.size()) Fail("'}' is missing after the computation " + Quoted(out.name));
    const std::size_t start = at_;
    const bool root = Try("ROOT ");
    HloInstruction instruction = Instruction(names, out.instructions);
    const auto index = static_cast<std::int32_t>(out.instructions.size());
    if (root) {
      if (has_root) FailAt(Position(start), "the computation " + Quoted(out.name) + " has two roots");
      has_root = true;
      out.root = index;
    }
    names.emplace(instruction.name, index);
    out.instructions.push_back(std::move(instruction));
  }
  if (out.instructions.empty()) FailAt(out.position, "the computation " + Quoted(out.name) + " is empty");
  if (!has_root) out.root = static_cast<std::int32_t>(out.instructions.size()) - 1;  // as XLA's own parser takes it
  return out;
}

// Newer dumps have tables of source locations between the header and the computations: a title on a line of its own,
// then lines up to a blank one.
bool Parser::SkipTable() {
  Skip();
  for (const std::string_view title : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    if (text_.substr(at_, title.size()) != title || !LineEnds(at_ + title.size())) continue;
    const std::size_t end = text_.find("\n\n", at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
    return true;
  }
  return false;
}

HloModule Parser::Run() {
  HloModule module;
  if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
  Want("HloModule", "at the start");
  module.name = Name("the module's name");
  Attributes(module.attributes);
  for (;;) {
    if (SkipTable()) continue;
    if (Peek() == '\0' && at_ >= text_.size()) break;
    const std::size_t start = at_;
    const bool entry = Try("ENTRY ");
    Skip();
    HloComputation computation = Computation();
    const auto index = static_cast<std::int32_t>(module.computations.size());
    if (!module.by_name.emplace(computation.name, index).second)
      FailAt(computation.position, "two computations are called " + Quoted(computation.name));
    if (entry) {
      if (module.entry >= 0) FailAt(Position(start), "the module has two ENTRY computations");
      module.entry = index;
    }
    module.computations.push_back(std::move(computation));
    // "}, execution_thread=..." stands after some computations
    if (Peek() == ',') {
      std::vector<std::pair<std::string_view, std::string_view>> ignored;
      Attributes(ignored);
    }
  }
  // XLA's parser would take the last computation; but then a file cut off between two computations would pass.
  if (module.entry < 0) Fail("the module " + Quoted(module.name) + " has no ENTRY computation up to its end");
  return module;
}

std::string_view Find(const std::vector<std::pair<std::string_view, std::string_view>>& list, std::string_view key) {
  for (const auto& [k, v] : list)
    if (k == key) return v;
  return {};
}

}  // namespace

std::string_view HloInstruction::Attribute(std::string_view key) const { return Find(attributes, key); }
std::string_view HloModule::Attribute(std::string_view key) const { return Find(attributes, key); }

HloModule ParseHlo(std::string_view text, const std::string& name) { return Parser(text, name).Run(); }

std::vector<std::string_view> HloNameList(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < text.size();) {
    if (!IsNameStart(text[i]) && !IsDigit(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && IsNameChar(text[i])) ++i;
    names.push_back(text.substr(begin, i - begin));
  }
  return names;
}

}  // namespace ebb
