#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The site in one command: installs what is missing, compiles every snippet of the pages, looks whether
# the plots are those of the tables and each compiler that is named has its step, and builds the site. A
# warning is an error. The first page is build/docs/html/index.html.
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
[ $# = 0 ] || give_up "usage: sh cmake/docs.sh"

need doxygen g++ python3 python3-venv
python=build/docs/python/bin/python3
if ! cmp -s docs/site/requirements.txt build/docs/python/requirements.txt; then
  echo "tilefold: fetching Sphinx"
  mkdir -p build/docs
  {
    python3 -m venv --clear build/docs/python &&
      $python -m pip install --quiet -r docs/site/requirements.txt
  } >build/docs/pip.log 2>&1 || give_up "pip could not fetch Sphinx: see build/docs/pip.log"
  cp docs/site/requirements.txt build/docs/python/
fi

# A library that the tests have built runs the snippets in C and Python.
library=build/test/src/capi/libtilefold.so
[ -e $library ] && library="--library $library" || library=
# shellcheck disable=SC2086 # two words, or none
step $python docs/site/snippets.py ${TILEFOLD_NO_SKIPS:+--no-skips} $library

step $python docs/site/plots.py --check
step $python docs/site/compilers.py

mkdir -p build/docs/doxygen
step doxygen docs/site/Doxyfile
step $python docs/site/public_only.py build/docs/doxygen/xml
step $python -m sphinx --builder html --conf-dir docs/site --fail-on-warning --keep-going --quiet . build/docs/html
step $python docs/site/found.py build/docs/html
echo "tilefold: build/docs/html/index.html"
