# SPDX-License-Identifier: Apache-2.0
"""Two builds on the same instances and seeds, run in turn so that a busy machine hurts both alike.

Per pair (instance, seed) three ratios B / A, below one where B is better: additional duration (both shifted by 0.01 points,
so that 0 counts), seconds to the worse of the two final plans, seconds to the proof where both proved. Geometric means
over all pairs, wins and losses, and two tests: Wilcoxon's signed ranks and the sign test on the logarithms."""
import math

from side import measures, statistics

SHIFT = 0.01  # points of TDI
TIE = {"quality": 1e-9, "target": 0.05, "proof": 0.05}  # relative; times closer than this are no win
FLOOR = 0.02  # seconds below which times are all the same


def pairs(a, b):
    """{(instance, seed): (record of A, record of B)}"""
    index = lambda records: {(r["key"]["instance"], r["key"]["seed"]): r for r in records}
    left, right = index(a), index(b)
    return {k: (left[k], right[k]) for k in left if k in right}


def ratios(both):
    """{measure: {(instance, seed): B / A}}, and the pairs where only one found a plan."""
    out, only = {"quality": {}, "target": {}, "proof": {}}, {"A": [], "B": []}
    for k, (a, b) in both.items():
        if not a.get("valid") or not b.get("valid"):
            if a.get("valid") or b.get("valid"):
                only["A" if a.get("valid") else "B"].append(k)
            continue
        out["quality"][k] = (measures.overhead(b) + SHIFT) / (measures.overhead(a) + SHIFT)
        target = max(a["duration"], b["duration"])
        times = [max(FLOOR, measures.reached(r, target)) for r in (a, b)]
        out["target"][k] = times[1] / times[0]
        if a["status"] == b["status"] == "optimal":
            out["proof"][k] = max(FLOOR, b["seconds"]) / max(FLOOR, a["seconds"])
    return out, only


def verdict(logs, tie):
    wins = sum(x < -math.log1p(tie) for x in logs)
    losses = sum(x > math.log1p(tie) for x in logs)
    kept = [x if abs(x) > math.log1p(tie) else 0.0 for x in logs]
    return wins, losses, statistics.wilcoxon(kept), statistics.sign_test(kept)


NAMES = {"quality": "additional duration", "target": "seconds to the same plan", "proof": "seconds to the proof"}


def report(a_name, b_name, both):
    """Markdown lines."""
    out, only = ratios(both)
    lines = [f"A: {a_name}", f"B: {b_name}", f"{len(both)} pairs of instance and seed. Ratios are B / A: below 1, B is better.", "",
             "| measure | pairs | geometric mean | B wins | B loses | Wilcoxon p | sign p |", "|---|---|---|---|---|---|---|"]
    for m, values in out.items():
        if not values:
            continue
        logs = [math.log(v) for v in values.values()]
        wins, losses, wilcoxon, sign = verdict(logs, TIE[m])
        lines.append(f"| {NAMES[m]} | {len(values)} | {statistics.geometric_mean(values.values()):.4f} | {wins} | {losses} | "
                     f"{wilcoxon:.4f} | {sign:.4f} |")
    lines += ["", "| instance | TDI % A | TDI % B | additional duration | B wins / loses | p | seconds to the same plan |",
              "|---|---|---|---|---|---|---|"]
    for instance in dict.fromkeys(k[0] for k in both):
        mine = [k for k in both if k[0] == instance]
        quality = [out["quality"][k] for k in mine if k in out["quality"]]
        target = [out["target"][k] for k in mine if k in out["target"]]
        mean = lambda side: [measures.overhead(both[k][side]) for k in mine if measures.overhead(both[k][side]) is not None]
        shown = [f"{sum(x) / len(x):.4f}" if (x := mean(side)) else "no plan" for side in (0, 1)]
        if quality:
            wins, losses, p, _ = verdict([math.log(v) for v in quality], TIE["quality"])
            lines.append(f"| {instance} | {shown[0]} | {shown[1]} | {statistics.geometric_mean(quality):.4f} | {wins} / {losses} | "
                         f"{p:.3f} | {statistics.geometric_mean(target):.3f} |")
        else:
            lines.append(f"| {instance} | {shown[0]} | {shown[1]} | | | | |")
    for side, found in only.items():
        if found:
            lines += ["", f"Only {side} found a plan: " + ", ".join(f"{i} seed {s}" for i, s in found)]
    return lines
