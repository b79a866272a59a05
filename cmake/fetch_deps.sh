#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks the Debian packages that tilefold builds with into .deps/, installing nothing: for a machine
# that has no network and gets a copy of this directory. The preset gpu looks there first.
set -eu
cd "$(dirname "$0")/.."

rm -rf .deps
mkdir -p .deps/packages
cd .deps/packages
apt-get -qq download libtbb-dev libtbb12 libtbbmalloc2 libtbbbind-2-5 libhwy-dev libhwy1 \
  libcli11-dev nlohmann-json3-dev libgtest-dev libbenchmark-dev libbenchmark1debian
for package in *.deb; do
  dpkg -x "$package" ..
done
cd ..
rm -rf packages usr/share/doc usr/src
