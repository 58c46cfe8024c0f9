// SPDX-License-Identifier: Apache-2.0
//
// One reader a format, behind ReadGraph. Those of JSON are fed in file order and end with Finish(), which builds the
// graph; which of them it is, is told by the first key that one of them knows.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/problem/graph.hpp"
#include "engine/problem/graph_builder.hpp"
#include "io/byte_source.hpp"
#include "io/cost_model.hpp"
#include "io/keyed_sink.hpp"
#include "io/reader_common.hpp"

namespace ebb {

class JsonGraphReader : public KeyedSink {
 public:
  using KeyedSink::KeyedSink;
  // Throws InputError, without a position: the fault is in what the parts say together.
  [[nodiscard]] virtual Graph Finish() = 0;
};

struct JsonGraphFormat {
  std::span<const KeyedSink::Key> keys;
  std::unique_ptr<JsonGraphReader> (*make)(Warnings& warnings);
};
extern const JsonGraphFormat kNativeFormat;    // `ebbtide-graph` (docs/formats.md)
extern const JsonGraphFormat kNodeLinkFormat;  // networkx, in Checkmate's and in Moccasin's spelling (docs/formats.md)
extern const JsonGraphFormat kTorchFormat;     // PyTorch's `min_cut_information` (docs/importers.md)

// DTR operation logs: one JSON object a line (docs/importers.md). Reads to the end; throws InputError with name and
// line.
[[nodiscard]] Graph ReadDtrLog(ByteSource& source, const std::string& name, Warnings& warnings);

// HLO text (docs/importers.md). Throws InputError with name, line and column.
[[nodiscard]] Graph ReadHlo(ByteSource& source, const std::string& name, const CostModel& costs, Warnings& warnings);

}  // namespace ebb
