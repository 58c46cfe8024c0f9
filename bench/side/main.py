# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run."""
import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from side import blocks, compare, instances, measures, methods, readme, report, runner
from side.cells import Section
from side.instances import SUITES, Instance, Source
from side.methods import PEERS, ROOT
from side.records import Store
from side.sections import filled

ABOUT = """Ebbtide and its peers on the same graphs, budgets, limits and threads; every plan is judged.

  bench/run --suite paper                 the Moccasin paper's table (hours with the slow peers; resumable)
  bench/run --graphs DIR --budgets 0.9    your own graphs, in any format that ebbtide reads
  bench/run --quick                       a small mixed suite, some minutes, for development
  bench/run compare A B                   two builds (programs) on the quick suite
  bench/run sizes                         sizes of the models against the number of ops
  bench/run report                        writes bench/RESULTS.md, bench/results/*.csv and the HTML page from the store
  bench/run readme                        the README's table from bench/results; --check: does the README agree?
  bench/run list                          suites, instances and methods

Peers need bench/peers/requirements.txt (--python: an interpreter that has it); without it they are left out. Graphs that are
no part of the repository are looked for under --data. Results are kept in --out, one line a run; what is there is not run
again, so after Ctrl-C the same command goes on where it was."""

DEFAULT_METHODS = {
    "paper": "*", "traces": "ebbtide dtr* chen revolve keep", "chains": "ebbtide ebbtide-1 classic peer",
    "unets": "ebbtide ebbtide-1 classic peer", "steps": "ebbtide classic", "orders": "ebbtide-orders ebbtide-free order",
    "caps": "ebbtide ebbtide-C1 ebbtide-C2 ebbtide-C3", "past250": "ebbtide ebbtide-1 classic peer",
    "copies": "dtr dtr-class", "example": "ebbtide",
    "quick": "ebbtide chen revolve dtr-class",
}


def chosen(words, table):
    """Methods by name, pattern, or kind (ours, classic, order, peer)."""
    import fnmatch
    out = []
    for word in words:
        found = [m for m in table.values() if m.kind == word or fnmatch.fnmatchcase(m.name, word)]
        if word == "*":
            found = [m for m in found if m.kind != "order"
                     and m.name not in ("ebbtide-C1", "ebbtide-C2", "ebbtide-C3", "ebbtide-staged",
                                                              "ebbtide-orders")]
        if not found and word not in ("order", "classic", "dtr*"):  # an older build may have none of these
            sys.exit(f"bench/run: no method {word}; there are: " + ", ".join(table))
        out += [m for m in found if m not in out]
    return out


def limit(text):
    pattern, equals, value = text.rpartition("=")
    try:
        return (pattern if equals else "*", float(value))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: PATTERN=SECONDS is expected") from None


def parser():
    p = argparse.ArgumentParser(prog="bench/run", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", nargs="*", help="nothing (run), compare A B, sizes, report, readme or list")
    p.add_argument("--suite", nargs="+", choices=sorted(SUITES), default=[])
    p.add_argument("--quick", action="store_true", help="the quick suite, 5 s a run, then its table")
    p.add_argument("--graphs", nargs="+", type=Path, default=[], help="files, or folders of them")
    p.add_argument("--budgets", nargs="+", default=["0.9", "0.8"])
    p.add_argument("--only", nargs="+", default=[], help="instances by pattern, e.g. 'RL*0.9'")
    p.add_argument("--methods", nargs="+", help="names, patterns, or ours, classic, order, peer")
    p.add_argument("--limit", nargs="+", type=limit, default=[], metavar="PATTERN=S",
                   help="seconds by method, kind, method@graph or method@instance; the last that fits counts "
                        "(default: peer=300 ours=20 classic=20)")
    p.add_argument("--work", type=float, default=0, help="ebbtide ends after this much counted work instead (repeatable)")
    p.add_argument("--threads", type=int, default=2, help="of ebbtide")
    p.add_argument("--peer-threads", type=int, default=1)
    p.add_argument("--seeds", nargs="+", type=int, default=[1])
    p.add_argument("--memory", type=float, default=8, help="GiB a process; more is cut short")
    p.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                   help="cpu: the peers' limits and the times of a report or comparison in processor seconds, for a busy machine")
    p.add_argument("--nice", type=int, default=0)
    p.add_argument("--program", default=str(ROOT / "run"))
    p.add_argument("--source", help="commit of the program, told in the report (default: that of this repository for ./run)")
    p.add_argument("--python", default=sys.executable, help="interpreter for the peers")
    p.add_argument("--data", default=os.environ.get("EBB_SHARED_DIR", str(ROOT.parent / "shared")),
                   help="folder with graphs/moccasin and graphs/dtr-logs")
    p.add_argument("--out", type=Path, default=ROOT / "build/bench")
    p.add_argument("--to", type=Path, default=ROOT / "bench", help="report: where RESULTS.md and results/ go")
    p.add_argument("--check", action="store_true", help="readme: changes nothing, says what does not agree")
    return p


