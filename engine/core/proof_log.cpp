// SPDX-License-Identifier: Apache-2.0
#include "engine/core/proof_log.hpp"

#include <algorithm>

#include "engine/base/status.hpp"

namespace ebb::core {
namespace {

std::string AsWord(std::string_view text) {
  std::string word(text);
  std::replace(word.begin(), word.end(), ' ', '-');
  return word;
}

}  // namespace

ProofLog::ProofLog(std::ostream& out) : out_(out), derived_(std::tmpfile()), declared_(2, 1) {
  if (derived_ == nullptr) throw InternalError("a proof needs a temporary file, and there is none to be had");
}

ProofLog::~ProofLog() { std::fclose(derived_); }

void ProofLog::Attach(Engine& engine) {
  engine_ = &engine;
  engine.AddListener(this);
}

void ProofLog::Name(Lit lit, const std::string& name) {
  if (declared_.size() <= lit.var()) declared_.resize(lit.var() + 1, 0);
  declared_[lit.var()] = 1;
  out_ << "v " << lit.number() << ' ' << name << '\n';
}

void ProofLog::Name(IntVar x, const std::string& name) { out_ << "n " << Index(x) << ' ' << name << '\n'; }

void ProofLog::Declare(Lit lit) {
  if (declared_.size() <= lit.var()) declared_.resize(lit.var() + 1, 0);
  if (declared_[lit.var()]) return;
  declared_[lit.var()] = 1;
  const IntVars::Owner owner = engine_->ints().owner(lit.var());
  if (owner.var != IntVar::kNone)
    out_ << "b " << lit.var() << ' ' << Index(owner.var) << ' ' << owner.value << '\n';
  else
    out_ << "v " << lit.var() << " free\n";
}

void ProofLog::OnClause(PropId propagator, std::uint16_t rule, std::span<const Lit> clause) {
  if (preface_) preface_(out_);
  for (const Lit lit : clause) Declare(lit);
  std::string witness;
  if (propagator == PropId::kNone) {
    out_ << "i model";
  } else {
    const Propagator& code = engine_->propagator(propagator);
    out_ << "i " << AsWord(code.Name()) << '/' << AsWord(code.Rules()[rule]);
    code.Witness(rule, witness);
  }
  for (const Lit lit : clause) out_ << ' ' << lit.number();
  out_ << " 0" << witness << '\n';
}

// Deletions are of no interest: a clause too many never spoils a derivation by unit propagation.
void ProofLog::Finish() {
  engine_->FlushDerived();
  std::rewind(derived_);
  std::string line;
  for (int c = std::fgetc(derived_); c != EOF; c = std::fgetc(derived_)) {
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
      continue;
    }
    if (!line.empty() && line[0] != 'd') out_ << "l " << line << '\n';
    line.clear();
  }
}

}  // namespace ebb::core
