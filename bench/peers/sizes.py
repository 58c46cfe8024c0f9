# SPDX-License-Identifier: Apache-2.0
"""sizes.py GRAPH GIVEN: variables and constraints of each formulation on one graph, as JSON; nothing is solved."""
import json
import sys

import checkmate
from graph import Graph


def gap_cover(g):
    """Ebbtide's gap cover: a variable for each pause of a value between two reads that spans a position, a row a position."""
    gaps = 0
    for v in range(g.n):
        reads = [v] + sorted(g.succs[v])
        gaps += sum(b > a + 1 for a, b in zip(reads, reads[1:]))
    return {"variables": gaps, "constraints": g.n}


def main():
    path, given = sys.argv[1:]
    with open(given) as f:
        g = Graph(path, [e["op"] for e in json.load(f)["executions"]])
    models = {"checkmate": checkmate.sizes(g)}
    models["poet"] = dict(models["checkmate"], constraints=models["checkmate"]["constraints"] + 1)
    try:
        import moccasin
        models["moccasin"] = moccasin.Model(g, g.base_peak, 2).sizes()
    except ImportError:
        pass
    models["gap cover"] = gap_cover(g)
    print(json.dumps(models))


main()
