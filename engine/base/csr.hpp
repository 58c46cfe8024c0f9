// SPDX-License-Identifier: Apache-2.0
//
// Rows of numbers in two flat arrays (compressed sparse rows): the shape of every "op -> its inputs" relation here. It
// is filled row by row and then only read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ebb {

template <class T>
class Csr {
 public:
  [[nodiscard]] std::size_t rows() const { return begin_.size() - 1; }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::span<const T> operator[](std::size_t row) const {
    return {items_.data() + begin_[row], items_.data() + begin_[row + 1]};
  }
  // Position of a row's first item among all items: a dense index for per-item side arrays.
  [[nodiscard]] std::size_t begin(std::size_t row) const { return static_cast<std::size_t>(begin_[row]); }
  [[nodiscard]] const std::vector<T>& items() const { return items_; }

  void Push(T item) { items_.push_back(item); }
  void EndRow() { begin_.push_back(static_cast<std::int64_t>(items_.size())); }
  // Calls f(item), which may change it, on every item in order.
  template <class F>
  void ForEach(F f) {
    for (T& item : items_) f(item);
  }
  void Reserve(std::size_t rows, std::size_t items) {
    begin_.reserve(rows + 1);
    items_.reserve(items);
  }

  // The reverse relation: for every value 0..columns-1 the rows that hold it, ascending. `index` tells T's dense index.
  template <class Row, class IndexFn>
  [[nodiscard]] Csr<Row> Transpose(std::size_t columns, IndexFn index) const {
    Csr<Row> out;
    out.begin_.assign(columns + 1, 0);
    for (const T& item : items_) ++out.begin_[index(item) + 1];
    for (std::size_t c = 0; c < columns; ++c) out.begin_[c + 1] += out.begin_[c];
    out.items_.resize(items_.size());
    std::vector<std::int64_t> next(out.begin_.begin(), out.begin_.end() - 1);
    for (std::size_t r = 0; r < rows(); ++r)
      for (const T& item : (*this)[r]) out.items_[static_cast<std::size_t>(next[index(item)]++)] = static_cast<Row>(r);
    return out;
  }

 private:
  template <class U>
  friend class Csr;
  std::vector<std::int64_t> begin_{0};
  std::vector<T> items_;
};

}  // namespace ebb
