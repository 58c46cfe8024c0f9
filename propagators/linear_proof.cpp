// SPDX-License-Identifier: Apache-2.0
#include "propagators/linear_proof.hpp"

namespace ebb {

void BeginLinearProof(core::ProofLog& proof, const LinearModel& model, std::span<const std::string> names,
                      core::IntVar total, const RowNotes* notes) {
  for (std::size_t j = 0; j < model.column.size(); ++j) proof.Name(model.column[j], names[j]);
  proof.out() << "total " << core::Index(total) << '\n';
  LogRows(proof, model, notes);
}

void LogRows(core::ProofLog& proof, const LinearModel& model, const RowNotes* notes) {
  proof.SetPreface([&model, notes, written = std::size_t{0}](std::ostream& out) mutable {
    for (; written < model.rows.size(); ++written) {
      out << "r " << written << ' ' << model.rows.rhs(written);
      for (std::size_t t = 0; t < model.rows.columns(written).size(); ++t)
        out << ' ' << model.rows.coefficients(written)[t] << ' '
            << model.column[static_cast<std::size_t>(model.rows.columns(written)[t])].number();
      if (const std::string* note = notes == nullptr ? nullptr : notes->Find(model.rows, written)) out << ' ' << *note;
      out << '\n';
    }
  });
}

}  // namespace ebb
