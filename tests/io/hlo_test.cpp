// SPDX-License-Identifier: Apache-2.0
// HLO text: syntax in both spellings, views, calls, aliasing, costs, and what is refused where.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "engine/base/status.hpp"
#include "engine/problem/fingerprint.hpp"
#include "engine/problem/plan.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"

namespace {

ebb::ReadGraphResult Read(const std::string& text, const ebb::ReadOptions& options = {}) {
  return ebb::ReadGraph(text, "m.hlo", options);
}
std::string Refusal(const std::string& text, const ebb::ReadOptions& options = {}) {
  try {
    static_cast<void>(Read(text, options));
  } catch (const ebb::InputError& e) {
    return e.what();
  }
  return "";
}
ebb::OpId Op(const ebb::Graph& g, const std::string& name) {
  for (std::size_t i = 0; i < g.num_ops(); ++i)
    if (g.op_name(ebb::ToOpId(i)) == name) return ebb::ToOpId(i);
  FAIL("no op ", name);
  return ebb::OpId::kNone;
}
ebb::TensorId Tensor(const ebb::Graph& g, const std::string& name) {
  for (std::size_t i = 0; i < g.num_tensors(); ++i)
    if (g.tensor_name(ebb::ToTensorId(i)) == name) return ebb::ToTensorId(i);
  FAIL("no tensor ", name);
  return ebb::TensorId::kNone;
}

const char* const kLong =
    R"(HloModule jit_step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }, entry_computation_layout={(f32[4,8]{1,0}, f32[8]{0})->(f32[4,8]{1,0}, f32[8]{0}, /*index=2*/f32[])}

FileNames
1 "model.py"

FunctionNames
1 "step {"

%region_0.3 (Arg_0.4: f32[], Arg_1.5: f32[]) -> f32[] {
  %Arg_0.4 = f32[] parameter(0)
  %Arg_1.5 = f32[] parameter(1)
  ROOT %add.6 = f32[] add(f32[] %Arg_0.4, f32[] %Arg_1.5), metadata={op_name="jit(step)/reduce_sum[axes=(0, 1)]" source_file="m.py" source_line=3}
}

%fused_computation (param_0.1: f32[4,8], param_1.2: f32[8]) -> (f32[4,8], f32[4,8]) {
  %param_0.1 = f32[4,8]{1,0} parameter(0)
  %param_1.2 = f32[8]{0} parameter(1)
  %broadcast.1 = f32[4,8]{1,0} broadcast(f32[8]{0} %param_1.2), dimensions={1}
  %multiply.1 = f32[4,8]{1,0} multiply(f32[4,8]{1,0} %param_0.1, f32[4,8]{1,0} %broadcast.1)
  %tanh.1 = f32[4,8]{1,0} tanh(f32[4,8]{1,0} %multiply.1)
  ROOT %tuple.9 = (f32[4,8]{1,0}, f32[4,8]{1,0}) tuple(f32[4,8]{1,0} %multiply.1, f32[4,8]{1,0} %tanh.1)
}

ENTRY %main.42 (Arg_0.1: f32[4,8], Arg_1.2: f32[8]) -> (f32[4,8], f32[8], f32[]) {
  %Arg_0.1 = f32[4,8]{1,0:T(8,128)S(1)} parameter(0), metadata={op_name="w"}
  %Arg_1.2 = f32[8]{0} parameter(1)
  %constant.7 = f32[] constant(0)
  %constant.8 = f32[2,2]{1,0} constant({ { 1, 2 }, /*i0=1*/ { -3, inf } })
  %fusion = (f32[4,8]{1,0}, f32[4,8]{1,0}) fusion(f32[4,8]{1,0} %Arg_0.1, f32[8]{0} %Arg_1.2), kind=kLoop, calls=%fused_computation, backend_config={"a":"}{"}
  %get-tuple-element.1 = f32[4,8]{1,0} get-tuple-element((f32[4,8]{1,0}, f32[4,8]{1,0}) %fusion), index=1
  %bitcast.5 = f32[32]{0} bitcast(f32[4,8]{1,0} %get-tuple-element.1)
  %reduce.1 = f32[] reduce(f32[32]{0} %bitcast.5, f32[] %constant.7), dimensions={0}, to_apply=%region_0.3
  %subtract.3 = f32[4,8]{1,0} subtract(f32[4,8]{1,0} %Arg_0.1, f32[4,8]{1,0} %get-tuple-element.1)
  %negate.1 = f32[8]{0} negate(f32[8]{0} %Arg_1.2), control-predecessors={%subtract.3}
  ROOT %tuple.11 = (f32[4,8]{1,0}, f32[8]{0}, f32[]) tuple(f32[4,8]{1,0} %subtract.3, f32[8]{0} %negate.1, /*index=2*/f32[] %reduce.1)
}
)";

}  // namespace

