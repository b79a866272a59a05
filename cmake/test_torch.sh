#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tilefold.torch as a user gets it, without a GPU: installs the wheel beside torch, and runs python/torch_tests and
# the part for the CPU of python/gpu_tests.
#
#   sh cmake/test_torch.sh           in an environment of its own, for which pip fetches torch
#   sh cmake/test_torch.sh PYTHON    with an interpreter that has torch and pip; nothing is installed into it
set -eu
cd "$(dirname "$0")/.."
. cmake/setup.sh
unset TILEFOLD_LIBRARY PYTHONPATH

need cmake ninja-build g++ libtbb-dev libhwy-dev python3 python3-venv
rm -rf build/torch/*.whl build/torch/packages
make_wheel build/torch
python=${1:-$PWD/build/torch/env/bin/python}
if [ $# = 0 ] && ! "$python" -c 'import torch' 2>/dev/null; then
  step python3 -m venv build/torch/env
  step "$python" -m pip install --quiet torch==2.15.0
fi
step "$python" -m pip install --quiet --target build/torch/packages "$wheel" -r python/tests/requirements.txt

tests=$PWD/python
export PYTHONPATH="$PWD/build/torch/packages" PYTHONDONTWRITEBYTECODE=1 TILEFOLD_TEST_DEVICES=cpu
cd build/torch # what is tested is the wheel, and not the folder
for each in torch_tests gpu_tests/test_torch.py gpu_tests/test_torch_indices.py; do
  step "$python" -m pytest -q -p no:cacheprovider -W default -c "$tests/pyproject.toml" "$tests/$each"
done
