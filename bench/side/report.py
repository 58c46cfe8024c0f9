# SPDX-License-Identifier: Apache-2.0
"""From the store to RESULTS.md, one CSV a suite and one HTML page. The same records give the same bytes."""
import csv
import io

from side import measures, page
from side.sections import SECTIONS, filled, rounding, sizes


def to_csv(table, path):
    rows = [measures.row(table, i, m) for i in table.instances() for m in table.methods() if table.get(i, m)]
    if not rows:
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    for r in rows:
        writer.writerow({k: (f"{v:.9g}" if isinstance(v, float) else v) for k, v in r.items()})
    path.write_text(text.getvalue())


def origin(records):
    """Facts of the run: dates, machines, builds, seeds, threads, load."""
    if not records:
        return ["nothing measured yet"]
    of = lambda f: sorted({f(r) for r in records if f(r)})
    days = of(lambda r: r["at"][:16].replace("T", " "))
    source = {r["key"]["build"]: r["source"] for r in records if r.get("source")}  # of a build, where it is known
    builds = [b + (f" (commit {source[b]})" if b in source else "") for b in of(lambda r: r["key"]["build"])]
    threads = sorted({(r["kind"], r["key"]["threads"]) for r in records if r["kind"] in ("ours", "peer")})
    limits = {}
    for r in records:
        word = str(r["key"]["limit"])
        word = word if word.startswith("work") else f"{float(word):g} s" + (" of processor" if r["key"].get("clock") == "cpu" else "")
        limits.setdefault(r["kind"], set()).add(word)
    number = lambda word: float(word.split()[1] if word.startswith("work") else word.split()[0])
    loads = [r["load"] for r in records if r.get("load") is not None]
    out = [f"Measured from {days[0]} to {days[-1]} on: " + "; ".join(of(lambda r: r.get("machine"))) + "."]
    out.append("Versions: " + "; ".join(builds) + ".")
    out.append("Seeds: " + ", ".join(str(x) for x in sorted({r["key"]["seed"] for r in records})) + ". Threads: "
               + ", ".join(f"{k} {t}" for k, t in threads) + ". Limits: "
               + "; ".join(f"{k} " + ", ".join(sorted(words, key=number)) for k, words in sorted(limits.items())) + ".")
    if loads:
        loads.sort()
        out.append(f"{len(records)} runs. Load of the machine before a run: {loads[0]:g} to {loads[-1]:g}, median "
                   f"{loads[len(loads) // 2]:g} (1.0 is one busy processor; above the number of CPUs the times are too long).")
    return out


CLOCK = {
    "wall": "Times are seconds of the clock.",
    "cpu": "Times are processor seconds of all threads of a process, since the machine did much other work meanwhile; the seconds "
           "of the clock are in the CSV files (`wall s`). Ebbtide's limit is one of counted work (`work N`: "
           "0.7 N to 1.6 N seconds of each of its threads), the peers' is one of processor time.",
}


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
             "([docs/peers.md](../docs/peers.md), which also says where the graphs come from) in HiGHS and CP-SAT.", ""]
    head.append(CLOCK[clock])
    lines += [f"- {x}" for x in head] + ["", "Again:", "", *("    " + a for a in again), ""]
    for s in sections:
        lines += [f"## {s.title}", "", *s.markdown]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("\n".join(lines).rstrip() + "\n")
    page_path.write_text(page.page("Side by side", head, [(s.title, s.html) for s in sections]))
    return [to, page_path, *written]
