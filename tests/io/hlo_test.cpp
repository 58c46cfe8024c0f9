// SPDX-License-Identifier: Apache-2.0
// HLO: values, views and buffers: what shares what, what is taken over, what must run once.
#include <doctest/doctest.h>

#include "engine/problem/plan.hpp"
#include "io/write_graph.hpp"
#include "tests/io/hlo_support.hpp"

using hlo::Op, hlo::Read, hlo::Refusal, hlo::Tensor, hlo::kLong;

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
