# SPDX-License-Identifier: Apache-2.0
"""Runs what is not in the store yet, one process at a time; shows where it is; may be interrupted at any moment.

Each child is a session of its own, so that Ctrl-C reaches only this program, which then ends the child and keeps
everything that was finished. The same command goes on from there."""
import datetime
import fnmatch
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from side import instances
from side.judge import Graph, Refused, judge
from side.methods import ROOT

HINT_SECONDS, HINT_WORK = 10, 5  # ebbtide's share of moccasin-hint, by the clock or counted
MOST_POINTS = 400  # of a curve that are kept


@dataclass
class Settings:
    program: str
    python: str
    data: str
    out: Path
    threads: int = 2
    peer_threads: int = 1
    limits: list = field(default_factory=list)  # (pattern, seconds), the last that fits counts
    memory: int = 6 << 30  # bytes a process
    work: float = 0  # counted work instead of seconds, for ebbtide
    niceness: int = 0
    clock: str = "wall"  # the peers' limit: wall or cpu
    source: str = ""  # commit that the program was built from, told in the report; no part of a result's identity

    def limit(self, method, instance):
        seconds = {"ours": 20.0, "classic": 20.0, "order": 20.0, "peer": 300.0}[method.kind]
        for pattern, value in self.limits:
            if any(fnmatch.fnmatchcase(text, pattern) for text in
                   (method.kind, method.name, f"{method.name}@{instance.source.name}", f"{method.name}@{instance.name}")):
                seconds = value
        return seconds


@dataclass
class Ended:
    code: int
    seconds: float
    memory: int  # largest resident set in bytes
    cpu: float  # processor seconds
    cut: str  # why it was killed, or ""
    out: str
    err: str


def resident(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            for line in f:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def processor(pid):
    """Processor seconds so far of a process."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def watch(args, limit, memory, niceness=0, show=None, clock="wall"):
    """Runs a command to its end, or kills it past `limit` seconds by the clock (wall or cpu) or `memory` bytes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        child = subprocess.Popen([str(a) for a in args], stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                 start_new_session=True, preexec_fn=(lambda: os.nice(niceness)) if niceness else None)
        cut, most, ended = "", 0, []

        def wait():  # a thread of its own, so that the end is timed to the millisecond
            _, status, usage = os.wait4(child.pid, 0)
            ended.append((status, usage, time.monotonic() - begun))

        waiter = threading.Thread(target=wait, daemon=True)
        waiter.start()
        try:
            while True:
                waiter.join(0.2)
                if ended:
                    break
                now = resident(child.pid)
                most = max(most, now)
                seconds = time.monotonic() - begun if clock == "wall" else processor(child.pid)
                if not cut and now > memory:
                    cut = f"memory (over {memory / 2**30:g} GiB)"
                if not cut and seconds > limit:
                    cut = f"time (killed after {seconds:.0f} s)"
                if cut:
                    end_group(child.pid)
                if show:
                    show(seconds, now)
        except BaseException:
            end_group(child.pid)
            waiter.join()
            raise
        status, usage, seconds = ended[0]
        child.returncode = os.waitstatus_to_exitcode(status)
        text = []
        for stream in (out, err):
            stream.seek(0)
            text.append(stream.read().decode("utf-8", "replace"))
        return Ended(child.returncode, seconds, max(most, usage.ru_maxrss << 10), usage.ru_utime + usage.ru_stime, cut, *text)


def tail(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no answer"


def thinned(points):
    if len(points) <= MOST_POINTS:
        return points
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(i * step)] for i in range(MOST_POINTS)]


def solve_args(s, graph, budget, method, seed, limit, threads, plan, flags=()):
    args = [s.program, "solve", graph.path, "--budget", budget, "--threads", threads, "--seed", seed, "--log-format",
            "jsonl", "-o", plan, *method.flags, *(f.replace("{base}", str(graph.base)) for f in flags)]
    return args + (["--work-limit", s.work] if s.work else ["--time-limit", limit])


