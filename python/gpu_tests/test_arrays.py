# SPDX-License-Identifier: Apache-2.0
#
# Arrays of a GPU: the bits of NumPy's, the same kind of array on the same device, in the stream that is current.
import os
import subprocess
import sys
import threading

import numpy as np
import oracle
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracle import items, same_bits

import tilefold

OPS = sorted(oracle.TABLE) + ["summary"]
TORCH = {"i1": torch.int8, "i2": torch.int16, "i4": torch.int32, "i8": torch.int64, "u1": torch.uint8,
         "u2": torch.uint16, "u4": torch.uint32, "u8": torch.uint64, "f2": torch.float16, "bfloat16": torch.bfloat16,
         "f4": torch.float32, "f8": torch.float64, "?": torch.bool}


def on_gpu(x):
    """A NumPy array of any dtype as a tensor of the same layout."""
    x = np.asarray(x)
    names = {oracle.dtype_of(name): dtype for name, dtype in TORCH.items()}
    raw = torch.from_numpy(np.array(x, order="C").reshape(x.shape).view(f"i{x.dtype.itemsize}"))
    return raw.view(names[x.dtype]).cuda()


def on_host(t):
    """A tensor as a NumPy array of its dtype."""
    assert isinstance(t, torch.Tensor) and t.is_cuda
    names = {dtype: oracle.dtype_of(name) for name, dtype in TORCH.items()}
    size = t.element_size()
    raw = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]
    return t.contiguous().view(raw).cpu().numpy().view(names[t.dtype])


def takes(op, dtype):
    if dtype == "?" and op in ("min", "max", "minmax"):
        return True
    if op in ("exact_sum", "exact_mean"):  # the host has more
        return dtype in ("f4", "f8")
    known = oracle.REAL if op == "summary" else oracle.TABLE[op][0]
    return dtype in known


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", oracle.REAL)
def test_the_bits_of_numpy(op, dtype):
    if not takes(op, dtype):
        x = on_gpu(items(dtype, (3, 4)))
        with pytest.raises(tilefold.UnsupportedError):
            tilefold.reduce(x, op)
        return
    host = oracle.items_for(op, dtype, (7, 33, 20))
    gpu = on_gpu(host)
    for axis in (None, 0, 1, 2, (0, 2), (1, 2), (0, 1), -1):
        for keepdims in (False, True):
            expected = np.asarray(tilefold.reduce(host, op, axis, keepdims=keepdims))
            got = tilefold.reduce(gpu, op, axis, keepdims=keepdims)
            if dtype == "?" and op in ("min", "max", "minmax"):
                expected = expected.astype(bool)
            assert got.device == gpu.device and same_bits(on_host(got), expected), axis


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "i8"])
def test_long_ranges(dtype):
    host = items(dtype, (3_000_017,))
    gpu = on_gpu(host)
    for op in ("sum", "sum64", "max", "mean", "variance", "arg_min", "count_nonzero", "logsumexp", "l2"):
        assert same_bits(on_host(tilefold.reduce(gpu, op)), np.asarray(tilefold.reduce(host, op))), op


@pytest.mark.parametrize("dtype", oracle.FLOATS)
def test_the_order_of_torch(dtype):
    for shape in ((5, 100), (1, 24577), (3, 100_003), (300, 30_000), (1, 3_000_017)):
        host = items(dtype, shape)
        gpu = on_gpu(host)
        for function in (tilefold.sum, tilefold.prod):
            for axis in (0, 1):
                expected = function(host, axis, dtype=host.dtype, order="torch")
                assert same_bits(on_host(function(gpu, axis, dtype=gpu.dtype, order="torch")), expected), (shape, axis)
    row, offsets = items(dtype, 200_000), np.array([0, 5, 5, 40_000, 200_000])
    got = tilefold.segment_reduce(on_gpu(row), offsets, "torch_sum")
    assert same_bits(on_host(got), tilefold.segment_reduce(row, offsets, "torch_sum"))


