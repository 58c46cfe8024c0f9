// SPDX-License-Identifier: Apache-2.0
#include "io/hlo_text.hpp"

#include "io/hlo_scanner.hpp"
#include "io/hlo_shape.hpp"
#include "io/reader_common.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMaxInferred = std::size_t{1} << 20;  // parts of all shapes that the text leaves out

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : in_(text, file) {}
  HloModule Run();

 private:
  HloComputation Computation();
  HloInstruction Instruction(const boost::unordered_flat_map<std::string_view, std::int32_t>& names,
                             const std::vector<HloInstruction>& before);
  bool ShapeFollows();
  bool Infer(HloInstruction& out, const std::vector<HloInstruction>& before);
  void Operands(HloInstruction& out, const boost::unordered_flat_map<std::string_view, std::int32_t>& names);
  bool SkipTable();

  HloScanner in_;
  std::size_t inferred_ = 0;
};

void Parser::Operands(HloInstruction& out, const boost::unordered_flat_map<std::string_view, std::int32_t>& names) {
  while (!in_.Try(")")) {
    if (!out.operands.empty()) in_.Want(",", "between operands");
    // A shape may stand in front of the name; a name may look like a shape's type, so look for the bracket.
    if (in_.Peek() == '(') {
      static_cast<void>(ReadHloShape(in_));
    } else if (in_.Peek() != '%') {
      const std::size_t start = in_.at();
      in_.Word();
      const bool shaped = in_.Here() == '[';
      in_.Move(start);
      if (shaped) static_cast<void>(ReadHloShape(in_));
    }
    in_.Skip();
    const std::size_t start = in_.at();
    const std::string_view name = in_.Name("an operand");
    const auto it = names.find(name);
    if (it == names.end())
      in_.FailAt(in_.Position(start),
                 "operand " + Quoted(name) + " of " + Quoted(out.name) + " is not defined before it");
    out.operands.push_back(it->second);
  }
}

// A shape or an opcode with its parenthesis?
bool Parser::ShapeFollows() {
  if (in_.Peek() == '(') return true;
  const std::string_view rest = in_.Rest();
  std::size_t i = 0;
  while (i < rest.size() && HloScanner::IsNameChar(rest[i])) ++i;
  while (i < rest.size() && HloScanner::IsSpace(rest[i])) ++i;
  return i >= rest.size() || rest[i] != '(' || !HloScanner::IsNameStart(rest[0]);
}

HloInstruction Parser::Instruction(const boost::unordered_flat_map<std::string_view, std::int32_t>& names,
                                   const std::vector<HloInstruction>& before) {
  HloInstruction out;
  in_.Skip();
  out.position = in_.Position(in_.at());
  out.name = in_.Name("an instruction");
  if (names.contains(out.name)) in_.FailAt(out.position, "two instructions are called " + Quoted(out.name));
  in_.Want("=", "after an instruction's name");
  const bool shaped = ShapeFollows();
  if (shaped) out.shape = ReadHloShape(in_);
  out.opcode = in_.Name("an opcode");
  in_.Want("(", "after an opcode");
  if (out.opcode == "parameter" || out.opcode == "constant" || out.opcode == "iota") {
    out.literal = in_.Balanced(")");
    in_.Want(")", "after a literal");
  } else {
    Operands(out, names);
  }
  in_.Attributes(out.attributes);
  if (!shaped && !Infer(out, before))
    in_.FailAt(out.position, Quoted(out.name) + " has no shape, and the shape of a " + Quoted(out.opcode) +
                                 " does not follow from its operands' alone");
  return out;
}

// False where the shape does not follow from the operands alone.
bool Parser::Infer(HloInstruction& out, const std::vector<HloInstruction>& before) {
  for (std::size_t n = 0; n < out.operands.size() && inferred_ <= kMaxInferred; ++n)
    inferred_ += HloShapeParts(before[static_cast<std::size_t>(out.operands[n])].shape);
  if (inferred_ > kMaxInferred) in_.FailAt(out.position, "too many and too large shapes are left out");
  return InferHloShape(out, before);
}