TEST_CASE("a scheduled module with a fusion, views, donated buffers and a control edge") {
  const ebb::ReadGraphResult r = Read(kLong);
  const ebb::Graph& g = r.graph;
  CHECK(r.format == "hlo");
  REQUIRE(r.warnings.size() == 1);
  CHECK(r.warnings[0].find("4 ops are computed") != std::string::npos);
  CHECK(ebb::GraphToJson(g) == R"({"format": "ebbtide-graph", "version": 1, "name": "jit_step", "duration_unit": "ns",
"tensors": [
{"name": "Arg_0.1", "size": 128},
{"name": "Arg_1.2", "size": 32},
{"name": "constant.7", "size": 4},
{"name": "constant.8", "size": 16},
{"name": "fusion{0}", "size": 128},
{"name": "fusion{1}", "size": 128},
{"name": "get-tuple-element.1", "size": 128, "view_of": "fusion{1}"},
{"name": "bitcast.5", "size": 128, "view_of": "get-tuple-element.1"},
{"name": "reduce.1", "size": 4},
{"name": "subtract.3", "size": 128},
{"name": "negate.1", "size": 32},
{"name": "subtract.3{control}", "size": 0}],
"ops": [
{"name": "fusion", "duration": 2001, "inputs": ["Arg_0.1", "Arg_1.2"], "outputs": ["fusion{0}", "fusion{1}"]},
{"name": "get-tuple-element.1", "duration": 0, "inputs": ["fusion{1}"], "outputs": ["get-tuple-element.1"]},
{"name": "bitcast.5", "duration": 0, "inputs": ["get-tuple-element.1"], "outputs": ["bitcast.5"]},
{"name": "reduce.1", "duration": 2001, "inputs": ["bitcast.5", "constant.7"], "outputs": ["reduce.1"]},
{"name": "subtract.3", "duration": 2001, "inputs": ["Arg_0.1", "get-tuple-element.1"], "outputs": ["subtract.3", "subtract.3{control}"], "inplace": [["Arg_0.1", "subtract.3"]]},
{"name": "negate.1", "duration": 2001, "inputs": ["Arg_1.2", "subtract.3{control}"], "outputs": ["negate.1"], "inplace": [["Arg_1.2", "negate.1"]]}],
"outputs": [
"subtract.3",
"negate.1",
"reduce.1"],
"order": [
"fusion",
"get-tuple-element.1",
"bitcast.5",
"reduce.1",
"subtract.3",
"negate.1"]}
)");
  CHECK(ebb::MakePlan(g, g.order()).value().peak.count() == 128 + 32 + 4 + 16 + 256);
}

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

TEST_CASE("flops and bytes") {
  const std::string text = R"(HloModule m
ENTRY e {
  a = f32[64,128] parameter(0)
  b = f32[128,256] parameter(1)
  i = f32[8,30,30,16] parameter(2)
  k = f32[3,3,16,32] parameter(3)
  d = f32[64,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[8,28,28,32] convolution(i, k), window={size=3x3}, dim_labels=b01f_01io->b01f
  w = f32[8,14,14,16] reduce-window(i, i), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=nothing
  s = f32[1,128] slice(a), slice={[0:1], [0:128]}
  ROOT t = (f32[64,256], f32[8,28,28,32], f32[1,128]) tuple(d, c, s)
}
)";
  CHECK(Refusal(text).find("m.hlo:9:3: 'w' calls 'nothing'") != std::string::npos);
  std::string good = text;
  good.erase(good.find(", to_apply=nothing"), std::string(", to_apply=nothing").size());
  ebb::ReadOptions options;
  options.costs = {
      .flops_per_second = 1'000'000'000, .bytes_per_second = 1'000'000'000'000'000, .launch_ns = 5, .profile = {}};
  const ebb::Graph g = Read(good, options).graph;  // one flop a nanosecond
  CHECK(g.duration(Op(g, "d")).count() == 5 + 2LL * 64 * 256 * 128);
  CHECK(g.duration(Op(g, "c")).count() == 5 + 2LL * 8 * 28 * 28 * 32 * (3 * 3 * 16));
  CHECK(g.duration(Op(g, "w")).count() == 5 + 8LL * 14 * 14 * 16 * 4);
  options.costs = {
      .flops_per_second = 1'000'000'000'000'000, .bytes_per_second = 1'000'000'000, .launch_ns = 0, .profile = {}};
  const ebb::Graph h = Read(good, options).graph;  // one byte a nanosecond
  CHECK(h.duration(Op(h, "d")).count() == 4 * (64 * 128 + 128 * 256 + 64 * 256));
  CHECK(h.duration(Op(h, "s")).count() == 2 * 4 * 128);
  options.costs.bytes_per_second = 0;
  CHECK(Refusal(good, options).find("rates") != std::string::npos);
}

