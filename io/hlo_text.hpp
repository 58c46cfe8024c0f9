// SPDX-License-Identifier: Apache-2.0
//
// HLO text as XLA dumps it (`--xla_dump_to`), parsed into computations and instructions. Syntax only: what an
// instruction costs and where its bytes live is hlo_reader.cpp's business. Written against the grammar of OpenXLA's HLO
// text; both the long form (`%name`, shapes in front of operands) and the short form are read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "io/json_stream.hpp"

namespace ebb {

struct HloShape {
  bool is_tuple = false;
  std::string_view type;           // of an array: "f32", "token"...
  std::vector<std::int64_t> dims;  // of an array; a dynamic dimension counts with its bound
  std::vector<HloShape> elements;  // of a tuple
  std::int64_t count = 1;          // array elements
  std::int64_t bytes = 0;          // of the array
  std::int32_t leaves = 1;         // arrays in it
  std::int32_t first_leaf = 0;     // of an element: arrays of the tuple that stand before it
};

struct HloInstruction {
  std::string_view name;
  std::string_view opcode;
  HloShape shape;
  std::vector<std::int32_t> operands;  // earlier instructions of the same computation
  std::string_view literal;            // what stands between the parentheses of parameter() and constant()
  std::vector<std::pair<std::string_view, std::string_view>> attributes;  // braces stay on
  TextPosition position;

  // The attribute's text; empty where absent.
  [[nodiscard]] std::string_view Attribute(std::string_view key) const;
};

struct HloComputation {
  std::string_view name;
  std::vector<HloInstruction> instructions;
  std::int32_t root = -1;
  TextPosition position;
};

struct HloModule {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  std::vector<HloComputation> computations;  // a callee stands before its callers
  boost::unordered_flat_map<std::string_view, std::int32_t> by_name;
  std::int32_t entry = -1;

  [[nodiscard]] std::string_view Attribute(std::string_view key) const;
};

// All views point into `text`, which must outlive the module. Throws InputError "name:line:column: what".
[[nodiscard]] HloModule ParseHlo(std::string_view text, const std::string& name);

// "%a, %b" or "{a, b}" as names without the percent sign.
[[nodiscard]] std::vector<std::string_view> HloNameList(std::string_view text);

}  // namespace ebb
