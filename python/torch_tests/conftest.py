# SPDX-License-Identifier: Apache-2.0
#
# Tests of tilefold.torch that need torch, and no GPU. Where there is no torch none is collected, and pytest says so by
# its exit status. cmake/test_torch.sh runs them in an environment with torch:
#
#     export TILEFOLD_LIBRARY=/path/to/libtilefold.so PYTHONPATH=python
#     python3 -m pytest -c python/pyproject.toml -W default python/torch_tests
import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["test_*"]
