# SPDX-License-Identifier: Apache-2.0
#
# Tests of arrays of a GPU, and of tilefold.torch: a step of their own, for a machine with a GPU, torch and CuPy, and a
# libtilefold with CUDA. Nothing is skipped: what is missing fails.
#
#     TILEFOLD_LIBRARY=/path/to/libtilefold.so PYTHONPATH=python python3 -m pytest -c python/pyproject.toml python/gpu_tests
import pathlib
import sys

import hypothesis
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests"))  # the oracle

hypothesis.settings.register_profile("tilefold", deadline=None, max_examples=100, print_blob=True)
hypothesis.settings.load_profile("tilefold")


@pytest.fixture(autouse=True)
def no_hidden_synchronisation(request):
    """torch tells of each call of its own that waits; a test that is marked `waits` may."""
    import torch
    if not torch.cuda.is_available():
        yield
        return
    torch.cuda.set_sync_debug_mode(0)
    yield
    torch.cuda.set_sync_debug_mode(0)
