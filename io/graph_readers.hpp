// SPDX-License-Identifier: Apache-2.0
//
// One reader a format, behind ReadGraph. Each is fed in file order and ends with Finish(), which builds the graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "engine/problem/graph.hpp"
#include "engine/problem/graph_builder.hpp"
#include "io/byte_source.hpp"
#include "io/cost_model.hpp"
#include "io/json_stream.hpp"
#include "io/reader_common.hpp"

namespace ebb {

// A JSON graph format: which top-level keys it knows, and how it takes them. Throws InputError.
class JsonGraphReader : public JsonSink {
 public:
  [[nodiscard]] virtual Graph Finish() = 0;
};

// `ebbtide-graph` (docs/formats.md).
class NativeReader final : public JsonGraphReader {
 public:
  explicit NativeReader(Warnings& warnings) : warnings_(warnings) {}
  static bool Knows(std::string_view key);
  void OnMember(std::string_view key, JsonView value) override;
  void OnArray(std::string_view key) override;
  void OnElement(std::string_view key, JsonView value) override;
  Graph Finish() override;

 private:
  void ReadTensor(JsonView value);
  void ReadOp(JsonView value);

  Warnings& warnings_;
  GraphBuilder builder_;
  std::vector<std::string> order_;
  bool has_order_ = false, has_ops_ = false, has_tensors_ = false, has_format_ = false, has_version_ = false;
  std::size_t ops_ = 0, tensors_ = 0;
};

// networkx node-link JSON, in Checkmate's and in Moccasin's spelling (docs/formats.md).
class NodeLinkReader final : public JsonGraphReader {
 public:
  explicit NodeLinkReader(Warnings& warnings) : warnings_(warnings) {}
  static bool Knows(std::string_view key);
  void OnMember(std::string_view key, JsonView value) override;
  void OnArray(std::string_view key) override;
  void OnElement(std::string_view key, JsonView value) override;
  Graph Finish() override;

 private:
  void ReadNode(JsonView value);
  void ReadLink(JsonView value);
  void ReadAttribute(std::string_view key, JsonView value);  // of the object "graph"
  std::int32_t Intern(JsonView id, const std::string& what);

  struct Node {
    std::string id;
    std::int64_t size = 0, duration = 0;
    bool declared = false;
  };
  Warnings& warnings_;
  std::string name_;
  boost::unordered_flat_map<std::string, std::int32_t> index_;
  std::vector<Node> nodes_;             // in order of first mention, also by a link
  std::vector<std::int32_t> declared_;  // nodes in file order
  std::vector<std::pair<std::int32_t, std::int32_t>> links_;
  std::vector<std::string> order_;
  bool has_order_ = false, has_nodes_ = false, has_links_ = false;
};

// PyTorch's partitioner dump, `min_cut_information` (docs/importers.md).
class TorchReader final : public JsonGraphReader {
 public:
  explicit TorchReader(Warnings& warnings) : warnings_(warnings) {}
  static bool Knows(std::string_view key);
  void OnMember(std::string_view key, JsonView value) override;
  void OnArray(std::string_view key) override;
  void OnElement(std::string_view key, JsonView value) override;
  Graph Finish() override;

 private:
  struct Node {
    std::string name, target;
    std::vector<std::string> inputs;
    std::int64_t index = 0, candidate = -1, elements = 0;
    double memory = -1, runtime = -1, bytes = -1;  // -1: the dump does not say
    bool has_shape = false;
  };
  void ReadNode(std::string_view name, JsonView value);

  Warnings& warnings_;
  std::vector<Node> nodes_;
  std::vector<double> bytes_;  // of the candidates
  bool has_nodes_ = false, has_bytes_ = false, symbolic_ = false;
};

// DTR operation logs: one JSON object a line (docs/importers.md). Reads to the end; throws InputError with name and
// line.
[[nodiscard]] Graph ReadDtrLog(ByteSource& source, const std::string& name, Warnings& warnings);

// HLO text (docs/importers.md). Throws InputError with name, line and column.
[[nodiscard]] Graph ReadHlo(ByteSource& source, const std::string& name, const CostModel& costs, Warnings& warnings);

}  // namespace ebb
