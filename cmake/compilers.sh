#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles with the compilers and toolkits of docs/compilers.md that nothing else here compiles with. On Debian
# 12, as root or with sudo; elsewhere what it names must be there.
#
#   sh cmake/compilers.sh          what CI does: every compiler's front end, a part of the battery; minutes
#   sh cmake/compilers.sh --all    also every compiler's bits and the whole battery: an hour of two cores
#
# CUDA 12.9 and 13.5 and RMM come as NVIDIA's wheels; newer compilers from newer Debians, unpacked into a root each.
# All of it is 5 GB under build/compilers.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
all=${1:-}
[ $# = 0 ] || { [ $# = 1 ] && [ "$all" = --all ]; } || give_up "usage: sh cmake/compilers.sh [--all]"
root=build/compilers
mkdir -p $root
began=$(date +%s)

# said WHAT COMMAND...: one line that it passed, or the whole output.
said() {
  what=$1
  shift
  said_log=$(mktemp $root/log.XXXXXX)
  "$@" >"$said_log" 2>&1 || { cat "$said_log" && give_up "$what: failed: $*"; }
  rm "$said_log"
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
  rm -rf $root/cuda-12.9 # links name the place of the checkout, which may have moved
  mkdir -p $root/cuda-12.9
  for part in nvcc runtime cccl nvrtc; do
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

# rmm VERSION: its headers before ours, through the front ends of this machine's nvcc. 25.10 wants the macro.
rmm() {
  wheels $root/rmm-"$1" librmm-cu13=="$1" rapids-logger==0.3.0
  said "RMM $1" "$nvcc" -std=c++20 -arch=sm_90 -fdevice-syntax-only -Iinclude -c -o /dev/null test/compilers/rmm.cu \
    -DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE -I$root/rmm-"$1"/librmm/include \
    -I$root/rmm-"$1"/librmm/include/rapids -I$root/rmm-"$1"/rapids_logger/include
}

as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || give_up "as root, run: sh cmake/compilers.sh"
  as_root=sudo
fi

# root_of SUITE COMPILER...: they and what they need, unpacked under build/compilers, once. The lists of a
# Debian in the making may be older than they say.
root_of() {
  suite=$1
  shift
  [ "$(cat $root/"$suite".complete 2>/dev/null)" != "$*" ] || return 0
  echo "tilefold: fetching $*, from Debian $suite"
  : >$root/"$suite".log
  $as_root rm -rf --one-file-system "${root:?}/$suite"
  packages=$(echo "$*" | sed 's/clang++/clang/g; s/ /,/g')
  $as_root mmdebstrap --quiet --variant=extract --aptopt='Acquire::Check-Valid-Until "false"' \
    --include=base-files,dash,libc6-dev,python3,"$packages" "$suite" $root/"$suite" \
    >$root/"$suite".log 2>&1 || return
  $as_root cp /proc/cpuinfo $root/"$suite"/proc/ # the tests look for FMA there
  echo "$*" >$root/"$suite".complete
}

# in_root SUITE COMMAND: in a fresh copy of the sources.
in_root() {
  $as_root rm -rf $root/"$1"/tilefold
  $as_root mkdir -p $root/"$1"/tilefold/$root
  $as_root cp -r include test $root/"$1"/tilefold/
  $as_root chroot $root/"$1" sh -c "cd /tilefold && $2"
}

# by_every_compiler WHAT COMMAND: where the command says CXX, the compiler stands. Those of this Debian beside
# those of newer ones.
by_every_compiler() {
  {
    for compiler in $trixie; do
      said "$compiler, $1" in_root trixie "$(echo "$2" | sed "s/CXX/$compiler/g")"
    done
    for compiler in $sid; do
      said "$compiler, $1" in_root sid "$(echo "$2" | sed "s/CXX/$compiler/g")"
    done
  } &
  of_newer_debians=$!
  for compiler in $bookworm; do
    said "$compiler, $1" sh -c "$(echo "$2" | sed "s/CXX/$compiler/g")"
  done
  wait $of_newer_debians
}

# numbers COMPILER MODE [FLAG]: the command that runs the tests of numbers that the standard library need not know.
numbers() {
  echo "$1 -std=$2 -O0 -Wall -Wextra -Werror ${3:-} -Iinclude -Itest test/accumulator_test.cpp \
test/compiler_types_test.cpp -lgtest_main -lgtest -lpthread -o $root/numbers-$1 && $root/numbers-$1"
}

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

bookworm="clang++-14 clang++-15 clang++-16 clang++-19 clang++-22"
trixie="g++-13 g++-14 clang++-17 clang++-18"
sid="g++-15 g++-16 clang++-21 clang++-23"
need python3 mmdebstrap libgtest-dev clang-14 clang-15 clang-16 clang-19 clang-22
# Beside what follows: they wait for the network.
# A failure does not leave them behind, for the next run to meet.
trap wait EXIT
# shellcheck disable=SC2086 # lists of words
{
  root_of trixie $trixie libgtest-dev &
  fetch_trixie=$!
  root_of sid $sid libgtest-dev &
  fetch_sid=$!
}

cuda_12_9
cuda_13_5
for compiler in clang++-19 clang++-22; do
  said "$compiler, CUDA 12.9" clang_cuda "$compiler" -fsyntax-only test/consumer/cuda.cu
  said "$compiler, objects for two GPUs" clang_cuda "$compiler" -fsyntax-only --cuda-gpu-arch=sm_80 \
    -DTILEFOLD_CUDA_ARCHS=800,900 test/compilers/builds.cu
done
said "nvcc 13.5" $cuda13/bin/nvcc -std=c++20 -arch=sm_90 -fdevice-syntax-only -O0 -Werror all-warnings -Iinclude \
  -c -o /dev/null test/compilers/policies.cu
said "NVRTC 12.9" nvrtc $root/cuda-12.9/lib/libnvrtc.so.12 $root/cuda-12.9/include
said "NVRTC 13.5" nvrtc $cuda13/lib/libnvrtc.so.13 $cuda13/include $cuda13/include/cccl

if nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) && "$nvcc" --version | grep -q 'release 13'; then
  rmm 25.10.0
  rmm 26.10.0
else
  echo "RMM's classes were NOT compiled: there is no nvcc of CUDA 13 on this machine"
fi

battery=test/contraction
said "clang++-19, CUDA 12.9, a part of the battery" clang_battery clang++-19 $battery/many_results.cu

for fetched in trixie:$fetch_trixie sid:$fetch_sid; do
  wait "${fetched#*:}" || { cat $root/"${fetched%:*}".log && give_up "could not fetch a compiler of ${fetched%:*}: \
see above; if Debian no longer has it, change cmake/compilers.sh and docs/compilers.md"; }
done
by_every_compiler "host headers" \
  "CXX -std=c++20 -O1 -Wall -Wextra -Werror -Iinclude -fsyntax-only test/contraction/host_bits.cpp"
for mode in c++20 gnu++20; do
  said "clang++-19, numbers in $mode" sh -c "$(numbers clang++-19 $mode)"
done
said "clang++-23, numbers with __bf16" in_root sid "$(numbers clang++-23 c++20 -DTILEFOLD_TEST_BF16)"
said "g++-14, numbers in c++23" in_root trixie "$(numbers g++-14 c++23)"
[ "$all" = --all ] || exit 0

for mode in c++20 gnu++20; do
  by_every_compiler "numbers in $mode" "$(numbers CXX $mode)"
done

for compiler in clang++-19 clang++-22; do
  said "$compiler, CUDA 12.9, the battery" clang_battery $compiler $battery/operators.cu $battery/lifts.cu \
    $battery/reducers.cu $battery/many_results.cu
done
said "nvcc 13.5, the battery" python3 -B $battery/kernels_test.py $cuda13/bin/nvcc include $root/cuda13 \
  $battery/operators.cu $battery/lifts.cu $battery/reducers.cu $battery/many_results.cu
by_every_compiler "the bits of the host" "python3 -B test/contraction/host_bits_test.py options include CXX"
