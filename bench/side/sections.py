# SPDX-License-Identifier: Apache-2.0
"""One section a suite, each saying what the issue or the paper asks of it, and the table of the models' sizes."""
from side import facts, page
from side.blocks import curves, detail, matrix, optimum, peers_limits, profiles, ratios, split
from side.cells import Section, cell, number, seconds, short
from side.instances import SUITES
from side.measures import Table, overhead, tdi

TITLES = {
    "paper": "The Moccasin paper's table", "traces": "Eight real traces against DTR", "chains": "Chains",
    "unets": "U-Nets", "steps": "Large training steps", "orders": "Least peak by order alone",
    "caps": "How often an op may run", "past250": "Past 250 ops", "quick": "Quick suite", "copies": "DTR's simulation against DTR's simulator",
    "example": "The README's example",
}

RELAXED_BY = {"ipm": "interior point", "pdlp": "PDLP"}
METHOD_NAMES = {"moccasin": "Moccasin", "checkmate": "Checkmate", "checkmate-lp": "LP with rounding"}


def paper_figures(i):
    paper = [f"{METHOD_NAMES[method]} {x} %" + (f" in {s} s" if s else "")
             for (where, method), (x, s) in facts.MOCCASIN_PAPER.items() if where == i]
    cells = ["the paper: " + ", ".join(paper)] if paper else []
    if i in facts.MOCCASIN_OWN:
        x, s, word = facts.MOCCASIN_OWN[i]
        cells.append("Moccasin's own code: " + (f"{x} % after {s} s ({word})" if x is not None else f"{word} in {s} s"))
    if i in facts.CHECKMATE_IDLE:
        x, s = facts.CHECKMATE_IDLE[i]
        cells.append(f"a smaller program of Checkmate's kind: {x} %* in {s} s")
    return "; ".join(cells)


def paper(table):
    s = Section(TITLES["paper"])
    s.text("TDI: additional duration in percent of one execution each, given order. `*`: proved optimal by the method itself "
           "(ebbtide for the given order, the peers within their own model). In brackets: seconds to that plan / in all. "
           "`ebbtide-1` and the peers have one thread. An empty cell was not run: the store takes it up where it stopped. The last "
           "column has the paper's own figures as far as they are at hand (on other machines, with Gurobi for Checkmate) and "
           "what other programs did on the same file.")
    search, rules = split(table)
    matrix(s, table, ("figures of others", paper_figures), search)
    peers_limits(s, table)
    if rules:
        s.text("The literature's methods without a solver (docs/methods.md), by `--method`:")
        matrix(s, table, None, rules)
    s.text("The same of ebbtide in detail; every other row is in `results/paper.csv`.")
    own = [m for m in table.methods() if m in ("ebbtide", "ebbtide-1", "ebbtide-free")]
    detail(s, table, own, False)
    detail(s, table, [m for m in table.methods() if m not in own], True)
    optimum(s, table)
    profiles(s, table)
    ratios(s, table)
    curves(s, table)
    return s


def rounding(table):
    """The LP relaxation with rounding, and how far over the budget it ends."""
    s = Section("Checkmate's LP relaxation with two-phase rounding")
    rows, tried = [], []
    for i in table.instances():
        r = table.get(i, "checkmate-lp")
        if r is None:
            continue
        tried.append(r)
        over = 100.0 * (r["peak"] / r["key"]["budget"] - 1) if r.get("peak") is not None else None
        relaxed, by = r["facts"].get("relaxation"), r["facts"].get("relaxation by", "")
        best = table.best(i)
        rows.append([i, RELAXED_BY.get(by, ""), number(tdi(relaxed, r["base"])) if relaxed else "not solved" if by else "",
                     number(tdi(best, r["base"])) if best else "",
                     number(tdi(r["duration"], r["base"]), 2) if r.get("duration") else short(r),
                     "" if over is None else f"{over:+.1f} %", seconds(r["seconds"])])
    made = [r for r in tried if r.get("peak") is not None]
    s.text(f"The paper found its plans mostly over the budget (and 93.0 % on G2 at 0.9). Here {len(made)} of {len(tried)} "
           f"relaxations were solved within the limit, and {sum(r['peak'] > r['key']['budget'] for r in made)} of the plans rounded from "
           "them are over the budget. (Interior point, or past 200,000 variables and rows PDLP to a gap of 2e-4.)")
    s.table(["instance", "relaxation by", "relaxation, TDI %", "best known TDI %", "rounded plan's TDI %", "peak against budget",
             "seconds"], rows)
    return s if rows else None


def traces(table):
    s = Section(TITLES["traces"])
    s.text("Budgets are shares of the peak that DTR's own simulator counts, in bytes. Last column: the overhead in percent that "
           "the authors' simulator had there, the better of its two best heuristics (none: out of memory, or gave up).")
    own = [m for m in table.methods() if m.startswith("ebbtide")]
    family = [m for m in table.methods() if m.startswith("dtr")]
    rows = []
    for i in table.instances():
        r = next(iter(table.rows[i].values()))
        best = min(((overhead(table.get(i, m)), m) for m in family if overhead(table.get(i, m)) is not None), default=None)
        bound = table.bound(i)
        value = facts.DTR_OWN.get(i)
        rows.append([f"{i} ({r['ops']})", *(cell(table.get(i, m)) for m in own),
                     number(tdi(bound, r["base"])) if bound is not None else "",
                     f"{best[0]:.2f} ({best[1]})" if best else "no plan", "none" if value is None else value])
    s.table(["trace (ops)", *own, "bound %", "best of the DTR rules here", "DTR's simulator"], rows)
    if family:
        s.text("Each rule of the DTR family by itself:")
        s.table(["trace"] + family, [[i] + [cell(table.get(i, m)) for m in family] for i in table.instances()])
    curves(s, table)
    return s


def orders(table):
    s = Section(TITLES["orders"])
    s.text("Random layered graphs of the family of the neural topological ordering papers; no op runs twice; the peak is made "
           "least by the order of execution. 1.00 is the peak of the given order; seconds in brackets. `ebbtide-free` may repeat ops as "
           "far as the duration limit of no repeat lets it, `ebbtide-orders` is told one execution an op; `order-*` are rules.")
    names = table.methods()
    rows = []
    for i in table.instances():
        base = next(iter(table.rows[i].values()))["base_peak"]
        cells = []
        for m in names:
            r = table.get(i, m)
            if r is None:
                cells.append("")
            elif r.get("valid"):
                cells.append(f"{r['peak'] / base:.4f} ({seconds(r['seconds'])} s)")
            else:
                cells.append(r.get("verdict") or short(r))
        rows.append([i] + cells)
    s.table(["instance"] + names, rows)
    return s


def caps(table):
    s = Section(TITLES["caps"])
    s.text("TDI with at most C executions of each op, given order. The paper found no clear effect of C = 2. "
           "C = 1 is the given order itself, so no budget below its peak can be kept.")
    names = [m for m in ("ebbtide-C1", "ebbtide-C2", "ebbtide-C3", "ebbtide") if m in table.methods()]
    head = {"ebbtide-C1": "C = 1", "ebbtide-C2": "C = 2", "ebbtide-C3": "C = 3", "ebbtide": "unlimited"}
    rows, tell = [], []
    for i in table.instances():
        rows.append([i] + [cell(table.get(i, m)) for m in names])
        two, free = table.get(i, "ebbtide-C2"), table.get(i, "ebbtide")
        if overhead(two) is not None and overhead(free) is not None:
            tell.append(overhead(two) - overhead(free))
    s.table(["instance"] + [head[m] for m in names], rows)
    if tell:
        s.text(f"C = 2 costs between {min(tell):.4f} and {max(tell):.4f} points against no limit on these {len(tell)} (less than 0: "
               "the search under the cap was luckier).")
    return s


def past250(table):
    s = Section(TITLES["past250"])
    s.text("Which method still finds a plan within the budget: random layered graphs of the paper's kind (`ebbtide gen layered`, "
           "seed 1) and the paper's own at 0.9 and 0.8, on those it was run on.")
    rows = []
    for m in table.methods():
        have = [i for i in table.instances() if table.get(i, m)]
        large = [i for i in have if table.get(i, m)["ops"] > 250]
        solved = lambda names: f"{sum(overhead(table.get(i, m)) is not None for i in names)} of {len(names)}"
        rows.append([m, solved([i for i in have if i not in large]), solved(large)])
    s.table(["method", "plans up to 250 ops", "plans past 250 ops"], rows)
    s.text("The generated graphs, with TDI and seconds, or why there is no plan; the paper's stand in its table above.")
    generated = Table([r for row in table.rows.values() for r in row.values() if r["key"]["instance"].startswith("layered")])
    search, rules = split(generated)
    matrix(s, generated, None, search)
    matrix(s, generated, None, rules)
    return s


def copies(table):
    s = Section(TITLES["copies"])
    s.text("Is our simulation of DTR DTR's? Here both have the same graph: DTR's simulator copies where the program mutates, so "
           "the logs are rewritten that way (bench/side/copies.py). What is left: it frees a storage when the program drops its last "
           "name, our graphs after the last read, which leaves more room; it gives up past twice the duration.")
    rows = []
    for i in table.instances():
        name = i.replace(", copies", "")
        value = facts.DTR_OWN.get(name)
        cells = [f"{x:.2f}" if (x := overhead(table.get(i, m))) is not None else "no plan" for m in ("dtr", "dtr-class")]
        rows.append([name, "none" if value is None else value, *cells])
    s.table(["trace", "DTR's simulator, the better of two", "dtr", "dtr-class"], rows)
    return s


def example(table):
    s = Section(TITLES["example"])
    matrix(s, table)
    detail(s, table, table.methods(), False)
    return s


def generic(name, note=""):
    def make(table):
        s = Section(TITLES[name])
        if note:
            s.text(note)
        search, rules = split(table)
        matrix(s, table, None, search)
        peers_limits(s, table)
        matrix(s, table, None, rules)
        optimum(s, table)
        profiles(s, table)
        detail(s, table, table.methods(), True)
        ratios(s, table)
        curves(s, table)
        return s
    return make


def sizes(records):
    s = Section("Sizes of the models")
    rows, names = [], []
    found = {}
    for r in records:
        if r["key"]["method"] == "sizes":
            found[r["key"]["instance"]] = r
    for i, r in sorted(found.items(), key=lambda x: x[1]["ops"]):
        names += [m for m in r["models"] if m not in names]
        rows.append((i, r))
    if not rows:
        return None
    s.text("Variables / constraints of each formulation. Moccasin grows with the edges; Checkmate's and POET's with ops times "
           "edges. The gap cover is the 0/1 relaxation that ebbtide starts from: one variable a gap, one row a position.")
    s.table(["graph", "ops", "edges"] + names, [[i, r["ops"], r["edges"]] + [
        f"{r['models'][m]['variables']:,} / {r['models'][m]['constraints']:,}" if m in r["models"] else "" for m in names]
        for i, r in rows])
    lines = {}  # formulations with the same sizes are one line
    for m in names:
        points = tuple((r["ops"], r["models"][m]["variables"]) for _, r in rows if m in r["models"])
        lines.setdefault(points, []).append(m)
    s.picture(page.chart("Variables against ops", "ops", "variables", [(", ".join(m), list(points)) for points, m in lines.items()],
                         stairs=False, log_y=True))
    return s


SECTIONS = {
    "paper": paper, "caps": caps, "past250": past250, "orders": orders, "traces": traces, "copies": copies,
    "chains": generic("chains", "Forward chains with their backward pass (`ebbtide gen chain --plain`; even: all layers equal, seed 0). "
                      "Revolve counts steps and snapshots, so it can reach the optimum on even chains only."),
    "unets": generic("unets", "Training steps of U-Nets (`ebbtide gen unet --plain`)."),
    "steps": generic("steps", "Forward and backward passes of blocks with skips, several microbatches one after the other."),
    "example": example, "quick": generic("quick"),
}

ROWS = {
    "caps": lambda m: m in ("ebbtide", "ebbtide-C1", "ebbtide-C2", "ebbtide-C3"),
    "paper": lambda m: not m.startswith("ebbtide-C"),
    "past250": lambda m: not m.startswith("ebbtide-C"),
}


def filled(records, name):
    """The suite's table, with the rows that its section shows; empty where nothing was measured."""
    # As older records have it: HiGHS' word for being stopped at the limit, and why there was no hint.
    words = lambda status: "time" if status == "interrupted by user" else "no hint" if status.startswith("no hint") else status
    records = [dict(r, status=words(r["status"])) for r in records]
    # A part of ebbtide's own search by itself, as older versions had it, is no row.
    records = [r for r in records if r["kind"] != "ours" or "--method" not in r["key"]["flags"]]
    capped = [r for r in records if r["key"]["method"] == "ebbtide-C2"]
    if name == "caps" and capped:  # compared within one build and limit
        like = max(capped, key=lambda r: r["at"])["key"]
        records = [r for r in records if (r["key"]["build"], r["key"]["limit"]) == (like["build"], like["limit"])]
    table, allowed = Table(records, [i.name for i in SUITES[name]()]), ROWS.get(name, lambda m: True)
    rows = {i: {m: r for m, r in row.items() if allowed(m)} for i, row in table.rows.items()}
    table.rows = {i: row for i, row in rows.items() if row}
    return table