def ours(s, method, instance, graph, budget, seed, limit, threads, plan, show):
    end = watch(solve_args(s, graph, budget, method, seed, limit, threads, plan, instance.flags),
                limit * 2 + 120 if not s.work else 3600, s.memory, s.niceness, show)
    r = {"seconds": end.seconds, "memory": end.memory, "cpu": round(end.cpu, 2), "curve": [], "bounds": [], "facts": {}}
    last, peaks = {}, []
    for line in end.err.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        kind = event.get("event")
        if kind == "plan":
            r["curve"].append([event["seconds"], event["duration"]])
            peaks.append([event["seconds"], event["peak"]])
        if kind == "answer":
            last = event
        elif event.get("lower_bound") is not None and "seconds" in event:
            if not r["bounds"] or r["bounds"][-1][1] != event["lower_bound"]:
                r["bounds"].append([event["seconds"], event["lower_bound"]])
    # The log's clock starts after reading; the reading and the start of the program count too.
    start = max(0.0, end.seconds - last["seconds"]) if last else 0.0
    for points in (r["curve"], r["bounds"], peaks):
        for point in points:
            point[0] = round(point[0] + start, 4)
    r["curve"], r["bounds"] = thinned(r["curve"]), thinned(r["bounds"])
    if "--minimise" in instance.flags:
        r["peaks"] = thinned(peaks)
    if "lower_bound" in last:
        r["bound"] = last["lower_bound"]
    if last.get("peak_bound"):
        r["peak_bound"] = last["peak_bound"]
    if end.cut:
        r["status"] = end.cut
    elif end.code == 0:
        r["status"] = last.get("status", "feasible")
    elif end.code in (4, 5):
        r["status"] = "infeasible" if end.code == 4 else "nothing found"
        r["reason"] = tail(end.err).split(": ", 2)[-1]
    else:
        r["status"] = "error: " + tail(end.err)
    return r


def peer(s, method, instance, graph, budget, seed, limit, plan, show):
    state, spec = str(plan) + ".state", str(plan) + ".spec"
    what = {"method": method.name, "graph": graph.path, "given": graph.given, "budget": budget, "seconds": limit,
            "threads": s.peer_threads, "seed": seed, "plan": str(plan), "state": state,
            "clock": s.clock, "memory": s.memory}
    extra = {}
    if method.name == "moccasin-hint":
        from side.methods import Method
        hint = str(plan) + ".hint"
        helper = Method("hint", "ours", ("--order", "staged", "--max-executions", "2"))
        own = replace(s, work=HINT_WORK if s.clock == "cpu" else 0)  # on a busy machine seconds of the clock say little
        end = watch(solve_args(own, graph, budget, helper, seed, HINT_SECONDS, s.peer_threads, hint), HINT_SECONDS * 2 + 120,
                    s.memory, s.niceness, show)
        if end.code:
            return {"status": "no hint", "seconds": end.seconds, "curve": [],
                    "facts": {}, "memory": end.memory, "cpu": round(end.cpu, 2)}
        what["hint"] = hint
        extra["hint seconds"] = round(end.seconds, 2)
        extra["hint duration"] = json.loads(Path(hint).read_text())["duration"]
    Path(spec).write_text(json.dumps(what))
    end = watch([s.python, ROOT / "bench/peers/one.py", spec], limit * 1.15 + 30, s.memory, s.niceness, show,
                s.clock)
    r = json.loads(Path(state).read_text()) if os.path.exists(state) else {"curve": [], "facts": {}}
    r["facts"].update(extra)
    if end.cut:
        built = "" if "building seconds" in r["facts"] or "checkmate" not in method.name else ", building"
        r["status"] = end.cut + built
    elif not r.pop("done", False):
        r["status"] = "error: " + (tail(end.err) if end.err.strip() else f"ended by signal {-end.code}")
    if end.cut or "seconds" not in r:
        r["seconds"], r["cpu"] = end.seconds, round(end.cpu, 2)
    r["memory"] = end.memory
    r["curve"] = thinned(r["curve"])
    return r