#: The environment decides when torch is imported.
BESIDE_TORCH = """
import random, sys, torch, tilefold
rng = random.Random(int(sys.argv[1]))
raw = {2: torch.int16, 4: torch.int32, 8: torch.int64}
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    for _ in range(40):
        n = int(2 ** rng.uniform(0, 28 if dtype == torch.float32 else 26))
        rows = max(1, min(rng.randrange(1, 300), 2 ** 26 // n))
        x = torch.randn(rows, n, device="cuda").to(dtype)
        for ours, theirs in ((tilefold.sum, torch.sum), (tilefold.prod, torch.prod)):
            if ours is tilefold.prod:
                x = 1 + x / max(8, n ** 0.5)
            a, b = ours(x, 1, dtype=dtype, order="torch"), theirs(x, 1)
            assert torch.equal(a.view(raw[x.element_size()]), b.view(raw[x.element_size()])), (dtype, rows, n, ours)
"""


if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 15):  # torch has no order before
    def test_the_bits_of_torch_itself():
        env = {**os.environ, "PYTORCH_SUM_INNER_TREE": "1"}
        subprocess.run([sys.executable, "-c", BESIDE_TORCH, "1"], check=True, env=env)


@given(st.data())
def test_layouts(data):
    shape = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    host = items("f4", shape)
    gpu = on_gpu(host)
    order = data.draw(st.permutations(range(len(shape))))
    cut = tuple(slice(data.draw(st.integers(0, n - 1)), None, data.draw(st.integers(1, 3))) for n in shape)
    x, t = host[cut].transpose(order), gpu[cut].permute(order)
    if data.draw(st.booleans()):
        x, t = np.broadcast_to(x, (3, *x.shape)), t.expand(3, *t.shape)
    axis = data.draw(st.none() | st.sets(st.integers(0, x.ndim - 1)).map(tuple))
    for op in ("sum", "max", "mean", "arg_max"):
        assert same_bits(on_host(tilefold.reduce(t, op, axis)), np.asarray(tilefold.reduce(x, op, axis)))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_sums(dtype):
    for shape in ((3, 1), (7, 33, 20), (100_003, 2)):
        host = items(dtype, shape)
        gpu = torch.from_numpy(host).cuda()
        for axis in (None, 0, -1):
            got = tilefold.sum(gpu, axis)
            assert got.is_cuda and same_bits(got.cpu().numpy(), tilefold.sum(host, axis)), axis
        assert int(tilefold.count_nonzero(gpu)) == host.size
    row = items(dtype, 100_003)
    offsets = np.array([0, 5, 5, 2000, 100_003])
    got = tilefold.segment_reduce(torch.from_numpy(row).cuda(), offsets)
    assert same_bits(got.cpu().numpy(), tilefold.segment_reduce(row, offsets))


@pytest.mark.parametrize("op", ["sum", "sum64", "product", "min", "max", "any", "all", "count_nonzero", "bit_xor",
                                "exact_sum", "exact_mean", "mean", "minmax", "l1", "linf", "logsumexp"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "bfloat16", "i4", "i8", "?"])
def test_pieces_of_host_and_gpu(dtype, op):
    floats = ("f4", "f8", "f2", "bfloat16")
    if dtype not in oracle.TABLE[op][0] or (op in ("exact_sum", "exact_mean", "mean") and dtype not in floats):
        return
    if op == "logsumexp" and dtype in ("f4", "f2", "bfloat16"):
        return
    for n in (1, 1000, 300_007):
        x = items(dtype, n)
        a, b = n // 3, n - n // 7
        parts = [tilefold.piece(x[:a], 0, op), tilefold.piece(on_gpu(x[a:b]), a, op), tilefold.piece(x[b:], b, op)]
        parts[0].merge(parts[1].merge(parts[2]))
        assert same_bits(parts[0].value(), tilefold.piece(x, 0, op).value()), n


def test_pieces_that_a_gpu_does_not_have():
    part = tilefold.piece(np.ones(3, "f4"), 0, "variance")
    with pytest.raises(tilefold.UnsupportedError, match="on a GPU there is no piece of variance of float32"):
        part.append(torch.ones(3, device="cuda"))
    assert part.end == 3


