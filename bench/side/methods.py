# SPDX-License-Identifier: Apache-2.0
"""The rows of the tables: who is run, with which flags, and under which identity a result is kept."""
import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = ("moccasin", "moccasin-hint", "checkmate", "checkmate-lp", "poet")
SEARCHES = ("auto", "anneal", "relax", "exact")  # values of --method that are ebbtide's own search or a part of it: no rows


@dataclass(frozen=True)
class Method:
    name: str
    kind: str  # ours, classic (a --method of the literature), order (a rule that orders), peer
    flags: tuple = ()
    threads: int = 0  # 0: as asked for
    order: str = "fixed"
    most: int = 0  # executions of an op; 0: any number


def known(program):
    """All methods that this build and bench/peers have, by name."""
    table = {"ebbtide": Method("ebbtide", "ours"), "ebbtide-1": Method("ebbtide-1", "ours", threads=1)}
    for order in ("staged", "free"):
        table[f"ebbtide-{order}"] = Method(f"ebbtide-{order}", "ours", ("--order", order), order=order)
    table["ebbtide-orders"] = Method("ebbtide-orders", "ours", ("--order", "free", "--max-executions", "1"), order="free", most=1)
    for most in (1, 2, 3):
        table[f"ebbtide-C{most}"] = Method(f"ebbtide-C{most}", "ours", ("--max-executions", str(most)), most=most)
    for value in choices(program, "method"):
        if value in SEARCHES:
            continue
        if value.startswith("order-"):  # one execution an op, in an order of its own
            table[value] = Method(value, "order", ("--order", "free", "--method", value), order="free")
            continue
        table[value] = Method(value, "classic", ("--method", value))
    for name in PEERS:
        table[name] = Method(name, "peer", order="staged", most=2 if name.startswith("moccasin") else 0)
    return table


def choices(program, option):
    p = subprocess.run([str(program), "options", "--markdown"], capture_output=True, text=True)
    for line in p.stdout.splitlines():
        cells = [c.strip() for c in line.split("|")]
        if len(cells) > 5 and cells[1] == f"`{option}`":
            return [c.strip() for c in cells[4].split(",")]
    return []


def binary_of(program):
    """./run starts the release build; the identity is that of the program itself."""
    program = Path(program).resolve()
    built = program.parent / "build/release/bin/ebbtide"
    return built if program.name == "run" and built.exists() else program


def build_id(program):
    p = subprocess.run([str(program), "--version"], capture_output=True, text=True)  # builds, if it is ./run
    if p.returncode:
        raise SystemExit("bench/run: " + (p.stderr or p.stdout).strip())
    version = p.stdout.strip().splitlines()[-1]
    digest, binary = hashlib.sha256(), binary_of(program)
    for part in [binary] + sorted((binary.parent.parent / "lib").glob("libebbtide.so.*.*")):  # shared or static build
        digest.update(part.read_bytes())
    return f"{version} {digest.hexdigest()[:10]}"


def commit():
    """What this repository is at, with `-dirty` where files differ from it; "" outside of git."""
    p = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--match", "v*"], capture_output=True, text=True)
    return p.stdout.strip() if p.returncode == 0 else ""


def peer_ids(python):
    """Identity per peer: its solver's version and its model's; a peer whose solver is not there is absent."""
    code = ("import json, importlib.metadata as m\nr = {}\nfor p in ('highspy', 'ortools'):\n"
            "    try: r[p] = m.version(p)\n    except m.PackageNotFoundError: pass\nprint(json.dumps(r))")
    p = subprocess.run([str(python), "-c", code], capture_output=True, text=True)
    have = json.loads(p.stdout) if p.returncode == 0 else {}
    ids = {}
    for name in PEERS:
        package, source = ("ortools", "moccasin") if name.startswith("moccasin") else ("highspy", "checkmate")
        if package in have:
            text = (ROOT / "bench/peers" / f"{source}.py").read_text()
            word = "RELAXATION_VERSION" if name == "checkmate-lp" else "VERSION"
            version = re.search(rf"^{word} = (\d+)$", text, re.M).group(1)
            ids[name] = f"{package} {have[package]}, model {version}"
    return ids
