# SPDX-License-Identifier: Apache-2.0
"""A DTR log whose mutations are copies, as DTR's own simulator takes them.

The simulator makes a new storage of the same size for every mutated argument and releases the old one's name, so the two
versions may lie in memory together and the old one may be made again beside the new. Ebbtide's reader says what the
program did, in place. To hold our simulation of DTR against DTR's, both must have the same graph: this rewrites each
MUTATE as a CALL with new results, to which the name is bound from there on."""
import json
import lzma


def rewritten(path, out):
    """path: a log, plain or xz; out: where the rewritten one goes."""
    with (lzma.open(path, "rt") if str(path).endswith(".xz") else open(path)) as f:
        lines = [json.loads(line) for line in f if line.strip()]
    start = next((i for i, j in enumerate(lines) if j["INSTRUCTION"] == "ANNOTATE" and j["ANNOTATION"] == "START"), -1)
    bound, size, arguments, made = {}, {}, [], 0
    now = lambda name: bound.get(name, name)
    result = []
    for j in lines[start + 1:]:
        kind = j["INSTRUCTION"]
        if kind == "CONSTANT":
            bound[j["NAME"]] = j["NAME"]
        elif kind == "MEMORY":
            size[j["NAME"]] = j["MEMORY"]
        elif kind == "ALIAS" and int(j["ALIAS"]) >= 0:  # comes after the MEMORY of the same name
            size[j["NAME"]] = size[arguments[int(j["ALIAS"])]]
        elif kind == "CALL":
            arguments = [now(a) for a in j["ARGS"]]
            bound.update((r, r) for r in j["RESULT"])
            j = dict(j, ARGS=arguments)
        elif kind == "COPY":
            bound[j["DST"]], size[j["DST"]] = j["DST"], size[now(j["SRC"])]
            j = dict(j, SRC=now(j["SRC"]))
        elif kind == "COPY_FROM":
            j = dict(j, DST=now(j["DST"]), SRC=now(j["SRC"]))
        elif kind == "RELEASE":
            j = dict(j, NAME=now(j["NAME"]))
        elif kind == "MUTATE":
            arguments, fresh = [now(a) for a in j["ARGS"]], []
            for m in j["MUTATE"]:
                made += 1
                fresh.append(f"{j['ARGS'][m]}~{made}")
                size[fresh[-1]] = size[arguments[m]]
            result.append({"INSTRUCTION": "CALL", "NAME": j["NAME"], "RESULT": fresh, "ARGS": arguments, "TIME": j["TIME"]})
            for name in fresh:
                result += [{"INSTRUCTION": "MEMORY", "NAME": name, "MEMORY": size[name]},
                           {"INSTRUCTION": "ALIAS", "NAME": name, "ALIAS": "-1"}]
            for name, m in zip(fresh, j["MUTATE"]):
                result.append({"INSTRUCTION": "RELEASE", "NAME": arguments[m]})
                bound[j["ARGS"][m]] = name
            continue
        result.append(j)
    with open(out, "w") as f:
        f.writelines(json.dumps(j) + "\n" for j in result)
