#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds libtilefold-dev, lints it where there is lintian, installs it with dpkg into a root of its own
# (with this machine's list of packages, so dependencies count), builds and runs the consumer's programs
# by find_package and by pkg-config, and removes it.
set -eu
cd "$(dirname "$0")/../.."
. cmake/setup.sh
[ $# = 0 ] || give_up "usage: sh packaging/deb/test.sh"

need pkg-config
step sh packaging/deb/build.sh
deb=$(ls "$PWD"/build/deb/packages/libtilefold-dev_*.deb)
work=$PWD/build/deb/try
root=$work/root
rm -rf "$work"
mkdir -p "$work"

# An ITP bug is for what goes into Debian itself.
if command -v lintian >/dev/null; then
  step lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$deb"
else
  echo "tilefold: no lintian here, so the package was not linted"
fi

mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
cp /var/lib/dpkg/status "$root/var/lib/dpkg/status"
for package in $(dpkg-query -W -f='${binary:Package}\n'); do
  : >"$root/var/lib/dpkg/info/$package.list"
done
step dpkg --root="$root" --force-not-root --force-script-chrootless --log="$work/dpkg.log" -i "$deb"

# With nvcc the component cuda as well, which the package has wherever it was built; no code for a GPU.
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc || true)
components="core;host"
if [ -n "$nvcc" ]; then components="$components;cuda"; fi
launcher=$(command -v ccache || true)
step cmake -S test/consumer -B "$work/consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCOMPONENTS="$components" -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
  -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_COMPILER_LAUNCHER="$launcher" \
  -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_CUDA_FLAGS="-fdevice-syntax-only -O0" -DCMAKE_CUDA_FLAGS_RELEASE=
grep -q "tilefold_DIR:PATH=$root/" "$work/consumer/CMakeCache.txt" || give_up "CMake took another tilefold"
step cmake --build "$work/consumer"
step "$work/consumer/use_core"
step "$work/consumer/use_host"

# flags PACKAGE: what pkg-config says of the package in the root, as words of a shell.
PKG_CONFIG_PATH=$(echo "$root"/usr/lib/*/pkgconfig)
export PKG_CONFIG_PATH
flags() {
  pkg-config --cflags --libs "$1" || give_up "pkg-config does not know $1"
}
host_flags=$(flags tilefold-host)
eval "set -- $host_flags"
step c++ -std=c++20 test/consumer/host.cpp -o "$work/use_pkg_config" "$@"
step "$work/use_pkg_config"
cuda_flags=$(flags tilefold-cuda)
eval "set -- $cuda_flags"
[ -f "${1#-I}/tilefold/tilefold.cuh" ] ||
  give_up "tilefold-cuda.pc says '$cuda_flags', where there are no headers"
if [ -n "$nvcc" ]; then
  step "$nvcc" -std=c++20 -O0 -fdevice-syntax-only test/consumer/cuda.cu test/consumer/plain.cpp \
    -o "$work/use_cuda" "$@"
else
  echo "tilefold: no nvcc here, so tilefold-cuda.pc was only read: $cuda_flags"
fi

step dpkg --root="$root" --force-not-root --log="$work/dpkg.log" --purge libtilefold-dev
left=$(find "$root/usr" ! -type d 2>/dev/null || true)
[ -z "$left" ] || give_up "purging the package left $left"
echo "tilefold: $(basename "$deb") installs, is used and goes"
