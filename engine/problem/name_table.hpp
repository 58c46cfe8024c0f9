// SPDX-License-Identifier: Apache-2.0
//
// Names, each kept once: a name is an index in order of first mention from then on. A graph file says a tensor's name
// at its declaration and again at every read; of a million ops that would be a gigabyte of strings. (Tried and dropped,
// a million ops: hashes kept beside the indices, a small table of the names of late in front: no faster, 5 % more
// memory.)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

namespace ebb {

class NameTable {
 public:
  [[nodiscard]] std::size_t size() const { return names_->size(); }
  [[nodiscard]] const std::string& operator[](std::int32_t index) const {
    return (*names_)[static_cast<std::size_t>(index)];
  }
  // The index of the name, a new one where it was not mentioned before. The caller minds that 31 bits are enough.
  std::int32_t Intern(std::string_view name) {
    if (const auto it = index_.find(name); it != index_.end()) return *it;
    const auto fresh = static_cast<std::int32_t>(names_->size());
    names_->emplace_back(name);
    index_.insert(fresh);
    return fresh;
  }
  // All names by index. Leaves the table only fit to be thrown away.
  [[nodiscard]] std::vector<std::string> Take() {
    index_ = Set(0, Hash{names_.get()}, Equal{names_.get()});
    return std::move(*names_);
  }

 private:
  using Names = std::vector<std::string>;
  struct Hash {
    using is_transparent = void;
    const Names* names;
    std::size_t operator()(std::string_view name) const { return boost::hash<std::string_view>()(name); }
    std::size_t operator()(std::int32_t index) const { return (*this)((*names)[static_cast<std::size_t>(index)]); }
  };
  struct Equal {
    using is_transparent = void;
    const Names* names;
    bool operator()(std::string_view a, std::int32_t b) const { return a == (*names)[static_cast<std::size_t>(b)]; }
    bool operator()(std::int32_t a, std::string_view b) const { return (*this)(b, a); }
    bool operator()(std::int32_t a, std::int32_t b) const { return a == b; }  // names are kept once
  };
  using Set = boost::unordered_flat_set<std::int32_t, Hash, Equal>;

  std::unique_ptr<Names> names_ = std::make_unique<Names>();  // its address outlives a move of the table
  Set index_{0, Hash{names_.get()}, Equal{names_.get()}};
};

}  // namespace ebb
