// SPDX-License-Identifier: Apache-2.0
//
// Training steps: a chain, a U-Net and a transformer, forward by hand and backward by the tape. Sizes are bytes,
// durations nanoseconds of a made-up accelerator (a launch, bytes at 1 TB/s, flops at 100 Tflop/s); the seed varies
// both a little, so that no two layers are quite equal, except with seed 0, where all layers are.
#include <algorithm>
#include <string>

#include "engine/base/status.hpp"
#include "engine/problem/graph_builder.hpp"
#include "io/generate_kinds.hpp"
#include "io/generate_tape.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kKiB = 1024;

class Costs {
 public:
  explicit Costs(std::uint64_t seed) : dice_(seed), vary_(seed != 0) {}
  // `bytes` moved and `megaflops` done.
  std::int64_t Time(std::int64_t bytes, std::int64_t megaflops = 0) {
    return Vary(2000 + bytes / 1000 + megaflops / 100 * 10);
  }
  std::int64_t Vary(std::int64_t value) { return vary_ ? value * dice_.Whole(90, 110) / 100 : value; }
  // One of these sizes.
  std::int64_t Pick(std::initializer_list<std::int64_t> values) {
    return vary_ ? values.begin()[dice_.Whole(0, static_cast<std::int64_t>(values.size()) - 1)] : values.begin()[0];
  }

 private:
  Dice dice_;
  bool vary_;
};

std::string Name(const char* what, std::int64_t index) { return what + std::to_string(index); }

}  // namespace

Graph GenerateChain(const GenerateSpec& spec) {
  GraphBuilder builder;
  builder.SetName("chain_" + std::to_string(spec.layers) + "_seed" + std::to_string(spec.seed));
  builder.SetDurationUnit("ns");
  Costs costs(spec.seed);
  Tape tape(builder, spec.plain);
  Tape::Id x = Tape::kNone;
  if (!spec.plain) x = tape.AddData("input", 64 * kKiB);
  for (std::int64_t i = 0; i < spec.layers; ++i) {
    const Tape::Id w = tape.AddParameter(Name("weight", i), 32 * kKiB);
    Tape::Forward op;
    op.name = Name("layer", i);
    op.inputs = {x, w};
    op.size = kKiB * costs.Pick({64, 16, 32, 128, 256});
    op.duration = costs.Time(op.size, costs.Pick({400, 100, 200, 800, 1600}));
    op.backward = op.duration;
    x = tape.Add(op);
  }
  Tape::Forward loss;
  loss.name = "loss";
  loss.inputs = {x};
  loss.size = 8;
  loss.duration = loss.backward = costs.Time(64 * kKiB);
  tape.Backward(tape.Add(loss));
  tape.Finish();
  return builder.Build();
}

Graph GenerateUnet(const GenerateSpec& spec) {
  if (spec.layers > 16)
    throw InputError("gen: layers is " + std::to_string(spec.layers) + ", expected 1 to 16 levels of a U-Net");
  GraphBuilder builder;
  builder.SetName("unet_" + std::to_string(spec.layers) + "_seed" + std::to_string(spec.seed));
  builder.SetDurationUnit("ns");
  Costs costs(spec.seed);
  Tape tape(builder, spec.plain);
  std::int64_t serial = 0;
  const auto conv = [&](Tape::Id x, std::int64_t size, std::int64_t weight) {
    const std::int64_t n = serial++;
    Tape::Forward c;
    c.name = Name("conv", n);
    c.inputs = {x, tape.AddParameter(Name("conv_weight", n), weight)};
    c.size = size;
    c.duration = costs.Time(size, size / kKiB * 40);
    c.backward = c.duration;
    c.workspace = size / 4;
    const Tape::Id y = tape.Add(c);
    Tape::Forward r;
    r.name = Name("relu", n);
    r.inputs = {y};
    r.size = size;
    r.duration = r.backward = costs.Time(2 * size);
    r.needs_inputs = false;
    r.needs_output = true;
    return tape.Add(r);
  };
  const auto resample = [&](const char* what, Tape::Id x, std::int64_t size) {
    Tape::Forward p;
    p.name = Name(what, serial++);
    p.inputs = {x};
    p.size = size;
    p.duration = p.backward = costs.Time(2 * size);
    return tape.Add(p);
  };
  const std::int64_t levels = spec.layers;
  std::int64_t size = 256 * kKiB << std::min<std::int64_t>(levels, 12), weight = 16 * kKiB;
  Tape::Id x = spec.plain ? Tape::kNone : tape.AddData("image", size / 8);
  std::vector<Tape::Id> skips;
  std::vector<std::int64_t> sizes, weights;
  for (std::int64_t l = 0; l < levels; ++l) {
    x = conv(x, size, weight);
    x = conv(x, size, weight);
    skips.push_back(x);
    sizes.push_back(size);
    weights.push_back(weight);
    size = std::max<std::int64_t>(kKiB, size / 2);
    x = resample("pool", x, std::max<std::int64_t>(kKiB, size / 2));
    weight *= 2;
  }
  x = conv(x, size, weight);
  x = conv(x, size, weight);
  for (std::int64_t l = levels; l-- > 0;) {
    const auto i = static_cast<std::size_t>(l);
    x = resample("up", x, sizes[i]);
    Tape::Forward cat;
    cat.name = Name("concat", serial++);
    cat.inputs = {skips[i], x};
    cat.size = 2 * sizes[i];
    cat.duration = cat.backward = costs.Time(4 * sizes[i]);
    cat.needs_inputs = false;
    x = tape.Add(cat);
    x = conv(x, sizes[i], weights[i]);
    x = conv(x, sizes[i], weights[i]);
  }
  Tape::Forward loss;
  loss.name = "loss";
  loss.inputs = {x};
  loss.size = 8;
  loss.duration = loss.backward = costs.Time(sizes[0]);
  tape.Backward(tape.Add(loss));
  tape.Finish();
  return builder.Build();
}

