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
for kind in ebbtide ebbtide_static; do
    "$here/b/usepp_$kind" "$source/examples/training_step.json" >"$here/out" || { echo "usepp_$kind fails"; exit 1; }
    grep -qE '^(optimal|feasible): duration ' "$here/out" || { echo "usepp_$kind answers otherwise"; exit 1; }
    if "$here/b/usepp_$kind" /no/such/file 2>"$here/out"; then echo "usepp_$kind: no error"; exit 1; fi
    grep -q '/no/such/file' "$here/out" || { echo "usepp_$kind: another error"; exit 1; }
done
lib=$(dirname "$(find "$here/inst" -name libebbtide.so)")
if command -v pkg-config >/dev/null; then
    pc=$(find "$here/inst" -name ebbtide.pc)
    flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs ebbtide)
    # shellcheck disable=SC2086
    cc -std=c99 "$source/tests/api/consumer/use.c" -o "$here/pc" $flags -Wl,-rpath,"$lib"
    [ "$("$here/pc" | head -n 1)" = "$want" ] || { echo "the pkg-config build answers otherwise"; exit 1; }
    flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --static --cflags --libs ebbtide)
    # shellcheck disable=SC2086
    cc -std=c99 -DEBB_STATIC=1 "$source/tests/api/consumer/use.c" -o "$here/pcs" \
        $(echo "$flags" | sed "s|-lebbtide|-l:libebbtide.a|")
    [ "$("$here/pcs" | head -n 1)" = "$want" ] || { echo "the static pkg-config build answers otherwise"; exit 1; }
fi
"$here/inst/bin/ebbtide" --version
for language in c cpp; do
    awk "/^\`\`\`$language\$/{f=1;next}/^\`\`\`\$/{f=0}f" "$source/docs/api.md" >"$here/page.$language"
    tail -n +3 "$source/tests/api/consumer/use.$language" | cmp - "$here/page.$language"
done
# only the interface is visible
if nm -D --defined-only "$lib/libebbtide.so" 2>/dev/null | grep -E ' (T|B|D) ' | grep -v ' ebb_'; then
    echo "symbols that are no part of the interface are visible"
    exit 1
fi
# and all of it: what the header declares is there, and what is there is declared
nm -D --defined-only "$lib/libebbtide.so" | awk '$2 == "T" { print $3 }' | sort >"$here/there"
tr -d '\n' <"$source/include/ebbtide/ebbtide.h" | grep -oE 'EBB_API [^;]*;' | grep -oE 'ebb_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$here/declared"
diff "$here/declared" "$here/there" || { echo "declared (<) and visible (>) functions differ"; exit 1; }
readelf -d "$lib/libebbtide.so" | grep -q 'SONAME.*libebbtide\.so\.0' || { echo "another name of the shared library"; exit 1; }
echo "all held"
