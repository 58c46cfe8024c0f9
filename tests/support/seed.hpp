// SPDX-License-Identifier: Apache-2.0
// The seed of a random test: EBB_TEST_SEED from the environment, else the given default (so that plain runs repeat).
// It is printed, because a failure whose seed is unknown is lost.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ebb::test {

/// The seed for the test called `name`; printed on standard output.
inline std::uint64_t Seed(const char* name, std::uint64_t fallback = 1) {
  const char* text = std::getenv("EBB_TEST_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
  std::printf("%s: EBB_TEST_SEED=%llu\n", name, static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace ebb::test
