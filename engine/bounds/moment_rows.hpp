// SPDX-License-Identifier: Apache-2.0
//
// Memory inside a stage, as rows made when an LP point breaks them. While op o runs again in stage k, its inputs and
// outputs must fit beside what lies there for certain:
//
//   any order     u with S[u,k+1] = 1 that does not run again in stage k lies there through the whole stage;
//   staged order  (only where stage k ends with the next first execution, so that its repeats stand in rank order)
//                 also u of lower rank than o with S[u,k+1] = 1, even where it runs again in the stage, since then it
//                 does so before o; and u of lower rank that a later rerun w still reads.
//   told order    (stages of reruns alone in any order) the same for the pairs whose order is a column Y: what of an op
//                 runs again after o is then Y or C - Y.
//
// With need(o) = o's inputs, outputs and moment, and X the bytes counted above,
//
//   X + (need(o) - out) C[o,k] <= budget - out,    out = outputs and moment of the op at a_{k+1},
//
// since with C[o,k] = 0 the values of X all lie there across a_{k+1}, beside that op's outputs. (Each w adds its bytes
// to both sides: they may count where o does not run.)
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/bounds/boundary_model.hpp"
#include "engine/linear/row_notes.hpp"

namespace ebb {

class MomentRows : public RowSeparator {
 public:
  // `teller`: the model, where orders may be told (fixed order, plain instances).
  MomentRows(const BoundaryModel& model, std::int64_t budget, bool staged, BoundaryModel* teller = nullptr)
      : model_(model), teller_(teller), budget_(budget), staged_(staged) {}
  void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override;
  // For a proof: a row's note is "m", the stage, o, and each u with its w (-1: by S[u,k+1]). Must outlive this.
  void SetNotes(RowNotes* notes) { notes_ = notes; }

 private:
  void SeparateOne(std::span<const double> x, std::int32_t stage, std::int32_t op, double least, IntegerRows& out);

  const BoundaryModel& model_;
  BoundaryModel* teller_;
  std::int64_t budget_;
  bool staged_;
  RowNotes* notes_ = nullptr;
  std::vector<std::uint8_t> touched_;  // values that o reads or makes
};

}  // namespace ebb
