// SPDX-License-Identifier: Apache-2.0
// Every broken file gets one line that names the culprit and, for JSON, where it is.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/base/status.hpp"
#include "io/read_graph.hpp"

namespace {

std::string Refusal(const std::string& text, const ebb::ReadOptions& options = {}) {
  try {
    static_cast<void>(ebb::ReadGraph(text, "g.json", options));
  } catch (const ebb::InputError& e) {
    return e.what();
  }
  return "";
}

std::string Native(const std::string& tensors, const std::string& ops, const std::string& rest = "") {
  return R"({"format": "ebbtide-graph", "version": 1, "tensors": [)" + tensors + R"(], "ops": [)" + ops + "]" + rest +
         "}";
}

std::string Op(const std::string& name, const std::string& in, const std::string& out, const std::string& more = "") {
  return R"({"name": ")" + name + R"(", "duration": 1, "inputs": [)" + in + R"(], "outputs": [)" + out + "]" + more +
         "}";
}

const std::string kFine = Native(R"({"name": "a", "size": 4}, {"name": "b", "size": 4})",
                                 Op("f", "", "\"a\"") + "," + Op("h", "\"a\"", "\"b\""));
std::string Sized(const std::string& size) {
  return Native(R"({"name": "a", "size": )" + size + "}", Op("f", "", "\"a\""));
}

}  // namespace

