# SPDX-License-Identifier: Apache-2.0
#
# examples/ranks/torch_sum.py, whose ranks are threads here and whose tensors are arrays: torch is not needed.
import importlib.util
import pathlib
import sys
import threading
import types

import numpy as np
import pytest

import tilefold

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "ranks" / "torch_sum.py"
own = threading.local()


class Group:
    """What the example uses of torch.distributed."""

    def __init__(self, size):
        self.size, self.values, self.barrier = size, [None] * size, threading.Barrier(size)

    def all_gather_object(self, values, value):
        assert isinstance(value, (int, bytes))
        self.values[own.rank] = value
        self.barrier.wait(60)
        values[:] = self.values
        self.barrier.wait(60)


def load(monkeypatch, group):
    distributed = types.ModuleType("torch.distributed")
    distributed.all_gather_object = group.all_gather_object
    distributed.get_rank = lambda: own.rank
    distributed.get_world_size = lambda: group.size
    torch = types.ModuleType("torch")
    torch.distributed = distributed
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    spec = importlib.util.spec_from_file_location("torch_sum", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the tests are used without the sources")
@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("op", ["sum", "mean", "logsumexp", "exact_sum"])
def test_any_number_of_ranks_has_the_bits_of_one_call(monkeypatch, ranks, op):
    rng = np.random.default_rng(ranks)
    x = (rng.standard_normal(10007) * 2.0 ** rng.integers(-20, 20, 10007)).astype(np.float32)
    cuts = [0, *sorted(rng.integers(0, len(x) + 1, ranks - 1)), len(x)]
    example = load(monkeypatch, Group(ranks))
    results = [None] * ranks

    def run(rank):
        own.rank = rank
        results[rank] = example.reduce_over_ranks(x[cuts[rank]:cuts[rank + 1]], op)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [np.asarray(r).tobytes() for r in results] == [np.asarray(tilefold.reduce(x, op)).tobytes()] * ranks
