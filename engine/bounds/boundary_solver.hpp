// SPDX-License-Identifier: Apache-2.0
//
// Bounds, plans and proofs from the boundary relaxation (boundary_model.hpp), refined where it matters:
//
//   1. One boundary where the no-recompute profile is highest. Solve the LP with its cuts; look at the memory its point
//      implies elsewhere (boundary_profile.hpp); add boundaries at the worst places; again, until none is over.
//   2. Branch and bound on this model, with the incumbent as cutoff. Every solution is decoded into a sequence.
//   3. Where the optimum's sequence does not fit, boundaries are added where it overflows: at a first execution that
//      overflows, or at the two around a rerun that does, whichever gives the best LP; and 2 is done again. A model is
//      left before its optimum is proved once it has a solution that leaves little of the gap to the incumbent.
//
// In steps (Params::climb) 2 and 3 go another way: "is there anything below a ceiling" half way up from the bound to
// the incumbent (bound_steps.hpp). Whatever solution is found must be refuted, so the model is refined at once, at its
// worst overflow, and the tree's open nodes go on in the finer model (carry_over.hpp): a refinement costs an LP, not a
// tree. In the end the model is empty below the ceiling, or the solution is a plan.
//
// What is learnt with a cutoff stays true for every better sequence (a storage that must or cannot lie across a
// position, an op that cannot run again in an interval), so it is carried over to the next model. So are path cuts and
// moment rows, and those that were binding are in its LP from the start.
//
// Smaller models beat complete ones: all 50 hot positions of RL n = 250 at 0.8 make 21,695 columns, whose LP reaches
// 2.69 % in 60 s; nine of them reach 3.44 % in one second.
//
// Measured (one thread, CPU seconds of a busy machine; incumbent given for the RL graphs, none else; by the tree
// where nothing else is said):
//   RL n=100 at 0.9 / 0.8, fixed and staged    proved                     0.02 / 0.04
//   RL n=250 at 0.9                            proved                     0.6
//   RL n=250 at 0.8, staged, by learning       4.17 of 4.26 %             14 (nine boundaries; given these: proved, 29)
//   RL n=250 at 0.8, fixed, by learning        3.81 / 3.87 of 4.26 %      10 / 50 (ten boundaries)
//   RL n=500 at 0.8, staged, by learning       2.951 of 3.013 %           7 (seven boundaries)
//   RL n=500 at 0.8, staged, in steps          proved, plan 2.9604 %      3 (ten boundaries; incumbent given)
//   RL n=250 at 0.8, staged, in steps          proved                     6 (eight boundaries; incumbent given)
//   RL n=250 at 0.8, fixed, in steps           proved                     66 (the same); two lanes: at the end
//   RL n=1000 at 0.8, staged, by learning      2.553 of 2.599 %           6 (five boundaries)
//   RL n=500 at 0.9; n=1000 at 0.9             proved                     0.04; 1.8 (two boundaries)
//   ResNet50 at 0.9, 0.8, 0.5                  proved                     0.01, 0.01, 0.05
//   ResNet50 at 0.3, incumbent given           proved                     4 (per_tree 1; in steps after 1)
//   training step, 2,304 ops, at 0.2           proved                     0.6
//   FCN8, MobileNet, SegNet, VGG-UNet, VGG19   proved                     at most 0.04, at all budgets of the paper
//   vit_l_16 at 8.94 / 4.74 / 3.25 GB          proved / proved / 19.34 of 19.40 %      0.01 / 0.01 / 3
//   resnet152 at 7.97 / 6.18 / 10.36 GB        proved / 8.505 of 8.508 / 1.182 of 1.186 %   0.04 / 6 / 3
//   llama_7b at 60.8 / 55.1 / 70.8 GB          proved / 4.729 of 4.742 / 1.101 of 1.101 %   0.02 / 3 / 3
//   densenet201 at 2.51 GB                     proved, 14.80 %            1.4
//
// Fixed order is weaker than staged at the same boundaries because its moment rows are: in staged order what a rerun of
// lower rank makes lies there while a higher one runs, in any order only what does not run again in the stage. (Without
// moment rows the optimum of the nine boundaries is 3.856 %.)
//
// On several lanes the open nodes of a long tree are shared (Params::desk, tree_messages.hpp).
//
// Tried and taken back: the tree's dive before clause learning, learning told of known bounds and solutions, the gap to
// a solution halved to the end. RL n=500 at 0.8 has 2.9581 % after 6e9 ticks, but RL n=250 at 0.8 came to ten
// boundaries (240 and 241) and 4.126 % after 75e9, where it is proved after 51e9 as it is. In steps without carrying
// the tree, with probes: n=500 stood at 2.9604 % with 18 boundaries and no plan after 146e9 ticks.
//
// In fixed order what overflows in the end is a rerun in a stage of reruns alone: there the order of pairs of ops
// becomes part of the model as the search meets it (told_orders.hpp), and what even that leaves is cut off
// (stage_cuts.hpp).
// Which boundaries these are matters more than how many: RL n=250 at 0.8, fixed, by the tree after 28e9 ticks
//   {186, 195, 221, 222, 236..240} 3.95 %, {194, 195, 221, 222, 236..240} 4.035, the same with 241 3.977, with 241 and
//   without 238 4.05, {195, 221, 222, 236, 237, 239, 240, 241} 4.070, {195, 222, 237, 239, 240} 3.45 %.
//
// Tried for that and dropped: the stage divided at the beginning of the last run of its reruns in rank order (as if an
// op without size stood there: both halves can hold the same rerun; 3.88 % after 95e9 ticks, told orders have 4.10),
// cover and rounding cuts of moment rows (3.84 to 3.92 for 3.95 % after 26e9), one search up to the incumbent from the
// first boundary on (six boundaries and 3.72 % after 70e9: few solutions, so little to refine by).
//
// How long the last search takes, with the ceiling at the incumbent, depends on the boundaries that the steps before it
// met: {194, 195, 221, 222, 236, 237, 239, 240} is proved staged after 12 to 15 s, with 241 in place of 240 or beside
// it after 25 to 40. Hence probes from 2e9 ticks of a tree on: six incumbents, 100 s in all, 139 with probes after 5e9.
// Tried and dropped: to begin it as soon as the gap is a tenth and a step was long (too few boundaries by then: 4.12 %
// after 150 s, where it was proved after 132), or whenever the gap is a tenth (4.178 % after 130 s of one lane, proved
// otherwise); after each step on with the nodes that the last ceiling closed, by their branchings alone (staged 4.03 %
// after 78e9 ticks, where it is proved after 12e9 given the boundaries: a tree begun in coarser models branches badly);
// boundaries chosen by root LPs from all hot positions (3.447 % at the root with seven after 17e9 ticks; nine met by
// steps have 3.50); a dive each time that a third more nodes are done (n=250 alike, n=500 not proved in 40 s).
//
// Tried for the programs and dropped: rounded tableau rows (mixed-integer rounding, exact): 22 of them raise the root
// of nine boundaries from 3.409 to 3.549 %, but each has some 1,500 terms, and the tree has no better bound at equal
// work (fixed, three models, after 8e9 ticks 3.785, 3.781, 3.951 %, without 3.861, 3.881, 3.978; staged a little
// better). What the last stages cost at least, proved alone, as a row: the root rises to 3.571 %, and then the tree
// stands still, since no branching moves the LP's value ({236..240}: 2.41 % after 49 nodes as after the first).
//
// RL n=1000 at 0.8, staged, is proved given {675, 676, 689, 698, 708, 718, 736, 746, 768, 774, 775} and the incumbent
// of 2.5899 %: each tree up to the incumbent, begun anew at the first solution with the worst overflow beside it and
// with what branching had learnt, one lane, 667 s (639e9 ticks); 727, 743, 738 and 737 came to these, and 200e9 ticks
// went into one tree whose bound stood at 2.5825 % until a dive found the solution it had. Trees of models that lack a
// boundary spent most of the time so: hence the dives (BranchAndBound::Params::patient_dives). By the whole program
// from nothing, two threads, it is proved after 540 s (plan after 67 s, 2.5821 % after 116, 2.5877 after 306).
//
// Tried for that and dropped: only dives' solutions that cost at most half, a fourth or an eighth of the gap more than
// the bound (n=1000 2.5795 % after 83e9 with ten boundaries, with any 2.5781 after 71e9; but RL n=250 at 0.8 on two
// lanes not proved in 40 s staged and 120 s fixed, with any 7 to 9 s and 74 to 110); no probes (n=1000 2.5807 % after
// 158e9 as with them).
//
// The last tree of RL n=250 at 0.8, fixed, takes anything: with {194, 195, 221, 222, 236, 237, 239, 240} given, one
// lane, 98.8e9 ticks, with 187 besides 65.0e9, with 241 73.2e9, with both more than 120e9, with 186, 187, 188 and 193
// 64.4e9. Two lanes lose nothing: the first of these takes 39.6e9 of each. Tried there and dropped: what helpers'
// branching has learnt given back to the owner and told to the others every 50 nodes 45.9e9, their rows 49.1e9 (fewer
// nodes, each dearer); the whole, two threads, seeds 1 to 4, by the clock 92, 88, 115 and 106 s with the first, 73, 59,
// 86 and 131 without. Going into children as long as they are below the ceiling: no cheaper, since a child gone into
// costs as much as any (20e6 ticks: its cuts, not the way to it). In pseudo-costs also what closed a child at once, as
// all that was left of the gap: 69.5e9, 89.5e9, 49.6e9, 50.9e9 and 103e9 on the five, with 193 and 188 besides 89.1e9
// and 88.6e9 for 85.2e9 and 78.2e9, and 67e9 to 165e9 with the means of alike columns mixed in: nothing beyond chance.
//
// Open: of eighteen runs of that on two threads, each from nothing, three take more than 121 s, two of them more than
// 150. Those traced meet 241 before 240: a tree up to the incumbent is begun without 240, left after 6 to 9 s, and
// begun anew with both, where two lanes need 9,300 nodes and more for what one lane does in 4,500 (100e9 ticks; no
// difference with pseudo-costs taken along at a weight of one); in the other runs they need 5,900 together. It is not
// the model: owner and helper in lockstep by ticks go the same way with 48.4e9 of each.
//
// Open: a solution far above the bound leads to boundaries that do not matter (n=500 with an incumbent of 3.0129 %: 19,
// where ten prove it).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/status.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/bounds/bound_steps.hpp"
#include "engine/bounds/boundary_model.hpp"
#include "engine/bounds/decoded_point.hpp"
#include "engine/bounds/tree_messages.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

