// SPDX-License-Identifier: Apache-2.0
//
// Why rows hold, by the rows themselves: they are copied from program to program and sorted out on the way, so a note
// that went by a row's index would not arrive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/linear/integer_rows.hpp"

namespace ebb {

class RowNotes {
 public:
  using Terms = std::vector<std::pair<std::int32_t, std::int64_t>>;  // column, coefficient

  void Set(Terms terms, std::int64_t rhs, std::string note) {
    std::sort(terms.begin(), terms.end());
    notes_[{rhs, std::move(terms)}] = std::move(note);
  }
  // Null where there is none.
  [[nodiscard]] const std::string* Find(const IntegerRows& rows, std::size_t row) const {
    if (notes_.empty()) return nullptr;
    Terms terms;
    for (std::size_t t = 0; t < rows.columns(row).size(); ++t)
      terms.emplace_back(rows.columns(row)[t], rows.coefficients(row)[t]);
    std::sort(terms.begin(), terms.end());
    const auto it = notes_.find({rows.rhs(row), std::move(terms)});
    return it == notes_.end() ? nullptr : &it->second;
  }

 private:
  std::map<std::pair<std::int64_t, Terms>, std::string> notes_;
};

}  // namespace ebb
