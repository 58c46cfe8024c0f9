// SPDX-License-Identifier: Apache-2.0
//
// A JSON document as a stream of records. Graph and plan files are one object whose members are short or are long
// arrays; the arrays are handed over element by element, so memory is one record's, not the file's.
//
//   {"name": "x",            -> OnMember("name", "x")
//    "ops": [{...}, {...}],  -> OnArray("ops"), OnElement("ops", {...}), OnElement("ops", {...})
//    "graph": {...}}         -> OnMember("graph", {...})
//
// Or, for a file of one object a line, every line is a record (ParseJsonLine).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/byte_source.hpp"
#include "io/json_tape.hpp"

namespace ebb {

struct TextPosition {
  std::int64_t line = 1, column = 1;  // both from 1; columns in bytes
};

class JsonSink {
 public:
  virtual ~JsonSink() = default;
  virtual void OnMember(std::string_view key, JsonView value) = 0;
  virtual void OnArray(std::string_view key) = 0;  // its elements follow
  virtual void OnElement(std::string_view key, JsonView value) = 0;
};

struct JsonLimits {
  std::size_t depth = 64;
  std::size_t record_bytes = std::size_t{512} << 20;  // memory of one record
};

// Reads the source to its end. An InputError that the sink throws is thrown on with "name:line:column: " in front; the
// position is that of the record's first string or number. Throws InputError where the text is no JSON object.
void ParseJsonStream(ByteSource& source, const std::string& name, JsonSink& sink, const JsonLimits& limits = {});

// Parses one whole JSON text into tapes of its own. Reusable.
class JsonLineParser {
 public:
  JsonLineParser();
  ~JsonLineParser();
  JsonLineParser(const JsonLineParser&) = delete;
  JsonLineParser& operator=(const JsonLineParser&) = delete;
  // Valid until the next call. Throws InputError; the message starts with the column of the fault.
  [[nodiscard]] JsonView Parse(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb
