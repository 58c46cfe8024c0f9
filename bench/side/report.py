# SPDX-License-Identifier: Apache-2.0
"""From the store to RESULTS.md, one CSV a suite and one HTML page. The same records give the same bytes."""
import csv
import io
from pathlib import Path

from side import facts, measures, page
from side.instances import SUITES
from side.measures import Table, overhead, tdi

TITLES = {
    "paper": "The Moccasin paper's table", "traces": "Eight real traces against DTR", "chains": "Chains",
    "unets": "U-Nets", "steps": "Large training steps", "orders": "Least peak by order alone",
    "caps": "How often an op may run", "past250": "Past 250 ops", "quick": "Quick suite",
}
QUALITY_GRID = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
TIME_GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
MOST_DRAWN = 80  # points of a curve in the page


def number(x, digits=4):
    return "" if x is None else f"{x:.{digits}f}"


def seconds(x):
    if x is None:
        return ""
    return f"{x:.2f}" if x < 10 else f"{x:.0f}"


def is_optimal(r):
    return r["status"].startswith("optimal") and r["key"]["method"] not in ("keep",)


def cell(r):
    """TDI, * where the method itself proved it, and (seconds to it / seconds in all); else why there is none."""
    if r is None:
        return ""
    if r.get("valid"):
        return (f"{overhead(r):.4f}{'*' if is_optimal(r) else ''} ({seconds(measures.time_of_best(r))} / "
                f"{seconds(r['seconds'])} s)")
    if r.get("verdict"):
        return f"{r['verdict']}; TDI {tdi(r['duration'], r['base']):.1f}"
    return short(r)


def short(r):
    status = r["status"]
    if status.startswith("time") or status in ("nothing found", "unknown"):
        where = status.partition("(")[2].rstrip(")")
        where = "" if where.startswith("killed") or not where else where + ", "
        return f"nothing ({where}{seconds(r['seconds'])} s)"
    if status.startswith("not applicable"):
        return "n/a: " + status.partition(": ")[2]
    if "memory" in status:
        return f"{status.partition(',')[0]} after {seconds(r['seconds'])} s"
    return status


def markdown_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(c).replace("|", "/") for c in row) + " |" for row in rows]


class Section:
    """Blocks that go to the Markdown file and to the page alike."""

    def __init__(self, title):
        self.title, self.markdown, self.html = title, [], []

    def text(self, *lines):
        self.markdown += [*lines, ""]
        self.html.append("<p>" + page.html.escape(" ".join(lines)) + "</p>")

    def table(self, head, rows, only_page=False):
        rows = [list(r) for r in rows]
        if not rows:
            return
        if not only_page:
            self.markdown += markdown_table(head, rows) + [""]
        self.html.append(page.table(head, rows))

    def picture(self, svg):
        self.html.append(svg)


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
    section.picture(page.steps("Performance profile", "TDI points above the best", "share of instances",
                               [(m, list(zip(fine, measures.quality_profile(table, m, fine)))) for m in names]))
    fine = [10 ** (e / 8) for e in range(-16, 21)]
    section.picture(page.steps("Within 1 % of the best TDI", "seconds", "share of instances",
                               [(m, list(zip(fine, measures.time_profile(table, m, fine)))) for m in names]))


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
    rows = []
    for i in table.instances():
        cells = [i]
        for m in peers:
            x = measures.peer_ratio(table, i, m, own)
            if x is None:
                cells.append("")
            elif x["peer TDI"] is None:
                cells.append(f"peer: {x['peer word']}, {seconds(x['peer seconds'])} s; first plan {seconds(x['own seconds']) or 'none'} s")
            elif x["ratio"] is None:
                cells.append(f"not reached ({number(x['peer TDI'])} in {seconds(x['peer seconds'])} s)")
            else:
                cells.append(f"{x['ratio']:.2g} ({seconds(x['own seconds'])} of {seconds(x['peer seconds'])} s)")
        rows.append(cells)
    section.table(["instance"] + peers, rows)


def curves(section, table):
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
            section.picture(page.steps(f"{i}: TDI % over time", "seconds", "TDI %", lines))


def to_csv(table, path):
    rows = [measures.row(table, i, m) for i in table.instances() for m in table.methods() if table.get(i, m)]
    if not rows:
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    for r in rows:
        writer.writerow({k: (f"{v:.6g}" if isinstance(v, float) else v) for k, v in r.items()})
    path.write_text(text.getvalue())


# ---- the sections -------------------------------------------------------------------------------------------------
def paper_figures(i):
    cells = []
    for (where, method), (x, s) in facts.MOCCASIN_PAPER.items():
        if where == i:
            cells.append(f"{method} {x}" + (f" in {s} s" if s else ""))
    if i in facts.MOCCASIN_OWN:
        x, s, word = facts.MOCCASIN_OWN[i]
        cells.append("Moccasin's own code: " + (f"{x} after {s} s ({word})" if x is not None else f"{word} in {s} s"))
    if i in facts.CHECKMATE_IDLE:
        x, s = facts.CHECKMATE_IDLE[i]
        cells.append(f"checkmate on an idle machine: {x}* in {s} s")
    return "; ".join(cells)


def paper(table):
    s = Section(TITLES["paper"])
    s.text("TDI: additional duration in percent of one execution each, given order. `*`: proved optimal by the method itself "
           "(ebbtide for the given order, the peers within their own model). In brackets: seconds to that plan / in all. "
           "`ebbtide-1` and the peers have one thread. An empty cell was not run: the store takes it up where it stopped.")
    search, rules = split(table)
    matrix(s, table, ("figures of others", paper_figures), search)
    if rules:
        s.text("The literature's methods without a solver (docs/methods.md), by `--method`:")
        matrix(s, table, None, rules)
    s.text("The same of ebbtide in detail; every other row is in `results/paper.csv`.")
    own = [m for m in table.methods() if m in ("ebbtide", "ebbtide-1", "ebbtide-free")]
    detail(s, table, own, False)
    detail(s, table, [m for m in table.methods() if m not in own], True)
    profiles(s, table)
    ratios(s, table)
    curves(s, table)
    return s


def rounding(table):
    """The LP relaxation with rounding, and how far over the budget it ends."""
    s = Section("Checkmate's LP relaxation with two-phase rounding")
    rows = []
    for i in table.instances():
        r = table.get(i, "checkmate-lp")
        if r is None:
            continue
        over = 100.0 * (r["peak"] / r["key"]["budget"] - 1) if r.get("peak") is not None else None
        relaxed = r["facts"].get("relaxation")
        best = table.best(i)
        rows.append([i, number(tdi(relaxed, r["base"])) if relaxed else "", number(tdi(best, r["base"])) if best else "",
                     number(tdi(r["duration"], r["base"]), 2) if r.get("duration") else short(r),
                     "" if over is None else f"{over:+.1f} %", seconds(r["seconds"])])
    tried = [r for i in table.instances() if (r := table.get(i, "checkmate-lp"))]
    made = [r for r in tried if r.get("peak") is not None]
    s.text(f"The paper found its plans mostly over the budget (and 93.0 % on G2 at 0.9). Here {len(made)} of {len(tried)} "
           f"relaxations were solved within the limit, and {sum(r['peak'] > r['key']['budget'] for r in made)} of these "
           "plans are over the budget.")
    s.table(["instance", "relaxation, TDI %", "best known TDI %", "rounded plan's TDI %", "peak against budget", "seconds"],
            rows)
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
           "least by the order of execution. 1.00 is the peak of the given order; seconds in brackets.")
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
    s.text("TDI with at most C executions of each op, given order. The paper found no clear effect of C = 2.")
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
        s.text(f"C = 2 costs between {min(tell):.4f} and {max(tell):.4f} points against no limit on these {len(tell)}.")
    return s


def past250(table):
    s = Section(TITLES["past250"])
    s.text("Which method still finds a plan within the budget on random layered graphs (`ebbtide gen layered`, seed 1): its TDI "
           "and seconds, or why there is none.")
    s.table(["method"] + table.instances(), [[m] + [cell(table.get(i, m)) for i in table.instances()] for m in table.methods()])
    return s


def generic(name, note=""):
    def make(table):
        s = Section(TITLES[name])
        if note:
            s.text(note)
        search, rules = split(table)
        matrix(s, table, None, search)
        matrix(s, table, None, rules)
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
    lines = [(m, [(r["ops"], r["models"][m]["variables"]) for _, r in rows if m in r["models"]]) for m in names]
    s.picture(page.steps("Variables against ops", "ops", "variables", lines))
    return s


SECTIONS = {
    "paper": paper, "traces": traces, "orders": orders, "caps": caps, "past250": past250,
    "chains": generic("chains", "Forward chains with their backward pass (`ebbtide gen chain --plain`; seed 0: all layers equal). "
                      "Revolve counts steps and snapshots, so it is optimal on even chains only."),
    "unets": generic("unets", "Training steps of U-Nets (`ebbtide gen unet --plain`)."),
    "steps": generic("steps", "Forward and backward passes of blocks with skips, several microbatches one after the other."),
    "quick": generic("quick"),
}


def origin(records):
    """Facts of the run: dates, machines, builds, seeds, threads, load."""
    if not records:
        return ["nothing measured yet"]
    of = lambda f: sorted({f(r) for r in records if f(r)})
    days = of(lambda r: r["at"][:16].replace("T", " "))
    builds = of(lambda r: r["key"]["build"])
    threads = sorted({(r["kind"], r["key"]["threads"]) for r in records if r["kind"] in ("ours", "peer")})
    limits = sorted({(r["kind"] + (" (processor)" if r["key"].get("clock") else ""), str(r["key"]["limit"])) for r in records if r["kind"] in ("ours", "peer", "classic")},
                    key=lambda x: (x[0], float(x[1]) if x[1].replace(".", "").isdigit() else 0))
    loads = [r["load"] for r in records if r.get("load") is not None]
    out = [f"Measured from {days[0]} to {days[-1]} on: " + "; ".join(of(lambda r: r.get("machine"))) + "."]
    out.append("Versions: " + "; ".join(builds) + ".")
    out.append("Seeds: " + ", ".join(str(x) for x in sorted({r["key"]["seed"] for r in records})) + ". Threads: "
               + ", ".join(f"{k} {t}" for k, t in threads) + ". Limits in seconds: " + ", ".join(f"{k} {t}" for k, t in limits) + ".")
    if loads:
        loads.sort()
        out.append(f"{len(records)} runs. Load of the machine before a run: {loads[0]:g} to {loads[-1]:g}, median "
                   f"{loads[len(loads) // 2]:g} (1.0 is one busy processor; above the number of CPUs the times are too long).")
    return out


CLOCK = {
    "wall": "Times are seconds of the clock.",
    "cpu": "Times are processor seconds of all threads of a process, since the machine did much other work meanwhile; the seconds "
           "of the clock are in the CSV files (`wall s`). Ebbtide's limit is one of the clock, the peers' is one of processor time.",
}


def filled(records, name):
    """The suite's table, with the rows that its section shows; empty where nothing was measured."""
    # Caps on the executions are compared within one limit, which is the smallest that the suites share.
    table, allowed = Table(records, [i.name for i in SUITES[name]()], largest=name != "caps"), ROWS.get(name, lambda m: True)
    rows = {i: {m: r for m, r in row.items() if allowed(m)} for i, row in table.rows.items()}
    table.rows = {i: row for i, row in rows.items() if row}
    return table


def write(records, to, folder, suites, again, page_path, clock="wall"):
    """Writes Markdown to `to`, CSV files to `folder`, the page to `page_path`; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted, sections, used, written = [s for s in SECTIONS if s in suites], [], [], []
    for name in wanted:
        table = filled(records, name)
        if not table.rows:
            continue
        used += [r for row in table.rows.values() for r in row.values()]
        sections.append(SECTIONS[name](table))
        if name == "paper" and (more := rounding(table)):
            sections.append(more)
        to_csv(table, folder / f"{name}.csv")
        written.append(folder / f"{name}.csv")
    if more := sizes(records):
        sections.append(more)
    head = origin(used)
    lines = ["# Side by side", "",
             "Ebbtide and the other systems of the field on the same work. Every plan was judged twice: by `ebbtide check` and by "
             "the independent judge of `bench/side/judge.py`. The peers are models written from their papers "
             "([docs/peers.md](../docs/peers.md)) in HiGHS and CP-SAT.", ""]
    head.append(CLOCK[clock])
    lines += [f"- {x}" for x in head] + ["", "Again:", "", *("    " + a for a in again), ""]
    for s in sections:
        lines += [f"## {s.title}", "", *s.markdown]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("\n".join(lines).rstrip() + "\n")
    page_path.write_text(page.page("Side by side", head, [(s.title, s.html) for s in sections]))
    return [to, page_path, *written]


ROWS = {
    "caps": lambda m: m in ("ebbtide", "ebbtide-C1", "ebbtide-C2", "ebbtide-C3"),
    "paper": lambda m: not m.startswith("ebbtide-C"),
    "past250": lambda m: not m.startswith("ebbtide-C"),
}