TEST_CASE("calls are single ops with a time and a peak of their own") {
  const std::string text = R"(HloModule m, is_scheduled=true
body {
  p = (s32[], f32[100]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[100] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  t = f32[100,2] broadcast(x), dimensions={0}
  u = f32[100] reduce(t, one), dimensions={1}, to_apply=sum
  ROOT r = (s32[], f32[100]) tuple(j, u)
}
)";
  const std::string cond = R"(cond {
  p = (s32[], f32[100]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(7)
  ROOT c = pred[] compare(i, n), direction=LT
}
)";
  const std::string sum = R"(sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
)";
  const auto entry = [](const std::string& trips) {
    return R"(ENTRY e {
  y = f32[100] parameter(0)
  zero = s32[] constant(0)
  f = f32[100] copy(y)
  s = (s32[], f32[100]) tuple(zero, f)
  w = (s32[], f32[100]) while(s), condition=cond, body=body)" +
           trips + R"(
  g = f32[100] get-tuple-element(w), index=1
  k = pred[] constant(true)
  h = (s32[], f32[100]) conditional(k, w, w), branch_computations={body, body}
  ROOT o = f32[100] add(g, g)
}
)";
  };
  const std::string header = "HloModule m, is_scheduled=true\n", rest = text.substr(header.size());
  CHECK(Refusal(text + cond + sum + entry("")).find("'sum', which is not defined before it") != std::string::npos);
  const std::string unknown = Refusal(header + sum + rest + cond + entry(""));
  CHECK(unknown.find("'w' is a loop without a known trip count") != std::string::npos);
  CHECK(unknown.rfind("m.hlo:28:3:", 0) == 0);

  ebb::ReadOptions options;
  options.costs = {
      .flops_per_second = 1, .bytes_per_second = 1'000'000'000'000'000'000, .launch_ns = 10, .profile = {}};
  const std::string trips = R"(, backend_config={"known_trip_count":{"n":"7"},
      "known_init_step":{"init":"0"}})";
  options.costs.flops_per_second = 1'000'000'000;
  const ebb::Graph g = Read(header + sum + rest + cond + entry(trips), options).graph;
  // body: j 1 flop, t none (a nanosecond of traffic), u 201; condition: 1
  CHECK(g.duration(Op(g, "w")).count() == 7 * ((10 + 1) + (10 + 1) + (10 + 201) + (10 + 1)));
  CHECK(g.workspace(Op(g, "w")).count() == 4 + 4 + 800 + 400);
  // The loop's state takes over the copy that nobody else reads; constants are never written.
  REQUIRE(g.inplace(Op(g, "w")).size() == 1);
  CHECK(g.inplace(Op(g, "w"))[0].input == Tensor(g, "f"));
  CHECK(g.inplace(Op(g, "w"))[0].output == Tensor(g, "w{1}"));
}

TEST_CASE("profiles") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("ebb_io_profile_" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << R"({"fusion": 123456, "%reduce.1": 7, "stranger": 1})";
  ebb::ReadOptions options;
  options.costs.profile = path;
  const ebb::ReadGraphResult r = Read(kLong, options);
  CHECK(r.graph.duration(Op(r.graph, "fusion")).count() == 123456);
  CHECK(r.graph.duration(Op(r.graph, "reduce.1")).count() == 7);
  REQUIRE(r.warnings.size() == 2);
  CHECK(r.warnings[0].find("1 names in the profile are no ops") != std::string::npos);
  for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{{R"({"fusion": -1})", "-1"},
                                                                                   {R"({"fusion": 1.5})", "1.5"},
                                                                                   {R"({"fusion": [1]})", "array"},
                                                                                   {"", "too early"}}) {
    std::ofstream(path) << text;
    CHECK(Refusal(kLong, options).find(word) != std::string::npos);
    CHECK(Refusal(kLong, options).find(path.string()) != std::string::npos);
  }
  std::filesystem::remove(path);
  CHECK(Refusal(kLong, options).find("cannot be opened") != std::string::npos);
}

