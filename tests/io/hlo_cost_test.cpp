// SPDX-License-Identifier: Apache-2.0
// HLO: what ops cost, calls and loops, profiles.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "engine/problem/fingerprint.hpp"
#include "tests/io/hlo_support.hpp"

using hlo::Op, hlo::Read, hlo::Refusal, hlo::Tensor, hlo::kLong;

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
  std::string endless = cond;  // compares the counter with itself
  endless.replace(endless.find("constant(7)"), 11, "get-tuple-element(p), index=0");
  const std::string unknown = Refusal(header + sum + rest + endless + entry(""));
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
  // The counter says the same as the compiler's word.
  CHECK(ebb::Fingerprint(Read(header + sum + rest + cond + entry(""), options).graph) == ebb::Fingerprint(g));
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
