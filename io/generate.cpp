// SPDX-License-Identifier: Apache-2.0
#include "io/generate.hpp"

#include <array>
#include <cmath>
#include <string>

#include "engine/base/status.hpp"
#include "io/generate_kinds.hpp"

namespace ebb {
namespace {

struct Kind {
  GeneratorInfo info;
  Graph (*make)(const GenerateSpec&);
};

constexpr std::array kKinds = {
    Kind{{"chain", "forward chain of L layers and its backward pass", "layers,plain,seed"}, GenerateChain},
    Kind{{"layered", "random layered graph as in the Moccasin paper's experiments",
          "ops,width,variability,density,skip,seed"},
         GenerateLayered},
    Kind{{"random", "random graph with every feature of the model", "ops,plain,seed"}, GenerateRandom},
    Kind{{"transformer", "training step of a transformer with L layers and M microbatches",
          "layers,microbatches,plain,seed"},
         GenerateTransformer},
    Kind{{"unet", "training step of a U-Net with L levels", "layers,plain,seed"}, GenerateUnet},
};

constexpr auto kInfos = [] {
  std::array<GeneratorInfo, kKinds.size()> infos{};
  for (std::size_t i = 0; i < kKinds.size(); ++i) infos[i] = kKinds[i].info;
  return infos;
}();

void CheckRange(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return;  // also refuses NaN
  const auto text = [](double x) {
    std::string s = std::to_string(x);
    while (s.find('.') != std::string::npos && (s.back() == '0' || s.back() == '.')) {
      const bool dot = s.back() == '.';
      s.pop_back();
      if (dot) break;
    }
    return s;
  };
  throw InputError("gen: " + std::string(name) + " is " + text(value) + ", expected " + text(low) + " to " +
                   text(high));
}

}  // namespace

std::span<const GeneratorInfo> Generators() { return kInfos; }

Graph Generate(std::string_view kind, const GenerateSpec& spec) {
  CheckRange("ops", static_cast<double>(spec.ops), 1, 50'000'000);
  CheckRange("layers", static_cast<double>(spec.layers), 1, 1'000'000);
  CheckRange("microbatches", static_cast<double>(spec.microbatches), 1, 1'000'000);
  CheckRange("layers * microbatches", static_cast<double>(spec.layers) * static_cast<double>(spec.microbatches), 1,
             1'000'000);
  CheckRange("width", spec.width, 0.001, 1000);
  CheckRange("variability", spec.variability, 0, 1);
  CheckRange("density", spec.density, 0, 1);
  CheckRange("skip", spec.skip, 0, 0.95);
  std::string known;
  for (const Kind& k : kKinds) {
    if (k.info.kind == kind) return k.make(spec);
    known += (known.empty() ? "" : ", ") + std::string(k.info.kind);
  }
  throw InputError("gen: unknown kind '" + std::string(kind) + "', expected one of " + known);
}

}  // namespace ebb
