# SPDX-License-Identifier: Apache-2.0
"""The README's figures, from bench/results and from nowhere else: `bench/run readme` writes the table, `--check` compares.

The example's figures stand in sentences and in a log; those are not written, only looked for."""
import csv

from side.cells import markdown_table, seconds

MARK = "<!-- bench/RESULTS.md -->"
HEAD = ["graph (ops) @ budget", "ebbtide, 1 thread", "best bound", "Moccasin, CP-SAT", "the same, our plan as hint", "Checkmate, HiGHS",
        "LP + rounding", "best rule of the literature"]
PEERS = ("moccasin", "moccasin-hint", "checkmate", "checkmate-lp")


def read(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def own(method):
    return method.startswith("ebbtide")


def cell(row):
    if row is None:
        return "not run"
    if row["valid"] == "True":
        star = "*" if row["status"].startswith("optimal") else ""
        return f"{float(row['TDI %']):.4f}{star} ({seconds(float(row['best plan s']))} s)"
    if row["verdict"]:
        return row["verdict"]
    status, _, where = row["status"].partition(" (")
    if status == "time":
        where = where.rstrip(")")
        where = where + ", " if where and not where.startswith("killed") else ""
        return f"nothing ({where}{seconds(float(row['seconds']))} s)"
    return row["status"]


def table(rows):
    """Markdown lines of the paper's instances, in the CSV's order."""
    lines = []
    for name in dict.fromkeys(r["instance"] for r in rows):
        mine = {r["method"]: r for r in rows if r["instance"] == name}
        bounds = [float(r["bound %"]) for m, r in mine.items() if own(m) and m != "ebbtide-free" and r["bound %"]]
        rules = [(float(r["TDI %"]), m) for m, r in mine.items()
                 if not own(m) and m not in PEERS and m != "poet" and r["valid"] == "True"]
        best = min(rules, default=None)
        lines.append([name, cell(mine.get("ebbtide-1")), f"{max(bounds):.4f}" if bounds else "",
                      *(cell(mine.get(m)) for m in PEERS), f"{best[0]:.4f} ({best[1]})" if best else "no plan"])
    return markdown_table(HEAD, lines)


def with_table(text, rows):
    """The README with its table made anew: what follows the mark up to the next empty line."""
    before, mark, after = text.partition(MARK + "\n")
    if not mark:
        raise ValueError("the README has no mark " + MARK)
    _, _, rest = after.partition("\n\n")
    return before + mark + "\n".join(table(rows)) + "\n\n" + rest


def example(row):
    """What the README must say of its example."""
    more = int(row["executions"]) - int(row["ops"])
    return [f"optimal: duration {row['duration']} (+{float(row['TDI %']):.4f} %), bound +{float(row['bound %']):.4f} %",
            f"holds: duration {row['duration']} (+{float(row['TDI %']):.4f} %), peak {row['peak']} of {row['budget']} bytes, "
            f"{row['executions']} executions of {row['ops']} ops",
            f"The plan runs {more} ops a second time, takes {float(row['TDI %']):.2f} % longer"]


def disagreements(text, results):
    """Sentences; none where the README agrees with the results' CSV files."""
    found = []
    if with_table(text, read(results / "paper.csv")) != text:
        found.append("the README's table is not that of bench/results/paper.csv: bench/run readme")
    for row in read(results / "example.csv"):
        found += [f"the README does not say: {line}" for line in example(row) if line not in text]
    return found