def work_of(o, table, builds):
    """(instance, method, seed) in order: instance by instance."""
    plan = []
    for suite in (o.suite or ([] if o.graphs else ["paper"])):
        words = o.methods or DEFAULT_METHODS[suite].split()
        plan.append((SUITES[suite](), words))
    graphs = [g for place in o.graphs for g in (sorted(x for x in place.iterdir() if x.is_file()) if place.is_dir() else [place])]
    if graphs:
        own = [Instance(Source(g.name.split(".json")[0].split(".log")[0], "file", (str(g.resolve()),)), b)
               for g in graphs for b in o.budgets]
        plan.append((own, o.methods or ["ebbtide", "peer"]))
    import fnmatch
    work, absent = [], set()
    for cases, words in plan:
        for instance in cases:
            if o.only and not any(fnmatch.fnmatchcase(instance.name, p) for p in o.only):
                continue
            for method in chosen(words, table):
                if method.name not in builds:
                    absent.add(method.name)
                    continue
                work += [(instance, method, seed) for seed in (o.seeds if method.kind == "ours" else o.seeds[:1])]
    if absent:
        print(f"bench/run: left out, their solvers are not there (bench/peers/requirements.txt): {', '.join(sorted(absent))}",
              file=sys.stderr)
    if not work:
        sys.exit("bench/run: nothing to run")
    return work


def settings(o, program=None):
    data = o.data if not (Path(o.data) / "graphs").is_dir() else str(Path(o.data) / "graphs")
    return runner.Settings(program=str(Path(program or o.program).resolve()), python=o.python, data=data, out=o.out,
                           threads=o.threads, peer_threads=o.peer_threads, limits=o.limit, memory=int(o.memory * 2**30),
                           work=o.work, niceness=o.nice, clock=o.clock, source=source_of(o, program))


def source_of(o, program):
    """The commit that ./run builds; of another program only its user knows it."""
    if program is None and o.source:
        return o.source
    return methods.commit() if Path(program or o.program).resolve() == ROOT / "run" else ""


def identities(o, program=None):
    program = program or o.program
    build = methods.build_id(program)
    table = methods.known(methods.binary_of(program))
    builds = {m.name: build for m in table.values() if m.kind != "peer"}
    builds.update(methods.peer_ids(o.python))
    return table, builds


def plain_table(records, cases):
    """The table of what was just run, on standard output."""
    table = measures.Table(records, list(dict.fromkeys(i.name for i in cases)))
    section = Section("")
    blocks.matrix(section, table)
    print("\n".join(section.markdown))


def run(o):
    if o.quick:
        o.suite, o.limit = ["quick"], [("*", 5.0)] + o.limit
    table, builds = identities(o)
    work = work_of(o, table, builds)
    store = Store(o.out / "records.jsonl")
    plain_table(runner.run_all(settings(o), store, work, builds), [i for i, _, _ in work])


def compare_builds(o):
    if len(o.what) != 3:
        sys.exit("bench/run: compare A B: two programs")
    o.limit = [("*", 5.0)] + o.limit
    o.methods, o.suite = o.methods or ["ebbtide"], o.suite or ([] if o.graphs else ["quick"])
    if len(o.seeds) == 1:
        o.seeds = [1, 2, 3]
    sides = []
    for program in o.what[1:]:
        if not Path(program).exists():
            sys.exit(f"bench/run: no program {program}")
        sides.append((settings(o, program), *identities(o, program)))
    if sides[0][2]["ebbtide"] == sides[1][2]["ebbtide"]:
        print("bench/run: note: the two builds are the same file", file=sys.stderr)
    store = Store(o.out / "compare.jsonl")  # of its own: the report takes the newest build's rows
    work = [work_of(o, table, builds) for _, table, builds in sides]
    found = ([], [])
    for number, pair in enumerate(zip(*work)):
        for side in ((0, 1) if number % 2 == 0 else (1, 0)):  # in turn, and the first one by turns too
            s, _, builds = sides[side]
            print(f"{'AB'[side]} {number + 1}/{len(work[0])}", end=" ", file=sys.stderr)
            found[side].extend(runner.run_all(s, store, [pair[side]], builds))
    print(file=sys.stderr)
    names = [f"{builds['ebbtide']} ({program})" for (_, _, builds), program in zip(sides, o.what[1:])]
    if o.clock == "cpu":
        found = tuple([measures.by_processor(r) for r in side] for side in found)
    print("\n".join(compare.report(*names, compare.pairs(*found))))


