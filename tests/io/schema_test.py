#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON schemas against what the program writes: usage schema_test.py EBBTIDE SOURCE_DIR. Skips (77) without jsonschema."""
import glob
import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: no Python package jsonschema")
    sys.exit(77)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def main():
    ebbtide, source = sys.argv[1:3]
    schemas = {k: load(os.path.join(source, "docs", "schema", f"ebbtide-{k}.schema.json")) for k in ("graph", "plan")}
    for s in schemas.values():
        jsonschema.Draft202012Validator.check_schema(s)
    graph, plan = (jsonschema.Draft202012Validator(schemas[k]) for k in ("graph", "plan"))
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for example in sorted(glob.glob(os.path.join(source, "examples", "*.json"))):
            written, p = os.path.join(folder, "g.json"), os.path.join(folder, "p.json")
            subprocess.run([ebbtide, "convert", example, "-o", written], check=True)
            graph.validate(load(written))
            subprocess.run([ebbtide, "solve", written, "--budget", "0.9", "--work-limit", "0.1", "-o", p], check=True)
            plan.validate(load(p))
            checked += 1
    everything = load(os.path.join(source, "tests", "fuzz", "corpus", "native", "everything.json"))
    graph.validate(everything)
    for bad in (-1, 1.5, None, "8", 2**63):
        everything["tensors"][0]["size"] = bad
        if graph.is_valid(everything):
            sys.exit(f"the schema allows a size of {bad!r}")
    plan.validate(load(os.path.join(source, "tests", "fuzz", "corpus", "plan", "plan.json")))
    print(f"{checked} passed, 0 failed")


main()