@pytest.mark.parametrize("dtype", ["f2", "bfloat16", "f4", "f8"])
def test_accumulators_of_host_and_gpu(dtype):
    x = items(dtype, (100, 300))
    total = tilefold.exact_accumulator(x.dtype).add(x)
    assert tilefold.exact_accumulator(TORCH[dtype]).add(on_gpu(x)) == total
    assert tilefold.exact_accumulator(x.dtype).add(on_gpu(x).T) == total
    with pytest.raises(tilefold.UnsupportedError, match="accumulators of floats, not of int32"):
        tilefold.exact_accumulator("i4").add(torch.ones(3, dtype=torch.int32, device="cuda"))


def test_where():
    for dtype in ("f4", "i4", "u8", "?"):
        x, mask = items(dtype, (30, 70)), items("?", (30, 70), 5)
        for function in (tilefold.sum, tilefold.min, tilefold.any, tilefold.count_nonzero):
            for axis in (None, 1):
                assert same_bits(on_host(function(on_gpu(x), axis, where=on_gpu(mask))),
                                 np.asarray(function(x, axis, where=mask))), (dtype, function)
    gpu = on_gpu(items("f4", 1000))
    for wrong in (gpu, np.ones(1000, bool), torch.ones(1000, dtype=torch.bool)):
        with pytest.raises(tilefold.UnsupportedError, match="where is a"):
            tilefold.sum(gpu, where=wrong)
    rows = on_gpu(items("f4", (1, 4)))
    for shape in ((2, 4), (4, 1), (3,), (1, 1, 4)):
        with pytest.raises(tilefold.ArgumentError, match="does not spread over"):
            tilefold.sum(rows, where=on_gpu(np.ones(shape, bool)))


def test_batched():
    arrays = [items("f4", n) for n in (1, 1000, 70_000)] + [items("f4", (40, 30)).T]
    for op in ("sum", "mean", "minmax"):
        assert same_bits(on_host(tilefold.batched([on_gpu(x) for x in arrays], op)), tilefold.batched(arrays, op))
    with pytest.raises(tilefold.ArgumentError, match="array 1 is a ndarray"):
        tilefold.batched([on_gpu(arrays[0]), arrays[1]])


def test_memory_can_be_given_back():
    host = items("f4", 3_000_001)
    gpu, expected = on_gpu(host), np.asarray(tilefold.sum(host))
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            stream.wait_stream(torch.cuda.default_stream())
            for _ in range(2):
                assert same_bits(on_host(tilefold.sum(gpu)), expected)
                tilefold.release_memory()


def test_all_functions():
    host = items("f4", (50, 40))
    gpu = on_gpu(host)
    for function in (tilefold.sum, tilefold.prod, tilefold.min, tilefold.max, tilefold.minmax, tilefold.mean,
                     tilefold.var, tilefold.std, tilefold.argmin, tilefold.argmax, tilefold.any, tilefold.all,
                     tilefold.count_nonzero, tilefold.logsumexp, tilefold.norm, tilefold.exact_sum,
                     tilefold.compensated_sum):
        for axis in (None, 0, 1):
            assert same_bits(on_host(function(gpu, axis=axis)), np.asarray(function(host, axis=axis))), function
    assert same_bits(on_host(tilefold.vdot(gpu, gpu)), np.asarray(tilefold.vdot(host, host)))
    found, expected = tilefold.stats(gpu), tilefold.stats(host)
    assert found.count == expected.count
    assert [float(one) for one in found[1:]] == list(expected[1:])
    assert all(one.is_cuda for one in found[1:])
    for dtype in ("i1", "u2", "i4", "?", "f2", "f4", "i8"):
        x = items(dtype, (30, 20))
        for wanted in ("i8", "f8", "f4", "i4"):
            assert same_bits(on_host(tilefold.sum(on_gpu(x), 0, dtype=getattr(torch, np.dtype(wanted).name))),
                             tilefold.sum(x, 0, dtype=wanted)), (dtype, wanted)
        assert same_bits(on_host(tilefold.sum(on_gpu(x))), np.asarray(tilefold.sum(x)))
    fused = tilefold.fuse("count", "mean", "var", "std", "min", "max")
    for dtype in ("f4", "i8", "u1"):
        x = items(dtype, (30, 20))
        for axis in (None, 1):
            for got, wanted in zip(fused(on_gpu(x), axis)[1:], fused(x, axis)[1:]):
                assert same_bits(on_host(got), np.asarray(wanted))
    for initial in (2, -1e9):
        for function in (tilefold.sum, tilefold.min, tilefold.max, tilefold.prod):
            assert same_bits(on_host(function(gpu, 0, initial=initial)), function(host, 0, initial=initial))


