// SPDX-License-Identifier: Apache-2.0
//
// Instances told apart: equal ones (layers, microbatches) are one class and kept once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {

class PartClasses {
 public:
  // The class of an instance: that of an equal one that is there, or a new one, size() before.
  std::size_t Add(Instance part);
  [[nodiscard]] std::size_t size() const { return instances_.size(); }
  [[nodiscard]] const std::shared_ptr<const Instance>& operator[](std::size_t i) const { return instances_[i]; }

 private:
  std::vector<std::shared_ptr<const Instance>> instances_;
  std::multimap<std::uint64_t, std::size_t> by_hash_;
};

}  // namespace ebb
