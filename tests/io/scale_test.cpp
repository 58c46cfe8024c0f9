// SPDX-License-Identifier: Apache-2.0
// Long chains, deep views and small files that unpack to large ones: no stack overflow, no memory to speak of.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/base/status.hpp"
#include "engine/problem/fingerprint.hpp"
#include "io/atomic_file.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"

namespace {

constexpr int kLong = 200'000;
constexpr int kWide = 60'000;

std::string T(int i) { return "t" + std::to_string(i); }

// The most memory this process has had, MiB.
long PeakMiB() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

// First, before anything else has taken memory.
TEST_CASE("a small file that unpacks to a large one takes time, not memory") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("ebb_io_bomb_" + std::to_string(::getpid()) + ".json.zst");
  {
    ebb::AtomicFile file(path);
    const std::string blanks(1 << 20, ' ');
    file.Write("{\"format\": \"ebbtide-graph\",");
    for (int i = 0; i < 300; ++i) file.Write(blanks);
    file.Write("\"version\": 1, \"tensors\": [], \"ops\": []}");
    file.Commit();
  }
  CHECK(std::filesystem::file_size(path) < 100'000);
  [[maybe_unused]] const long before = PeakMiB();  // sanitizers need memory of their own
  CHECK(ebb::ReadGraph(path).graph.num_ops() == 0);
  ebb::ReadOptions options;
  options.max_bytes = 1 << 28;
  CHECK_THROWS_WITH_AS(static_cast<void>(ebb::ReadGraph(path, options)), doctest::Contains("more than 268435456 bytes"),
                       ebb::InputError);
#ifndef __SANITIZE_ADDRESS__
  CHECK(PeakMiB() - before < 64);
#endif
  std::filesystem::remove(path);
}

TEST_CASE("reading takes at most three times the file in memory") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("ebb_io_wide_" + std::to_string(::getpid()) + ".json");
  {
    ebb::AtomicFile file(path);
    file.Write("{\"format\": \"ebbtide-graph\", \"version\": 1, \"ops\": [");  // names before their tensors
    for (int i = 0; i < kWide; ++i) {
      std::string op = R"({"name": "op)" + std::to_string(i) + R"(", "duration": 12345, "outputs": ["tensor)" + T(i) +
                       R"("], "inputs": [)";
      for (int k = 1; k <= 8 && k <= i; ++k) op += (k == 1 ? "\"tensor" : ", \"tensor") + T(i - 1 - k * k * k % i) + "\"";
      file.Write(i == 0 ? "" : ",\n");
      file.Write(op + "]}");
    }
    file.Write("], \"tensors\": [");
    for (int i = 0; i < kWide; ++i)
      file.Write((i == 0 ? "" : ",\n") + (R"({"name": "tensor)" + T(i) + R"(", "size": 1048576})"));
    file.Write("]}");
    file.Commit();
  }
  [[maybe_unused]] const auto mib = static_cast<long>(std::filesystem::file_size(path) >> 20);
  [[maybe_unused]] const long before = PeakMiB();
  CHECK(ebb::ReadGraph(path).graph.num_ops() == kWide);
#ifndef __SANITIZE_ADDRESS__
  CHECK(PeakMiB() - before <= 3 * mib);
  MESSAGE((PeakMiB() - before) << " MiB of memory for " << mib << " MiB of text");
#endif
  std::filesystem::remove(path);
}

TEST_CASE("a chain of 200,000 ops") {
  std::string tensors, ops;
  for (int i = 0; i < kLong; ++i) {
    const std::string comma = i == 0 ? "" : ",";
    tensors += comma + R"({"name": ")" + T(i) + R"(", "size": 1})";
    ops += comma + R"({"name": "o)" + std::to_string(i) + R"(", "duration": 1, "inputs": [)" +
           (i == 0 ? "" : "\"" + T(i - 1) + "\"") + R"(], "outputs": [")" + T(i) + "\"]}";
  }
  const std::string head = R"({"format": "ebbtide-graph", "version": 1, "tensors": [)";
  const ebb::Graph g = ebb::ReadGraph(head + tensors + "], \"ops\": [" + ops + "]}", "chain").graph;
  CHECK(g.num_ops() == kLong);
  CHECK(ebb::Fingerprint(ebb::ReadGraph(ebb::GraphToJson(g), "again").graph) == ebb::Fingerprint(g));
  // ... and closed into one cycle
  ops.replace(ops.find("\"inputs\": []"), 12, "\"inputs\": [\"" + T(kLong - 1) + "\"]");
  CHECK_THROWS_WITH_AS(static_cast<void>(ebb::ReadGraph(head + tensors + "], \"ops\": [" + ops + "]}", "cycle")),
                       doctest::Contains("cycle"), ebb::InputError);
}

TEST_CASE("200,000 nested views, in both orders, and a ring of them") {
  for (const bool forward : {true, false}) {
    std::string tensors;
    for (int k = 0; k < kLong; ++k) {
      const int i = forward ? k : kLong - 1 - k;
      tensors += (k == 0 ? "" : ",") + (R"({"name": ")" + T(i) + R"(", "size": 4)") +
                 (i == 0 ? "" : R"(, "view_of": ")" + T(i - 1) + "\"") + "}";
    }
    const std::string head = R"({"format": "ebbtide-graph", "version": 1, "tensors": [)";
    const ebb::Graph g = ebb::ReadGraph(head + tensors + "], \"ops\": []}", "views").graph;
    CHECK(g.input_bytes().count() == 4);
    std::string ring = tensors;
    const std::string first = R"({"name": "t0", "size": 4)";
    ring.replace(ring.find(first), first.size(), first + R"(, "view_of": ")" + T(kLong - 1) + "\"");
    CHECK_THROWS_WITH_AS(static_cast<void>(ebb::ReadGraph(head + ring + "], \"ops\": []}", "ring")),
                         doctest::Contains("view"), ebb::InputError);
  }
}

TEST_CASE("long DTR logs and HLO chains") {
  std::string log = R"({"INSTRUCTION":"CONSTANT","NAME":"c"})"
                    "\n"
                    R"({"INSTRUCTION":"MEMORY","MEMORY":"8","NAME":"c"})"
                    "\n";
  for (int i = 0; i < kLong; ++i)
    log += R"({"ARGS":["c"],"INSTRUCTION":"MUTATE","MUTATE":[0],"NAME":"m","TIME":"1"})"
           "\n";
  CHECK(ebb::ReadGraph(log, "log").graph.num_ops() == kLong);
  std::string copies;
  for (int i = 0; i < kLong; ++i)
    copies += R"({"DST":"c)" + std::to_string(i) +
              R"(","INSTRUCTION":"COPY","SRC":"c"})"
              "\n"
              R"({"ARGS":["c0"],"INSTRUCTION":"MUTATE","MUTATE":[0],"NAME":"m","TIME":"1"})"
              "\n";
  CHECK(ebb::ReadGraph(log.substr(0, log.find("{\"ARGS\"")) + copies, "copies").graph.num_ops() == kLong);

  std::string hlo = "HloModule m\nENTRY e {\n  x0 = f32[2] parameter(0)\n";
  for (int i = 1; i < kLong / 4; ++i)
    hlo += "  x" + std::to_string(i) + (i % 2 == 0 ? " = f32[2] bitcast(x" : " = f32[2] negate(x") +
           std::to_string(i - 1) + ")\n";
  CHECK(ebb::ReadGraph(hlo + "}\n", "hlo").graph.num_ops() == kLong / 4 - 1);
}