@pytest.mark.parametrize("dtype", ["f2", "bfloat16", "f4", "f8"])
def test_a_nan_has_the_bits_of_the_hosts(dtype):
    host = np.array([1, np.nan, 2, 3]).astype(oracle.dtype_of(dtype)).reshape(2, 2)
    for function in (tilefold.mean, tilefold.var, tilefold.std, lambda x, axis: tilefold.var(x, axis, ddof=0.5)):
        for axis in (None, 0, 1):
            assert same_bits(on_host(function(on_gpu(host), axis)), np.asarray(function(host, axis)))


def test_segments_and_runs():
    for dtype in ("f4", "f8", "i4", "bfloat16"):
        host = items(dtype, (1000,))
        gpu = on_gpu(host)
        offsets = np.array([0, 0, 1, 17, 400, 400, 1000])
        for op in ("sum", "max", "mean"):
            expected = tilefold.segment_reduce(host, offsets, op)
            for given_offsets in (torch.tensor(offsets).cuda(), torch.tensor(offsets, dtype=torch.int32).cuda(),
                                  offsets, list(offsets)):
                assert same_bits(on_host(tilefold.segment_reduce(gpu, given_offsets, op)), expected)
            for keys in (np.arange(1000) // 7, (np.arange(1000) // 300).astype("f8")):
                found = tilefold.reduce_by_key(on_gpu(keys), gpu, op)
                wanted = tilefold.reduce_by_key(keys, host, op)
                assert same_bits(on_host(found[0]), wanted[0]) and same_bits(on_host(found[1]), wanted[1])
    with pytest.raises(tilefold.ArgumentError, match=r"segment 1 is \[5, 3\)"):
        tilefold.segment_reduce(on_gpu(items("f4", (9,))), [0, 5, 3])
    with pytest.raises(tilefold.UnsupportedError, match="no l2 of float32|but no l2"):
        tilefold.reduce_by_key(on_gpu(np.arange(4)), on_gpu(items("f4", (4,))), "l2")


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "bfloat16", "u1"])
def test_items_by_index(dtype):
    indices = (np.random.default_rng(1).integers(0, 50, 1000) ** 2) // 50
    for shape in ((1000,), (1000, 3)):
        host = items(dtype, shape)
        gpu = on_gpu(host)
        for op in ("sum", "max", "mean", "argmin", "var", "minmax", "exact_sum" if dtype[0] == "f" else "prod"):
            expected = tilefold.reduce_by_index(indices, host, 60, op)
            for of_indices in ("i8", "u1", "i4"):
                assert same_bits(on_host(tilefold.reduce_by_index(on_gpu(indices.astype(of_indices)), gpu, 60, op)),
                                 expected)
        out = torch.zeros((60,) + shape[1:], dtype=TORCH["f8"], device="cuda")
        wide = tilefold.reduce_by_index(on_gpu(indices), gpu.double(), 60, out=out)
        assert wide is out and same_bits(on_host(out), tilefold.reduce_by_index(indices, host.astype("f8"), 60))
    found = tilefold.reduce_by_index(on_gpu(indices), on_gpu(host))
    assert same_bits(on_host(found), tilefold.reduce_by_index(indices, host))
    assert same_bits(on_host(tilefold.bincount(on_gpu(indices), minlength=70)), tilefold.bincount(indices, None, 70))
    weights = items("f4", (1000,))
    assert same_bits(on_host(tilefold.bincount(on_gpu(indices), on_gpu(weights))), tilefold.bincount(indices, weights))


