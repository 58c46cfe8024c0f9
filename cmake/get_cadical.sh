#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts a CaDiCaL that has the external-propagator interface (IPASIR-UP, 1.7 or later) into a private prefix.
#
# Debian 12 packages 1.5.3, which has no such interface. Debian 13 packages 1.7.4, so this script downloads that one
# package of the next suite with apt's own tools, from the mirror and with the keyring the machine already uses, and
# unpacks it beside the sources. Lists and cache are private: nothing on the system changes and no root is needed.
# The library was built against glibc 2.38 or later, whose headers rename the scanf and strtol families for C23; with
# an older glibc those names are mapped back to the ones it has (same functions but for the 0b prefix of C23).
#
# usage: get_cadical.sh PREFIX      -> PREFIX/include/cadical.hpp, PREFIX/lib/libcadical.a, PREFIX/VERSION
set -eu
prefix=${1:?usage: get_cadical.sh PREFIX}
say() { echo "get_cadical: $*" >&2; }
die() { say "$*"; exit 1; }
[ -f "$prefix/VERSION" ] && exit 0
for tool in apt-get dpkg-deb objcopy nm; do
    command -v "$tool" >/dev/null 2>&1 || die "$tool is missing (packages apt, dpkg, binutils)"
done

mkdir -p "$(dirname "$prefix")"
work=$(mktemp -d "$(dirname "$prefix")/.cadical.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/deb"

# The first enabled Debian archive that is not the security one, as apt knows it: no host is named here.
# shellcheck disable=SC2016  # apt expands these
uri=$(apt-get indextargets --format '$(COMPONENT)|$(REPO_URI)|$(CREATED_BY)' 2>/dev/null |
    awk -F'|' '$1 == "main" && $2 !~ /security/ && $3 == "Packages" { print $2; exit }') || uri=
[ -n "$uri" ] || die "apt knows no Debian archive on this machine (apt-get indextargets is empty)"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg # else the keys of trusted.gpg.d, which apt takes by itself
[ -f "$keyring" ] && options=" signed-by=$keyring" || options=
arch=$(dpkg --print-architecture)

fetch() { # fetch SUITE: the suite's index, then its libcadical-dev
    echo "deb [arch=$arch$options] $uri $1 main" >"$work/sources.list"
    apt_private() {
        apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
            -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o Acquire::Languages=none \
            -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false -o Acquire::Retries=3 \
            -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false "$@" >&2
    }
    apt_private update && (cd "$work/deb" && apt_private download "libcadical-dev/$1")
}

found=
for suite in trixie forky; do
    say "downloading libcadical-dev of Debian '$suite'"
    if fetch "$suite" && [ -n "$(ls "$work/deb")" ]; then found=$suite; break; fi
done
[ -n "$found" ] || die "no download of libcadical-dev (is there network?)"

deb=$(ls "$work"/deb/*.deb)
dpkg-deb -x "$deb" "$work/root"
version=$(dpkg-deb -f "$deb" Version)
archive=$(find "$work/root" -name libcadical.a | head -n 1)
header=$(find "$work/root" -name cadical.hpp | head -n 1)
if [ -z "$archive" ] || [ -z "$header" ]; then
    die "the package libcadical-dev $version lacks libcadical.a or cadical.hpp"
fi

glibc=$(getconf GNU_LIBC_VERSION | awk '{ print $2 }')
if [ "$(printf '%s\n2.38\n' "$glibc" | sort -V | head -n 1)" != 2.38 ]; then
    nm "$archive" 2>/dev/null | awk '$1 == "U" && $2 ~ /^__isoc23_/ { print $2 }' | sort -u | while read -r symbol; do
        plain=${symbol#__isoc23_}
        case $plain in *scanf) echo "$symbol __isoc99_$plain" ;; *) echo "$symbol $plain" ;; esac
    done >"$work/symbols"
    objcopy --redefine-syms="$work/symbols" "$archive"
fi

mkdir -p "$work/out/include" "$work/out/lib" "$work/out/doc"
cp "$(dirname "$header")"/*.hpp "$work/out/include/"
cp "$archive" "$work/out/lib/"
cp "$work/root/usr/share/doc/libcadical-dev/copyright" "$work/out/doc/" 2>/dev/null || :
echo "$version" >"$work/out/VERSION"
rm -rf "$prefix"
mv "$work/out" "$prefix"
say "libcadical-dev $version is in $prefix"
