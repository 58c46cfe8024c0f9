// SPDX-License-Identifier: Apache-2.0
//
// What a constraint has to say for itself. A propagator is declared in one place: what it watches (in Attach), how
// urgent it is, its inference rules by name, and a naive checker that judges any clause that a rule gave.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/literal.hpp"

namespace ebb::core {

class Engine;

// Cheap ones run first. From kGlobal on everything known is first handed to the SAT solver, whose unit propagation is
// cheaper still.
enum class Priority : std::uint8_t { kBinary = 0, kLinear = 1, kGlobal = 2, kHeavy = 3 };
inline constexpr std::size_t kPriorities = 4;

// A reason to be explained later: it is kept with the literal on the trail. `rule` indexes Propagator::Rules; a and b
// are the propagator's own.
struct LazyReason {
  std::uint16_t rule = 0;
  std::int64_t a = 0;
  std::int32_t b = 0;
};

class Propagator {
 public:
  virtual ~Propagator() = default;
  Propagator(const Propagator&) = delete;
  Propagator& operator=(const Propagator&) = delete;

  [[nodiscard]] std::string_view Name() const { return name_; }
  [[nodiscard]] std::span<const std::string_view> Rules() const { return rules_; }
  [[nodiscard]] Priority priority() const { return priority_; }

  // Posts the watches (Engine::Watch*). It is scheduled once afterwards.
  virtual void Attach(Engine& engine, PropId id) = 0;
  // A watch fired; `data` is what it was posted with. Returns whether to schedule Propagate. No inference here. State
  // changed here must be undone in OnBacktrack; events come in trail order and each at the level where it is true.
  virtual bool OnEvent(Engine& engine, std::int32_t data) {
    (void)engine, (void)data;
    return true;
  }
  // Infers all it can with Engine::Infer*. Returns false where the engine said there is a conflict.
  [[nodiscard]] virtual bool Propagate(Engine& engine) = 0;
  // Called after the engine undid its trail, if asked for in Attach (Engine::WatchBacktrack).
  virtual void OnBacktrack(Engine& engine, std::int32_t level) { (void)engine, (void)level; }

  // Appends literals that were true before trail position `before` and together imply `lit`. No new literals may be
  // made here: use Engine::WhyGeq and friends.
  virtual void Explain(Engine& engine, Lit lit, const LazyReason& reason, std::int32_t before, std::vector<Lit>& out) {
    (void)engine, (void)lit, (void)reason, (void)before, (void)out;
  }

  // All literals are assigned (integer variables may still be open between the literals that exist). Returns false
  // after an inference, a conflict or a new clause.
  [[nodiscard]] virtual bool FinalCheck(Engine& engine) {
    (void)engine;
    return true;
  }

  // Does the constraint alone imply this clause? Independent of the propagation code and as naive as can be; asked for
  // every clause in check builds.
  [[nodiscard]] virtual bool Implies(const Engine& engine, std::uint16_t rule, std::span<const Lit> clause) const = 0;

  // Appends what a proof's checker needs besides the clause that was just given (docs/proof_format.md): " number" each.
  virtual void Witness(std::uint16_t rule, std::string& out) const { (void)rule, (void)out; }

 protected:
  // `rules` are not copied: a static array.
  Propagator(std::string_view name, std::span<const std::string_view> rules, Priority priority)
      : name_(name), rules_(rules), priority_(priority) {}

 private:
  std::string_view name_;
  std::span<const std::string_view> rules_;
  Priority priority_;
};

// Chooses what to try next.
class Brancher {
 public:
  virtual ~Brancher() = default;
  // An open literal to make true; none: no opinion.
  [[nodiscard]] virtual Lit Next(Engine& engine) = 0;
};

}  // namespace ebb::core
