// SPDX-License-Identifier: Apache-2.0
#include "portfolio/part_classes.hpp"

#include <algorithm>
#include <utility>

#include "engine/problem/windows.hpp"

namespace ebb {

std::size_t PartClasses::Add(Instance part) {
  const std::uint64_t hash = InstanceHash(part);
  const auto [from, to] = by_hash_.equal_range(hash);
  const auto same = std::find_if(from, to, [&](const auto& k) { return SameInstance(*instances_[k.second], part); });
  if (same != to) return same->second;
  by_hash_.emplace(hash, instances_.size());
  instances_.push_back(std::make_shared<const Instance>(std::move(part)));
  return instances_.size() - 1;
}

}  // namespace ebb
