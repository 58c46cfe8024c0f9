#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report, the comparison and the statistics of bench/run on a stored set of records. usage: parts_test.py SOURCE_DIR"""
import csv
import json
import os
import re
import sys
import tempfile
from pathlib import Path

SOURCE = sys.argv[1]
sys.path.insert(0, os.path.join(SOURCE, "bench"))
sys.dont_write_bytecode = True
from side import compare, copies, measures, readme, report, statistics  # noqa: E402
from side.cells import cell  # noqa: E402
from side.measures import Table  # noqa: E402
from side.records import Store  # noqa: E402

STORE = os.path.join(SOURCE, "tests", "bench", "records.jsonl")


def near(a, b, tolerance=1e-6):
    assert abs(a - b) <= tolerance, (a, b)


def test_statistics():
    near(statistics.sign_test([1, 1, 1, 1, 1, -1, 0]), 2 * (1 + 6) / 64)
    near(statistics.wilcoxon([1, 2, 3, 4, 5]), 2 / 32)  # all one way: 2 / 2^n
    # Ranks 1..8 with 3 and 5 negative: 25 of the 256 subsets have a sum of at most 8.
    near(statistics.wilcoxon([1, 2, -3, 4, -5, 6, 7, 8]), 2 * 25 / 256)
    near(statistics.wilcoxon([1, -1]), 1.0)
    near(statistics.wilcoxon([]), 1.0)
    near(statistics.wilcoxon([0, 0, 2]), 1.0)
    many = [k * (-1 if k % 3 == 0 else 1) for k in range(1, 41)]  # negative sum 273 of 820: z = 1.8347
    near(statistics.wilcoxon(many), 0.0665, 0.0006)
    near(statistics.geometric_mean([0.5, 2.0, 8.0]), 2.0)


def test_measures():
    records = list(Store(STORE).records.values())
    t = Table(records, ["RL G1 n=100 @0.9", "RL G2 n=250 @0.9"])
    assert t.instances() == ["RL G1 n=100 @0.9", "RL G2 n=250 @0.9"]
    assert t.best("RL G1 n=100 @0.9") == 1008  # the free order's 1000 is no plan of this order
    r = measures.row(t, "RL G1 n=100 @0.9", "ebbtide-1")
    near(r["TDI %"], 0.8), near(r["bound %"], 0.8), near(r["gap points"], 0.0)
    near(r["first plan s"], 0.1), near(r["within 1 % of best s"], 0.5)
    x = measures.peer_ratio(t, "RL G1 n=100 @0.9", "moccasin", "ebbtide-1")
    near(x["ratio"], 0.5 / 60.0)
    x = measures.peer_ratio(t, "RL G2 n=250 @0.9", "moccasin", "ebbtide-1")
    assert x["ratio"] is None and x["peer TDI"] is None and x["own seconds"] == 0.2
    # A plan over the budget is no plan, but what it was can be told.
    lp = t.get("RL G2 n=250 @0.9", "checkmate-lp")
    assert measures.overhead(lp) is None and cell(lp) == "over the budget by 20.0 %; TDI 93.0"
    assert cell(t.get("RL G1 n=100 @0.9", "moccasin")) == "0.8000* (60 / 61 s)"
    assert cell(t.get("RL G2 n=250 @0.9", "moccasin")) == "nothing (phase 1, 300 s)"
    near(measures.quality_profile(t, "ebbtide-1", [0.0])[0], 1.0)
    near(measures.quality_profile(t, "moccasin", [100.0])[0], 0.5)
    assert measures.time_profile(t, "ebbtide-1", [0.3, 0.6, 5.0]) == [0.0, 0.5, 1.0]


def test_report():
    records = list(Store(STORE).records.values())
    texts = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            made = report.write(records, folder / "RESULTS.md", folder / "results", ["paper"], ["bench/run --suite paper"],
                                folder / "results" / "report.html")
            assert all(p.exists() for p in made)
            texts.append([p.read_text() for p in made])
            with open(folder / "results" / "paper.csv") as f:
                rows = list(csv.DictReader(f))
    assert texts[0] == texts[1]  # the same records, the same bytes
    markdown, page = texts[0][:2]
    assert len(rows) == 7 and rows[0]["method"] == "ebbtide-1" and rows[0]["status"] == "optimal"
    for text in ("bench/run --suite paper", "2026-01-02 03:04", "a machine", "ebbtide 1.0 abc", "Seeds: 1",
                 "1 of 1 relaxations were solved within the limit, and 1 of the plans rounded from",
                 "0.0083 (0.50 of 60 s)", "peer: no plan, 300 s; first plan 0.20 s", "peer: over the budget, 200 s; first plan 0.20 s", "LP with rounding 93.0 %", "Sizes of the models"):
        assert text in markdown, text
    assert page.count("<svg") >= 4 and page.count("<svg") == page.count("</svg>")
    # Needs no network: nothing is loaded, no scripts.
    assert not re.search(r"https?://|<script|<link|@import|\bsrc=|url\(", page)
    assert not re.search(r"=[^'\"\s>]+/>", page)  # such a slash would belong to the value, and the shape stay open