TEST_CASE("asynchronous pairs are views of their start") {
  const ebb::Graph g = Read(R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[10] parameter(0)
  y = f32[10] negate(x)
  cs = (f32[10], f32[10], u32[]) copy-start(y)
  cd = f32[10] copy-done(cs)
  gs = (f32[10], f32[40]) all-gather-start(y), dimensions={0}
  gd = f32[40] all-gather-done(gs)
  rs = f32[10] all-reduce-start(y)
  rd = f32[10] all-reduce-done(rs)
  ROOT t = (f32[10], f32[40], f32[10]) tuple(cd, gd, rd)
}
)")
                           .graph;
  CHECK(g.storage_root(Tensor(g, "cs{1}")) == Tensor(g, "y"));
  CHECK(g.storage_root(Tensor(g, "cd")) == Tensor(g, "cs{0}"));
  CHECK(g.storage_root(Tensor(g, "gs{0}")) == Tensor(g, "y"));
  CHECK(g.storage_root(Tensor(g, "gd")) == Tensor(g, "gs{1}"));
  CHECK(g.storage_root(Tensor(g, "rd")) == Tensor(g, "rs"));
  CHECK(g.recomputable(Op(g, "cs")));
  CHECK(!g.recomputable(Op(g, "gs")));
  CHECK(!g.recomputable(Op(g, "rs")));
}

TEST_CASE("any op can be started and waited for") {
  const ebb::Graph g = Read(R"(HloModule m, is_scheduled=true
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
scatter_part {
  p = f32[40] parameter(0)
  ROOT r = f32[10] reduce-scatter(p), replica_groups=[2,4]<=[8], dimensions={0}, to_apply=add
}
copies {
  p = f32[40] parameter(0)
  ROOT c = f32[40] copy(p)
}
ENTRY e {
  x = f32[40]{0:T(256)S(1)} parameter(0), sharding={devices=[4]<=[4]}
  y = f32[40] negate(x)
  ss = ((f32[40]), f32[10], u32[]{:S(2)}) async-start(y), calls=scatter_part
  su = ((f32[40]), f32[10], u32[]{:S(2)}) async-update(ss)
  sd = f32[10] async-done(su)
  fs = ((f32[40]), f32[40], s32[]) fusion-start(y), kind=kLoop, calls=copies
  fd = f32[40] fusion-done(fs)
  ROOT t = (f32[10], f32[40]) tuple(sd, /*index=1*/fd)
}, execution_thread="main"
)")
                           .graph;
  CHECK(g.storage_root(Tensor(g, "ss{0,0}")) == Tensor(g, "y"));
  CHECK(g.storage_root(Tensor(g, "sd")) == Tensor(g, "ss{1}"));
  CHECK(g.storage_root(Tensor(g, "fd")) == Tensor(g, "fs{1}"));
  CHECK(!g.recomputable(Op(g, "ss")));  // it holds a collective
  CHECK(g.recomputable(Op(g, "fs")));
}

TEST_CASE("what calls something that must run once must run once") {
  const ebb::Graph g = Read(R"(HloModule m, is_scheduled=true
inner {
  p = f32[4] parameter(0)
  ROOT c = f32[4] custom-call(p), custom_call_target="log", custom_call_has_side_effect=true
}
outer {
  p = f32[4] parameter(0)
  ROOT c = f32[4] call(p), to_apply=inner
}
ENTRY e {
  x = f32[4] parameter(0)
  k = pred[] constant(true)
  a = f32[4] call(x), to_apply=outer
  b = f32[4] conditional(k, a, a), true_computation=outer, false_computation=outer
  ROOT c = f32[4] negate(b)
}
)")
                           .graph;
  CHECK(!g.recomputable(Op(g, "a")));
  CHECK(!g.recomputable(Op(g, "b")));
  CHECK(g.recomputable(Op(g, "c")));
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
