// SPDX-License-Identifier: Apache-2.0
//
// A LinearModel in a proof log (engine/core/proof_log.hpp): what its columns mean, and each row before the first clause
// that may rest on it.
//   total 0             integer 0 is at least the cost of the columns
//   r 4 -7 -3 12 -1 15  row 4: -3 [12] - 1 [15] >= -7; behind it its note, if it has one
#pragma once

#include <span>
#include <string>

#include "engine/core/proof_log.hpp"
#include "engine/linear/row_notes.hpp"
#include "propagators/linear_model.hpp"

namespace ebb {

// Called when the columns are there and nothing refers to them yet. Model and proof must outlive the engine's searches.
void BeginLinearProof(core::ProofLog& proof, const LinearModel& model, std::span<const std::string> names,
                      core::IntVar total, const RowNotes* notes = nullptr);
// The rows alone, where columns and costs are told otherwise.
void LogRows(core::ProofLog& proof, const LinearModel& model, const RowNotes* notes = nullptr);

}  // namespace ebb