TEST_CASE("bad input is refused by name") {
  REQUIRE(Refusal(kFine).empty());
  struct Case {
    const char* what;
    std::string text;
    std::vector<std::string> words;
  };
  using namespace std::string_literals;
  const std::string two = R"({"name": "a", "size": 4}, {"name": "b", "size": 4})";
  const std::vector<Case> cases = {
      {"empty", "", {"empty"}},
      {"blank", " \n\t ", {"empty"}},
      {"not json", R"({"format": "ebbtide-graph", )", {"1:29"}},
      {"truncated", kFine.substr(0, kFine.size() - 20), {"ends too early"}},
      {"binary", "\x00\x01\x02PK"s, {"00 01 02"}},
      {"array", "[1,2,3]", {"array"}},
      {"number", "17", {"31 37"}},
      {"string in braces", R"({"a" "b"})", {"1:6", "not JSON"}},
      {"garbage after", kFine + "x", {"follows"}},
      {"two documents", kFine + "\n" + kFine, {":2:1", "follows"}},
      {"bad utf-8",
       R"({"name": ")"
       "\xff"
       R"("})",
       {"not JSON"}},
      {"no graph", R"({"x": 1})", {"no graph"}},
      {"empty object", "{}", {"no graph"}},
      {"plan", R"({"format": "ebbtide-plan", "version": 1})", {"plan"}},
      {"other format", R"({"format": "dot"})", {"dot"}},
      {"format is a number", R"({"format": 3})", {"format", "3"}},
      {"future version", R"({"format": "ebbtide-graph", "version": 99, "ops": [], "tensors": []})", {"99"}},
      {"future version at the end",
       kFine.substr(0, 1) + R"("version": 99, "format": "ebbtide-graph", "ops": []})",
       {"99"}},
      {"version 0", R"({"format": "ebbtide-graph", "version": 0})", {"version", "0"}},
      {"no ops", R"({"format": "ebbtide-graph", "version": 1, "tensors": []})", {"ops"}},
      {"no tensors", R"({"format": "ebbtide-graph", "version": 1, "ops": []})", {"tensors"}},
      {"ops an object", R"({"format": "ebbtide-graph", "version": 1, "ops": {}})", {"ops", "array"}},
      {"name an array", R"({"format": "ebbtide-graph", "name": []})", {"name", "array"}},
      {"key twice", R"({"format": "ebbtide-graph", "ops": [], "ops": []})", {"ops", "twice"}},
      {"size twice", Native(R"({"name": "a", "size": 1, "size": 2})", ""), {"a", "size", "twice"}},
      {"name twice", Native(R"({"name": "a", "size": 1, "name": "b"})", ""), {"name", "twice"}},
      {"unknown tensor", Native(R"({"name": "a", "size": 1})", Op("f", "\"zzz\"", "\"a\"")), {"f", "zzz"}},
      {"two makers",
       Native(R"({"name": "a", "size": 1})", Op("f", "", "\"a\"") + "," + Op("h", "", "\"a\"")),
       {"'a'", "f", "h"}},
      {"cycle", Native(two, Op("A", "\"b\"", "\"a\"") + "," + Op("B", "\"a\"", "\"b\"")), {"cycle", "A", "B"}},
      {"self cycle", Native(two, Op("A", "\"a\"", "\"a\"")), {"cycle", "A"}},
      {"negative size", Sized("-1"), {"'a'", "-1"}},
      {"fractional size", Sized("1.5"), {"'a'", "1.5", "fraction"}},
      {"null size", Sized("null"), {"'a'", "null"}},
      {"text size", Sized("\"8\""), {"'a'", "8"}},
      {"true size", Sized("true"), {"'a'", "true"}},
      {"2^63", Sized("9223372036854775808"), {"'a'", "2^63-1"}},
      {"2^64", Sized("18446744073709551616"), {"'a'", "2^63-1"}},
      {"1e400", Sized("1e400"), {"'a'"}},
      {"-2^64", Sized("-18446744073709551616"), {"'a'", "2^63-1"}},
      {"inexact", Sized("9007199254740994.0"), {"'a'", "exact"}},
      {"NaN", Sized("NaN"), {"not JSON"}},
      {"missing size", Native(R"({"name": "a"})", ""), {"'a'", "size"}},
      {"tensor without name", Native(R"({"size": 1})", ""), {"tensor number 1", "name"}},
      {"tensor a string", Native("\"a\"", ""), {"tensor number 1", "object"}},
      {"empty name", Native(R"({"name": "", "size": 1})", ""), {"tensor number 1", "empty"}},
      {"negative duration",
       Native(R"({"name": "a", "size": 1})", R"({"name": "f", "duration": -3, "inputs": [], "outputs": ["a"]})"),
       {"'f'", "-3"}},
      {"missing duration",
       Native(R"({"name": "a", "size": 1})", R"({"name": "f", "inputs": [], "outputs": ["a"]})"),
       {"'f'", "duration"}},
      {"missing inputs",
       Native(R"({"name": "a", "size": 1})", R"({"name": "f", "duration": 1, "outputs": ["a"]})"),
       {"'f'", "inputs"}},
      {"input a number", Native(R"({"name": "a", "size": 1})", Op("f", "7", "\"a\"")), {"'f'", "7"}},
      {"negative workspace",
       Native(R"({"name": "a", "size": 1})", Op("f", "", "\"a\"", ", \"workspace\": -9")),
       {"'f'", "-9"}},
      {"recomputable a number",
       Native(R"({"name": "a", "size": 1})", Op("f", "", "\"a\"", ", \"recomputable\": 1")),
       {"'f'", "recomputable"}},
      {"overflow",
       Native(
           R"({"name": "a", "size": 4611686018427387904}, {"name": "b", "size": 4611686018427387904}, {"name": "c", "size": 4611686018427387904})",
           Op("f", "", "\"a\", \"b\", \"c\"")),
       {"overflow"}},
      {"duration overflow",
       Native(
           two,
           R"({"name": "f", "duration": 4611686018427387904, "inputs": [], "outputs": ["a"]}, {"name": "h", "duration": 4611686018427387904, "inputs": ["a"], "outputs": ["b"]})"),
       {"overflow"}},
      {"inplace on a stranger",
       Native(two + R"(, {"name": "q", "size": 1})",
              Op("f", "", "\"a\"") + "," + Op("h", "\"a\"", "\"b\"", R"(, "inplace": [["q", "b"]])")),
       {"'h'", "'q'"}},
      {"inplace triple", Native(two, Op("f", "", "\"a\"", R"(, "inplace": [["a", "b", "a"]])")), {"'f'", "3"}},
      {"view ring",
       Native(R"({"name": "a", "size": 1, "view_of": "b"}, {"name": "b", "size": 1, "view_of": "a"})",
              Op("f", "", "\"a\", \"b\"")),
       {"view"}},
      {"view of itself", Native(R"({"name": "a", "size": 1, "view_of": "a"})", Op("f", "", "\"a\"")), {"'a'"}},
      {"view of a stranger",
       Native(R"({"name": "a", "size": 1, "view_of": "zz"})", Op("f", "", "\"a\"")),
       {"'a'", "zz"}},
      {"bad order", kFine.substr(0, kFine.size() - 1) + R"(, "order": ["h", "f"]})", {"h"}},
      {"order misses op", kFine.substr(0, kFine.size() - 1) + R"(, "order": ["f"]})", {"h"}},
      {"order twice", kFine.substr(0, kFine.size() - 1) + R"(, "order": ["f", "h", "f"]})", {"f"}},
      {"order of a stranger", kFine.substr(0, kFine.size() - 1) + R"(, "order": ["f", "h", "zz"]})", {"zz"}},
      {"duplicate op", Native(two, Op("f", "", "\"a\"") + "," + Op("f", "", "\"b\"")), {"'f'"}},
      {"duplicate tensor", Native(R"({"name": "a", "size": 1}, {"name": "a", "size": 1})", ""), {"'a'"}},
      {"unknown output", kFine.substr(0, kFine.size() - 1) + R"(, "outputs": ["nope"]})", {"nope"}},
      {"dangling link",
       R"({"nodes": [{"id": 0, "cost_ram": 1, "cost_cpu": 1}], "links": [{"source": 0, "target": 7}], "graph": {}})",
       {"7"}},
      {"node without size", R"({"nodes": [{"id": 5, "cost_cpu": 1}], "links": []})", {"'5'", "out_cost"}},
      {"node without time", R"({"nodes": [{"id": 5, "cost_ram": 1}], "links": []})", {"'5'", "duration"}},
      {"negative node", R"({"nodes": [{"id": 5, "cost_ram": -1, "cost_cpu": 1}], "links": []})", {"'5'", "-1"}},
      {"fractional node", R"({"nodes": [{"id": 5, "cost_ram": 0.5, "cost_cpu": 1}], "links": []})", {"'5'", "0.5"}},
      {"node twice",
       R"({"nodes": [{"id": 5, "cost_ram": 1, "cost_cpu": 1}, {"id": "5", "cost_ram": 1, "cost_cpu": 1}], "links": []})",
       {"'5'"}},
      {"id an array", R"({"nodes": [{"id": [1, 2], "cost_ram": 1, "cost_cpu": 1}], "links": []})", {"array"}},
      {"link without target", R"({"nodes": [], "links": [{"source": 1}]})", {"target"}},
      {"no links", R"({"nodes": []})", {"links"}},
      {"links and edges", R"({"nodes": [], "links": [], "edges": []})", {"both"}},
      {"undirected", R"({"directed": false, "nodes": [], "links": []})", {"undirected"}},
      {"node-link cycle", R"({"nodes": [{"cost_ram": 1, "cost_cpu": 1}], "links": [{"0": 0, "1": 0}]})", {"cycle"}},
      {"graph pairs broken", R"({"nodes": [], "links": [], "graph": [["order"]]})", {"pair"}},
      {"deep", R"({"x": )" + std::string(100000, '[') + std::string(100000, ']') + "}", {"deep"}},
      {"deep objects",
       [] {
         std::string s;
         for (int i = 0; i < 100000; ++i) s += R"({"ops":)";
         return s;
       }(),
       {"deep"}},
      {"control characters", Native("{\"name\": \"a\\nb\", \"size\": null}", ""), {"a?b"}},
  };
  for (const Case& c : cases) {
    const std::string message = Refusal(c.text);
    CAPTURE(c.what);
    CAPTURE(message);
    CHECK(!message.empty());
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.rfind("g.json:", 0) == 0);
    CHECK(message.size() < 1000);
    for (const std::string& word : c.words) CHECK(message.find(word) != std::string::npos);
  }
}

