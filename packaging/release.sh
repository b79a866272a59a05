#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     sh packaging/release.sh [--without-cuda | --cuda-architectures LIST | --cuda-library FILE]
#
# Makes dist/ of the commit that is checked out: the source archive; from that archive alone the Debian packages,
# the wheel for the host and, by nvcc 13, the wheel with CUDA; SHA256SUMS. Then installs and uses each of them in a
# bare Debian 12. As root. The wheel with CUDA compiles for hours on two cores; --cuda-architectures 90-real makes a
# wheel for a single architecture, to try the rest; --cuda-library packs a libtilefold.so with CUDA that was compiled
# elsewhere, of the same commit and against Debian 12's libraries (packaging/README.md). CUDAARCHS of the environment
# is ignored: a release must not depend on what a shell has exported.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
library=
case $#:${1-} in
  0: | 2:--cuda-architectures)
    # Code for sm_80, sm_100 and sm_120 also runs on sm_86, sm_103 and sm_121 (a later minor version); the last
    # architecture is there as PTX, too, for GPUs to come.
    architectures=${2-75-real;80-real;90-real;100-real;120}
    nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) ||
      give_up "there is no nvcc for the wheel with CUDA: put one on PATH, or pass --without-cuda"
    ;;
  1:--without-cuda) nvcc= ;;
  2:--cuda-library)
    nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || give_up "there is no nvcc: its version names the wheel"
    [ -f "$2" ] || give_up "--cuda-library is '$2': there is no such file"
    library=$(readlink -f "$2")
    ;;
  *) give_up "usage: sh packaging/release.sh [--without-cuda | --cuda-architectures LIST | --cuda-library FILE], of a \
list as 75-real;80-real (CUDAARCHS of the environment is ignored)" ;;
esac
[ "$(id -u)" = 0 ] || give_up "as root, run: sh packaging/release.sh"
[ -z "$(git status --porcelain)" ] || give_up "there are changes that are not committed: a release is of a commit"
step python3 -B test/versions_test.py .

version=$(sed -nE 's/^#define TILEFOLD_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' include/tilefold/config.hpp |
  paste -sd .)
name=tilefold-$version
dist=$PWD/dist
rm -rf dist build/release
mkdir -p dist build/release
step git archive --prefix="$name/" --output="dist/$name.tar.gz" HEAD
tar -C build/release -xf "dist/$name.tar.gz"
source=build/release/$name

quietly "the Debian packages" build/release/deb.log sh "$source/packaging/deb/build.sh" --all
cp "$source"/build/deb/packages/*.deb dist
quietly "the wheel for the host" build/release/wheel.log sh "$source/packaging/wheel.sh" "$dist" \
  "-DTILEFOLD_BUILT_LIBRARY=$PWD/$source/build/deb/src/capi/libtilefold.so"
if [ -z "$nvcc" ]; then
  echo "tilefold: no wheel with CUDA was made (--without-cuda)"
else
  # A local version (PEP 440), so that both wheels can lie side by side.
  toolkit=$("$nvcc" --version | sed -n 's/.* release \([0-9]*\).*/\1/p')
  sed -i "s/^result = \"\(.*\)\"\$/result = \"\1+cuda$toolkit\"/" "$source/python/pyproject.toml"
  if [ -n "$library" ]; then
    quietly "the wheel with CUDA, of $library" build/release/wheel_cuda.log \
      sh "$source/packaging/wheel.sh" "$dist" "-DTILEFOLD_BUILT_LIBRARY=$library"
  else
    export CUDAARCHS="$architectures"
    quietly "the wheel with CUDA, for $CUDAARCHS" build/release/wheel_cuda.log \
      sh "$source/packaging/wheel.sh" "$dist" -DTILEFOLD_C_CUDA=ON
  fi
fi
(cd dist && sha256sum tilefold* libtilefold* >SHA256SUMS)
step sh packaging/bare_debian.sh "$dist"
echo "tilefold: dist/ holds"
ls -lh dist
