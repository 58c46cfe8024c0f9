# SPDX-License-Identifier: Apache-2.0
"""What the sections are made of: the matrix of cells, details, performance profiles, ratios to the peers, curves over time.

The profiles are Dolan and More's (2002), by distance to the best TDI in points, since TDI may be 0."""
from statistics import median

from side import measures, page, statistics
from side.cells import cell, number, seconds
from side.measures import overhead, tdi

QUALITY_GRID = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
TIME_GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
MOST_DRAWN = 80  # points of a curve in the page


def own_name(table):
    """The row of ebbtide that ratios are taken of: one thread, as the peers have, if it was run."""
    have = table.methods()
    return next((m for m in ("ebbtide-1", "ebbtide") if m in have), None)


def matrix(section, table, extra=None, names=None):
    names = table.methods() if names is None else [m for m in table.methods() if m in names]
    if not names:
        return
    head = ["instance (ops, edges)"] + names + ([extra[0]] if extra else [])
    rows = []
    for i in table.instances():
        r = next(iter(table.rows[i].values()))
        rows.append([f"{i} ({r['ops']}, {r['edges']})"] + [cell(table.get(i, m)) for m in names]
                    + ([extra[1](i)] if extra else []))
    section.table(head, rows)


def split(table):
    """Methods that search (ebbtide and the peers), and the literature's rules."""
    kinds = {m: r["kind"] for row in table.rows.values() for m, r in row.items()}
    return [m for m in kinds if kinds[m] in ("ours", "peer")], [m for m in kinds if kinds[m] not in ("ours", "peer")]


def peers_limits(section, table):
    """What the peers had, said once: they may have had different limits."""
    had = {}
    for row in table.rows.values():
        for m, r in row.items():
            if r["kind"] == "peer" and not r["status"].startswith("too large"):
                had.setdefault(m, set()).add(float(r["key"]["limit"]))
    if had:
        words = [f"{m} {min(x):g}" + (f" to {max(x):g}" if len(x) > 1 else "") for m, x in sorted(had.items(), key=lambda x: measures.rank_of(x[0]))]
        section.text("Limits of the peers in seconds: " + ", ".join(words) + " (row by row in the CSV file; where a solver does not stop "
                     "when it is asked to, it is killed a seventh and 30 s later).")


def detail(section, table, names, only_page):
    head = ["instance", "method", "status", "TDI %", "bound %", "gap, points", "first plan, s", "within 1 % of best, s",
            "in all, s", "of the clock, s", "memory, MiB"]
    rows = []
    for i in table.instances():
        for m in names:
            if table.get(i, m) is None:
                continue
            r = measures.row(table, i, m)
            status = r["status"] if r["valid"] is not False else r["verdict"]
            rows.append([i, m, status, number(r["TDI %"]), number(r["bound %"]), number(r["gap points"]),
                         seconds(r["first plan s"]), seconds(r["within 1 % of best s"]), seconds(r["seconds"]),
                         seconds(r["wall s"]), number(r["memory MiB"], 0)])
    section.table(head, rows, only_page)


def optimum(section, table):
    """Each method against what ebbtide proved to be the least in the given order."""
    least = {i: r["duration"] for i in table.instances() for r in table.rows[i].values()
             if r["kind"] == "ours" and r.get("valid") and r["status"] == "optimal" and measures.in_order(r)
             and measures.uncapped(r)}
    if not least:
        return
    rows = []
    for m in table.methods():
        have = [i for i in least if table.get(i, m) and measures.in_order(table.get(i, m))]
        over = [tdi(r["duration"], r["base"]) - tdi(least[i], r["base"]) for i in have if (r := table.get(i, m)).get("valid")]
        if have:
            rows.append([m, len(have), len(over), sum(x < 1e-9 for x in over), number(median(over)) if over else "",
                         number(max(over, default=None))])
    section.text(f"Against the optimum, which ebbtide proved on {len(least)} of {len(table.instances())}: on how many of these a method "
                 "was run, found a plan, found the optimum; points of TDI above it in the median and at worst.")
    section.table(["method", "run on", "plans", "optimal", "median", "worst"], rows)