def judged(s, r, method, instance, graph, budget, plan, whole):
    """Both judges look at the plan: `ebbtide check` and our own."""
    if not os.path.exists(plan):
        return
    made = json.loads(Path(plan).read_text())
    r.update(duration=made["duration"], peak=made["peak"], executions=len(made["executions"]))
    given = [e["op"] for e in json.loads(Path(graph.given).read_text())["executions"]]
    try:
        judge(whole, made, budget, method.order, given, method.most)
        r.update(valid=True, verdict="holds")
    except Refused as e:
        r.update(valid=False, verdict=str(e))
    end = watch([s.program, "check", graph.path, plan], 600, s.memory)
    if r["valid"] != (end.code == 0):
        r.update(valid=False, verdict=f"the judges differ: {r['verdict']}; {tail(end.out + end.err)}")


def machine():
    model = ""
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model or platform.machine()}, {os.cpu_count()} CPUs, {memory:.0f} GiB, {platform.system()} {platform.machine()}"


class Ticker:
    """One line on a terminal that says what runs; elsewhere nothing until a run ends."""

    def __init__(self):
        self.terminal = sys.stderr.isatty()
        self.shown = 0.0

    def show(self, text, limit):
        def tick(seconds, memory):
            if self.terminal and time.monotonic() - self.shown > 0.5:
                self.shown = time.monotonic()
                sys.stderr.write(f"\r\033[K{text}: {seconds:.0f} of {limit:g} s, {memory / 2**20:.0f} MiB")
                sys.stderr.flush()
        return tick

    def done(self, text):
        sys.stderr.write(("\r\033[K" if self.terminal else "") + text + "\n")
        sys.stderr.flush()


def outcome(r):
    if r.get("valid") and r.get("base"):
        return f"{100.0 * (r['duration'] / r['base'] - 1):.4f} % ({r['status']})"
    return r["status"] + (f"; {r['verdict']}" if r.get("verdict") else "")


def run_all(s, store, work, builds):
    """work: (instance, method, seed)s in order. builds: method name -> identity. Returns the records, old and new."""
    ticker, prepared, wholes, records = Ticker(), {}, {}, []
    left = len(work)
    for at, (instance, method, seed) in enumerate(work):
        source = instance.source
        if source not in prepared:
            try:
                prepared[source] = instances.prepare(source, s.program, s.data, s.out)
            except instances.Missing as e:
                ticker.done(f"{source.name}: left out: {e}")
                prepared[source] = None
        graph = prepared[source]
        left -= 1
        if graph is None:
            continue
        budget, limit = graph.bytes_of(instance.budget), s.limit(method, instance)
        threads = s.peer_threads if method.kind == "peer" else method.threads or s.threads
        key = {"instance": instance.name, "graph": graph.fingerprint, "budget": budget, "method": method.name,
               "flags": " ".join(method.flags + instance.flags), "seed": seed, "threads": threads,
               "limit": f"work {s.work:g}" if s.work and method.kind != "peer" else limit, "build": builds[method.name]}
        if method.kind == "peer" and s.clock != "wall":
            key["clock"] = s.clock
        if store.find(key):
            records.append(store.find(key))
            continue
        text = f"[{at + 1}/{len(work)}] {instance.name}, {method.name}" + (f", seed {seed}" if seed != 1 else "")
        with tempfile.TemporaryDirectory(prefix="ebbtide_bench_") as folder:
            plan = os.path.join(folder, "plan.json")
            show = ticker.show(text, limit)
            before = os.getloadavg()[0]
            if method.kind == "peer":
                r = peer(s, method, instance, graph, budget, seed, limit, plan, show)
            else:
                r = ours(s, method, instance, graph, budget, seed, limit, threads, plan, show)
            if source not in wholes:
                wholes.clear()  # large graphs: one at a time
                wholes[source] = Graph(graph.path)
            judged(s, r, method, instance, graph, budget, plan, wholes[source])
        r.update(key=key, kind=method.kind, ops=graph.ops, edges=graph.edges, base=graph.base, base_peak=graph.base_peak,
                 at=datetime.datetime.now().isoformat(timespec="seconds"), machine=machine(), load=round(before, 1))
        if s.source and method.kind != "peer":
            r["source"] = s.source
        store.add(r)
        records.append(r)
        ticker.done(f"{text}: {outcome(r)}, {r['seconds']:.1f} s, {r['cpu']:.1f} s of processor, {left} left")
    return records
