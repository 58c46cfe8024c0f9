// SPDX-License-Identifier: Apache-2.0
//
// A loop over a counter, as frontends write it and as XLA's own analysis knows it (while_loop_analysis):
//
//   state    a tuple; element k is the counter, which starts at a constant
//   cond     compare(state[k], bound), the bound a constant or an element that the body hands on unchanged
//   body     state'[k] = state[k] + step
//
// Scalars are followed back to "element e of the state, plus c" or to a constant, through tuples, copies, conversions,
// sums, and what compilers wrap them in: fusions and calls. Whatever else they come from is not known.
#include "io/hlo_trips.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "engine/base/int128.hpp"

namespace ebb {
namespace {

constexpr int kMaxSteps = 2000;  // instructions looked at for one question
constexpr int kMaxDepth = 64;    // of calls and operands

bool OneOf(std::string_view x, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

struct IntegerType {
  std::string_view name;
  int bits;
  bool is_signed;
};
const IntegerType* IntegerTypeOf(const HloShape& shape) {
  static constexpr IntegerType kTypes[] = {{"s8", 8, true},    {"u8", 8, false},  {"s16", 16, true},
                                           {"u16", 16, false}, {"s32", 32, true}, {"u32", 32, false},
                                           {"s64", 64, true},  {"u64", 64, false}};
  if (shape.is_tuple || shape.count != 1) return nullptr;
  for (const IntegerType& t : kTypes)
    if (t.name == shape.type) return &t;
  return nullptr;
}
bool Fits(Int128 value, const IntegerType& type) {
  const Int128 one = 1;
  const Int128 low = type.is_signed ? -(one << (type.bits - 1)) : 0;
  const Int128 high = (one << (type.is_signed ? type.bits - 1 : type.bits)) - 1;
  return value >= low && value <= high;
}

// "element + offset" of the loop's state, or a constant.
struct Scalar {
  std::int32_t element = -1;  // -1: a constant
  Int128 offset = 0;
};

// An instruction, in the call that it stands in.
struct Frame;
struct Place {
  const Frame* frame;
  std::int32_t instruction;
};
struct Frame {
  const HloComputation* computation;
  const std::vector<Place>* arguments;  // of a call; null: the loop's own computation, whose parameter is the state
};

class Follower {
 public:
  explicit Follower(const HloModule& module) : module_(module) {}

  [[nodiscard]] const HloComputation* Called(const HloInstruction& i, std::string_view attribute) const {
    const std::vector<std::string_view> names = HloNameList(i.Attribute(attribute));
    const auto it = names.size() == 1 ? module_.by_name.find(names[0]) : module_.by_name.end();
    return it == module_.by_name.end() ? nullptr : &module_.computations[static_cast<std::size_t>(it->second)];
  }

  // What element `element` of the tuple at `at` is; -1: what stands at `at` itself.
  std::optional<Scalar> Value(Place at, std::int32_t element, int depth = 0) {
    if (++steps_ > kMaxSteps || depth > kMaxDepth) return std::nullopt;
    const HloInstruction& i = Of(at);
    const auto operand = [&](std::size_t n) { return Place{at.frame, i.operands[n]}; };
    if (i.opcode == "tuple") {
      if (element < 0 || static_cast<std::size_t>(element) >= i.operands.size()) return std::nullopt;
      return Value(operand(static_cast<std::size_t>(element)), -1, depth + 1);
    }
    if (i.opcode == "get-tuple-element") {
      const std::optional<std::int64_t> index = Number(i.Attribute("index"));
      if (element >= 0 || i.operands.empty() || !index || *index < 0 || *index > kMaxElement) return std::nullopt;
      return Value(operand(0), static_cast<std::int32_t>(*index), depth + 1);
    }
    if (i.opcode == "parameter") {
      if (at.frame->arguments == nullptr) return element < 0 ? std::nullopt : std::optional<Scalar>(Scalar{element, 0});
      const std::optional<Place> given = Argument(at);
      return given ? Value(*given, element, depth + 1) : std::nullopt;
    }
    if (OneOf(i.opcode, {"opt-barrier", "optimization-barrier", "copy", "bitcast"}) && !i.operands.empty())
      return element >= 0 || IntegerTypeOf(i.shape) != nullptr ? Value(operand(0), element, depth + 1) : std::nullopt;
    if (const HloComputation* callee = Callee(i)) {
      const std::vector<Place> arguments = Arguments(at);
      const Frame frame{callee, &arguments};
      return Value({&frame, callee->root}, element, depth + 1);
    }
    const IntegerType* type = IntegerTypeOf(i.shape);
    if (element >= 0 || type == nullptr) return std::nullopt;
    std::optional<Scalar> result;
    if (i.opcode == "constant") {
      if (const std::optional<std::int64_t> value = Number(i.literal)) result = Scalar{-1, *value};
    } else if (OneOf(i.opcode, {"convert", "reshape"}) && !i.operands.empty()) {
      result = Value(operand(0), -1, depth + 1);
    } else if (OneOf(i.opcode, {"add", "subtract"}) && i.operands.size() == 2) {
      const std::optional<Scalar> a = Value(operand(0), -1, depth + 1), b = Value(operand(1), -1, depth + 1);
      if (a && b && b->element < 0)
        result = Scalar{a->element, i.opcode == "add" ? a->offset + b->offset : a->offset - b->offset};
      else if (a && b && a->element < 0 && i.opcode == "add")
        result = Scalar{b->element, a->offset + b->offset};
    }
    // Arithmetic that would wrap round, here or in a type on the way, is not followed.
    return result && (result->element >= 0 ? Fits(result->offset, kStep) : Fits(result->offset, *type)) ? result
                                                                                                        : std::nullopt;
  }

  // The comparison that the root of a condition stands for.
  struct Comparison {
    Scalar left, right;
    std::string_view direction;
    const IntegerType* type;
  };
  std::optional<Comparison> Compared(Place at, int depth = 0) {
    if (++steps_ > kMaxSteps || depth > kMaxDepth) return std::nullopt;
    const HloInstruction& i = Of(at);
    if (i.opcode == "compare" && i.operands.size() == 2) {
      const std::optional<Scalar> left = Value({at.frame, i.operands[0]}, -1);
      const std::optional<Scalar> right = Value({at.frame, i.operands[1]}, -1);
      const IntegerType* type = IntegerTypeOf(Of({at.frame, i.operands[0]}).shape);
      if (!left || !right || type == nullptr) return std::nullopt;
      return Comparison{*left, *right, i.Attribute("direction"), type};
    }
    if (OneOf(i.opcode, {"copy", "bitcast", "reshape"}) && !i.operands.empty())
      return Compared({at.frame, i.operands[0]}, depth + 1);
    if (const HloComputation* callee = Callee(i)) {
      const std::vector<Place> arguments = Arguments(at);
      const Frame frame{callee, &arguments};
      return Compared({&frame, callee->root}, depth + 1);
    }
    return std::nullopt;
  }

  static std::optional<std::int64_t> Number(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }

 private:
  static constexpr std::int64_t kMaxElement = 1 << 30;
  static constexpr IntegerType kStep = {"", 64, true};

  static const HloInstruction& Of(Place at) {
    return at.frame->computation->instructions[static_cast<std::size_t>(at.instruction)];
  }
  [[nodiscard]] const HloComputation* Callee(const HloInstruction& i) const {
    if (i.opcode == "fusion") return Called(i, "calls");
    if (i.opcode == "call") return Called(i, "to_apply");
    return nullptr;
  }
  static std::vector<Place> Arguments(Place at) {
    std::vector<Place> out;
    for (const std::int32_t o : Of(at).operands) out.push_back({at.frame, o});
    return out;
  }
  static std::optional<Place> Argument(Place parameter) {
    const std::optional<std::int64_t> number = Number(Of(parameter).literal);
    const std::vector<Place>& given = *parameter.frame->arguments;
    if (!number || *number < 0 || *number >= static_cast<std::int64_t>(given.size())) return std::nullopt;
    return given[static_cast<std::size_t>(*number)];
  }

  const HloModule& module_;
  int steps_ = 0;
};

// How many values of start, start + step, ... stand in `direction` to the bound before the first that does not.
std::optional<Int128> Count(Int128 start, Int128 step, std::string_view direction, Int128 bound) {
  if (direction == "GT" || direction == "GE")  // mirrored
    return Count(-start, -step, direction == "GT" ? "LT" : "LE", -bound);
  if (direction == "LE") return Count(start, step, "LT", bound + 1);
  if (direction == "LT") {
    if (start >= bound) return 0;
    if (step <= 0) return std::nullopt;  // without end
    return (bound - start + step - 1) / step;
  }
  if (direction == "NE") {
    const Int128 way = bound - start;
    if (way == 0) return 0;
    if (step == 0 || way % step != 0 || way / step < 0) return std::nullopt;
    return way / step;
  }
  if (direction == "EQ") {
    if (start != bound) return 0;
    if (step == 0) return std::nullopt;
    return 1;
  }
  return std::nullopt;
}

std::string_view Flipped(std::string_view direction) {
  if (direction == "LT") return "GT";
  if (direction == "LE") return "GE";
  if (direction == "GT") return "LT";
  if (direction == "GE") return "LE";
  return direction;
}

std::optional<std::int64_t> Counted(const HloModule& module, const HloComputation& outer, const HloInstruction& loop) {
  Follower follow(module);
  const HloComputation* condition = follow.Called(loop, "condition");
  const HloComputation* body = follow.Called(loop, "body");
  if (condition == nullptr || body == nullptr || loop.operands.size() != 1) return std::nullopt;
  const Frame condition_frame{condition, nullptr}, body_frame{body, nullptr}, outer_frame{&outer, nullptr};
  std::optional<Follower::Comparison> test = follow.Compared({&condition_frame, condition->root});
  if (!test) return std::nullopt;

  // Where an element starts, and what one turn adds to it.
  const auto start_of = [&](std::int32_t element) -> std::optional<Int128> {
    const std::optional<Scalar> start = follow.Value({&outer_frame, loop.operands[0]}, element);
    if (!start || start->element >= 0) return std::nullopt;
    return start->offset;
  };
  const auto step_of = [&](std::int32_t element) -> std::optional<Int128> {
    const std::optional<Scalar> next = follow.Value({&body_frame, body->root}, element);
    if (!next || next->element != element) return std::nullopt;
    return next->offset;
  };
  // A side that no turn changes is a constant.
  const auto settle = [&](Scalar& side) {
    if (side.element < 0 || step_of(side.element) != std::optional<Int128>(0)) return;
    if (const std::optional<Int128> start = start_of(side.element)) side = {-1, *start + side.offset};
  };
  settle(test->left);
  settle(test->right);
  if (test->left.element < 0) {
    std::swap(test->left, test->right);
    test->direction = Flipped(test->direction);
  }
  if (test->left.element < 0 || test->right.element >= 0) return std::nullopt;
  const std::optional<Int128> start = start_of(test->left.element), step = step_of(test->left.element);
  if (!start || !step) return std::nullopt;
  const std::optional<Int128> count = Count(*start + test->left.offset, *step, test->direction, test->right.offset);
  if (!count || !Fits(*count, {"", 64, true})) return std::nullopt;
  // The counter must not wrap round on its way to the last comparison, neither in the state nor as it is compared.
  const auto element = static_cast<std::size_t>(test->left.element);
  const IntegerType* type =
      element < loop.shape.elements.size() ? IntegerTypeOf(loop.shape.elements[element]) : nullptr;
  const Int128 last = *start + *count * *step;
  if (type == nullptr || !Fits(last, *type)) return std::nullopt;
  for (const Int128 value : {*start, last})
    if (!Fits(value + test->left.offset, *test->type)) return std::nullopt;
  return static_cast<std::int64_t>(*count);
}

// backend_config={"known_trip_count":{"n":"12"},...}
std::optional<std::int64_t> Written(std::string_view config) {
  const std::size_t at = config.find("known_trip_count");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = config.substr(at, 60);
  const std::size_t digit = rest.find_first_of("0123456789");
  if (digit == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(rest.data() + digit, rest.data() + rest.size(), value);
  if (code != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> TripCount(const HloModule& module, std::int32_t computation, std::int32_t loop) {
  const HloComputation& outer = module.computations[static_cast<std::size_t>(computation)];
  const HloInstruction& instruction = outer.instructions[static_cast<std::size_t>(loop)];
  if (const std::optional<std::int64_t> written = Written(instruction.Attribute("backend_config"))) return written;
  return Counted(module, outer, instruction);
}

}  // namespace ebb