TEST_CASE("names from files make no long or broken messages") {
  const std::string name = "a\\nb" + std::string(5000, 'x');
  const std::string t = R"({"name": ")" + name + R"(", "size": 1})";
  for (const std::string& text :
       {Native(t + "," + t, ""), Native(t, Op("f", "\"q" + name + "\"", "\"" + name + "\"")),
        Native(t, Op(name, "\"" + name + "\"", "\"" + name + "\"")),
        Native(t, Op(name, "", "\"" + name + "\"") + "," + Op(name + "2", "", "\"" + name + "\""))}) {
    const std::string message = Refusal(text);
    CAPTURE(message);
    CHECK(!message.empty());
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.size() < 1000);
  }
}

TEST_CASE("errors say line and column") {
  const std::string text =
      "{\"format\": \"ebbtide-graph\",\n \"tensors\": [\n  {\"name\": \"a\", \"size\": 1},\n"
      "  {\"name\": \"b\", \"size\": 0.5}\n ], \"ops\": []}";
  CHECK(Refusal(text).rfind("g.json:4:", 0) == 0);
  CHECK(Refusal("{\n\"a\": 1,\n  oops}").rfind("g.json:3:3: ", 0) == 0);
}

TEST_CASE("the file itself") {
  CHECK_THROWS_WITH_AS(static_cast<void>(ebb::ReadGraph(std::filesystem::path("/no/such/absent.json"))),
                       doctest::Contains("/no/such/absent.json"), ebb::InputError);
  CHECK_THROWS_WITH_AS(static_cast<void>(ebb::ReadGraph(std::filesystem::path("/"))), doctest::Contains("folder"),
                       ebb::InputError);
  ebb::ReadOptions options;
  options.format = "dot";
  CHECK(Refusal(kFine, options).find("unknown graph format 'dot'") != std::string::npos);
  options.format = "node-link";
  CHECK(!Refusal(kFine, options).empty());
  options = {};
  options.max_bytes = 100;
  CHECK(Refusal(kFine, options).find("more than 100 bytes") != std::string::npos);
}