HloComputation Parser::Computation() {
  HloComputation out;
  out.position = in_.Position(in_.at());
  out.name = in_.Name("a computation");
  if (in_.Peek() != '{') {  // "(parameters) -> result"; both are said again by the instructions
    in_.Balanced("{");
    // the result's layout has braces of its own: the body's brace is the one that ends its line
    while (!in_.AtEnd() && !in_.LineEnds(in_.at() + 1)) {
      in_.Move(in_.at() + 1);
      in_.Balanced("}");
      in_.Want("}", "after a layout");
      in_.Balanced("{");
    }
  }
  in_.Want("{", "before a computation's body");
  boost::unordered_flat_map<std::string_view, std::int32_t> names;
  bool has_root = false;
  while (!in_.Try("}")) {
    in_.Skip();
    if (in_.AtEnd()) in_.Fail("'}' is missing after the computation " + Quoted(out.name));
    const std::size_t start = in_.at();
    const bool root = in_.Try("ROOT ");
    HloInstruction instruction = Instruction(names, out.instructions);
    const auto index = static_cast<std::int32_t>(out.instructions.size());
    if (root) {
      if (has_root) in_.FailAt(in_.Position(start), "the computation " + Quoted(out.name) + " has two roots");
      has_root = true;
      out.root = index;
    }
    names.emplace(instruction.name, index);
    out.instructions.push_back(std::move(instruction));
  }
  if (out.instructions.empty()) in_.FailAt(out.position, "the computation " + Quoted(out.name) + " is empty");
  if (!has_root) out.root = static_cast<std::int32_t>(out.instructions.size()) - 1;  // as XLA's own parser takes it
  return out;
}

// Newer dumps have tables of source locations between the header and the computations: a title on a line of its own,
// then lines up to a blank one.
bool Parser::SkipTable() {
  in_.Skip();
  for (const std::string_view title : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    if (in_.Rest().substr(0, title.size()) != title || !in_.LineEnds(in_.at() + title.size())) continue;
    const std::size_t end = in_.Rest().find("\n\n");
    in_.Move(in_.at() + (end == std::string_view::npos ? in_.Rest().size() : end + 2));
    return true;
  }
  return false;
}

HloModule Parser::Run() {
  HloModule module;
  if (in_.Rest().substr(0, 3) == "\xef\xbb\xbf") in_.Move(3);
  in_.Want("HloModule", "at the start");
  module.name = in_.Name("the module's name");
  in_.Attributes(module.attributes);
  for (;;) {
    if (SkipTable()) continue;
    if (in_.Peek() == '\0' && in_.AtEnd()) break;
    const std::size_t start = in_.at();
    const bool entry = in_.Try("ENTRY ");
    in_.Skip();
    HloComputation computation = Computation();
    const auto index = static_cast<std::int32_t>(module.computations.size());
    if (!module.by_name.emplace(computation.name, index).second)
      in_.FailAt(computation.position, "two computations are called " + Quoted(computation.name));
    if (entry) {
      if (module.entry >= 0) in_.FailAt(in_.Position(start), "the module has two ENTRY computations");
      module.entry = index;
    }
    module.computations.push_back(std::move(computation));
    // "}, execution_thread=..." stands after some computations
    if (in_.Peek() == ',') {
      std::vector<std::pair<std::string_view, std::string_view>> ignored;
      in_.Attributes(ignored);
    }
  }
  // XLA's parser would take the last computation; but then a file cut off between two computations would pass.
  if (module.entry < 0) in_.Fail("the module " + Quoted(module.name) + " has no ENTRY computation up to its end");
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
    if (!HloScanner::IsNameStart(text[i]) && !HloScanner::IsDigit(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && HloScanner::IsNameChar(text[i])) ++i;
    names.push_back(text.substr(begin, i - begin));
  }
  return names;
}

}  // namespace ebb
