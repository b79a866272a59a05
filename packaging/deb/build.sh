#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Debian packages: libtilefold-dev alone, or with --all also libtilefold0.3 (the C library)
# and tilefold (the tool). They come to build/deb/packages.
set -eu
cd "$(dirname "$0")/../.."
. cmake/setup.sh

all=OFF
case $* in
  '') ;;
  --all) all=ON ;;
  *) give_up "usage: sh packaging/deb/build.sh [--all]" ;;
esac

need cmake ninja-build g++ file dpkg-dev libtbb-dev libhwy-dev
if [ $all = ON ]; then need libcli11-dev nlohmann-json3-dev; fi
launcher=$(command -v ccache || true)
# A package holds what it was built with, and depends on Debian's libraries: no CUDA, no MPI, nothing fetched.
step cmake -S . -B build/deb -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS \
  -DFETCHCONTENT_FULLY_DISCONNECTED=ON -DTILEFOLD_CUDA=OFF -DTILEFOLD_MPI=OFF \
  -DTILEFOLD_C_LIBRARY=$all -DTILEFOLD_TOOL=$all -DTILEFOLD_TESTS=OFF -DTILEFOLD_BENCHMARKS=OFF
step cmake --build build/deb
rm -rf build/deb/packages
step cmake -E chdir build/deb cpack -G DEB
echo "tilefold: packages are in build/deb/packages"
