#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Each recipe by its registry's own tool. PyPI has the tools of Conan and conda, and the validator of
# CITATION.cff; those of vcpkg and Spack are named, or left out, which is said.
#
#   sh packaging/recipes.sh                                     what CI does: a minute
#   VCPKG=PROGRAM SPACK=PROGRAM sh packaging/recipes.sh --all   also what compiles; before a release
#
# TBB and Highway are the system's wherever something is linked. VCPKG_ROOT is vcpkg's tree of ports.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
all=${1:-}
[ $# = 0 ] || { [ $# = 1 ] && [ "$all" = --all ]; } || give_up "usage: sh packaging/recipes.sh [--all]"

need cmake ninja-build g++ python3 python3-venv libtbb-dev libhwy-dev
work=$PWD/build/recipes
bin=$work/python/bin
tools="conan==2.34.0 cffconvert==2.0.0 py-rattler-build==0.73.0 flake8==7.3.0"
mkdir -p "$work"
# Programs of a virtual environment name the place that it was made in.
if [ "$(cat "$work/tools" 2>/dev/null)" != "$tools of $PWD" ]; then
  echo "tilefold: fetching $tools"
  # shellcheck disable=SC2086 # a list of words
  { python3 -m venv --clear "$work/python" && "$bin/pip" install --quiet $tools; } >"$work/pip.log" 2>&1 ||
    give_up "pip could not fetch them: see $work/pip.log"
  echo "$tools of $PWD" >"$work/tools"
fi

# said WHAT COMMAND...: one line that it passed, or the whole output.
said() {
  what=$1
  shift
  "$@" >"$work/log" 2>&1 || { cat "$work/log" && give_up "$what: failed: $*"; }
  echo "$what: passed"
}

said "CITATION.cff, cffconvert" "$bin/cffconvert" --validate --infile CITATION.cff

export CONAN_HOME="$work/conan"
[ -f "$CONAN_HOME/profiles/default" ] || said "Conan, the compiler" "$bin/conan" profile detect
conan() {
  "$bin/conan" create packaging/conan --settings compiler.cppstd=20 --test-folder="$work/conan_test" "$@"
}
# The test builds beside its source.
rm -rf "$work/conan_test"
cp -r packaging/conan/test_package "$work/conan_test"
said "Conan, headers alone" conan --options "&:host=False"

said "conda, the recipe is rendered" "$bin/python" packaging/conda/check.py render
said "Spack, flake8" "$bin/flake8" --max-line-length 99 --extend-ignore F403,F405,E203 packaging/spack/repo

# Ports, packages and recipes of the system's TBB and Highway, in place of the registries'.
if [ -n "${VCPKG:-}" ]; then
  cp packaging/vcpkg/ports/tilefold/vcpkg.json "$work/vcpkg.json"
  "$VCPKG" format-manifest "$work/vcpkg.json" >/dev/null
  said "vcpkg, format-manifest leaves vcpkg.json as it is" cmp "$work/vcpkg.json" packaging/vcpkg/ports/tilefold/vcpkg.json
else
  echo "vcpkg: left out, for VCPKG names no program"
fi
if [ -n "${SPACK:-}" ]; then
  mkdir -p "$work/spack"
  cat >"$work/spack/repos.yaml" <<EOF
repos:
- $PWD/packaging/spack/repo
EOF
  cat >"$work/spack/packages.yaml" <<EOF
packages:
  cmake: {buildable: false, externals: [{spec: cmake@$(cmake --version | sed -n '1s/.* //p'), prefix: /usr}]}
  ninja: {buildable: false, externals: [{spec: ninja@$(ninja --version), prefix: /usr}]}
  intel-tbb: {buildable: false, externals: [{spec: intel-tbb@2021.8.0, prefix: /usr}]}
  highway: {buildable: false, externals: [{spec: highway@1.0.3, prefix: /usr}]}
  tbb: {require: intel-tbb}
EOF
  spack() { "$SPACK" -C "$work/spack" "$@"; }
  version=$(sed -n 's/^#define TILEFOLD_VERSION_[A-Z]* //p' include/tilefold/config.hpp | paste -sd .)
  said "Spack, audit" spack audit packages tilefold
  said "Spack, it concretizes" spack spec "tilefold@$version~c"
else
  echo "Spack: only flake8, for SPACK names no program"
fi
[ "$all" = --all ] || exit 0

said "Conan, the host library" conan --options "&:system_deps=True"
said "conda, built and tested with the system's compiler" "$bin/python" packaging/conda/check.py build "$work/conda"
if [ -n "${VCPKG:-}" ]; then
  for port in tbb highway; do
    mkdir -p "$work/ports/$port"
    echo "{\"name\":\"$port\",\"version\":\"0\"}" >"$work/ports/$port/vcpkg.json"
    echo "set(VCPKG_POLICY_EMPTY_PACKAGE enabled)" >"$work/ports/$port/portfile.cmake"
  done
  installed=$work/vcpkg/installed
  said "vcpkg, installed" env TILEFOLD_SOURCE="$PWD" VCPKG_FORCE_SYSTEM_BINARIES=1 VCPKG_DISABLE_METRICS=1 "$VCPKG" install \
    tilefold --overlay-ports=packaging/vcpkg/ports --overlay-ports="$work/ports" --binarysource=clear \
    --x-install-root="$installed" --x-buildtrees-root="$work/vcpkg/b" --x-packages-root="$work/vcpkg/p" \
    --downloads-root="$work/vcpkg/d"
  rm -rf "$work/vcpkg/use"
  said "vcpkg, its consumer builds" cmake -S test/consumer -B "$work/vcpkg/use" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$(echo "$installed"/*-linux)"
  said "vcpkg, its consumer builds" cmake --build "$work/vcpkg/use"
  said "vcpkg, its consumer runs" "$work/vcpkg/use/use_host"
fi
if [ -n "${SPACK:-}" ]; then
  said "Spack, dev-build" spack dev-build --source-path "$PWD" "tilefold@$version~c" generator=ninja
fi
