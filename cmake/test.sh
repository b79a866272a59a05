#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The tests in one command: installs what is missing, builds, and runs the tests that this machine can
# run, but for slow ones (cmake --workflow --preset slow). With a GPU and nvcc the tests
# that need them are among those; without a GPU nothing is built for one, since it could not run.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh

need cmake ninja-build g++ libtbb-dev libhwy-dev libcli11-dev nlohmann-json3-dev libgtest-dev \
  libmpfr-dev libopenmpi-dev openmpi-bin python3 pkg-config clang
if has_gpu; then
  export CUDAARCHS="${CUDAARCHS:-native}"
  need_disassembler
fi
step cmake --workflow --preset test

gpu_tests=$(ctest --preset test-gpu -N 2>/dev/null | sed -n 's/^Total Tests: //p')
if ! has_gpu; then
  echo "tilefold: no GPU, so nothing for CUDA was built or tested"
elif [ "${gpu_tests:-0}" = 0 ]; then
  echo "tilefold: no nvcc, so nothing for CUDA was built or tested"
else
  step ctest --preset test-gpu
fi
