# SPDX-License-Identifier: Apache-2.0
#
# The package against NumPy, where the result is exact, and against itself: every layout, axis and thread
# gives the bits of one contiguous range.
import itertools
import math
import pickle
import threading

import numpy as np
import pytest

import tilefold

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"]


def items(dtype, shape, seed=1):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        magnitudes = np.exp2(rng.integers(-8, 9, shape).astype("f8"))
        return (rng.standard_normal(shape) * magnitudes).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def neighbour_tree(values):
    """The order of tilefold, in plain Python: neighbours are joined, level by level."""
    values = list(values)
    while len(values) > 1:
        values = [values[i] + values[i + 1] if i + 1 < len(values) else values[i]
                  for i in range(0, len(values), 2)]
    return values[0]


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_exact_is_numpys(dtype):
    for n in (1, 2, 1000, 100003):
        x = items(dtype, n)
        for name in ("min", "max", "any", "all"):
            assert same_bits(getattr(tilefold, name)(x), getattr(np, name)(x)), name
        assert tilefold.count_nonzero(x) == np.count_nonzero(x)
        assert tilefold.argmin(x) == np.argmin(x)
        assert tilefold.argmax(x) == np.argmax(x)
        if np.dtype(dtype).kind in "iub":
            assert same_bits(tilefold.sum(x), np.sum(x)), n
            assert same_bits(tilefold.prod(x[:50]), np.prod(x[:50]))


def test_sums_of_floats_are_neighbour_trees():
    for dtype in ("f4", "f8"):
        for n in (1, 2, 3, 37, 1000, 5001):
            x = items(dtype, n)
            assert same_bits(tilefold.sum(x), neighbour_tree(x)), (dtype, n)
    half = items("f2", 999)
    assert same_bits(tilefold.sum(half), neighbour_tree(half.astype("f4")))
    x = items("f4", 999)
    assert same_bits(tilefold.sum(x, dtype=np.float64), neighbour_tree(x.astype("f8")))
    assert tilefold.exact_sum(x.astype("f8")) == math.fsum(x)


def test_statistics_are_near_numpys():
    for dtype in ("i2", "u8", "f4", "f8"):
        x = items(dtype, 10007)
        wide = x.astype("f8")
        for ddof in (0, 1):
            assert tilefold.var(x, ddof=ddof) == pytest.approx(np.var(wide, ddof=ddof), rel=1e-12)
            assert tilefold.std(x, ddof=ddof) == pytest.approx(np.std(wide, ddof=ddof), rel=1e-12)
        assert tilefold.mean(x) == pytest.approx(np.mean(wide), rel=1e-9, abs=1e-9)
        assert tilefold.norm(x) == pytest.approx(np.linalg.norm(wide), rel=1e-12)
        assert tilefold.norm(x, 1) == pytest.approx(np.abs(wide).sum(), rel=1e-12)
        found = tilefold.stats(x)
        assert found.count == 10007 and found.mean == tilefold.mean(x)
        assert found.variance == tilefold.var(x, ddof=1) and found.min == wide.min()
    x = items("f8", 1000) / 100
    assert tilefold.logsumexp(x) == pytest.approx(np.log(np.exp(x).sum()), rel=1e-13)
    assert tilefold.vdot(x, x) == neighbour_tree(x * x)


def layouts(dtype):
    x = items(dtype, (4, 6, 5))
    yield x
    yield np.asfortranarray(x)
    yield x[:, ::2, ::-1]
    yield x.transpose(2, 0, 1)
    yield np.broadcast_to(x[:, :1, :], (4, 3, 5))
    yield x.astype(x.dtype.newbyteorder(">"))
    packed = np.zeros((4, 6, 5), np.dtype([("tag", "u1"), ("x", x.dtype)]))["x"]
    packed[...] = x
    yield packed
    yield x[0, 0, 0]
    yield x[:, :0]


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8"])
def test_every_layout_and_axis_has_the_bits_of_ranges(dtype):
    for x in layouts(dtype):
        x = np.asarray(x)
        native = x.astype(x.dtype.newbyteorder("="))
        for size in range(x.ndim + 1):
            for axes in itertools.combinations(range(x.ndim), size):
                left = [i for i in range(x.ndim) if i not in axes]
                moved = native.transpose(left + list(axes))
                rows = moved.reshape(math.prod(moved.shape[:len(left)]), math.prod(moved.shape[len(left):]))
                expected = [tilefold.sum(np.ascontiguousarray(row)) for row in rows]
                got = tilefold.sum(x, axis=axes)
                assert same_bits(np.asarray(got).ravel(), np.array(expected, got.dtype)), axes
                assert got.shape == tuple(x.shape[i] for i in left)
                kept = tilefold.sum(x, axis=axes, keepdims=True)
                assert np.asarray(kept).shape == tuple(1 if i in axes else n for i, n in enumerate(x.shape))