def test_indices_out_of_range():
    x, indices = torch.ones(3, device="cuda"), torch.tensor([0, 5, -1], device="cuda")
    with pytest.raises(tilefold.ArgumentError, match="item 1 has the index 5, but there are 5 results"):
        tilefold.reduce_by_index(indices, x, 5)
    with pytest.raises(tilefold.ArgumentError, match="item 2 has the index -1"):
        tilefold.bincount(indices)
    torch.cuda.set_sync_debug_mode("error")
    try:
        got = tilefold.reduce_by_index(indices, x, 5, mode="drop")
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert same_bits(on_host(got), np.float32([1, -0.0, -0.0, -0.0, -0.0]))
    with pytest.raises(tilefold.UnsupportedError, match="indices is float32, and must be integers"):
        tilefold.reduce_by_index(x, x, 5)
    with pytest.raises(tilefold.ArgumentError, match=r"indices are 3, and values have the shape \(2,\)"):
        tilefold.reduce_by_index(indices, x[:2], 5)
    with pytest.raises(tilefold.ArgumentError, match="indices is a ndarray"):
        tilefold.reduce_by_index(np.arange(3), x, 5)


def test_empty():
    assert on_host(tilefold.sum(torch.empty(0, device="cuda"))).tobytes() == np.float32(-0.0).tobytes()
    assert tuple(tilefold.sum(torch.empty(0, 3, device="cuda"), 1).shape) == (0,)
    assert float(tilefold.max(torch.empty(0, device="cuda"))) == -np.inf
    with pytest.raises(tilefold.EmptyError):
        tilefold.mean(torch.empty(3, 0, device="cuda"), 1)
    keys, values = tilefold.reduce_by_key(torch.empty(0, dtype=torch.int32, device="cuda"),
                                          torch.empty(0, device="cuda"))
    assert keys.numel() == 0 and values.numel() == 0
    one = torch.tensor(3.5, device="cuda")
    assert float(tilefold.sum(one)) == 3.5 and tilefold.sum(one).shape == ()


def test_out():
    host = items("f4", (30, 20))
    gpu = on_gpu(host)
    for out in (torch.zeros(20, device="cuda"), torch.zeros(40, device="cuda")[::2]):
        assert tilefold.sum(gpu, 0, out=out) is out
        assert same_bits(on_host(out), tilefold.sum(host, 0))
    assert same_bits(on_host(tilefold.sum(gpu, 0, out=gpu[3])), tilefold.sum(host, 0)), "also over items"
    gpu = on_gpu(host)
    kept = torch.full((20,), 7.0, device="cuda")
    for out, text in [(torch.zeros(3, device="cuda"), r"shape \(3,\)"), (torch.zeros(20), "must be an array of torch"),
                      (torch.zeros(20, dtype=torch.float64, device="cuda"), "array of float64"),
                      (np.zeros(20, "f4"), "out is a ndarray")]:
        with pytest.raises(tilefold.ArgumentError, match=text):
            tilefold.sum(gpu, 0, out=out)
    with pytest.raises(tilefold.EmptyError):
        tilefold.mean(torch.empty(0, 20, device="cuda"), 0, out=kept)
    assert same_bits(on_host(tilefold.sum(gpu, 0)), tilefold.sum(host, 0)), "it can be used again"


