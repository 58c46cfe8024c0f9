#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the distribution's packages that the build needs and that are missing; says nothing when none is.
# Needs root, or sudo that asks no password. Everything it prints goes to standard error.
#
# Debian 12 has Boost 1.81 beside its default 1.74, under versioned names; Debian 13 and Ubuntu 24.04 have the default
# names. libcadical-dev of the distribution is taken where it has the external-propagator interface (1.7 or later);
# where it has not, get_cadical.sh takes over.
#
# usage: install_packages.sh [--tests]     (--tests: also what only optional parts need, so that their tests run)
set -eu
say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    die "this is no Debian or Ubuntu: install what docs/building.md lists, then use cmake directly"
fi

wanted="g++ cmake ninja-build make pkg-config binutils python3 python3-jsonschema util-linux
    libtbb-dev libcli11-dev doctest-dev coinor-libclp-dev liblemon-dev zlib1g-dev liblzma-dev libzstd-dev"
optional=""
[ "${1:-}" != --tests ] || optional="libonnx-dev libprotobuf-dev protobuf-compiler"
distribution="" release=""
if [ -r /etc/os-release ]; then
    # shellcheck disable=SC1091
    distribution=$(. /etc/os-release && echo "${ID:-}") release=$(. /etc/os-release && echo "${VERSION_ID:-}")
fi
if [ "$distribution" = debian ] && [ "$release" = 12 ]; then
    wanted="$wanted libboost1.81-dev debian-archive-keyring ca-certificates"
else
    wanted="$wanted libboost-dev libcadical-dev"
fi

absent() { # absent PACKAGE...: those that are not installed
    for package in "$@"; do
        state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) || state=
        case $state in ii*) ;; *) printf ' %s' "$package" ;; esac
    done
}
# shellcheck disable=SC2086  # lists of words
missing=$(absent $wanted) missing_optional=$(absent $optional)
[ -n "$missing$missing_optional" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root() { "$@"; }
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root() { sudo -n "$@"; }
else
    [ -n "$missing" ] || exit 0
    die "packages are missing and this is neither root nor sudo without a password; as root: apt-get install$missing"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { # install PACKAGE...
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
        install --no-install-recommends --no-remove "$@" >"$log" 2>&1 </dev/null
}
# The lists of a fresh container are absent, and old lists name packages that the mirror has replaced since.
install_refreshing() {
    say "installing $*"
    install "$@" && return
    say "refreshing the package lists"
    as_root apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update >"$log" 2>&1 </dev/null || :
    install "$@"
}
# shellcheck disable=SC2086  # lists of words
if [ -n "$missing" ] && ! install_refreshing $missing; then
    tail -n 3 "$log" >&2
    die "could not install:$missing (is there network?)"
fi
# shellcheck disable=SC2086
if [ -n "$missing_optional" ] && ! install_refreshing $missing_optional; then
    say "going on without:$missing_optional (the tests that need them are left out)"
fi
