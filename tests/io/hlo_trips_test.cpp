// SPDX-License-Identifier: Apache-2.0
// How often a loop runs, by its counter: what compilers write, and what must not be guessed.
#include "io/hlo_trips.hpp"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "io/hlo_text.hpp"

namespace {

struct Loop {
  std::string type = "s32";
  std::string start = "constant(0)", step = "constant(1)", bound = "constant(10)", direction = "LT";
  std::string next = "add(i, step)", compare = "compare(i, bound)", config = "";
};

std::optional<std::int64_t> Trips(const Loop& l) {
  const std::string t = l.type + "[]", state = "(f32[4], " + t + ", " + t + ")";
  const std::string text =
      "HloModule m\n" + std::string("plus { a = ") + t + " parameter(0)\n b = " + t + " parameter(1)\n ROOT c = " + t +
      " add(a, b)\n}\n" + "less { a = " + t + " parameter(0)\n b = " + t +
      " parameter(1)\n ROOT c = pred[] compare(a, b), direction=" + l.direction + "\n}\n" + "body { p = " + state +
      " parameter(0)\n x = f32[4] get-tuple-element(p), index=0\n i = " + t +
      " get-tuple-element(p), index=1\n n = " + t + " get-tuple-element(p), index=2\n step = " + t + " " + l.step +
      "\n j = " + t + " " + l.next + "\n ROOT r = " + state + " tuple(x, j, n)\n}\n" + "cond { p = " + state +
      " parameter(0)\n i = " + t + " get-tuple-element(p), index=1\n n = " + t +
      " get-tuple-element(p), index=2\n bound = " + t + " " + l.bound + "\n ROOT q = pred[] " + l.compare +
      (l.compare.rfind("compare", 0) == 0 ? ", direction=" + l.direction : "") + "\n}\n" +
      "ENTRY e { x = f32[4] parameter(0)\n y = " + t + " parameter(1)\n n = " + t + " constant(6)\n s = " + t + " " +
      l.start + "\n u = " + state + " tuple(x, s, n)\n ROOT w = " + state + " while(u), condition=cond, body=body" +
      l.config + "\n}\n";
  const ebb::HloModule module = ebb::ParseHlo(text, "m.hlo");
  return ebb::TripCount(module, module.entry, module.computations[static_cast<std::size_t>(module.entry)].root);
}

}  // namespace

TEST_CASE("counters that are followed") {
  struct Case {
    Loop loop;
    std::int64_t trips;
  };
  const std::vector<Case> cases = {
      {{}, 10},
      {{.direction = "LE"}, 11},
      {{.direction = "NE"}, 10},
      {{.step = "constant(3)"}, 4},
      {{.step = "constant(3)", .direction = "LE"}, 4},
      {{.start = "constant(10)"}, 0},
      {{.start = "constant(12)", .direction = "EQ"}, 0},
      {{.start = "constant(10)", .direction = "EQ"}, 1},
      {{.start = "constant(20)", .direction = "GT", .next = "subtract(i, step)"}, 10},
      {{.start = "constant(20)", .step = "constant(-4)", .direction = "GE"}, 3},
      {{.start = "constant(-5)"}, 15},
      {{.bound = "copy(n)"}, 6},                                  // an element that every turn hands on
      {{.direction = "GT", .compare = "compare(bound, i)"}, 10},  // the counter on the right
      {{.next = "add(step, i)"}, 10},
      {{.next = "fusion(i, step), kind=kLoop, calls=plus"}, 10},  // as the CPU and GPU compilers wrap it
      {{.compare = "fusion(i, bound), kind=kLoop, calls=less"}, 10},
      {{.compare = "call(i, bound), to_apply=less"}, 10},
      {{.start = "copy(n)"}, 4},
      {{.type = "u8", .bound = "constant(255)"}, 255},
      {{.config = R"(, backend_config={"known_trip_count":{"n":"77"}})"}, 77},  // the compiler's word comes first
  };
  for (const Case& c : cases) {
    const Loop& l = c.loop;
    CAPTURE(l.start + " " + l.next + " " + l.compare + " " + l.direction);
    CHECK(Trips(l) == std::optional<std::int64_t>(c.trips));
  }
}

TEST_CASE("loops that are not known") {
  const std::vector<Loop> cases = {
      {.start = "copy(y)"},                          // starts at what the module is given
      {.bound = "copy(i)"},                          // no bound
      {.step = "constant(0)"},                       // without end
      {.step = "constant(-1)"},                      // away from its bound
      {.step = "constant(3)", .direction = "NE"},    // jumps over its bound
      {.start = "constant(12)", .direction = "NE"},  // is past it
      {.next = "multiply(i, step)"},
      {.next = "add(i, i)"},
      {.next = "add(i, n)"},                                        // a step that is not followed
      {.type = "u8", .bound = "constant(255)", .direction = "LE"},  // wraps round for ever
      {.type = "s8", .step = "constant(100)", .bound = "constant(120)"},
      {.type = "s8", .bound = "constant(200)"},  // no s8 at all
      {.compare = "and(i, bound)"},
      {.direction = "TOTALORDER"},
  };
  for (const Loop& l : cases) {
    CAPTURE(l.start + " " + l.next + " " + l.compare + " " + l.direction + " " + l.bound);
    CHECK(Trips(l) == std::nullopt);
  }
}

TEST_CASE("an expression that doubles at every step is given up") {
  std::string twice = "constant(0)";
  for (int k = 0; k < 40; ++k)
    twice += "\n z" + std::to_string(k) + " = s32[] add(" +
             (k == 0 ? "step, step" : "z" + std::to_string(k - 1) + ", z" + std::to_string(k - 1)) + ")";
  twice += "\n step2 = s32[] add(z39, z39)";
  CHECK(Trips({.step = twice, .next = "add(i, step2)"}) == std::nullopt);
}
