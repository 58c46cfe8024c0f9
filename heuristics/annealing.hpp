// SPDX-License-Identifier: Apache-2.0
//
// Simulated annealing over sequences of executions (sequence_state.hpp): the work horse for plans.
//
// Cost = duration + weight * (bytes over the budget, summed over the events) + a trifle per execution. The weight moves
// so that the walk stays near the border between fitting and not (strategic oscillation, Glover 1989); where no plan is
// known yet it stays near its start value, because a weight that grows without bound freezes the walk (measured in the
// study: RL n=100 at 0.62 is found with a fixed weight of twice mean duration / mean size only).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "heuristics/live_sampler.hpp"
#include "heuristics/random.hpp"
#include "heuristics/sequence_state.hpp"

namespace ebb {

struct AnnealingParams {
  enum class Goal {
    kDuration,  // least duration within the budget
    kPeak,      // least peak, whatever the duration; `budget` is where it may stop
  };
  OrderMode order = OrderMode::kFixed;
  Goal goal = Goal::kDuration;
  std::int64_t budget = 0;          // bytes, with the instance's resident_bytes
  std::int32_t max_executions = 0;  // per op; 0: any number
  std::uint64_t seed = 1;
  // Start temperature of a cycle, in mean durations (of ops that take time). 0: cycles of several temperatures in turn.
  double hot = 0;
  double cold = 0.02;         // its end temperature
  double weight = 2.0;        // start weight, in mean duration / mean size
  bool fixed_weight = false;  // never adapt it
  // Instances with views: share of the moves of every other cycle that take several repeats at once.
  double blocks = 0.12;
  std::int64_t cycle = 0;  // moves of the first cycle; 0: by the size of the graph
  double growth = 1.5;     // every further cycle is this much longer
  // Events of a window: with a plan at hand each cycle stays within one stretch of the sequence, so that its cooling
  // is over in time. 0: by the size of the graph (none below kWindowFrom ops); negative: never.
  std::int64_t window = 0;
};

class Annealing {
 public:
  // The instance must outlive it.
  Annealing(const Instance& instance, const AnnealingParams& params);

  // Where to start; valid for the instance and the order mode, may be over the budget. A start that fits is a plan.
  void Start(std::span<const std::int32_t> sequence);
  // Goes on where it stopped, until the budget is used up. Deterministic in ticks.
  void Run(WorkBudget& work);

  [[nodiscard]] bool has_plan() const { return !best_.empty(); }
  // Of the best sequence that fits; only where has_plan().
  [[nodiscard]] std::int64_t best_duration() const { return best_duration_; }
  [[nodiscard]] std::int64_t best_peak() const { return best_peak_; }
  [[nodiscard]] const std::vector<std::int32_t>& best_sequence() const { return best_; }
  // A better plan from elsewhere: the walk goes on from there, cold, when its cycle ends; at once where it is much
  // better.
  void Offer(std::span<const std::int32_t> sequence);
  // What the walk stands at, whether it fits or not.
  [[nodiscard]] std::vector<std::int32_t> CurrentSequence() const { return state_.Sequence(); }

  struct Counts {
    std::int64_t moves = 0, accepted = 0, cycles = 0;
    std::int64_t tried[10] = {}, taken[10] = {};  // by kind of move
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  enum Move {
    kSplitHot,
    kSplitReader,
    kErase,
    kShift,
    kReplace,
    kMoveFirst,
    kDragFirst,
    kSplitBlock,
    kEraseBlock,
    kReplaceBlock,
    kMoves
  };

  static constexpr double kLongest = 9.2e18;  // a plan's duration fits 63 bits
  static constexpr std::size_t kWindowFrom = 3000;

  void BeginCycle();
  void EndCycle();
  void OpenWindow();
  void Roam();
  void Settle(std::int32_t centre, std::int64_t events);
  void Step();
  bool Propose(Move move);
  std::int32_t HotEvent();
  std::int32_t EventToRelieve();
  bool SplitHot();
  bool SplitAt(std::int32_t event);
  std::int32_t RankAt(std::int32_t event) const;
  struct Across {  // a value that lies across an event
    std::int32_t value, server, use;
  };
  Across DrawAcross(std::int32_t event);
  bool SplitReader();
  bool SplitBlock(std::int32_t event);
  bool PlanBlock(const Across& across, std::int32_t event);
  void PlanInputs(std::int32_t op, std::int32_t use, std::int32_t event);
  void PlanReaders(std::int32_t op, std::int32_t event);
  bool InsertPlanned(std::int32_t op, std::int32_t before);
  bool EraseBlock(std::int32_t node);
  bool ReplaceBlock();
  bool InsertWithInputs(std::int32_t op, std::int32_t before);
  std::int32_t InsertOne(std::int32_t op, std::int32_t before);
  double DurationWith(std::int32_t op) const;
  bool EraseWithOrphans(std::int32_t node);
  bool Shift();
  bool Replace();
  bool MoveFirst(bool drag);
  bool MayRun(std::int32_t op) const;
  std::int32_t FirstUse(std::int32_t node) const;
  std::int32_t RandomEvent();
  std::int32_t RandomRepeat();
  void Adapt();
  [[nodiscard]] bool BetterThanBest() const;
  void NoteBest();
  void SaveBest();

  const Instance& in_;
  AnnealingParams params_;
  SequenceState state_;
  LiveSampler live_;
  QuickRandom random_;
  double mean_duration_ = 1, mean_bytes_ = 1;
  double hot_ = 1, temperature_ = 0, weight_ = 0, base_weight_ = 0, per_execution_ = 0;
  std::int64_t cycle_moves_ = 0, cycle_length_ = 0;
  double cascade_ = 0;
  double blocks_ = 0;   // share of moves of several repeats in the present cycle
  double dearest_ = 0;  // durations above which the present move would be refused anyway
  int budget_of_move_ = 0;
  bool started_ = false;

  bool windowed_ = false;                     // the present cycle
  bool local_ = false;                        // moves are drawn from low_ to high_: windowed_, or roaming
  std::int32_t low_ = 0, high_ = 0;           // its slots
  std::int32_t slots_then_ = 0;               // slots() when low_ and high_ were set
  std::vector<std::int32_t> window_repeats_;  // repeats in there; stale entries are dropped when met

  std::int64_t roam_at_ = 0;            // cycle_moves_ when a roaming walk moves on
  std::int64_t length_ = 0;             // moves of the present cycle
  bool polish_ = false;                 // the next cycle starts cold
  std::vector<std::int32_t> inserted_;  // by the open transaction, while windowed
  bool offered_ = false;                // best_ came from elsewhere and the walk has not been there

  // A block being planned: per op the number of the move that planned it, negative once it stands.
  std::vector<std::int64_t> planned_;
  std::vector<std::int32_t> block_;  // ops of the block
  struct Leaf {
    std::int32_t op, use;
  };
  std::vector<Leaf> leaves_;  // those that run again for a reader outside
  double block_duration_ = 0;
  double reach_ = 1;

  bool unsaved_ = false;  // the state is better than best_ and not yet copied
  bool pending_ = false;  // windowed: the marked state is better than best_ and not yet copied
  std::int64_t saved_at_ = 0;
  std::vector<std::int32_t> start_, best_;
  std::int64_t best_duration_ = 0, best_executions_ = 0, best_peak_ = 0;
  Counts counts_;
};

}  // namespace ebb