// Pre-norm blocks: norm, projections to q, k and v, a view of each, scores, softmax, dropout (runs once, keeps its
// mask), context, projection, residual; norm, matmul, activation, matmul, residual.
Graph GenerateTransformer(const GenerateSpec& spec) {
  GraphBuilder builder;
  builder.SetName("transformer_" + std::to_string(spec.layers) + "x" + std::to_string(spec.microbatches) + "_seed" +
                  std::to_string(spec.seed));
  builder.SetDurationUnit("ns");
  Costs costs(spec.seed);
  Tape tape(builder, spec.plain);
  const std::int64_t width = 512 * kKiB;  // bytes of one activation of the model's width
  const std::int64_t square = width / 8;  // and of a square weight: a long sequence and a narrow model
  struct Weights {
    Tape::Id q, k, v, out, up, down;
  };
  std::vector<Weights> weights;
  for (std::int64_t l = 0; l < spec.layers; ++l)
    weights.push_back({tape.AddParameter(Name("q_weight", l), square), tape.AddParameter(Name("k_weight", l), square),
                       tape.AddParameter(Name("v_weight", l), square), tape.AddParameter(Name("out_weight", l), square),
                       tape.AddParameter(Name("up_weight", l), 4 * square),
                       tape.AddParameter(Name("down_weight", l), 4 * square)});
  const Tape::Id embedding = tape.AddParameter("embedding_weight", 8 * square);
  for (std::int64_t m = 0; m < spec.microbatches; ++m) {
    const std::string batch = spec.microbatches > 1 ? "m" + std::to_string(m) + "." : std::string();
    std::string block = batch;
    const auto add = [&](const char* what, std::vector<Tape::Id> inputs, std::int64_t size, std::int64_t megaflops,
                         const auto& change) {
      Tape::Forward op;
      op.name = block + what;
      op.inputs = std::move(inputs);
      op.size = costs.Vary(size);
      op.duration = costs.Time(2 * size, megaflops);
      op.backward = op.duration;
      change(op);
      return tape.Add(op);
    };
    const auto as_is = [](Tape::Forward&) {};
    const auto no_inputs = [](Tape::Forward& op) { op.needs_inputs = false; };
    const Tape::Id tokens = tape.AddData(batch + "tokens", 8 * kKiB);
    Tape::Id x = add("embed", {tokens, embedding}, width, 0, as_is);
    for (std::int64_t l = 0; l < spec.layers; ++l) {
      block = batch + "l" + std::to_string(l) + ".";
      const Weights& w = weights[static_cast<std::size_t>(l)];
      const auto norm = [](Tape::Forward& op) { op.saved = op.size / 64; };
      const Tape::Id a = add("norm1", {x}, width, 0, norm);
      // Projections, and each one's heads as a view of it (plain: the projection itself).
      const auto heads = [&](const char* projection, const char* name, Tape::Id weight) {
        const Tape::Id p = add(projection, {a, weight}, width, 2000, as_is);
        if (spec.plain) return p;
        return add(name, {p}, width, 0, [](Tape::Forward& op) {
          op.view = true;
          op.needs_inputs = false;
          op.duration = op.backward = 0;
        });
      };
      const Tape::Id q = heads("q", "q_heads", w.q);
      const Tape::Id k = heads("k", "k_heads", w.k);
      const Tape::Id v = heads("v", "v_heads", w.v);
      const Tape::Id scores = add("scores", {q, k}, 4 * width, 2000, as_is);
      const Tape::Id probabilities = add("softmax", {scores}, 4 * width, 0, [](Tape::Forward& op) {
        op.needs_inputs = false;
        op.needs_output = true;
      });
      const Tape::Id dropped = add("dropout", {probabilities}, 4 * width, 0, [](Tape::Forward& op) {
        op.needs_inputs = false;
        op.saved = op.size / 4;
        op.random = true;
      });
      const Tape::Id context = add("context", {dropped, v}, width, 2000, as_is);
      const Tape::Id out = add("out", {context, w.out}, width, 2000, as_is);
      const Tape::Id middle = add("residual1", {x, out}, width, 0, no_inputs);
      const Tape::Id b = add("norm2", {middle}, width, 0, norm);
      const Tape::Id up = add("up", {b, w.up}, 4 * width, 8000, [](Tape::Forward& op) { op.workspace = op.size / 8; });
      const Tape::Id gelu = add("gelu", {up}, 4 * width, 0, as_is);
      const Tape::Id down = add("down", {gelu, w.down}, width, 8000, as_is);
      x = add("residual2", {middle, down}, width, 0, no_inputs);
    }
    block = batch;
    const Tape::Id logits = add("head", {x, embedding}, 8 * width, 8000, as_is);
    const Tape::Id loss =
        add("loss", {logits}, 8, 0, [&](Tape::Forward& op) { op.duration = op.backward = costs.Time(16 * width); });
    tape.Backward(loss);
  }
  tape.Finish();
  return builder.Build();
}

}  // namespace ebb
