// SPDX-License-Identifier: Apache-2.0
// HLO text: both spellings, shapes that are left out, and what is refused where.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/problem/fingerprint.hpp"
#include "tests/io/hlo_support.hpp"

using hlo::Op, hlo::Read, hlo::Refusal, hlo::Tensor, hlo::kLong;

TEST_CASE("the short spelling says the same") {
  const std::string text = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
// a comment
ENTRY e {
  x = bf16[2,<=3] parameter(0)   // dynamic
  y = (bf16[6], (s32[], pred[5])) custom-call(x),
      custom_call_target="f(\"x\", {", custom_call_has_side_effect=true
  z = (s32[], pred[5]) get-tuple-element(y), index=1
  p = pred[5] get-tuple-element(z), index=1
  q = s4[3]{0:E(4)} convert(p)
  ROOT r = u4[7] pad(q, q), padding=0_4
}
)";
  const ebb::ReadGraphResult r = Read(text);
  const ebb::Graph& g = r.graph;
  CHECK(!g.order_was_given());
  CHECK(g.size(Tensor(g, "x")).count() == 12);
  CHECK(g.size(Tensor(g, "y{0}")).count() == 12);
  CHECK(g.size(Tensor(g, "y{1,0}")).count() == 4);
  CHECK(g.size(Tensor(g, "y{1,1}")).count() == 5);
  CHECK(g.size(Tensor(g, "q")).count() == 2);
  CHECK(g.size(Tensor(g, "r")).count() == 7);
  CHECK(!g.recomputable(Op(g, "y")));
  CHECK(g.storage_root(Tensor(g, "p")) == Tensor(g, "y{1,1}"));
  CHECK(g.inputs(Op(g, "p")).size() == 1);
  CHECK(g.graph_outputs().size() == 1);
  CHECK(r.warnings.size() == 2);  // the model; one opaque call
}

TEST_CASE("shapes that follow from the operands may be left out") {
  const std::string with = R"(HloModule m
ENTRY e {
  x = f32[4,2] parameter(0)
  k = pred[] constant(true)
  y = f32[4,2] add(x, x)
  z = pred[4,2] compare(x, y), direction=LT
  s = f32[4,2] select(z, x, y)
  t = (f32[4,2], (pred[4,2], f32[4,2])) tuple(s, u)
  v = (pred[4,2], f32[4,2]) get-tuple-element(t), index=1
  w = f32[4,2] get-tuple-element(v), index=1
  ROOT r = (f32[4,2], pred[]) tuple(w, k)
}
)";
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::string full = replaced(with, "  t =", "  u = (pred[4,2], f32[4,2]) tuple(z, y)\n  t =");
  std::string without = full;
  for (const auto& [shape, opcode] :
       std::vector<std::pair<std::string, std::string>>{{"(f32[4,2], pred[]) ", "tuple(w"},
                                                        {"f32[4,2] ", "get-tuple-element(v"},
                                                        {"(pred[4,2], f32[4,2]) ", "get-tuple-element(t"},
                                                        {"(f32[4,2], (pred[4,2], f32[4,2])) ", "tuple(s"},
                                                        {"(pred[4,2], f32[4,2]) ", "tuple(z"},
                                                        {"f32[4,2] ", "select"},
                                                        {"pred[4,2] ", "compare"},
                                                        {"f32[4,2] ", "add"}})
    without = replaced(without, shape + opcode, opcode);
  CHECK(without.find("pred[4,2] compare") == std::string::npos);
  CHECK(ebb::Fingerprint(Read(without).graph) == ebb::Fingerprint(Read(full).graph));
  CHECK(Refusal("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  y = reshape(x)\n}\n").find("m.hlo:4:3: 'y'") ==
        0);
  // doubling a tuple on every line must not eat the memory
  std::string bomb = "HloModule m\nENTRY e {\n  t0 = f32[2] parameter(0)\n";
  for (int i = 1; i < 60; ++i)
    bomb += "  t" + std::to_string(i) + " = tuple(t" + std::to_string(i - 1) + ", t" + std::to_string(i - 1) + ")\n";
  CHECK(Refusal(bomb + "}\n").find("left out") != std::string::npos);
}