def profiles(section, table):
    every = [m for m in table.methods() if m not in ("ebbtide-free", "ebbtide-orders")]
    names = [m for m in every if any(overhead(table.get(i, m)) is not None for i in table.instances())]
    if len(names) < 2:
        return
    section.text("Performance profile: share of the instances (those it was run on: `of`) where the TDI is within so many points "
                 "of the best that any method found in this order."
                 + (" Without a plan anywhere: " + ", ".join(m for m in every if m not in names) + "." if every != names else ""))
    section.table(["method", "of"] + [f"{g:g}" for g in QUALITY_GRID],
                  [[m, len(measures.ran(table, m))] + [f"{x:.2f}" for x in measures.quality_profile(table, m, QUALITY_GRID)]
                   for m in names])
    section.text("Share of the instances with a plan within 1 % of the best TDI after so many seconds.")
    timed = [m for m in names if measures.time_profile(table, m, TIME_GRID[-1:])[0] > 0]
    section.table(["method", "of"] + [f"{g:g} s" for g in TIME_GRID],
                  [[m, len(measures.ran(table, m))] + [f"{x:.2f}" for x in measures.time_profile(table, m, TIME_GRID)]
                   for m in timed])
    fine = [10 ** (e / 8) for e in range(-24, 17)]
    rules = split(table)[1]
    section.picture(page.chart("Performance profile", "TDI points above the best", "share of instances",
                               [(m, list(zip(fine, measures.quality_profile(table, m, fine)))) for m in names], thin=rules))
    fine = [10 ** (e / 8) for e in range(-16, 21)]
    section.picture(page.chart("Within 1 % of the best TDI", "seconds", "share of instances",
                               [(m, list(zip(fine, measures.time_profile(table, m, fine)))) for m in timed], thin=rules))


def ratios(section, table):
    own = own_name(table)
    peers = [m for m in table.methods() if m != "moccasin-hint" and not m.startswith("ebbtide")]  # the hint is ours
    peers = [m for m in peers if any(r["kind"] == "peer" for r in (table.get(i, m) for i in table.instances()) if r)]
    if not own or not peers:
        return
    threads = {table.get(i, own)["key"]["threads"] for i in table.instances() if table.get(i, own)}
    section.text(f"How long ebbtide (row {own}, {', '.join(map(str, sorted(threads)))} thread(s)) took to reach each peer's best "
                 "TDI, as a share of the peer's time to it, both measured in the same run; where the peer found nothing, "
                 "ebbtide's first plan against the time the peer had.")
    rows, found = [], {m: [] for m in peers}
    for i in table.instances():
        cells = [i]
        for m in peers:
            x = measures.peer_ratio(table, i, m, own)
            if x is None:
                cells.append("")
            elif table.get(i, own)["status"] == "infeasible":
                cells.append("no plan exists")
            elif x["peer TDI"] is None:
                took = "" if x["peer word"] == "model too large" else f", {seconds(x['peer seconds'])} s"
                cells.append(f"peer: {x['peer word']}{took}; first plan {seconds(x['own seconds'])} s")
            elif x["ratio"] is None:
                cells.append(f"not reached ({number(x['peer TDI'])} in {seconds(x['peer seconds'])} s)")
            else:
                found[m].append(x["ratio"])
                cells.append(f"{x['ratio']:.2g} ({seconds(x['own seconds'])} of {seconds(x['peer seconds'])} s)")
        if any(cells[1:]):
            rows.append(cells)
    section.table(["instance"] + peers, rows)
    shown = [f"{m} {statistics.geometric_mean(r):.2g} on {len(r)} (largest {max(r):.2g})" for m, r in found.items() if r]
    if shown:
        section.text("Geometric mean of these shares: " + "; ".join(shown) + ".")


def curves(section, table):
    drawn, rules = [], split(table)[1]
    for i in table.instances():
        lines = []
        for m in table.methods():
            r = table.get(i, m)
            if overhead(r) is None:
                continue
            points = [(p[0], tdi(p[1], r["base"])) for p in r["curve"]] or [(r["seconds"], overhead(r))]
            if len(points) > MOST_DRAWN:
                step = (len(points) - 1) / (MOST_DRAWN - 1)
                points = [points[round(k * step)] for k in range(MOST_DRAWN)]
            lines.append((m, points + [(max(r["seconds"], points[-1][0]), overhead(r))]))
        if lines:
            # A first plan far off would flatten everything else.
            cap = 3 * max(min(y for _, y in points) for _, points in lines) + 1e-9
            lines = [(m, [(x, min(y, cap)) for x, y in points]) for m, points in lines]
            drawn.append(page.chart(f"{i}: TDI % over time", "seconds", "TDI %", lines, thin=rules))
    if drawn:
        section.picture(page.folded("Curves over time, instance by instance", drawn))
