#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The main job in one command: installs what is missing, builds the tool, and folds measured data (the
# elevation grid of the Jacksboro fault, from the U.S. Geological Survey, as Debian's matplotlib ships
# it) and one generated GiB. Where there is a GPU and nvcc, compiles examples/gpu_sum.cu after that, which folds
# the GiB there, too, beside CUB. Run it again at any time.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh

need cmake ninja-build g++ libtbb-dev libhwy-dev libcli11-dev nlohmann-json3-dev \
  python-matplotlib-data

export TILEFOLD_CUDA="${TILEFOLD_CUDA:-OFF}"
quietly "configuring the tool" build/run/configure.log cmake --preset run
quietly "building the tool" build/run/build.log cmake --build --preset run

tool=$PWD/build/run/src/tool/tilefold
samples=/usr/share/matplotlib/mpl-data/sample_data
data=build/run/data
mkdir -p $data

echo
echo "Elevation in metres, 344 x 403 points around the Jacksboro fault:"
# An .npz file is a zip archive, which CMake can unpack.
[ -e $samples/jacksboro_fault_dem.npz ] ||
  give_up "$samples/jacksboro_fault_dem.npz is missing: apt-get install --reinstall python-matplotlib-data"
(cd $data && step cmake -E tar xf $samples/jacksboro_fault_dem.npz elevation.npy)
for op in sum min max; do
  step "$tool" reduce --op $op --check $data/elevation.npy
done
step "$tool" stats --histogram $data/elevation.npy

echo
echo "Throughput, 1 GiB of float32:"
[ -e $data/1GiB.npy ] || step "$tool" generate --dtype float32 --bytes 1GiB $data/1GiB.npy
step "$tool" reduce --op sum $data/1GiB.npy

if ! has_gpu; then
  echo "tilefold: no GPU answers (nvidia-smi), so the host alone was used"
elif ! nvcc=$(command -v "${CUDACXX:-nvcc}" || command -v /usr/local/cuda/bin/nvcc); then
  echo "tilefold: there is a GPU, but no nvcc to build for it: install the CUDA toolkit, then run this again"
elif ! "$nvcc" --help | grep -q 'c++20'; then
  echo "tilefold: there is a GPU, but $nvcc knows no C++20: install CUDA 13 or later, then run this again"
else
  quietly "compiling examples/gpu_sum.cu" build/run/gpu_sum.log \
    "$nvcc" -std=c++20 -O3 -arch=native -Iinclude examples/gpu_sum.cu -o build/run/gpu_sum
  echo
  echo "The same GiB on the GPU, beside CUB:"
  step build/run/gpu_sum $data/1GiB.npy
fi