TEST_CASE("broken modules are refused where they break") {
  const std::string head = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n";
  struct Case {
    std::string text;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {
      {"HloModule", {"m.hlo:1:10:", "module's name"}},
      {"HloModule m\n", {"ENTRY"}},
      {"HloModule m\nENTRY e {\n}\n", {"m.hlo:2:7:", "empty"}},
      {head, {"'}' is missing"}},
      {head + "  ROOT y = f32[2] add(x, z)\n}\n", {"m.hlo:4:26:", "'z'", "not defined"}},
      {head + "  x = f32[2] add(x, x)\n}\n", {"m.hlo:4:3:", "'x'"}},
      {head + "  y = f99[2] add(x, x)\n}\n", {"m.hlo:4:7:", "shape"}},
      {head + "  y = f32[-2] add(x, x)\n}\n", {"m.hlo:4:11:", "dimension"}},
      {head + "  y = f32[?] add(x, x)\n}\n", {"bound"}},
      {head + "  y = f32[4611686018427387904,2] add(x, x)\n}\n", {"m.hlo:4:7:", "overflow"}},
      {head + "  y = f32[2] add(x x)\n}\n", {"m.hlo:4:20:", "','"}},
      {head + "  y = f32[2] add(x, x\n", {"','"}},
      {head + "  y = f32[2] add(x, x) rubbish\n}\n", {"m.hlo:4:24:", "rubbish"}},
      {head + "  y = f32[2] add(x, x), meta=\"open\n}\n", {"string does not end"}},
      {head + "  y = f32[2] add(x, x), meta={{}\n", {"missing"}},
      {head + "  y = f32[2] add(x, x), meta=}\n}\n", {"closes nothing"}},
      {head + "  y = f32[2] get-tuple-element(x), index=0\n}\n", {"m.hlo:4:3:", "'y'"}},
      {head + "  y = (f32[2]) tuple(x)\n  z = f32[2] get-tuple-element(y), index=1\n}\n",
       {"m.hlo:5:3:", "'z'", "element 1"}},
      {head + "  y = (f32[2], f32[2]) tuple(x)\n}\n", {"m.hlo:4:3:", "'y'"}},
      {head + "  y = f32[2] fusion(x), kind=kLoop\n}\n", {"m.hlo:4:3:", "calls="}},
      {head + "  y = f32[2] fusion(x), kind=kLoop, calls=e\n}\n", {"m.hlo:4:3:", "'e'"}},
      {head + "  ROOT y = f32[2] add(x, x)\n  ROOT z = f32[2] add(x, x)\n}\n", {"m.hlo:5:3:", "two roots"}},
      {head + "}\nENTRY f {\n  x = f32[2] parameter(0)\n}\n", {"m.hlo:5:1:", "two ENTRY"}},
      {head + "}\ne {\n  x = f32[2] parameter(0)\n}\n", {"m.hlo:5:1:", "'e'"}},
      {head + "  y = " + std::string(100000, '(') + "\n", {"nested"}},
      {head + "  y = f32[2] constant(" + std::string(100000, '{') + "\n", {"nested"}},
      {"HloModule m /* open", {"comment"}},
  };
  for (const Case& c : cases) {
    const std::string message = Refusal(c.text);
    CAPTURE(c.text.substr(0, 300));
    CAPTURE(message);
    CHECK(message.rfind("m.hlo:", 0) == 0);
    CHECK(message.find('\n') == std::string::npos);
    for (const std::string& word : c.words) CHECK(message.find(word) != std::string::npos);
  }
  const std::string whole = kLong;
  for (std::size_t cut = 10; cut < whole.size() - 2; cut += 7) CHECK(!Refusal(whole.substr(0, cut)).empty());
}
