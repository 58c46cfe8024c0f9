// SPDX-License-Identifier: Apache-2.0
//
// The kinds behind Generate, one file each, and what they share.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>

#include "io/generate.hpp"

namespace ebb {

// Boost's distributions give the same numbers everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  [[nodiscard]] std::int64_t Whole(std::int64_t low, std::int64_t high) {  // in [low, high]
    return boost::random::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  [[nodiscard]] double Real(double low, double high) {  // in [low, high)
    return low < high ? boost::random::uniform_real_distribution<double>(low, high)(engine_) : low;
  }
  [[nodiscard]] bool Chance(double share) { return Real(0, 1) < share; }

 private:
  boost::random::mt19937_64 engine_;
};

[[nodiscard]] Graph GenerateLayered(const GenerateSpec& spec);
[[nodiscard]] Graph GenerateChain(const GenerateSpec& spec);
[[nodiscard]] Graph GenerateUnet(const GenerateSpec& spec);
[[nodiscard]] Graph GenerateTransformer(const GenerateSpec& spec);
[[nodiscard]] Graph GenerateRandom(const GenerateSpec& spec);

}  // namespace ebb
