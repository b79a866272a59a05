#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     sh packaging/wheel.sh FOLDER [-DNAME=VALUE]...
#
# Makes the Python wheel of this source in FOLDER, with these settings of python/CMakeLists.txt.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
[ $# -ge 1 ] || give_up "usage: sh packaging/wheel.sh FOLDER [-DNAME=VALUE]..."
folder=$1
shift

need cmake ninja-build g++ libtbb-dev libhwy-dev python3 python3-venv
[ -d build/wheel/maker ] || step python3 -m venv build/wheel/maker
for setting; do
  shift
  set -- "$@" "--config-settings=cmake.define.${setting#-D}"
done
step build/wheel/maker/bin/python3 -m pip wheel --quiet --no-deps --wheel-dir "$folder" ./python "$@"
