// SPDX-License-Identifier: Apache-2.0
#include "io/hlo_shape.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "io/cost_model.hpp"

namespace ebb {
namespace {

constexpr int kMaxDepth = 64;  // of tuple shapes

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
std::int64_t Dimension(HloScanner& in) {
  in.Try("<=");  // a bounded dynamic dimension
  in.Skip();
  if (in.Try("?")) in.Fail("a dimension without a bound has no size");
  std::int64_t value = 0;
  const std::string_view rest = in.Rest();
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code != std::errc() || value < 0) in.Fail("a dimension is wanted, there is " + in.Next());
  in.Move(in.at() + static_cast<std::size_t>(end - rest.data()));
  return value;
}

HloShape ReadShape(HloScanner& in, int depth) {
  HloShape shape;
  if (in.Try("(")) {
    if (depth >= kMaxDepth) in.Fail("tuples are nested too deeply");
    shape.is_tuple = true;
    shape.leaves = 0;
    while (!in.Try(")")) {
      if (!shape.elements.empty()) in.Want(",", "between the elements of a tuple shape");
      shape.elements.push_back(ReadShape(in, depth + 1));
      shape.elements.back().first_leaf = shape.leaves;
      shape.leaves += shape.elements.back().leaves;
    }
    return shape;
  }
  in.Skip();
  const std::size_t begin = in.at();
  shape.type = in.Word();
  const auto* type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& t) { return t.name == shape.type; });
  if (type == kTypes.end() || in.Peek() != '[') {
    in.Move(begin);
    in.Fail("a shape as f32[2,3] is wanted, there is " + in.Next());
  }
  in.Want("[", "in a shape");
  while (!in.Try("]")) {
    if (!shape.dims.empty()) in.Want(",", "between dimensions");
    shape.dims.push_back(Dimension(in));
  }
  int bits = type->bits == 0 ? 0 : std::max(type->bits, 8);
  if (in.Here() == '{') {  // the layout, right behind the shape
    const std::size_t start = in.at();
    in.Move(start + 1);
    in.Balanced("}");
    in.Want("}", "after a layout");
    const std::string_view layout = in.From(start);
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
      in.Move(begin);
      in.Fail("the size of the shape overflows");
    }
  }
  shape.count = static_cast<std::int64_t>(total);
  shape.bytes = static_cast<std::int64_t>((total * bits + 7) / 8);
  return shape;
}

}  // namespace

HloShape ReadHloShape(HloScanner& in) { return ReadShape(in, 0); }

std::size_t HloShapeParts(const HloShape& shape) {
  std::size_t sum = 1 + shape.dims.size();
  for (const HloShape& e : shape.elements) sum += HloShapeParts(e);
  return sum;
}

bool InferHloShape(HloInstruction& out, const std::vector<HloInstruction>& before) {
  const auto operand = [&](std::size_t n) -> const HloShape& {
    return before[static_cast<std::size_t>(out.operands[n])].shape;
  };
  const auto one_of = [&](std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), out.opcode) != list.end();
  };
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

}  // namespace ebb
