// SPDX-License-Identifier: Apache-2.0
//
// The search as a text that somebody else can check (docs/proof_format.md). The engine knows what it was told and what
// its propagators said; what the SAT solver made of it CaDiCaL writes itself, to a file of its own, and every line of
// that follows from lines before by unit propagation. So the log is: names, clauses with the rule that gave each, and
// at the end, in any order that keeps the solver's, what it derived.
//
//   v 12 stay 7 0      what literal 12 means: told by whoever made it
//   n 0 start 5 1      what integer 0 means
//   b 20 0 35          literal 20 is [int 0 >= 35]
//   i RULE 12 -13 0 …  a clause from outside the SAT solver; behind the 0 the rule's witness
//   l 12 0             a clause that the SAT solver derived
//
// A literal's line stands before the first clause that uses it. Literal 1 is true.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "engine/core/engine.hpp"

namespace ebb::core {

class ProofLog final : public ClauseListener {
 public:
  // `out` must outlive this. Throws InternalError where there is no room for a temporary file.
  explicit ProofLog(std::ostream& out);
  ~ProofLog() override;
  ProofLog(const ProofLog&) = delete;
  ProofLog& operator=(const ProofLog&) = delete;

  // For the engine's constructor.
  [[nodiscard]] std::FILE* derived() const { return derived_; }
  // The engine must outlive this; nothing may have been told to it yet but names.
  void Attach(Engine& engine);
  // Called before each clause is written: for lines that it refers to.
  void SetPreface(std::function<void(std::ostream&)> preface) { preface_ = std::move(preface); }
  void Name(Lit lit, const std::string& name);  // once, with the literal's sign +
  void Name(IntVar x, const std::string& name);
  [[nodiscard]] std::ostream& out() { return out_; }

  void OnClause(PropId propagator, std::uint16_t rule, std::span<const Lit> clause) override;
  // After the last search: what the SAT solver derived.
  void Finish();

 private:
  void Declare(Lit lit);

  std::ostream& out_;
  std::FILE* derived_;
  Engine* engine_ = nullptr;
  std::vector<std::uint8_t> declared_;  // by SAT variable
  std::function<void(std::ostream&)> preface_;
};

}  // namespace ebb::core
