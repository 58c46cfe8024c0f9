// SPDX-License-Identifier: Apache-2.0
//
// Random graphs of any size with every feature of the model (or none of them, plain): several outputs, views and chains
// of them, in-place updates, workspace, ops that run once, zero sizes and durations, graph inputs, kept outputs, absent
// inputs. Readers mostly look back a short way, now and then far. Nobody reads an overwritten value later in the file,
// so the file's order needs no repeat.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/problem/graph_builder.hpp"
#include "io/generate_kinds.hpp"

namespace ebb {

Graph GenerateRandom(const GenerateSpec& spec) {
  Dice dice(spec.seed);
  GraphBuilder builder;
  builder.SetName("random_" + std::to_string(spec.ops) + "_seed" + std::to_string(spec.seed));
  // A name and the storage segment it lives in: an in-place op ends the segment for all its names.
  struct Made {
    std::string name;
    std::int64_t segment;
  };
  std::vector<Made> made;
  std::vector<std::uint8_t> ended;  // by segment
  const auto open = [&](std::string name) {
    made.push_back({std::move(name), static_cast<std::int64_t>(ended.size())});
    ended.push_back(0);
  };
  const bool full = !spec.plain;
  const auto size = [&] { return full && dice.Chance(0.05) ? 0 : dice.Whole(1, 64) * 64; };
  if (full) {
    const std::int64_t inputs = 1 + spec.ops / 50;
    for (std::int64_t i = 0; i < inputs; ++i) {
      const std::string name = "in" + std::to_string(i);
      if (i > 0 && dice.Chance(0.2)) {
        const Made base = made[static_cast<std::size_t>(dice.Whole(0, i - 1))];
        builder.AddTensor(name, size(), base.name);
        made.push_back({name, base.segment});
      } else {
        builder.AddTensor(name, size());
        open(name);
      }
    }
  }
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < spec.ops; ++i) {
    GraphBuilder::OpSpec op;
    op.name = "op" + std::to_string(i);
    op.duration = full && dice.Chance(0.1) ? 0 : dice.Whole(1, 1000);
    if (full && dice.Chance(0.15)) op.workspace = dice.Whole(1, 64) * 64;
    if (full && dice.Chance(0.05)) op.recomputable = false;
    std::vector<Made> read;
    const std::int64_t reads = made.empty() ? 0 : dice.Whole(1, 3);
    for (std::int64_t k = 0; k < reads; ++k) {
      const auto last = static_cast<std::int64_t>(made.size()) - 1;
      const std::int64_t back = dice.Chance(0.85) ? 8 : last;
      const Made& m = made[static_cast<std::size_t>(dice.Whole(std::max<std::int64_t>(0, last - back), last))];
      if (ended[static_cast<std::size_t>(m.segment)]) continue;
      op.inputs.push_back(m.name);
      read.push_back(m);
    }
    if (full && dice.Chance(0.03)) op.inputs.emplace_back();
    const std::int64_t outputs = full && dice.Chance(0.2) ? dice.Whole(2, 3) : 1;
    std::vector<std::int64_t> overwritten;
    bool viewed = false;
    std::vector<std::string> fresh;
    const bool view_op = full && !read.empty() && dice.Chance(0.15);
    for (std::int64_t k = 0; k < outputs; ++k) {
      const std::string name = "t" + std::to_string(next++);
      op.outputs.push_back(name);
      if (view_op) {
        const Made& base = read[static_cast<std::size_t>(dice.Whole(0, static_cast<std::int64_t>(read.size()) - 1))];
        builder.AddTensor(name, size(), base.name);
        made.push_back({name, base.segment});
        viewed = true;
        continue;
      }
      builder.AddTensor(name, size());
      fresh.push_back(name);
      if (full && !read.empty() && dice.Chance(0.1)) {
        const Made& over = read[static_cast<std::size_t>(dice.Whole(0, static_cast<std::int64_t>(read.size()) - 1))];
        if (std::find(overwritten.begin(), overwritten.end(), over.segment) == overwritten.end()) {
          op.inplace.emplace_back(over.name, name);
          overwritten.push_back(over.segment);
        }
      }
    }
    if (viewed && dice.Chance(0.8)) op.duration = op.workspace = 0;
    for (std::string& name : fresh) open(std::move(name));
    for (const std::int64_t s : overwritten) ended[static_cast<std::size_t>(s)] = 1;
    builder.AddOp(std::move(op));
  }
  if (full)
    for (const Made& m : made)
      if (!ended[static_cast<std::size_t>(m.segment)] && dice.Chance(0.02)) builder.AddGraphOutput(m.name);
  return builder.Build();
}

}  // namespace ebb
