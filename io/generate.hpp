// SPDX-License-Identifier: Apache-2.0
//
// Graphs made up on the spot, for examples, benchmarks and tests: `ebbtide gen KIND`. Pure functions of their
// specification: same numbers, same graph, on every machine. Millions of ops take seconds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/problem/graph.hpp"

namespace ebb {

// What a kind reads of this is in its help; the rest is ignored. Throws InputError from Generate where a number is out
// of range.
struct GenerateSpec {
  std::int64_t ops = 100;         // layered, random: ops
  std::int64_t layers = 12;       // chain, transformer: layers; unet: levels
  std::int64_t microbatches = 1;  // transformer
  double width = 0.31;            // layered: a layer has 2 * width * sqrt(ops) ops on average
  double variability = 0.75;      // layered: layer sizes vary by this share, up and down
  double density = 0.2;           // layered: chance of an edge between two ops of neighbouring layers
  double skip = 0.14;             // layered: share of all edges that skip layers
  bool plain = false;             // one output an op and nothing else: no views, in-place, parameters, kept outputs
  std::uint64_t seed = 1;
};

struct GeneratorInfo {
  std::string_view kind;
  std::string_view help;   // one line
  std::string_view reads;  // the members it reads, comma-separated
};
[[nodiscard]] std::span<const GeneratorInfo> Generators();

// Throws InputError on an unknown kind (naming the known ones) or a number that is out of range.
[[nodiscard]] Graph Generate(std::string_view kind, const GenerateSpec& spec);

}  // namespace ebb
