#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that a compiler does not see: layers, SPDX lines, portability, one machine's paths.

usage: lint.py ROOT            checks the repository at ROOT; exit 1 with one line a finding
       lint.py --self-test     checks that each rule finds what it is for
"""
import re
import sys
from pathlib import Path

# folder -> folders whose headers it may include; the same table as cmake/EbbLayer.cmake. Keys are matched longest first.
MAY_INCLUDE = {
    "engine/base": [],
    "engine/problem": ["engine/base"],
    "engine/linear": ["engine/base"],
    "engine/bounds": ["engine/base", "engine/problem", "engine/linear"],
    "engine/core": ["engine/base"],
    "propagators": ["engine/base", "engine/core", "engine/linear", "engine/bounds"],
    "heuristics": ["engine/base", "engine/problem", "engine/bounds"],
    "io": ["engine/base", "engine/problem"],
    "portfolio": ["engine/base", "engine/problem", "engine/linear", "engine/bounds", "engine/core", "propagators",
                  "heuristics", "io", "ebbtide"],
    "include": [],
    "cli": ["ebbtide", "io"],
    "tests": ["tests", "ebbtide", "engine/base", "engine/problem", "engine/linear", "engine/bounds", "engine/core",
              "propagators", "heuristics", "io", "portfolio", "cli"],
    "bench": ["bench", "tests", "ebbtide", "engine/base", "engine/problem", "engine/linear", "engine/bounds",
              "engine/core", "propagators", "heuristics", "io", "portfolio"],
}
# Propagators see the bounds' array kernels only: headers of engine/bounds that include nothing of engine/problem.
# Foreign headers that only some folders may include.
FOREIGN = [
    (re.compile(r"^(cadical/)?(cadical|ccadical|ipasir)\.h(pp)?$"), ["engine/core"]),
    (re.compile(r"^(Clp|Coin|Osi)\w*\.hpp$"), ["engine/linear"]),
    (re.compile(r"^(tbb|oneapi)/"), ["portfolio", "tests", "bench"]),
    (re.compile(r"^lemon/"), ["engine/bounds"]),
    (re.compile(r"^CLI/"), ["cli"]),
    (re.compile(r"^(doctest/|doctest\.h)"), ["tests"]),
    (re.compile(r"^benchmark/"), ["bench"]),
]
SOURCES = {".cpp", ".hpp", ".h", ".c", ".cc", ".inc"}
WITH_SPDX = SOURCES | {".cmake", ".sh", ".py"}
TEXT = WITH_SPDX | {".txt", ".md", ".json", ".yml", ".yaml", ""}
FOLDERS = ["engine", "propagators", "heuristics", "io", "portfolio", "include", "cli", "tests", "bench", "cmake", "docs",
           "python", "examples", ".ci"]
TOP_FILES = ["CMakeLists.txt", "CMakePresets.json", "run", "test", "README.md", "NEWS.md", ".clang-format", ".clang-tidy",
             ".gitignore"]
# Library folders: no streams of the process, no environment, no clock-seeded or platform-dependent randomness.
LIBRARY = ("engine/", "propagators/", "heuristics/", "io/", "portfolio/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STD_RANDOM = re.compile(r"std::(uniform_\w+_distribution|\w+_distribution|random_device|default_random_engine|shuffle\b|"
                        r"sample\b|random_shuffle)")
PROCESS = re.compile(r"\b(std::(cout|cerr|clog|getenv)\b|(?<![\w:.>])(getenv|printf|puts|signal|sigaction)\s*\(|std::signal\b"
                     r"|std::printf|std::puts|\bexit\s*\(|\babort\s*\()")
MACHINE_PATH = re.compile(r"(?<![\w./<$}])/(work|root|home|Users|farm)/\w")


def folder_of(path, table):
    """The longest key of the table that path lies in, or None."""
    hits = [key for key in table if path == key or path.startswith(key + "/")]
    return max(hits, key=len) if hits else None


def strip_comments(text):
    """The source without comments and string bodies, line structure kept."""
    def blank(match):
        token = match.group(0)
        if token.startswith("/"):
            return " " + "\n" * token.count("\n")
        return '""'
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def target_of(included):
    """The folder of ours that an #include names, or None for a foreign header."""
    if included.startswith("ebbtide/"):
        return "ebbtide"
    return folder_of(included, MAY_INCLUDE)


def check_includes(path, text):
    own = folder_of(path, MAY_INCLUDE)
    if own is None:
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, included = match.groups()
        if included.startswith("include/"):
            yield number, f"write <ebbtide/...> or \"ebbtide/...\", not \"{included}\""
            continue
        if included.startswith(".") or (quote == '"' and "/" not in included):
            yield number, f"includes are written from the repository's root: \"{included}\""
            continue
        target = target_of(included)
        if target is None:
            for pattern, allowed in FOREIGN:
                if pattern.match(included) and own not in allowed:
                    yield number, f"<{included}> belongs to {', '.join(allowed)}, not to {own}"
        elif target != own and target not in MAY_INCLUDE[own] and not (own == "include" and target == "ebbtide"):
            yield number, f"{own} may not include {included}: allowed are {', '.join(MAY_INCLUDE[own]) or 'none of ours'}"


