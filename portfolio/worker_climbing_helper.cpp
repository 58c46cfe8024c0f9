// SPDX-License-Identifier: Apache-2.0
//
// Searches the climbing worker's tree with it, from another lane (engine/bounds/tree_messages.hpp).
#include <algorithm>
#include <cstddef>

#include "engine/bounds/boundary_helper.hpp"
#include "heuristics/decode.hpp"
#include "portfolio/barren.hpp"
#include "portfolio/part_search.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

class ClimbingHelper : public Worker {
 public:
  ClimbingHelper(const Problem& problem, std::size_t number)
      : number_(number),
        helper_(problem.instance, PartSearch::ClimbTerms(problem), decoder_),
        barren_(problem.instance.num_ops) {}

  const char* name() const override { return "climbing-helper"; }
  double appetite() const override {
    return helper_.busy() ? std::clamp(barren_.units() / kShare, 0.25, kBusy) : kIdle;
  }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    barren_.Note(exchange);
    const TreeDesk& known = exchange.known().tree;
    if (number_ < known.tasks.size() && known.tasks[number_]) {
      if (known.tasks[number_]->last) return false;
      helper_.Take(known.tasks[number_]);
    }
    if (helper_.busy()) helper_.Step(budget);
    if (helper_.report() != told_) {
      told_ = helper_.report();
      exchange.TellTreeReport(number_, told_);
    }
    return true;
  }

 private:
  // To look for a task now and then is enough.
  static constexpr double kBusy = 4, kIdle = 0.001;
  static constexpr double kShare = 6;  // of its slot (lineup.cpp): as much as the climber has beside local search

  const std::size_t number_;
  Decoder decoder_;
  BoundaryHelper helper_;
  Barren barren_;
  std::shared_ptr<const TreeReport> told_;
};

}  // namespace

std::unique_ptr<Worker> MakeClimbingHelper(const Problem& problem, std::size_t number) {
  return std::make_unique<ClimbingHelper>(problem, number);
}

}  // namespace ebb
