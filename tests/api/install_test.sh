#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the build into a folder of its own and uses it from outside: CMake package (shared, static), pkg-config, and
# the command; and the page's example is the program that is compiled here.
# usage: install_test.sh CMAKE BUILD SOURCE
set -eu
cmake=$1 build=$2 source=$3
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
"$cmake" --install "$build" --prefix "$here/inst" >"$here/log" 2>&1 || { cat "$here/log"; exit 1; }
"$cmake" -S "$source/tests/api/consumer" -B "$here/b" -DCMAKE_PREFIX_PATH="$here/inst" >"$here/log" 2>&1 || { cat "$here/log"; exit 1; }
"$cmake" --build "$here/b" >"$here/log" 2>&1 || { cat "$here/log"; exit 1; }
want="optimal: duration 60, bound 60"
for kind in ebbtide ebbtide_static; do
    [ "$("$here/b/use_$kind" | head -n 1)" = "$want" ] || { echo "use_$kind answers otherwise"; exit 1; }
done
lib=$(dirname "$(find "$here/inst" -name libebbtide.so)")
if command -v pkg-config >/dev/null; then
    pc=$(find "$here/inst" -name ebbtide.pc)
    flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs ebbtide)
    # shellcheck disable=SC2086
    cc -std=c99 "$source/tests/api/consumer/use.c" -o "$here/pc" $flags -Wl,-rpath,"$lib"
    [ "$("$here/pc" | head -n 1)" = "$want" ] || { echo "the pkg-config build answers otherwise"; exit 1; }
fi
"$here/inst/bin/ebbtide" --version
awk '/^```c$/{f=1;next}/^```$/{f=0}f' "$source/docs/api.md" >"$here/page.c"
tail -n +3 "$source/tests/api/consumer/use.c" | cmp - "$here/page.c"
# only the interface is visible
if nm -D --defined-only "$lib/libebbtide.so" 2>/dev/null | grep -E ' (T|B|D) ' | grep -v ' ebb_'; then
    echo "symbols that are no part of the interface are visible"
    exit 1
fi
echo "all held"