def test_axes_out_and_keepdims_are_numpys():
    x = items("f8", (3, 4, 5))
    assert same_bits(tilefold.max(x, axis=-1), np.max(x, axis=-1))
    assert same_bits(tilefold.argmax(x, axis=1, keepdims=True), np.argmax(x, axis=1, keepdims=True))
    assert tilefold.minmax(x, axis=(0, 2)).shape == (4, 2)
    out = np.zeros((5, 3)).T
    assert tilefold.min(x, axis=1, out=out) is out and same_bits(np.ascontiguousarray(out), x.min(1))
    assert isinstance(tilefold.sum(x), np.float64)


def test_segments_and_runs():
    x = items("f4", 5000)
    offsets = [0, 0, 7, 7, 4000, 5000]
    for op in ("sum", "mean", "arg_min", "minmax"):
        got = tilefold.segment_reduce(x, offsets, op)
        for i, (a, b) in enumerate(zip(offsets, offsets[1:])):
            if b > a:
                assert same_bits(got[i], tilefold.reduce(x[a:b], op)), (op, i)
    assert np.isnan(tilefold.segment_reduce(x, offsets, "mean")[0])
    assert tilefold.segment_reduce(x, offsets, "arg_min")[2] == -1
    assert tilefold.segment_reduce(x, [3]).shape == (0,)
    keys = np.repeat([5, 2, 5], [10, 1, 4989]).astype("i2")
    runs, sums = tilefold.reduce_by_key(keys, x)
    assert runs.tolist() == [5, 2, 5] and runs.dtype == keys.dtype
    assert same_bits(sums, tilefold.segment_reduce(x, [0, 10, 11, 5000]))
    empty, none = tilefold.reduce_by_key(keys[:0], x[:0])
    assert empty.size == none.size == 0


def test_nothing():
    nothing = np.zeros(0, "f4")
    assert same_bits(tilefold.sum(nothing), np.float32(-0.0))
    assert tilefold.min(nothing) == np.inf and tilefold.all(nothing) and not tilefold.any(nothing)
    for name in ("mean", "var", "std", "argmin"):
        with pytest.raises(tilefold.EmptyError, match="nothing to fold"):
            getattr(tilefold, name)(nothing)
    assert tilefold.sum(np.zeros((0, 3)), axis=1).shape == (0,)


def test_errors_name_the_bad_value():
    x = items("f4", (3, 4))
    for call, kind, text in [
        (lambda: tilefold.sum(np.array(["a"])), TypeError, "<U1"),
        (lambda: tilefold.sum(np.array([None])), TypeError, "object"),
        (lambda: tilefold.sum(x, axis=2), ValueError, "no axis 2"),
        (lambda: tilefold.sum(x, axis=(0, -2)), ValueError, "named twice"),
        (lambda: tilefold.reduce(x, "summ"), ValueError, "'summ'"),
        (lambda: tilefold.reduce(x, "bit_or"), TypeError, "no bit_or of float32"),
        (lambda: tilefold.sum(x, out=np.zeros(2)), ValueError, "shape"),
        (lambda: tilefold.var(x, ddof=2), ValueError, "ddof is 2"),
        (lambda: tilefold.norm(x, 3), ValueError, "ord is 3"),
        (lambda: tilefold.segment_reduce(x[0], [0, 9]), ValueError, r"segment 0 is \[0, 9\) of 4 items"),
        (lambda: tilefold.segment_reduce(x[0], [0.0, 1.0]), TypeError, "offsets are float64"),
        (lambda: tilefold.reduce_by_key(x[0], x[1, :2]), ValueError, r"\(2,\)"),
        (lambda: tilefold.sum(np.zeros((1,) * 9)), ValueError, "rank is 9"),
    ]:
        with pytest.raises(kind, match=text):
            call()
    out = np.zeros(())
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tilefold.sum(x.astype("f8"), out=out)
    assert tilefold.count_nonzero(np.ones(5)) == 5, "it can be used again"


def test_threads_agree():
    x = items("f4", 1_000_003)
    expected = tilefold.sum(x)
    found = []
    threads = [threading.Thread(target=lambda: found.append(tilefold.sum(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(same_bits(one, expected) for one in found)


def test_results_are_numpys():
    assert pickle.loads(pickle.dumps(tilefold.stats([1.0, 2.0]))) == tilefold.stats([1.0, 2.0])
    assert tilefold.sum([1, 2, 3]) == 6 and isinstance(tilefold.sum([1, 2, 3]), np.int64)
    assert tilefold.sum(np.array([1 + 2j, 3 - 1j])) == 4 + 1j
    assert tilefold.sum(np.array(5)) == 5
