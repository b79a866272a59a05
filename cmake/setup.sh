# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Sourced by the scripts that a user runs (sh, in the repository's root): installs what is missing, and
# says nothing about what is there. Debian's package names; where they are not known, what is already
# installed decides.

# ccache knows a file by its path in the checkout, so another clone or worktree finds what was compiled before.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$PWD}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-true}"

. cmake/disassembler.sh

# Ends the script with one line that says what to do.
give_up() {
  echo "tilefold: $*" >&2
  exit 1
}

# A command counts however it was installed, a library when Debian's package is there.
is_there() {
  case $1 in
    cmake) command -v cmake >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    g++) command -v c++ >/dev/null ;;
    python3 | pkg-config) command -v "$1" >/dev/null ;;
    *) [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
  esac
}

# need PACKAGE...: afterwards they are all there.
need() {
  missing=
  for package; do
    is_there "$package" || missing="$missing $package"
  done
  if [ -n "$missing" ] && command -v apt-get >/dev/null; then
    install_packages "$missing"
  elif [ -n "$missing" ] && ! command -v dpkg-query >/dev/null; then
    # No Debian: libraries are CMake's to find or to fetch, commands must be there.
    for package in $missing; do
      case $package in
        cmake | ninja-build | g++ | python3) give_up "please install $package, then run this again" ;;
      esac
    done
  elif [ -n "$missing" ]; then
    give_up "please install$missing, then run this again"
  fi
  if command -v cmake >/dev/null; then need_cmake_325; fi
}

install_packages() {
  as_root=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || give_up "as root, run: apt-get install$1"
    as_root=sudo
  fi
  echo "tilefold: installing$1"
  mkdir -p build
  # A broken source among the system's own must not stop us: the install below tells.
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update >build/apt.log 2>&1 || true
  # shellcheck disable=SC2086 # a list of words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $1 \
    >>build/apt.log 2>&1 ||
    give_up "apt-get could not install$1: see build/apt.log, mend it, then run this again"
}

need_cmake_325() {
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  if [ "${version%%.*}" -lt 3 ] || { [ "${version%%.*}" = 3 ] && [ "${version#*.}" -lt 25 ]; }; then
    give_up "cmake $version is too old: put 3.25 or later on PATH, then run this again"
  fi
}

# The formatter, of the one version whose layout the sources have. A wheel holds it on any system.
need_clang_format() {
  [ ! -x build/clang-format/bin/clang-format ] || return 0
  echo "tilefold: fetching clang-format"
  mkdir -p build
  python3 -m pip --version >/dev/null 2>&1 || need python3-pip
  python3 -m pip install --quiet --no-deps --target build/clang-format clang-format==19.1.7 \
    >build/clang-format.log 2>&1 ||
    give_up "pip could not fetch clang-format: see build/clang-format.log"
}

# A GPU that answers; then its own architecture is what to compile for.
has_gpu() {
  command -v nvidia-smi >/dev/null && timeout 10 nvidia-smi -L >/dev/null 2>&1
}

# One cmake or ctest step; its own output has said what failed, the last line says what to do.
step() {
  "$@" || give_up "'$*' failed: see the first error above"
}

# quietly WHAT LOG COMMAND...: a step that prints hundreds of lines. They go to LOG; a terminal sees Ninja's
# one line, which counts the files.
quietly() {
  what=$1 log=$2
  shift 2
  mkdir -p "$(dirname "$log")"
  echo "tilefold: $what"
  if [ -t 1 ] && [ "$1 $2" = "cmake --build" ]; then
    step "$@"
  elif ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log"
    give_up "$what: '$*' failed: see $log"
  fi
}

# make_wheel FOLDER: the wheel of the Python package is $wheel then, and FOLDER/maker the environment that made it. It
# holds TILEFOLD_BUILT_LIBRARY, or the library that cmake/test.sh has built; without one it compiles its own.
make_wheel() {
  library=${TILEFOLD_BUILT_LIBRARY:-}
  if [ -z "$library" ] && [ -f build/test/CMakeCache.txt ]; then
    step cmake --build build/test --target tilefold_c
    library=$PWD/build/test/src/capi/libtilefold.so
  fi
  step python3 -m venv "$1/maker"
  step "$1/maker/bin/pip" wheel --quiet --no-deps --wheel-dir "$1" ./python \
    ${library:+"--config-settings=cmake.define.TILEFOLD_BUILT_LIBRARY=$library"}
  wheel=$(echo "$1"/tilefold-*-py3-none-*.whl)
  [ -f "$wheel" ] || give_up "there is no wheel for every Python 3 in $1"
  ls -l "$wheel"
}
