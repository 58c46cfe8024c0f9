# SPDX-License-Identifier: Apache-2.0
"""What the records say: overhead, gap, times, profiles, ratios. No input or output here.

TDI is the additional duration in percent of one execution each. Best: the shortest plan of any method that keeps the
given order. Within 1 % of the best: TDI at most 1.01 times the best TDI, which is stricter than 1 % of the duration."""
from side import methods


def tdi(duration, base):
    return 100.0 * (duration / base - 1) if base else 0.0


def by_processor(r):
    """The record with its times in processor seconds of all threads. A peer notes them at every plan; for ebbtide, whose
    log has the wall clock, they are taken to pass evenly."""
    if r["kind"] == "sizes" or not r.get("cpu"):
        return r
    factor = r["cpu"] / r["seconds"] if r["seconds"] else 1.0
    curve = [[p[2] if len(p) > 2 else p[0] * factor, p[1]] for p in r["curve"]]
    return dict(r, curve=curve, seconds=r["cpu"], wall=r["seconds"])


def size_of(limit):
    """Limits in order: seconds, or `work N` by its number."""
    return limit if isinstance(limit, (int, float)) else float(limit.split()[-1])


class Table:
    """Records by instance and method; of several for one place that of the newest build counts, then the one with the
    largest limit, then the newest."""

    def __init__(self, records, instances=None, seed=None):
        self.rows, builds = {}, {}
        for r in records:  # the newest build of a place is that of its newest record
            place = r["key"]["instance"], r["key"]["method"], r["key"]["flags"]
            builds[place] = max(builds.get(place, ("", "")), (r["at"], r["key"]["build"]))
        newest = lambda r: builds[r["key"]["instance"], r["key"]["method"], r["key"]["flags"]][1] == r["key"]["build"]
        for r in records:
            key = r["key"]
            if instances is not None and key["instance"] not in instances:
                continue
            if seed is not None and key["seed"] != seed:
                continue
            place = self.rows.setdefault(key["instance"], {})
            old = place.get(key["method"])
            rank = lambda x: (newest(x), size_of(x["key"]["limit"]), x["at"])
            if old is None or rank(r) >= rank(old):
                place[key["method"]] = r
        if instances is not None:
            self.rows = {name: self.rows[name] for name in instances if name in self.rows}

    def instances(self):
        return list(self.rows)

    def methods(self):
        names = {m for row in self.rows.values() for m in row}
        return sorted(names, key=rank_of)

    def get(self, instance, method):
        return self.rows.get(instance, {}).get(method)

    def best(self, instance):
        """Shortest valid plan in the given order, or None."""
        found = [r["duration"] for r in self.rows.get(instance, {}).values() if r.get("valid") and in_order(r)]
        return min(found) if found else None

    def bound(self, instance):
        """Best proved bound of ebbtide for the given order, or None."""
        found = [r["bound"] for r in self.rows.get(instance, {}).values()
                 if "bound" in r and r["kind"] == "ours" and in_order(r) and uncapped(r)]
        return max(found) if found else None


def in_order(r):
    return r["key"]["method"] != "ebbtide-free" and "--order free" not in r["key"]["flags"]


def uncapped(r):
    return "--max-executions" not in r["key"]["flags"] and "--order staged" not in r["key"]["flags"]


def rank_of(name):
    """Ebbtide first, then the peers, then the literature's methods."""
    if name.startswith("ebbtide"):
        return 0, name
    return (1, str(methods.PEERS.index(name))) if name in methods.PEERS else (2, name)


def overhead(r):
    return tdi(r["duration"], r["base"]) if r and r.get("valid") else None


def bound_of(r):
    return tdi(r["bound"], r["base"]) if r and "bound" in r else None


def first_plan(r):
    if not r.get("valid"):
        return None
    return r["curve"][0][0] if r["curve"] else r["seconds"]


def reached(r, duration):
    """Seconds until a plan of at most this duration, or None."""
    if not r or not r.get("valid") or r["duration"] > duration:
        return None
    for at, found, *_ in r["curve"]:
        if found <= duration:
            return at
    return r["seconds"]


def near(best, base):
    """The longest duration that is within 1 % of the best."""
    return best + (best - base) // 100


def time_of_best(r):
    """When the record's final duration was first reached."""
    return reached(r, r["duration"])


def row(table, instance, method):
    """One line of the table per instance."""
    r = table.get(instance, method)
    best = table.best(instance)
    x, b = overhead(r), bound_of(r)
    return {
        "instance": instance, "ops": r["ops"], "edges": r["edges"], "budget": r["key"]["budget"], "method": method,
        "seed": r["key"]["seed"], "threads": r["key"]["threads"], "limit": r["key"]["limit"], "status": r["status"],
        "valid": r.get("valid"), "TDI %": x, "bound %": b, "gap points": x - b if x is not None and b is not None else None,
        "first plan s": first_plan(r),
        "best plan s": time_of_best(r) if x is not None else None,
        "within 1 % of best s": reached(r, near(best, r["base"])) if best is not None and in_order(r) else None,
        "seconds": r["seconds"], "wall s": r.get("wall", r["seconds"]), "processor s": r.get("cpu"),
        "memory MiB": r["memory"] / 2**20, "peak": r.get("peak"), "duration": r.get("duration"),
        "executions": r.get("executions"),
        "verdict": r.get("verdict"), "variables": r["facts"].get("variables"),
        "constraints": r["facts"].get("constraints"), "build": r["key"]["build"], "load": r.get("load"), "at": r["at"],
    }


def ran(table, method):
    """Instances where the method was run and some method has a plan."""
    return [i for i in table.instances() if table.get(i, method) and table.best(i) is not None]


def quality_profile(table, method, grid):
    """Share of the instances it was run on where its TDI is within so many points of the best, per point of the grid."""
    names, gaps = ran(table, method), []
    for i in names:
        r = table.get(i, method)
        x = overhead(r)
        gaps.append(None if x is None else x - tdi(table.best(i), r["base"]))
    return [sum(g is not None and g <= at + 1e-9 for g in gaps) / len(names) if names else 0.0 for at in grid]


def time_profile(table, method, grid):
    """Share of the instances it was run on where it has a plan within 1 % of the best after so many seconds."""
    names, times = ran(table, method), []
    for i in names:
        r = table.get(i, method)
        times.append(reached(r, near(table.best(i), r["base"])))
    return [sum(t is not None and t <= at for t in times) / len(names) if names else 0.0 for at in grid]


def peer_ratio(table, instance, peer, own):
    """How long ebbtide took for what the peer reached at its best: a dictionary, or None where either was not run."""
    p, o = table.get(instance, peer), table.get(instance, own)
    if not p or not o:
        return None
    result = {"peer TDI": overhead(p), "own TDI": overhead(o), "peer seconds": None, "own seconds": None, "ratio": None}
    if p.get("valid"):
        result["peer seconds"] = time_of_best(p)
        result["own seconds"] = reached(o, p["duration"])
        if result["own seconds"] is not None and result["peer seconds"]:
            result["ratio"] = result["own seconds"] / result["peer seconds"]
    else:
        result["peer seconds"], result["peer word"] = p["seconds"], (
            "over the budget" if p.get("verdict") else "model too large" if p["status"].startswith("too large") else "no plan")
        result["own seconds"] = first_plan(o)
    return result
