# SPDX-License-Identifier: Apache-2.0
#
# Tests of arrays of a GPU, and of tilefold.torch: a step of their own, for a machine with a GPU, torch, CuPy and
# JAX, and a libtilefold with CUDA. Nothing is skipped: what is missing fails.
#
#     pip install -r python/tests/requirements.txt
#     export TILEFOLD_LIBRARY=/path/to/libtilefold.so PYTHONPATH=python
#     python3 -m pytest -c python/pyproject.toml -W default python/gpu_tests
import pathlib
import sys

import hypothesis

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests"))  # the oracle

hypothesis.settings.register_profile("tilefold", deadline=None, max_examples=100, print_blob=True)
hypothesis.settings.load_profile("tilefold")
