// SPDX-License-Identifier: Apache-2.0
#include "engine/base/options.hpp"

#include <sstream>

#include <doctest/doctest.h>

namespace ebb {
namespace {

TEST_CASE("budgets as people write them") {
  const auto bytes = [](const char* text) { return ParseBudget(text).Resolve(Bytes(1000)).count(); };
  CHECK(bytes("1") == 1);
  CHECK(bytes("0") == 0);
  CHECK(bytes("1000000") == 1000000);
  CHECK(bytes("8GiB") == std::int64_t{8} << 30);
  CHECK(bytes("512MB") == 512000000);
  CHECK(bytes("1.5 kib") == 1536);
  CHECK(bytes("0.1TB") == 100000000000);
  CHECK(bytes("9223372036854775807") == INT64_MAX);
  CHECK(bytes("1.0") == 1000);
  CHECK(bytes("0.8") == 800);
  CHECK(bytes("8e-1") == 800);
  CHECK(bytes("0.8005") == 801);
  CHECK(bytes(".5") == 500);
  // as Python's math.ceil(peak * fraction): the double product of 10 and 0.3 rounds to 3 exactly, 100 * 0.07
  // is 7.000...01
  CHECK(ParseBudget("0.3").Resolve(Bytes(10)).count() == 3);
  CHECK(ParseBudget("0.07").Resolve(Bytes(100)).count() == 8);
  for (const char* bad : {"", "-1", "-0.5", "nan", "inf", "lots", "8QiB", "8 G", "1.2.3", "0x10", "1e", "1e999",
                          "9223372036854775808", "99999999999GiB", " 1", "1 ", "+1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS((void)ParseBudget(bad), InputError);
  }
  CHECK_THROWS_AS((void)ParseBudget("1e6").Resolve(Bytes(INT64_MAX)), InputError);
}

TEST_CASE("options are set and read by name") {
  Options o;
  CHECK(o.Get("order") == "fixed");
  o.Set("order", "free");
  CHECK(o.order == OrderMode::kFree);
  CHECK(o.WasSet("order"));
  CHECK_FALSE(o.WasSet("seed"));
  CHECK(o.Get("threads").empty());
  o.Set("threads", "2");
  CHECK(o.Get("threads") == "2");
  o.Set("time-limit", "0.25");
  CHECK(o.time_limit == 0.25);
  o.Set("gap-cover", "off");
  CHECK_FALSE(o.gap_cover);
  o.Set("budget", "0.8");
  CHECK(o.Get("budget") == "0.8");
  const auto bad = [&](const char* name, const char* value) {
    CAPTURE(name);
    CAPTURE(value);
    CHECK_THROWS_WITH_AS(o.Set(name, value), doctest::Contains(name), OptionError);
  };
  bad("threads", "0");
  bad("threads", "two");
  bad("threads", "2.5");
  bad("time-limit", "-1");
  bad("time-limit", "nan");
  bad("time-limit", "1s");
  bad("order", "sideways");
  bad("gap-cover", "perhaps");
  bad("budget", "-1");
  bad("frobnicate", "1");
  bad("time_limit", "1");
}

TEST_CASE("every row: the default is what Set takes back, the ends of the range are in, beyond is out") {
  for (const OptionInfo& row : OptionTable()) {
    CAPTURE(row.name);
    CHECK_FALSE(row.help.empty());
    Options o;
    const std::string value = o.Get(row.name);
    if (!value.empty()) {
      o.Set(row.name, value);
      CHECK(o.Get(row.name) == value);
    }
    if (row.type == OptionType::kReal) {
      std::ostringstream below, above;
      below << row.lo - 1;
      above << row.hi * 10;
      CHECK_THROWS_AS(o.Set(row.name, below.str()), OptionError);
      CHECK_THROWS_AS(o.Set(row.name, above.str()), OptionError);
    }
    if (row.type == OptionType::kInteger && row.lo >= 0) CHECK_THROWS_AS(o.Set(row.name, "-1"), OptionError);
  }
}

}  // namespace
}  // namespace ebb
