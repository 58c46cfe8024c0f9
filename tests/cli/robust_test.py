#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Out of memory, a full disk, kill -9: no broken file is left behind, and the command says what happened.

usage: robust_test.py EBBTIDE SOURCE_DIR [TEST...]
"""
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

from harness import EBBTIDE, main, path, run, Skip, test, write

SEED = int(os.environ.get("EBB_TEST_SEED", "1"))


def errors(err):
    return [line for line in err.splitlines() if line.startswith("ebbtide: error: ")]


def new_graph(name, *args):
    if not os.path.exists(path(name)):
        code, _, err = run("gen", *args, "-o", path(name))
        assert code == 0, err
    return path(name)


def steps():
    return new_graph("steps.json", "transformer", "--layers", 30, "--microbatches", 2)


# A plan at once, however busy the machine is.
SOLVE = ["--budget", "0.8", "--method", "evict"]


def only(folder, *names):
    assert sorted(os.listdir(folder)) == sorted(names), os.listdir(folder)


@test
def out_of_memory():
    """Under every limit of the address space: a plan that holds, or exit 1 and one line that says so."""
    file, folder = steps(), path("memory")
    os.mkdir(folder)
    plan = os.path.join(folder, "p.json")
    seen = set()
    for threads in (1, 2):
        for mib in (30, 45, 60, 90, 150, 250, 600):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))
            with open(plan, "w") as f:
                f.write("old")
            code, _, err = run("solve", file, "--budget", "0.8", "--work-limit", 0.03, "--threads", threads, "-o", plan, before=limit)
            seen.add(code)
            only(folder, "p.json")
            if code == 0:
                assert run("check", file, plan)[0] == 0, (mib, threads)
            else:
                assert open(plan).read() == "old", (mib, threads)
                if code == 127:  # the dynamic linker had no room: not ours to say
                    continue
                assert code == 1 and len(errors(err)) == 1 and "memory" in errors(err)[0], (mib, threads, code, err)
    assert 0 in seen and 1 in seen, seen


@test
def full_disk():
    """A file system that is full in the middle of writing: exit 3, the reason, the old file untouched."""
    folder = path("small")
    os.mkdir(folder)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", folder], capture_output=True).returncode:
        raise Skip("no tmpfs can be mounted here")
    try:
        file = steps()
        for name in ("p.json", "p.json.gz"):
            target = os.path.join(folder, name)
            with open(target, "w") as f:
                f.write("old")
            code, out, err = run("solve", file, *SOLVE, "-o", target)
            assert code == 3 and len(errors(err)) == 1 and "No space left on device" in err and name in err, (name, code, err)
            assert out == "" and open(target).read() == "old"
            only(folder, name)
            os.remove(target)
        for args in (["gen", "layered", "--ops", 2000], ["convert", file]):
            code, _, err = run(*args, "-o", os.path.join(folder, "g.json"))
            assert code == 3 and len(errors(err)) == 1 and "No space left on device" in err, (args, code, err)
            only(folder)
    finally:
        subprocess.run(["umount", folder], check=True)


@test
def full_device():
    if not os.path.exists("/dev/full"):
        raise Skip("no /dev/full here")
    file = steps()
    for args in (["solve", file, *SOLVE], ["info", file], ["gen", "layered"], ["convert", file],
                 ["sweep", file, "--points", 2, "--time-limit", 0], ["options"]):
        with open("/dev/full", "w") as full:
            code, _, err = run(*args, stdout=full)
        assert code == 3 and len(errors(err)) == 1 and "No space left on device" in err, (args, code, err)
    code, _, err = run("solve", file, *SOLVE, "-o", "/dev/full")
    assert code == 3 and "No space left on device" in err and "/dev/full" in err, (code, err)


@test
def file_size_limit():
    """ulimit -f: an error like any other, not the death of the process."""
    folder = path("limited")
    os.mkdir(folder)
    file = steps()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    code, _, err = run("solve", file, *SOLVE, "-o", os.path.join(folder, "p.json"), before=limit)
    assert code == 3 and len(errors(err)) == 1 and "File too large" in err, (code, err)
    only(folder)


@test
def closed_pipe():
    """The reader of standard output goes away: the process ends, by the signal or with exit 3."""
    read, write = os.pipe()
    os.close(read)
    code, _, err = run("gen", "layered", "--ops", 3000, stdout=write)
    os.close(write)
    assert code == 3 or code == -signal.SIGPIPE, (code, err)


@test
def killed_at_any_moment():
    """kill -9 again and again: the target is the old file or a whole plan, and nothing lies about."""
    file, folder = steps(), path("killed")
    os.mkdir(folder)
    target = os.path.join(folder, "p.json")
    dice = random.Random(SEED)
    print("seed", SEED, file=sys.stderr)
    args = [EBBTIDE, "solve", file, *SOLVE, "--threads", "1", "--log-format", "none", "-o", target]
    begun = time.monotonic()
    subprocess.run(args, check=True)
    whole = time.monotonic() - begun
    good = open(target).read()
    leftovers = 0
    for _ in range(15):
        with open(target, "w") as f:
            f.write("old")
        p = subprocess.Popen(args)
        # most of the kills while the plan is made ready and written, at the end
        time.sleep(whole * (dice.uniform(0.7, 1.05) if dice.random() < 0.8 else dice.random()))
        p.send_signal(signal.SIGKILL)
        p.wait()
        text = open(target).read()
        if text != "old":
            plan = json.loads(text)
            assert plan["graph"] == json.loads(good)["graph"]
            assert run("check", file, target)[0] == 0
        for name in os.listdir(folder):
            if name != "p.json":
                leftovers += 1
                os.remove(os.path.join(folder, name))
    # where files without names can be had there are none; elsewhere a part may remain, under a name of its own
    print("leftovers", leftovers, file=sys.stderr)
    assert leftovers == 0 or not nameless_files(folder), leftovers


def nameless_files(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
        return os.path.exists("/proc/self/fd")
    except (OSError, AttributeError):
        return False


main()
