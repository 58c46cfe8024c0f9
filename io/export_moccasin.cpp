// SPDX-License-Identifier: Apache-2.0
//
// Moccasin's model as data: intervals, their domains, one cumulative resource, coverage. Event (s, o), o <= s, is op o
// inside stage s, number s (s + 1) / 2 + o; stage s ends with the first execution of op s. The first interval of op o
// starts at event (o, o); the others are optional and start at an event (s, o) of a later stage.
#include "engine/base/status.hpp"
#include "io/export_model.hpp"
#include "io/json_text.hpp"

namespace ebb {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

// Optional intervals an op has: the last op has no later stage.
std::int64_t Copies(std::int64_t n, std::int64_t o, std::int64_t intervals) { return o + 1 < n ? intervals : 1; }

void AddNumbers(std::string& out, const std::vector<std::int64_t>& numbers) {
  out += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  out += ']';
}

}  // namespace

ModelSize MoccasinSize(const SingleOutputGraph& g, std::int64_t intervals) {
  const auto n = static_cast<std::int64_t>(g.name.size());
  ModelSize size;
  for (std::int64_t o = 0; o < n; ++o) {
    const std::int64_t copies = Copies(n, o, intervals);
    size.variables += 1 + 3 * (copies - 1);  // end; start, end, presence
    size.constraints += copies - 1;          // one after the other
    size.constraints += copies * static_cast<std::int64_t>(g.reads[At(o)].size());
  }
  ++size.constraints;  // the resource
  return size;
}

std::string MoccasinJson(const SingleOutputGraph& g, std::int64_t intervals) {
  if (intervals < 1 || intervals > 100)
    throw InputError("export: intervals is " + std::to_string(intervals) + ", expected 1 to 100");
  const auto n = static_cast<std::int64_t>(g.name.size());
  if (const ModelSize size = MoccasinSize(g, intervals); size.variables > kMostModelVariables)
    throw InputError("export: the model would have " + std::to_string(size.variables) + " variables, more than " +
                     std::to_string(kMostModelVariables));
  const auto event = [](std::int64_t stage, std::int64_t op) { return stage * (stage + 1) / 2 + op; };
  std::vector<std::int64_t> first(At(n) + 1, 0);  // op -> its first interval
  for (std::int64_t o = 0; o < n; ++o) first[At(o + 1)] = first[At(o)] + Copies(n, o, intervals);
  const std::int64_t horizon = n > 0 ? event(n - 1, n - 1) : 0;
  std::string out = "{\n\"format\": \"ebbtide-moccasin\", \"version\": 1,\n\"ops\": " + std::to_string(n) +
                    ", \"intervals_per_op\": " + std::to_string(intervals) +
                    ", \"horizon\": " + std::to_string(horizon) + ",\n\"capacity\": " + std::to_string(g.budget) +
                    ",\n\"names\": [";
  for (std::int64_t o = 0; o < n; ++o) {
    if (o > 0) out += ", ";
    AppendJsonString(out, g.name[At(o)]);
  }
  out += "],\n\"intervals\": [";
  for (std::int64_t o = 0; o < n; ++o)
    for (std::int64_t i = first[At(o)]; i < first[At(o + 1)]; ++i) {
      out += (i > 0 ? ",\n" : "\n");
      out += "{\"id\": " + std::to_string(i) + ", \"op\": " + std::to_string(o) +
             ", \"demand\": " + std::to_string(g.size[At(o)]) + ", \"cost\": " + std::to_string(g.duration[At(o)]);
      if (i == first[At(o)]) {
        out += ", \"optional\": false, \"start\": " + std::to_string(event(o, o)) + ", \"end\": ";
        AddNumbers(out, {event(o, o), horizon});
      } else {
        out += ", \"optional\": true, \"start_stages\": ";
        AddNumbers(out, {o + 1, n - 1});
        out += ", \"end\": ";
        AddNumbers(out, {event(o + 1, o), horizon});
        out += ", \"after\": " + std::to_string(i - 1);
      }
      out += "}";
    }
  out += "],\n\"coverage\": [";
  bool comma = false;
  for (std::int64_t o = 0; o < n; ++o)
    for (std::int64_t i = first[At(o)]; i < first[At(o + 1)]; ++i)
      for (const std::int32_t u : g.reads[At(o)]) {
        out += comma ? ",\n" : "\n";
        comma = true;
        out += "{\"interval\": " + std::to_string(i) + ", \"by\": ";
        std::vector<std::int64_t> by;
        for (std::int64_t k = first[At(u)]; k < first[At(u + 1)]; ++k) by.push_back(k);
        AddNumbers(out, by);
        out += "}";
      }
  return out + "]\n}\n";
}

}  // namespace ebb
