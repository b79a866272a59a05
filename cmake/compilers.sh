#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles with the compilers and toolkits of docs/compilers.md that nothing else here compiles with. On Debian
# 12, as root or with sudo, and as root with --all; elsewhere what it names must be there.
#
#   sh cmake/compilers.sh          what CI does: less than a minute once all is installed
#   sh cmake/compilers.sh --all    every compiler, and the whole battery: an hour of two cores, 3 GB under build/
#
# CUDA 12.9 and 13.5 come as NVIDIA's wheels; newer compilers (--all) from newer Debians, each in a root of
# its own under build/compilers.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
all=${1:-}
[ "$all" = "" ] || [ "$all" = --all ] || give_up "usage: sh cmake/compilers.sh [--all]"
root=build/compilers
mkdir -p $root
began=$(date +%s)

# said WHAT COMMAND...: one line that it passed, or the whole output.
said() {
  what=$1
  shift
  "$@" >$root/log 2>&1 || { cat $root/log && give_up "$what: failed: $*"; }
  echo "$what: passed, $(($(date +%s) - began)) s"
}

# wheels FOLDER WHEEL==VERSION...: unpacked there, once.
wheels() {
  folder=$1
  shift
  [ "$(cat "$folder/complete" 2>/dev/null)" != "$*" ] || return 0
  echo "tilefold: fetching $*"
  python3 -m pip --version >/dev/null 2>&1 || need python3-pip
  rm -rf "$folder"
  python3 -m pip install --quiet --no-deps --target "$folder" "$@" >$root/pip.log 2>&1 ||
    give_up "pip could not fetch them: see $root/pip.log"
  echo "$*" >"$folder/complete"
}

# CUDA 12.9 is a wheel a part: joined by links to what clang takes for a toolkit.
cuda_12_9() {
  wheels $root/cuda12 nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79 \
    nvidia-cuda-cccl-cu12==12.9.27 nvidia-cuda-nvrtc-cu12==12.9.86
  for part in nvcc runtime cccl nvrtc; do
    mkdir -p $root/cuda-12.9
    cp -rsn "$PWD/$root/cuda12/nvidia/cuda_$part/." $root/cuda-12.9/
  done
  chmod +x $root/cuda12/nvidia/cuda_nvcc/bin/ptxas
}
cuda_13_5() {
  wheels $root/cuda13 nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 \
    nvidia-cuda-runtime==13.5.37 nvidia-cuda-cccl==13.3.5.0.6 nvidia-cuda-nvrtc==13.5.37 \
    nvidia-cuda-nvdisasm==13.5.37
  cuda13=$root/cuda13/nvidia/cu13
  chmod +x $cuda13/bin/* $cuda13/nvvm/bin/*
}

host_headers() { "$1" -std=c++20 -O1 -Wall -Wextra -Werror -Iinclude -fsyntax-only test/consumer/core.cpp; }

clang_cuda() {
  compiler=$1
  shift
  "$compiler" -std=c++20 -Wall -Wextra -Werror -x cuda --cuda-path=$root/cuda-12.9 --cuda-gpu-arch=sm_90 \
    -Wno-unknown-cuda-version -Wno-unknown-attributes -Iinclude "$@"
}

# clang_battery CLANG SOURCE...
clang_battery() {
  compiler=$1
  shift
  python3 -B test/compilers/clang_test.py "$compiler" $root/cuda-12.9 include $root/cuda13 "$@"
}

# nvrtc LIBRARY INCLUDE_DIR...
nvrtc() {
  library=$1
  shift
  python3 -B test/compilers/nvrtc_test.py "$library" $root/cuda13 include include/tilefold/nvrtc "$@"
}

clangs="clang++-14 clang++-15 clang++-16 clang++-19 clang++-22"
need python3 clang-14 clang-15 clang-16 clang-19 clang-22
for compiler in $clangs; do
  said "$compiler, host headers" host_headers "$compiler"
done

cuda_12_9
cuda_13_5
for compiler in clang++-19 clang++-22; do
  said "$compiler, CUDA 12.9" clang_cuda "$compiler" -fsyntax-only test/consumer/cuda.cu
done
said "nvcc 13.5" $cuda13/bin/nvcc -std=c++20 -arch=sm_90 -fdevice-syntax-only -O0 -Werror all-warnings -Iinclude \
  -c -o /dev/null test/compilers/policies.cu
said "NVRTC 12.9" nvrtc $root/cuda-12.9/lib/libnvrtc.so.12 $root/cuda-12.9/include
said "NVRTC 13.5" nvrtc $cuda13/lib/libnvrtc.so.13 $cuda13/include $cuda13/include/cccl

battery=test/contraction
said "clang++-19, CUDA 12.9, a part of the battery" clang_battery clang++-19 $battery/many_results.cu
[ "$all" = --all ] || exit 0

for compiler in clang++-19 clang++-22; do
  said "$compiler, CUDA 12.9, the battery" clang_battery $compiler $battery/operators.cu $battery/lifts.cu \
    $battery/reducers.cu $battery/many_results.cu
done
said "nvcc 13.5, the battery" python3 -B $battery/kernels_test.py $cuda13/bin/nvcc include $root/cuda13 \
  $battery/operators.cu $battery/lifts.cu $battery/reducers.cu $battery/many_results.cu
for compiler in $clangs; do
  said "$compiler, the bits of the host" python3 -B $battery/host_bits_test.py options include "$compiler"
done

# in_debian SUITE COMPILER...: in a root of that Debian. Its lists may be older than they say.
in_debian() {
  suite=$1
  shift
  need debootstrap
  if [ ! -f $root/"$suite"/complete ]; then
    rm -rf --one-file-system "${root:?}/$suite"
    said "Debian $suite" debootstrap --variant=minbase --include=libc6-dev,python3 "$suite" $root/"$suite"
    packages=$(echo " $*" | sed 's/clang++/clang/g')
    # shellcheck disable=SC2086 # a list of words
    said "compilers of $suite" chroot $root/"$suite" apt-get -qq -y --no-install-recommends install $packages
    cp /proc/cpuinfo $root/"$suite"/proc/
    touch $root/"$suite"/complete
  fi
  rm -rf $root/"$suite"/tilefold
  mkdir $root/"$suite"/tilefold
  cp -r include test $root/"$suite"/tilefold/
  for compiler; do
    said "$compiler of $suite, the bits of the host" chroot $root/"$suite" \
      sh -c "cd /tilefold && python3 -B $battery/host_bits_test.py options include $compiler"
  done
}
in_debian trixie g++-13 g++-14 clang++-17 clang++-18
in_debian sid g++-15 g++-16 clang++-21 clang++-23
