#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#     sh packaging/bare_debian.sh FOLDER
#
# The Debian packages and the wheels of FOLDER, as packaging/release.sh makes them, on a bare Debian 12, used as a
# new user would: installs them there by apt and pip, and as a user who is not root follows docs/first_steps.md,
# whose programs must print what the page says. Then it removes them. As root.
set -eu
[ $# = 1 ] && [ -d "$1" ] || { echo "usage: sh packaging/bare_debian.sh FOLDER" >&2 && exit 2; }
made=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
. cmake/setup.sh
. packaging/bare_root.sh
[ "$(id -u)" = 0 ] || give_up "as root, run: sh packaging/bare_debian.sh $made"

need lintian python3 python3-venv
bare=$PWD/build/bare
root=$bare/packages
# An ITP bug is for what goes into Debian itself.
step lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$made"/*.deb
# What the wheels ask for, for Debian 12's Python.
rm -rf "$bare/wheels"
step python3 -m pip download --quiet --only-binary :all: --python-version 3.11 --dest "$bare/wheels" numpy

trap 'leave_bare_root "$root"' EXIT
make_bare_root bookworm "$root"
enter_bare_root "$root"
mkdir "$root/packages"
cp "$made"/*.deb "$made"/*.whl "$bare"/wheels/*.whl "$root/packages/"
cp -r test/consumer "$root/packages/"

# block LANGUAGE FILE: the first block of that language in the page, for the user's folder.
page=docs/first_steps.md
block() {
  awk -v language="$1" '$0 == "```" language { on = 1; next } on && /^```$/ { exit } on' $page >"$root/packages/$2"
  [ -s "$root/packages/$2" ] || give_up "$page has no program in $1"
}
# expected NUMBER FILE: what the page says that its NUMBER-th program prints.
expected() {
  awk -v number="$1" '/^```output$/ && ++seen == number { on = 1; next } on && /^```$/ { exit } on' $page \
    >"$root/packages/$2"
}
block cpp sum.cpp
block python sum.py
block c sum.c
expected 1 cpp.expected
expected 2 python.expected
expected 3 c.expected

# The new user has root for apt alone. The wheel comes first: it must not need what the packages bring.
cat >"$root/packages/install_python" <<'EOF'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq -y --no-install-recommends install apt-utils >/dev/null 2>&1
apt-get -qq -y --no-install-recommends install python3-venv >/dev/null
useradd --create-home newcomer
EOF
cat >"$root/packages/use_wheel" <<'EOF'
set -eu
cp /packages/sum.py .
for wheel in /packages/tilefold-*.whl; do
  rm -rf env
  python3 -m venv env
  env/bin/pip install --quiet --no-index --find-links /packages "$wheel"
  env/bin/python sum.py | tee python.out
  cmp python.out /packages/python.expected
  env/bin/python -c 'import tilefold; print("Python", tilefold.__version__)'
done
EOF
cat >"$root/packages/install_packages" <<'EOF'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y --no-install-recommends install g++ cmake make man-db pkg-config >/dev/null
apt-get -qq -y --no-install-recommends install /packages/*.deb >/dev/null
EOF
cat >"$root/packages/use_packages" <<'EOF'
set -eu
cp /packages/sum.c* .

g++ -std=c++20 sum.cpp -o headers_alone
./headers_alone | tee cpp.out
cmp cpp.out /packages/cpp.expected
g++ -std=c++20 sum.cpp -o with_library $(pkg-config --cflags --libs tilefold-host)
./with_library | tee cpp.out
cmp cpp.out /packages/cpp.expected
cc -std=c11 sum.c -o c_program $(pkg-config --cflags --libs tilefold)
./c_program | tee c.out
cmp c.out /packages/c.expected

cmake -S /packages/consumer -B consumer -DCMAKE_BUILD_TYPE=Release "-DCOMPONENTS=core;host;precompiled" >/dev/null
cmake --build consumer >/dev/null
consumer/use_core
consumer/use_host
consumer/use_precompiled

tilefold --version
man tilefold | grep 'same bits'
tilefold generate --dtype float32 --bytes 1MiB numbers.npy
tilefold reduce --op sum numbers.npy
EOF
cat >"$root/packages/remove" <<'EOF'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -y purge tilefold libtilefold-dev 'libtilefold0*' >/dev/null
left=$(find /usr /etc /var -name '*tilefold*' ! -path '/var/log/*' ! -path '/var/cache/*' ! -path '/var/lib/apt/*')
[ -z "$left" ] || { echo "after the purge there is still: $left" && exit 1; }
EOF
step chroot "$root" sh /packages/install_python
step chroot "$root" su - newcomer -c 'sh /packages/use_wheel'
step chroot "$root" sh /packages/install_packages
step chroot "$root" su - newcomer -c 'sh /packages/use_packages'
step chroot "$root" sh /packages/remove
echo "tilefold: installed on a bare Debian 12, used, and removed:"
(cd "$root/packages" && ls ./*tilefold*)