class BoundarySolver {
 public:
  struct Params {
    std::int32_t max_boundaries = 40;
    std::int32_t per_round = 2;  // boundaries added at once
    double tolerance = 0.0;      // implied overflow (share of the budget) that is let pass in step 1
    std::int32_t max_lp_rounds = 30;
    Ticks tree_ticks = 10'000'000'000;  // for the first tree, before the model is refined by what it knows so far
    double tree_growth = 1.5;           // and for each further one, times this
    std::int32_t per_tree = 4;          // boundaries added after a small model's tree
    std::int32_t probes = 5;            // places tried when a model is refined after its tree
    bool moment_rows = true;
    bool told_orders = false;  // told_orders.hpp, and after them stage cuts (stage_cuts.hpp); in fixed order
    bool carry_fixings = true;
    bool carry_rows = true;
    std::size_t max_columns = 60'000;  // no refinement beyond this
    BinarySolverFactory search;        // for step 2; none: branch and bound
    bool climb = false;                // step 2 in steps, by branch and bound: see above
    BoundSteps::Params steps;
    // Climbing: with helpers there, trees are searched together as soon as a ceiling has taken so many ticks and so
    // many nodes are open. Must outlive this.
    TreeDesk* desk = nullptr;
    Ticks share_after = 500'000'000;
    std::size_t share_least = 8;
    // Only what follows this position is asked for; -1: everything. `entry` tells per value whether it may lie there
    // across that position; memory up to it is not looked at, and nothing runs again before it.
    std::int32_t from = -1;
    std::vector<std::uint8_t> entry;
  };
  using Candidate = DecodedPoint;
  struct Progress {
    std::int32_t models = 0;
    std::size_t columns = 0, rows = 0;  // of the current model
    std::int64_t nodes = 0, lp_iterations = 0;
    bool in_tree = false;
    std::int32_t alone = 0;  // so many times a point was found that nothing refutes
  };