def check_file(path, text):
    """Findings of one file as (line number, message)."""
    suffix = Path(path).suffix
    first = text.split("\n", 2)
    if suffix in WITH_SPDX or Path(path).name == "CMakeLists.txt" or path in ("run", "test", ".ci/run"):
        head = first[1] if first[0].startswith("#!") and len(first) > 1 else first[0]
        if "SPDX-License-Identifier: Apache-2.0" not in head:
            yield 1, "the first line (after a #! line) must be the SPDX line of Apache-2.0"
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line) and path != "tests/lint/lint.py":
            yield number, "a path of one machine"
    if suffix not in SOURCES:
        return
    yield from check_includes(path, text)
    code = strip_comments(text)
    for number, line in enumerate(code.splitlines(), 1):
        match = STD_RANDOM.search(line)
        if match:
            yield number, f"{match.group(0)} differs between standard libraries: use Boost.Random or engine/base"
        if path.startswith(LIBRARY):
            match = PROCESS.search(line)
            if match:
                yield number, f"library code leaves the process alone: {match.group(0).strip()}"
    if path.endswith((".hpp", ".h")) and "#pragma once" not in code and "#ifndef" not in code:
        yield 1, "a header without #pragma once"


def bounds_kernels(files):
    """Propagators may include of engine/bounds only what does not lead to engine/problem (array kernels)."""
    def reaches_problem(path, seen):
        if path in seen:
            return False
        seen.add(path)
        for line in files.get(path, "").splitlines():
            match = INCLUDE.match(line)
            if match and (match.group(2).startswith("engine/problem/") or reaches_problem(match.group(2), seen)):
                return True
        return False

    for path, text in files.items():
        if not path.startswith("propagators/"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match.group(2).startswith("engine/bounds/") and reaches_problem(match.group(2), set()):
                yield path, number, f"{match.group(2)} leads to engine/problem: propagators see array kernels only"


def include_cycles(files):
    """Cycles in the graph of folders, told by what is really included (a second look at the table itself)."""
    edges = {}
    for path, text in files.items():
        own = folder_of(path, MAY_INCLUDE)
        if own is None or own in ("tests", "bench"):
            continue
        own = "ebbtide" if own == "include" else own
        for line in text.splitlines():
            match = INCLUDE.match(line)
            target = target_of(match.group(2)) if match else None
            if target and target != own:
                edges.setdefault(own, set()).add(target)
    done, stack = set(), []

    def visit(node):
        if node in stack:
            return stack[stack.index(node):] + [node]
        if node in done:
            return None
        stack.append(node)
        for follower in sorted(edges.get(node, ())):
            cycle = visit(follower)
            if cycle:
                return cycle
        stack.pop()
        done.add(node)
        return None

    for node in sorted(edges):
        cycle = visit(node)
        if cycle:
            yield "CMakeLists.txt", 1, "the folders include each other: " + " -> ".join(cycle)
            return


def check_all(files):
    for path in sorted(files):
        for number, message in check_file(path, files[path]):
            yield path, number, message
    yield from bounds_kernels(files)
    yield from include_cycles(files)


def read_tree(root):
    files = {}
    paths = [root / name for name in TOP_FILES]
    for folder in FOLDERS:
        paths += sorted((root / folder).rglob("*"))
    for path in paths:
        if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts and path.stat().st_size < 1 << 20:
            try:
                files[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # fuzzing corpora hold broken text on purpose
    return files


def self_test():
    spdx = "// SPDX-License-Identifier: Apache-2.0\n"
    bad = [  # files, what must be found
        ({"engine/core/a.cpp": spdx + '#include "engine/problem/graph.hpp"\n'}, "may not include"),
        ({"propagators/a.cpp": spdx + "#include <cadical.hpp>\n"}, "belongs to"),
        ({"heuristics/a.cpp": spdx + "#include <tbb/task_arena.h>\n"}, "belongs to"),
        ({"io/a.cpp": spdx + '#include "heuristics/x.hpp"\n'}, "may not include"),
        ({"cli/a.cpp": spdx + '#include "portfolio/x.hpp"\n'}, "may not include"),
        ({"engine/base/a.cpp": "int x;\n"}, "SPDX"),
        ({"engine/base/a.cpp": spdx + '#include "units.hpp"\n'}, "root"),
        ({"engine/base/a.cpp": spdx + "std::uniform_int_distribution<int> d;\n"}, "Boost.Random"),
        ({"engine/base/a.cpp": spdx + "void f() { std::cerr << 1; }\n"}, "alone"),
        ({"engine/base/a.cpp": spdx + 'const char* p = "/' + 'home/me/x";\n'}, "one machine"),
        ({"engine/base/a.hpp": spdx + "int x;\n"}, "pragma"),
        ({"propagators/a.cpp": spdx + '#include "engine/bounds/k.hpp"\n',
          "engine/bounds/k.hpp": spdx + '#pragma once\n#include "engine/problem/graph.hpp"\n'}, "array kernels"),
        ({"io/a.hpp": spdx + '#pragma once\n#include "heuristics/b.hpp"\n',
          "heuristics/b.hpp": spdx + '#pragma once\n#include "io/a.hpp"\n'}, "include each other"),
    ]
    good = {"engine/bounds/a.cpp": spdx + '#include "engine/problem/graph.hpp"\n#include <vector>\n'
                                          "// std::cout and std::shuffle in a comment\n"
                                          'const char* s = "std::cout";\n'}
    failures = [f"{want!r} not found in {files}" for files, want in bad
                if not any(want in message for _, _, message in check_all(files))]
    failures += [f"false finding: {finding}" for finding in check_all(good)]
    for failure in failures:
        print("lint self-test:", failure)
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    files = read_tree(Path(arguments[0] if arguments else "."))
    findings = list(check_all(files))
    for path, number, message in findings:
        print(f"{path}:{number}: {message}")
    print(f"lint: {len(files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
