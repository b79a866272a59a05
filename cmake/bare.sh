#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     sh cmake/bare.sh [RELEASE [COMMAND]]
#
# Runs this checkout's README commands where a new user runs them: in a bare Debian (bookworm, trixie; bookworm
# if none is named) that holds git and nothing else. The checkout is seen at its own path, so what they build is
# in build/, as if they had run outside. As root. With COMMAND (words for sh), runs that in the root as it was
# left, in place of them.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
. packaging/bare_root.sh

release=${1:-bookworm}
command=${2:-}
root=$PWD/build/bare/$release
# What a user's shell would hold; compilers, launchers and proxies of packages are set outside at most.
in_root() {
  chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    TILEFOLD_WERROR="${TILEFOLD_WERROR:-}" \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    sh -euc "cd '$PWD' && $1"
}

trap 'leave_bare_root "$root"' EXIT
if [ -z "$command" ]; then
  [ ! -e build/run ] && [ ! -e build/test ] ||
    give_up "build/run or build/test is there: the README's commands are checked in a fresh clone"
  make_bare_root "$release" "$root" git ca-certificates
fi
enter_bare_root "$root"
mkdir -p "$root$PWD"
mount --bind "$PWD" "$root$PWD"
if [ -n "$command" ]; then
  in_root "$command"
  exit
fi

# A root in which something was installed before would prove nothing.
for found in cmake ninja c++ cc clang python3 make pkg-config mpirun nvcc; do
  ! in_root "command -v $found" >/dev/null 2>&1 || give_up "$root has $found: it is not bare"
done
began=$(date +%s)
in_root "git config --global --add safe.directory '$PWD'; sh cmake/run.sh"
echo "tilefold: sh cmake/run.sh took $(($(date +%s) - began)) s in a bare $release"
began=$(date +%s)
in_root "sh cmake/test.sh"
echo "tilefold: sh cmake/test.sh took $(($(date +%s) - began)) s after it"