def test_errors():
    gpu = torch.ones(3, device="cuda")
    with pytest.raises(tilefold.UnsupportedError, match="requires a gradient"):
        tilefold.sum(torch.ones(3, device="cuda", requires_grad=True))
    with torch.no_grad():
        assert float(tilefold.sum(torch.ones(3, device="cuda", requires_grad=True))) == 3
    with pytest.raises(tilefold.UnsupportedError, match="complex64"):
        tilefold.mean(torch.ones(3, device="cuda", dtype=torch.complex64))
    with pytest.raises(tilefold.UnsupportedError, match="sparse"):
        tilefold.sum(torch.eye(3, device="cuda").to_sparse())
    with pytest.raises(tilefold.ArgumentError, match="y is a Tensor"):
        tilefold.vdot(gpu, torch.ones(3))
    with pytest.raises(tilefold.UnsupportedError, match="is on a GPU"):
        tilefold.vdot(np.ones(3, "f4"), gpu)
    with pytest.raises(tilefold.ArgumentError, match="stream is for arrays of a GPU"):
        tilefold.sum(np.ones(3), stream=torch.cuda.current_stream())
    with pytest.raises(tilefold.ArgumentError, match="stream is 'x'"):
        tilefold.sum(gpu, stream="x")
    with pytest.raises(tilefold.ArgumentError, match="no axis 1"):
        tilefold.sum(gpu, 1)
    assert float(tilefold.sum(gpu)) == 3


def test_the_current_stream_and_the_named_one():
    # What comes before in the stream is done first, and the call does not wait for it.
    n = 1 << 20
    host = items("f4", (n,))
    expected = tilefold.sum(host)
    side = torch.cuda.Stream()
    for named in (None, side, side.cuda_stream):
        x = torch.zeros(n, device="cuda")
        source = on_gpu(host)
        tilefold.sum(x)  # loads what it needs, for which CUDA may wait
        torch.cuda.synchronize()
        before = torch.cuda.Event()
        with torch.cuda.stream(side):
            torch.cuda._sleep(200_000_000)
            x.copy_(source)
            if named is None:
                got = tilefold.sum(x)
        if named is not None:
            got = tilefold.sum(x, stream=named)
        before.record(side)
        assert not before.query(), "the call did not wait"
        side.synchronize()
        assert same_bits(on_host(got), np.asarray(expected))


def test_nothing_of_torch_waits():
    gpu = on_gpu(items("f4", (64, 100)))
    out = torch.zeros(100, device="cuda")
    tilefold.sum(gpu)
    torch.cuda.set_sync_debug_mode("error")
    try:
        tilefold.sum(gpu)
        tilefold.mean(gpu, 0)
        tilefold.sum(gpu, 0, out=out)
        tilefold.stats(gpu)
        tilefold.fuse("mean", "var")(gpu, 1)
        tilefold.sum(gpu, dtype=torch.float64)
        tilefold.sum(gpu, 0, initial=1)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_in_a_graph():
    gpu = on_gpu(items("f4", (300, 5000)))
    expected = tilefold.sum(gpu, 1).clone(), tilefold.sum(gpu).clone()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        rows, whole = tilefold.sum(gpu, 1), tilefold.sum(gpu)
    rows.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(rows, expected[0]) and torch.equal(whole, expected[1])


def test_threads():
    gpu = on_gpu(items("f4", (100, 1000)))
    expected = tilefold.sum(gpu, 1).cpu()
    wrong = []

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                if not torch.equal(tilefold.sum(gpu, 1).cpu(), expected):
                    wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    torch.cuda.synchronize()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


