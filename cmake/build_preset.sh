#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a built preset: installs what is missing, configures build/PRESET once, builds the targets.
# Used by ./run and ./test; plain `cmake --preset` works as well and may use the same folders before or after.
# Everything is written to standard error; only one such script works on a clone at a time (a lock on build/.lock).
#
# usage: build_preset.sh [--tests] PRESET [TARGET...]      (--tests: with the optional parts; no target: all)
set -eu
tests=
if [ "${1:-}" = --tests ]; then tests=--tests; shift; fi
preset=${1:?usage: build_preset.sh [--tests] PRESET [TARGET...]}
shift
root=$(dirname "$(dirname "$(readlink -f "$0")")")
say() { echo "build: $*" >&2; }
die() { say "$*"; exit 1; }

mkdir -p "$root/build" 2>/dev/null || die "cannot write to $root"
[ -w "$root/build" ] || die "cannot write to $root/build"
exec 9>"$root/build/.lock"
if ! flock -n 9; then
    say "waiting for another build of this clone"
    flock 9
fi
sh "$root/cmake/install_packages.sh" $tests 9>&-

cd "$root"
cache=build/$preset/CMakeCache.txt
if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" "$cache"; then
    say "the clone was moved: configuring anew"
    rm -rf "build/$preset"
fi
if [ ! -f "build/$preset/build.ninja" ] && [ ! -f "build/$preset/Makefile" ]; then
    say "configuring build/$preset"
    rm -f "$cache"
    log=build/$preset.configure.log
    if ! cmake --preset "$preset" -G Ninja >"$log" 2>&1 </dev/null 9>&-; then
        # The reason: the last word of the script that fetches CaDiCaL, else CMake's first error.
        reason=$(grep '^get_cadical: ' "$log" | tail -n 1 | grep -v ' is in ') || reason=
        [ -n "$reason" ] || reason=$(sed -n '/^CMake Error/,/^$/p' "$log" | tr -s '\n ' ' ')
        die "configuring failed: $reason (more in $root/$log)"
    fi
fi
# What the configuration of ./run did not find may be there by now.
if [ -n "$tests" ] && grep -qs '^EBB_WITH_ONNX:STRING=AUTO$' "$cache" && grep -qs '^EBB_HAVE_ONNX:INTERNAL=OFF$' "$cache"; then
    cmake "build/$preset" >"build/$preset.configure.log" 2>&1 </dev/null 9>&- || die "configuring build/$preset failed"
fi
jobs=$(nproc)
say "building build/$preset with $jobs jobs"
# A whole program is a few hundred compilations of a few seconds: the lines of the build tool are the progress.
if [ $# -gt 0 ]; then
    cmake --build "build/$preset" -j "$jobs" --target "$@" >&2 </dev/null 9>&- || die "building build/$preset failed"
else
    cmake --build "build/$preset" -j "$jobs" >&2 </dev/null 9>&- || die "building build/$preset failed"
fi
