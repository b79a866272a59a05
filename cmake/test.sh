#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The tests in one command: installs what is missing, builds, and runs every test that this machine can
# run. Tests that need a GPU run where there is one.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh

need cmake ninja-build g++ libtbb-dev libhwy-dev libcli11-dev nlohmann-json3-dev libgtest-dev \
  python3 pkg-config clang
need_disassembler
if has_gpu; then export CUDAARCHS="${CUDAARCHS:-native}"; fi
step cmake --workflow --preset test

gpu_tests=$(ctest --preset test-gpu -N 2>/dev/null | sed -n 's/^Total Tests: //p')
if [ "${gpu_tests:-0}" = 0 ]; then
  echo "tilefold: no nvcc, so nothing for CUDA was built or tested"
elif has_gpu; then
  step ctest --preset test-gpu
else
  echo "tilefold: $gpu_tests test programs need a GPU and were built but not run"
fi
