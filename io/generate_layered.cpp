// SPDX-License-Identifier: Apache-2.0
//
// Random layered graphs, the synthetic family of Gagrani et al., "Neural Topological Ordering for Computation Graphs"
// (NeurIPS 2022), as used by the Moccasin paper (files random_layered_n<ops>_w<width>_nlv<variability>_ed<density>_
// scd<skip>). The meaning of the parameters was inferred from those files: one source, one sink, layers between them of
// 2 w sqrt(n) ops on average, spread uniformly over +- nlv of that; edges between neighbouring layers with chance ed,
// and at least one in and one out for every op; scd of all edges skip layers, to a layer chosen uniformly. Sizes follow
// the deciles of the paper's files in steps of ten, durations are uniform on 0..999.
//
// Every output is a storage of its own; the order is by layer (the paper's files store a random topological order,
// which a solver gets here by leaving `order` free).
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "engine/problem/graph_builder.hpp"
#include "io/generate_kinds.hpp"

namespace ebb {
namespace {

std::int64_t LayeredSize(Dice& dice) {
  static constexpr std::array<double, 11> kDeciles = {20, 280, 550, 810, 1100, 1500, 2030, 2620, 3370, 4400, 7400};
  const double at = dice.Real(0, 10);
  const auto i = std::min<std::size_t>(9, static_cast<std::size_t>(at));
  const double value = kDeciles[i] + (kDeciles[i + 1] - kDeciles[i]) * (at - static_cast<double>(i));
  return 10 * static_cast<std::int64_t>(value / 10);
}

}  // namespace

Graph GenerateLayered(const GenerateSpec& spec) {
  Dice dice(spec.seed);
  const std::int64_t n = spec.ops;
  const double mean = std::max(1.0, 2 * spec.width * std::sqrt(static_cast<double>(n)));
  // Layers as [begin, end) of op indices; first and last hold one op.
  std::vector<std::int64_t> begin{0};
  begin.push_back(1);
  while (begin.back() < n - 1) {
    const auto size = std::max<std::int64_t>(
        1, std::llround(dice.Real(mean * (1 - spec.variability), mean * (1 + spec.variability))));
    begin.push_back(std::min(n - 1, begin.back() + size));
  }
  if (n > 1) begin.push_back(n);
  const std::size_t layers = begin.size() - 1;
  const auto layer_size = [&](std::size_t l) { return begin[l + 1] - begin[l]; };

  std::vector<std::vector<std::int64_t>> reads(static_cast<std::size_t>(n));
  std::int64_t edges = 0;
  const auto link = [&](std::int64_t from, std::int64_t to) {
    auto& row = reads[static_cast<std::size_t>(to)];
    if (std::find(row.begin(), row.end(), from) != row.end()) return;
    row.push_back(from);
    ++edges;
  };
  for (std::size_t l = 1; l < layers; ++l) {
    std::vector<std::uint8_t> has_reader(static_cast<std::size_t>(layer_size(l - 1)), 0);
    for (std::int64_t to = begin[l]; to < begin[l + 1]; ++to) {
      for (std::int64_t from = begin[l - 1]; from < begin[l]; ++from)
        if (dice.Chance(spec.density)) {
          link(from, to);
          has_reader[static_cast<std::size_t>(from - begin[l - 1])] = 1;
        }
      if (reads[static_cast<std::size_t>(to)].empty()) {
        const std::int64_t from = dice.Whole(begin[l - 1], begin[l] - 1);
        link(from, to);
        has_reader[static_cast<std::size_t>(from - begin[l - 1])] = 1;
      }
    }
    for (std::int64_t from = begin[l - 1]; from < begin[l]; ++from)
      if (!has_reader[static_cast<std::size_t>(from - begin[l - 1])])
        link(from, dice.Whole(begin[l], begin[l + 1] - 1));
  }
  if (layers > 3) {
    const auto wanted = static_cast<std::int64_t>(static_cast<double>(edges) * spec.skip / (1 - spec.skip));
    for (std::int64_t tries = 0, made = 0; made < wanted && tries < 4 * wanted; ++tries) {
      const auto l = static_cast<std::size_t>(dice.Whole(1, static_cast<std::int64_t>(layers) - 3));
      const auto far =
          static_cast<std::size_t>(dice.Whole(static_cast<std::int64_t>(l) + 2, static_cast<std::int64_t>(layers) - 1));
      const std::int64_t before = edges;
      link(dice.Whole(begin[l], begin[l + 1] - 1), dice.Whole(begin[far], begin[far + 1] - 1));
      made += edges - before;
    }
  }

  GraphBuilder builder;
  builder.SetName("layered_n" + std::to_string(n) + "_seed" + std::to_string(spec.seed));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::string name = std::to_string(i);
    builder.AddTensor("t" + name, LayeredSize(dice));
    GraphBuilder::OpSpec op;
    op.name = "op" + name;
    op.duration = i == 0 || i == n - 1 ? 0 : dice.Whole(0, 999);
    std::sort(reads[static_cast<std::size_t>(i)].begin(), reads[static_cast<std::size_t>(i)].end());
    for (const std::int64_t r : reads[static_cast<std::size_t>(i)]) op.inputs.push_back("t" + std::to_string(r));
    op.outputs.push_back("t" + name);
    builder.AddOp(std::move(op));
  }
  return builder.Build();
}

}  // namespace ebb