def sizes(o):
    """Sizes of the models, built but not solved."""
    _, builds = identities(o)
    store, s = Store(o.out / "records.jsonl"), settings(o)
    sources = [instances._layered(n) for n in (25, 50, 100, 250, 500, 1000)] + instances.PAPER
    for source in sources:
        key = {"instance": source.name, "method": "sizes", "flags": "", "seed": 1, "threads": 1, "limit": 0, "budget": 0,
               "graph": "", "build": "; ".join(sorted(set(builds.values())))}
        if store.find(key):
            continue
        try:
            graph = instances.prepare(source, s.program, s.data, s.out)
        except instances.Missing as e:
            print(f"{source.name}: left out: {e}", file=sys.stderr)
            continue
        p = subprocess.run([s.python, ROOT / "bench/peers/sizes.py", graph.path, graph.given], capture_output=True, text=True)
        if p.returncode:
            sys.exit("bench/run: " + runner.tail(p.stderr))
        store.add({"key": key, "kind": "sizes", "ops": graph.ops, "edges": graph.edges, "models": json.loads(p.stdout),
                   "at": datetime.datetime.now().isoformat(timespec="seconds"), "status": "built"})
        print(f"{source.name}: {p.stdout.strip()}", file=sys.stderr)


def commands(of_suite, clock):
    """What makes such a report again: suites of one limit together, the peers by themselves. A run that stands in two suites
    is told once."""
    python, clock = " --python build/peers/bin/python", " --clock cpu" if clock == "cpu" else ""
    lines = ["python3 -m venv build/peers && build/peers/bin/pip install -r bench/peers/requirements.txt"]
    wanted, seen = {}, set()  # (limit, methods) -> suites
    for suite, records in of_suite.items():
        limits, kinds = {}, {}
        for r in records:
            place = r["key"]["instance"], r["key"]["method"], str(r["key"]["limit"])
            if place not in seen:
                limits.setdefault(place[1], Counter())[str(r["key"]["limit"])] += 1
                kinds[place[1]] = r["kind"]
            seen.add(place)
        usual = {m: max(words, key=lambda w: (words[w], measures.size_of(w))) for m, words in limits.items()}
        for peers in (True, False):
            mine = [m for m in usual if (kinds[m] == "peer") == peers]
            for word in dict.fromkeys(usual[m] for m in mine):
                names = []
                for m in mine:
                    whole = kinds[m] != "ours" and len({usual[x] for x in mine if kinds[x] == kinds[m]}) == 1
                    names += [x for x in [kinds[m] if whole else m] if usual[m] == word and x not in names]
                alone = not peers and len({usual[m] for m in mine}) == 1 and all(r["key"]["method"] in usual for r in records
                                                                                   if r["kind"] != "peer")
                limit = f"--{word}" if word.startswith("work") else f"--limit '*={float(word):g}'"
                wanted.setdefault((limit, "" if alone else " --methods " + " ".join(names), python + clock if peers else ""),
                                  []).append(suite)
    lines += [f"bench/run --suite {' '.join(suites)}{names} {limit}{rest}" for (limit, names, rest), suites in wanted.items()]
    return lines + [f"bench/run sizes{python}", f"bench/run report{clock}", "bench/run readme"]


def write_report(o):
    store = Store(o.out / "records.jsonl")
    records = [measures.by_processor(r) if o.clock == "cpu" else r for r in store.records.values()]
    suites = o.suite or [s for s in SUITES if s != "quick" and filled(records, s).rows]
    again = commands({s: [r for row in filled(records, s).rows.values() for r in row.values()] for s in suites}, o.clock)
    for path in report.write(records, o.to / "RESULTS.md", o.to / "results", suites, again, o.to / "results" / "report.html",
                             o.clock):
        print(path)


def write_readme(o):
    place, results = o.to.parent / "README.md", o.to / "results"
    text = place.read_text()
    if not o.check:
        place.write_text(text := readme.with_table(text, readme.read(results / "paper.csv")))
    if found := readme.disagreements(text, results):
        sys.exit("\n".join("bench/run: " + f for f in found))


def show_list(o):
    table, builds = identities(o)
    for name, suite in SUITES.items():
        print(f"suite {name}: " + ", ".join(i.name for i in suite()))
    print("methods: " + ", ".join(m.name + ("" if m.name in builds else " (solver not there)") for m in table.values()))
    print("peers: " + ", ".join(PEERS))


def main():
    o = parser().parse_args()
    what = o.what[0] if o.what else "run"
    jobs = {"run": run, "compare": compare_builds, "sizes": sizes, "report": write_report, "readme": write_readme,
            "list": show_list}
    if what not in jobs or (what != "compare" and len(o.what) > 1):
        sys.exit("bench/run: what is " + " ".join(o.what) + "? One of: " + ", ".join(jobs))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the child is ended, what is done is kept
    try:
        jobs[what](o)
    except KeyboardInterrupt:
        sys.exit("\nbench/run: interrupted; the same command goes on from here")
    except instances.Missing as e:
        sys.exit(f"bench/run: {e}")