class Alien:
    """An array that shows DLPack and nothing else."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_dlpack_alone():
    x = items("f4", (60, 7))
    alien = Alien(torch.from_numpy(x).cuda())
    for axis in (None, 0, 1):
        got = tilefold.sum(alien, axis)
        assert isinstance(got, torch.Tensor) and got.is_cuda
        assert same_bits(got.cpu().numpy(), np.asarray(tilefold.sum(x, axis)))
    out = torch.empty(7, device="cuda")
    assert tilefold.max(alien, 0, out=out) is out and same_bits(out.cpu().numpy(), tilefold.max(x, 0))


class Shown:
    """An array that has __cuda_array_interface__ and nothing else."""

    def __init__(self, tensor, **more):
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **more}


def test_cuda_array_interface_alone():
    x = items("f4", (60, 7))
    tensor = torch.from_numpy(x).cuda()
    for axis in (None, 0, 1):
        for shown in (Shown(tensor), Shown(tensor, data=(tensor.data_ptr(), True)), Shown(tensor.t().contiguous().t())):
            got = tilefold.sum(shown, axis)
            assert isinstance(got, torch.Tensor) and got.is_cuda
            assert same_bits(got.cpu().numpy(), np.asarray(tilefold.sum(x, axis)))
    out = torch.empty(7, device="cuda")
    assert same_bits(tilefold.max(Shown(tensor), 0, out=Shown(out)).tensor.cpu().numpy(), tilefold.max(x, 0))
    with pytest.raises(tilefold.ArgumentError):
        tilefold.max(Shown(tensor), 0, out=Shown(out, data=(out.data_ptr(), True)))
    # Items that are on their way in another stream.
    other = torch.cuda.Stream()
    long = torch.zeros(1 << 28, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(other):
        for _ in range(20):
            long += 1
    got = tilefold.max(Shown(long, version=3, stream=other.cuda_stream))
    assert got.item() == 20


def test_what_else_functions_take():
    x = items("f4", (60, 7))
    on_gpu = torch.from_numpy(x).cuda()
    assert same_bits(tilefold.mean(on_gpu, 0, dtype="float32").cpu().numpy(), tilefold.mean(x, 0, dtype="f4"))
    found = tilefold.stats(on_gpu, 0)
    assert same_bits(found.variance.cpu().numpy(), tilefold.stats(x, 0).variance)
    out = torch.empty(2, device="cuda")
    assert tilefold.segment_reduce(on_gpu[0], [0, 3, 7], out=out) is out
    assert same_bits(out.cpu().numpy(), tilefold.segment_reduce(x[0], [0, 3, 7]))
    flags = torch.tensor([[True, False], [True, True]], device="cuda")
    assert tilefold.minmax(flags, 1).tolist() == [[False, True], [True, True]]


def test_cupy():
    import cupy
    for dtype in ("f4", "f8", "i4", "u1", "?", "f2"):
        host = items(dtype, (30, 40))
        gpu = cupy.asarray(host)
        for layout, of in ((gpu, host), (gpu.T, host.T), (gpu[::2, ::-1], host[::2, ::-1])):
            for axis in (None, 0, 1):
                got = tilefold.sum(layout, axis)
                assert isinstance(got, cupy.ndarray) and same_bits(got.get(), tilefold.sum(of, axis))
                got = tilefold.mean(layout, axis)
                assert isinstance(got, cupy.ndarray) and same_bits(got.get(), tilefold.mean(of, axis))
    host = items("f4", (30, 40))
    gpu = cupy.asarray(host)
    out = cupy.zeros(30, "f4")
    assert tilefold.max(gpu, 1, out=out) is out and same_bits(out.get(), tilefold.max(host, 1))
    assert same_bits(tilefold.sum(gpu, 0, dtype="f8").get(), tilefold.sum(host, 0, dtype="f8"))
    assert same_bits(tilefold.sum(gpu, 0, initial=3).get(), tilefold.sum(host, 0, initial=3))
    with cupy.cuda.Stream(non_blocking=True):
        assert same_bits(tilefold.sum(gpu, 1).get(), tilefold.sum(host, 1))
    side = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    got = tilefold.sum(gpu, 1, stream=side)
    side.synchronize()
    assert same_bits(got.get(), tilefold.sum(host, 1))
    found = tilefold.reduce_by_key(cupy.arange(30) // 4, gpu[:, 0])
    assert same_bits(found[1].get(), tilefold.reduce_by_key(np.arange(30) // 4, host[:, 0])[1])
    assert same_bits(tilefold.segment_reduce(gpu[0], [0, 5, 40]).get(), tilefold.segment_reduce(host[0], [0, 5, 40]))
    assert same_bits(tilefold.reduce_by_index(cupy.arange(30) % 4, gpu).get(),
                     tilefold.reduce_by_index(np.arange(30) % 4, host))
    assert same_bits(tilefold.bincount(cupy.arange(30) % 4, gpu[:, 0]).get(), tilefold.bincount(np.arange(30) % 4, host[:, 0]))
    with pytest.raises(tilefold.ArgumentError, match="y is a Tensor"):
        tilefold.vdot(gpu, torch.ones(3, device="cuda"))


def test_numba():
    from numba import cuda
    for dtype in ("f4", "f8", "i4", "u1", "?", "f2"):
        host = items(dtype, (30, 40))
        gpu = cuda.to_device(host)
        # Not gpu.T: numba compiles a kernel for it, which takes functions that NumPy 2.5 does not have.
        by_columns = cuda.to_device(np.asfortranarray(host))
        for layout, of in ((gpu, host), (by_columns, host), (gpu[::2, ::3], host[::2, ::3])):
            for axis in (None, 0, 1):
                for op in (tilefold.sum, tilefold.mean):
                    got = op(layout, axis)
                    assert cuda.is_cuda_array(got) and same_bits(got.copy_to_host(), np.asarray(op(of, axis)))
    host = items("f4", (30, 40))
    gpu = cuda.to_device(host)
    out = cuda.device_array(30, "f4")
    assert tilefold.max(gpu, 1, out=out) is out and same_bits(out.copy_to_host(), tilefold.max(host, 1))
    segments = tilefold.segment_reduce(cuda.to_device(host[0]), cuda.to_device(np.array([0, 5, 40])))
    assert same_bits(segments.copy_to_host(), tilefold.segment_reduce(host[0], [0, 5, 40]))
    # The default stream waits for what a stream of numba's still writes.
    long = np.arange(1 << 24, dtype="f4") % 1000
    stream = cuda.stream()
    late = cuda.device_array(1 << 24, "f4", stream=stream)
    for _ in range(20):
        late.copy_to_device(cuda.to_device(np.zeros(1 << 24, "f4"), stream=stream), stream=stream)
    late.copy_to_device(cuda.to_device(long, stream=stream), stream=stream)
    assert same_bits(tilefold.sum(late).copy_to_host(), np.asarray(tilefold.sum(long)))
    assert same_bits(tilefold.sum(gpu, 0, dtype="f8").copy_to_host(), tilefold.sum(host, 0, dtype="f8"))
    for refused in (lambda: tilefold.sum(gpu, 0, dtype="i8"), lambda: tilefold.sum(gpu, initial=3),
                    lambda: tilefold.sum(gpu, stream=0)):
        with pytest.raises(tilefold.UnsupportedError, match="numba"):
            refused()


def test_jax():
    import jax
    host = items("f4", (30, 40))
    gpu = jax.device_put(host, jax.devices("gpu")[0])
    got = tilefold.sum(gpu, 1)
    assert isinstance(got, jax.Array) and same_bits(np.asarray(got), tilefold.sum(host, 1))
    with pytest.raises(tilefold.UnsupportedError, match="jax_enable_x64"):
        tilefold.mean(gpu, dtype="f8")
    assert same_bits(np.asarray(tilefold.mean(gpu, 0)), tilefold.mean(host, 0))
    with jax.enable_x64(True):
        assert same_bits(np.asarray(tilefold.mean(gpu, 0, dtype="f8")), tilefold.mean(host, 0, dtype="f8"))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (2, 1, 0), (1, 0, 2)])
def test_jax_layouts(order):
    import jax
    from jax.experimental.layout import Format, Layout
    host = items("f4", (30, 20, 10))
    plain = jax.device_put(host, jax.devices("gpu")[0])
    gpu = jax.device_put(plain, Format(Layout(major_to_minor=order), plain.sharding))
    assert tuple(gpu.format.layout.major_to_minor) == order
    for axis in (None, 0, 1, 2, (0, 2)):
        assert same_bits(np.asarray(tilefold.sum(gpu, axis)), np.asarray(tilefold.sum(host, axis)))
        assert same_bits(np.asarray(tilefold.max(gpu, axis)), np.asarray(tilefold.max(host, axis)))
    assert same_bits(np.asarray(tilefold.vdot(gpu, plain)), np.asarray(tilefold.vdot(host, host)))
    with jax.enable_x64(True):
        assert same_bits(np.asarray(tilefold.mean(gpu, 0, dtype="f4")), tilefold.mean(host, 0, dtype="f4"))