def test_readme():
    """Its table is made of the results' CSV, and the README in the tree agrees with the results in the tree."""
    records = list(Store(STORE).records.values())
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        report.write(records, folder / "RESULTS.md", folder / "results", ["paper"], [], folder / "report.html")
        rows = readme.read(folder / "results" / "paper.csv")
    text = readme.with_table(f"before\n\n{readme.MARK}\nold\n\nafter\n", rows)
    assert text.startswith(f"before\n\n{readme.MARK}\n| graph") and text.endswith(" |\n\nafter\n"), text
    assert "| RL G1 n=100 @0.9 | 0.8000* (0.50 s) | 0.8000 | 0.8000* (60 s) |" in text, text
    assert "| nothing (phase 1, 300 s) | not run | not run | over the budget by 20.0 % |" in text, text
    found = readme.disagreements(Path(SOURCE, "README.md").read_text(), Path(SOURCE, "bench", "results"))
    assert not found, found


def test_copies():
    """A mutation becomes a call; from there on the name means its result, other names of the old version do not."""
    log = [("CONSTANT", {"NAME": "w"}), ("MEMORY", {"NAME": "w", "MEMORY": "8"}), ("ANNOTATE", {"ANNOTATION": "START"}),
           ("CONSTANT", {"NAME": "x"}), ("MEMORY", {"NAME": "x", "MEMORY": "4"}),
           ("CALL", {"NAME": "f", "RESULT": ["a", "b"], "ARGS": ["x"], "TIME": "3"}),
           ("MEMORY", {"NAME": "a", "MEMORY": "16"}), ("ALIAS", {"NAME": "a", "ALIAS": "-1"}),
           ("MEMORY", {"NAME": "b", "MEMORY": "0"}), ("ALIAS", {"NAME": "b", "ALIAS": "0"}),
           ("COPY", {"DST": "c", "SRC": "a"}),
           ("MUTATE", {"NAME": "relu_", "ARGS": ["a", "b"], "MUTATE": [0, 1], "TIME": "5"}),
           ("CALL", {"NAME": "g", "RESULT": ["d"], "ARGS": ["a", "b", "c"], "TIME": "1"}),
           ("MEMORY", {"NAME": "d", "MEMORY": "1"}), ("ALIAS", {"NAME": "d", "ALIAS": "-1"}), ("RELEASE", {"NAME": "a"})]
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "a.log"), Path(folder, "b.log")
        path.write_text("".join(json.dumps(dict(more, INSTRUCTION=kind)) + "\n" for kind, more in log))
        copies.rewritten(path, out)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert lines[0]["NAME"] == "x"  # what stands before the start is left out
    call = next(j for j in lines if j.get("NAME") == "relu_")
    assert call == {"INSTRUCTION": "CALL", "NAME": "relu_", "RESULT": ["a~1", "b~2"], "ARGS": ["a", "b"], "TIME": "5"}
    assert [j["MEMORY"] for j in lines if j.get("NAME") in ("a~1", "b~2") and "MEMORY" in j] == ["16", "4"]  # b is a view of x
    assert [j["NAME"] for j in lines if j["INSTRUCTION"] == "RELEASE"] == ["a", "b", "a~1"]
    assert next(j for j in lines if j.get("NAME") == "g")["ARGS"] == ["a~1", "b~2", "c"]


def test_compare():
    make = lambda duration, seconds, seed: {
        "key": {"instance": "x", "seed": seed, "method": "ebbtide", "flags": ""}, "valid": True, "duration": duration,
        "base": 10000, "curve": [[seconds, duration]], "seconds": 5.0, "status": "feasible", "kind": "ours"}
    a = [make(10200, 2.0, s) for s in range(8)]
    b = [make(10100, 1.0, s) for s in range(8)]
    out, only = compare.ratios(compare.pairs(a, b))
    near(out["quality"][("x", 0)], 1.01 / 2.01), near(out["target"][("x", 0)], 0.5)
    text = "\n".join(compare.report("old", "new", compare.pairs(a, b)))
    assert "| additional duration | 8 | 0.5025 | 8 | 0 | 0.0078 | 0.0078 |" in text, text
    b[0].update(valid=False)
    _, only = compare.ratios(compare.pairs(a, b))
    assert only["A"] == [("x", 0)]


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name)