  // `budget` as the user's, graph inputs included. kFixed or kStaged. The decoder may be null (then bounds only) and
  // must outlive this, as must the instance.
  BoundarySolver(const Instance& instance, std::int64_t budget, OrderMode mode, BoundaryDecoder* decoder,
                 const Params& params);
  ~BoundarySolver();
  BoundarySolver(const BoundarySolver&) = delete;
  BoundarySolver& operator=(const BoundarySolver&) = delete;

  // A plan of this duration is known; only better ones matter.
  void SetIncumbent(std::int64_t duration);

  // Works until something is new, the budget is used up (false), or nothing is left to do (true): proved() or the
  // relaxation cannot be refined further.
  bool Step(WorkBudget& work);

  // Total duration (with one execution of each op). Valid for the order mode, monotone; at most the incumbent.
  [[nodiscard]] std::int64_t lower_bound() const;
  // Nothing in this order beats the incumbent (or what was decoded).
  [[nodiscard]] bool proved() const;
  // No sequence in this order fits the budget at all.
  [[nodiscard]] bool infeasible() const;
  // Nothing to do at present: helpers have what is left of the tree.
  [[nodiscard]] bool waiting() const;
  // Decoded since the last call, newest last.
  [[nodiscard]] std::vector<Candidate> TakeCandidates();
  [[nodiscard]] std::span<const std::int32_t> positions() const;
  [[nodiscard]] const Progress& progress() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb
