// SPDX-License-Identifier: Apache-2.0
//
// Checkmate's program, "frontier-advancing" (equation 8 of the paper): in stage t op t runs for the first time.
//   R_t_i  op i runs in stage t              F_t_i_k  value i is freed in stage t after op k
//   S_t_i  value i lies there as t begins    U_t_k    bytes while op k may run in stage t
// Bytes are divided by the greatest divisor that they have in common (the budget rounded down), which changes nothing
// and keeps the numbers as small as they can be. Columns are written one after the other as MPS wants it, so the rows
// of a column are worked out twice, first to number them.
#include <numeric>
#include <utility>

#include "engine/base/status.hpp"
#include "io/export_model.hpp"

namespace ebb {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

class Writer {
 public:
  explicit Writer(const SingleOutputGraph& g) : g_(g), n_(static_cast<std::int64_t>(g.name.size())) {
    for (const std::int64_t s : g.size) unit_ = std::gcd(unit_, s);
    if (unit_ == 0) unit_ = 1;
    AddColumns();
    AddRows();
  }

  std::string Text() {
    std::string out = "* ops in the given order:";
    for (std::int64_t i = 0; i < n_; ++i) out += "\n* " + std::to_string(i) + " " + Printable(g_.name[At(i)]);
    out += "\n* bytes in units of " + std::to_string(unit_) + "\nNAME checkmate\nROWS\n N cost\n";
    for (std::size_t r = 0; r < row_name_.size(); ++r)
      out += std::string(" ") + row_kind_[r] + " " + row_name_[r] + "\n";
    out += "COLUMNS\n";
    bool whole = false;
    int markers = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      if (column.whole != whole) {
        whole = column.whole;
        out += " marker" + std::to_string(++markers) + " 'MARKER' " + (whole ? "'INTORG'" : "'INTEND'") + "\n";
      }
      // A column without any entry must be named all the same.
      if (column.cost != 0 || column.entries.empty())
        out += " " + column.name + " cost " + std::to_string(column.cost) + "\n";
      for (const auto& [row, value] : column.entries)
        out += " " + column.name + " " + row_name_[At(row)] + " " + std::to_string(value) + "\n";
    }
    if (whole) out += " marker" + std::to_string(++markers) + " 'MARKER' 'INTEND'\n";
    out += "RHS\n";
    for (std::size_t r = 0; r < row_name_.size(); ++r)
      if (row_right_[r] != 0) out += " rhs " + row_name_[r] + " " + std::to_string(row_right_[r]) + "\n";
    out += "BOUNDS\n";
    for (const Column& column : columns_) {
      if (column.fixed) {
        out += " FX bound " + column.name + " 1\n";
      } else if (column.whole) {
        out += " BV bound " + column.name + "\n";
      } else {
        out += " UP bound " + column.name + " " + std::to_string(g_.budget / unit_) + "\n";
      }
    }
    return out + "ENDATA\n";
  }

 private:
  struct Column {
    std::string name;
    std::int64_t cost = 0;
    bool whole = true, fixed = false;
    std::vector<std::pair<std::int32_t, std::int64_t>> entries;  // row, value
  };

  static std::string Printable(std::string text) {
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 32) c = ' ';
    return text;
  }

  std::int32_t AddColumn(std::string name, std::int64_t cost, bool whole, bool fixed) {
    columns_.push_back({std::move(name), cost, whole, fixed, {}});
    return static_cast<std::int32_t>(columns_.size()) - 1;
  }
  void Row(const char* kind, std::string name, std::int64_t right) {
    row_kind_.push_back(kind[0]);
    row_name_.push_back(std::move(name));
    row_right_.push_back(right);
  }
  void Put(std::int32_t column, std::int64_t value) {
    columns_[At(column)].entries.emplace_back(static_cast<std::int32_t>(row_name_.size()) - 1, value);
  }
  static std::string Name(const char* letter, std::int64_t a, std::int64_t b) {
    return letter + ("_" + std::to_string(a)) + "_" + std::to_string(b);
  }

  void AddColumns() {
    runs_.resize(At(n_)), lies_.resize(At(n_)), frees_.resize(At(n_)), bytes_.resize(At(n_));
    for (std::int64_t t = 0; t < n_; ++t) {
      for (std::int64_t i = 0; i <= t; ++i)
        runs_[At(t)].push_back(AddColumn(Name("R", t, i), g_.duration[At(i)], true, i == t));
      for (std::int64_t i = 0; i < t; ++i) lies_[At(t)].push_back(AddColumn(Name("S", t, i), 0, true, false));
    }
    for (std::int64_t t = 0; t < n_; ++t) {
      frees_[At(t)].resize(At(t + 1));
      for (std::int64_t k = 0; k <= t; ++k) {
        for (const std::int32_t i : g_.reads[At(k)])
          frees_[At(t)][At(k)].push_back(AddColumn(Name("F", t, i) + "_" + std::to_string(k), 0, true, false));
        frees_[At(t)][At(k)].push_back(AddColumn(Name("F", t, k) + "_" + std::to_string(k), 0, true, false));
      }
    }
    for (std::int64_t t = 0; t < n_; ++t)
      for (std::int64_t k = 0; k <= t; ++k) bytes_[At(t)].push_back(AddColumn(Name("U", t, k), 0, false, false));
  }

  void AddRows() {
    for (std::int64_t t = 0; t < n_; ++t) {
      for (std::int64_t j = 0; j <= t; ++j)
        for (const std::int32_t i : g_.reads[At(j)]) {
          Row("L", Name("in", t, j) + "_" + std::to_string(i), 0);  // what j reads runs in this stage or lies there
          Put(runs_[At(t)][At(j)], 1);
          Put(runs_[At(t)][At(i)], -1);
          Put(lies_[At(t)][At(i)], -1);
        }
      for (std::int64_t i = 0; i < t; ++i) {
        Row("L", Name("stay", t, i), 0);  // what lies there ran in the stage before, or lay there
        Put(lies_[At(t)][At(i)], 1);
        Put(runs_[At(t - 1)][At(i)], -1);
        if (i < t - 1) Put(lies_[At(t - 1)][At(i)], -1);
      }
      for (std::int64_t k = 0; k <= t; ++k) {
        Row("E", Name("mem", t, k), 0);
        Put(bytes_[At(t)][At(k)], 1);
        PutBytes(runs_[At(t)][At(k)], -g_.size[At(k)]);
        if (k == 0) {
          for (std::int64_t i = 0; i < t; ++i) PutBytes(lies_[At(t)][At(i)], -g_.size[At(i)]);
          continue;
        }
        Put(bytes_[At(t)][At(k - 1)], -1);
        const auto& freed = frees_[At(t)][At(k - 1)];
        for (std::size_t f = 0; f < freed.size(); ++f) PutBytes(freed[f], g_.size[At(Freed(k - 1, f))]);
      }
      for (std::int64_t k = 0; k <= t; ++k)
        for (std::size_t f = 0; f < frees_[At(t)][At(k)].size(); ++f) AddFree(t, k, f);
    }
  }
  // The f-th value that can be freed after op k: what it reads, then its own.
  [[nodiscard]] std::int64_t Freed(std::int64_t k, std::size_t f) const {
    return f < g_.reads[At(k)].size() ? g_.reads[At(k)][f] : k;
  }
  void PutBytes(std::int32_t column, std::int64_t bytes) {
    if (bytes != 0) Put(column, bytes / unit_);
  }
  // F = 1 exactly where op k runs in stage t, no later op of the stage reads the value, and it does not lie there as
  // the next one begins: hazards = (1 - R_t_k) + sum of R_t_j + S_(t+1)_i are none. 1 - F <= hazards <= K (1 - F).
  void AddFree(std::int64_t t, std::int64_t k, std::size_t f) {
    const std::int64_t i = Freed(k, f);
    std::vector<std::int32_t> later;
    for (const std::int32_t j : g_.readers[At(i)])
      if (j > k && j <= t) later.push_back(runs_[At(t)][At(j)]);
    if (t + 1 < n_) later.push_back(lies_[At(t + 1)][At(i)]);
    const auto most = static_cast<std::int64_t>(later.size()) + 1;
    const std::string name = std::to_string(t) + "_" + std::to_string(i) + "_" + std::to_string(k);
    for (const bool upper : {false, true}) {
      Row(upper ? "L" : "G", (upper ? "most_" : "free_") + name, upper ? most - 1 : 0);
      Put(frees_[At(t)][At(k)][f], upper ? most : 1);
      Put(runs_[At(t)][At(k)], -1);
      for (const std::int32_t c : later) Put(c, 1);
    }
  }

  const SingleOutputGraph& g_;
  const std::int64_t n_;
  std::int64_t unit_ = 0;
  std::vector<Column> columns_;
  std::vector<char> row_kind_;
  std::vector<std::string> row_name_;
  std::vector<std::int64_t> row_right_;
  std::vector<std::vector<std::int32_t>> runs_, lies_, bytes_;  // [t][i]
  std::vector<std::vector<std::vector<std::int32_t>>> frees_;   // [t][k][f]
};

}  // namespace

ModelSize CheckmateSize(const SingleOutputGraph& g) {
  const auto n = static_cast<std::int64_t>(g.name.size());
  ModelSize size;
  std::int64_t inputs = 0, frees = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto reads = static_cast<std::int64_t>(g.reads[At(k)].size());
    inputs += (n - k) * reads;
    frees += (n - k) * (reads + 1);
  }
  size.variables = n * (n + 1) + n * (n - 1) / 2 + frees;
  size.constraints = inputs + n * (n - 1) / 2 + n * (n + 1) / 2 + 2 * frees;
  return size;
}

std::string CheckmateMps(const SingleOutputGraph& g) {
  const ModelSize size = CheckmateSize(g);
  if (size.variables > kMostModelVariables)
    throw InputError("export: the model would have " + std::to_string(size.variables) + " variables, more than " +
                     std::to_string(kMostModelVariables));
  return Writer(g).Text();
}

}  // namespace ebb
