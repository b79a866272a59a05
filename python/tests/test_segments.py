# SPDX-License-Identifier: Apache-2.0
#
# Segments and runs of keys: each has the bits of its items alone.
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import items, same_bits

import tilefold

OF_EMPTY = {"arg_min": -1, "arg_max": -1}  # else NaN, where a range of nothing is an error


def alone(x, op):
    """What reduce() gives; of an empty segment what docs/c.md says."""
    try:
        return tilefold.reduce(x, op)
    except tilefold.EmptyError:
        return tilefold.reduce(np.ones(1, x.dtype), op).dtype.type(OF_EMPTY.get(op, np.nan))


@pytest.mark.parametrize("op", oracle.TABLE)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_every_operation_of_segments_and_runs(dtype, op):
    x = oracle.items_for(op, dtype, 900)
    if dtype not in oracle.TABLE[op][0] and not (dtype == "?" and op in ("min", "max", "minmax")):
        for call in (lambda: tilefold.segment_reduce(x, [0, 5], op), lambda: tilefold.reduce_by_key(x, x, op)):
            with pytest.raises(tilefold.UnsupportedError, match=f"no {oracle.IN_PYTHON.get(op, op)} of "):
                call()
        return
    offsets = [3, 3, 4, 70, 70, 71, 600, 900, 900]
    expected = [alone(x[a:b], op) for a, b in zip(offsets, offsets[1:])]
    for of_offsets in ("i4", "i8", "u2", "u4", "u8", ">i4", ">i8"):
        got = tilefold.segment_reduce(x, np.array(offsets, of_offsets), op)
        assert got.dtype == expected[0].dtype and got.shape == (8,) + expected[0].shape
        # NumPy does not know NaNs of bfloat16 as equal.
        wide = "f4" if got.dtype.name == "bfloat16" else got.dtype
        np.testing.assert_array_equal(got.astype(wide), np.array(expected).astype(wide))
        assert same_bits(got, np.array(expected)) or np.isnan(got.astype("f8")).any()
    keys = np.repeat([5, 2, 5, 2], [10, 1, 800, 89])
    for of_keys in ("i1", "i8", "u2", "f2", "f4", "f8", ">i4"):
        runs, got = tilefold.reduce_by_key(keys.astype(of_keys), x, op)
        assert runs.tolist() == [5, 2, 5, 2] and runs.dtype == np.dtype(of_keys).newbyteorder("=")
        assert same_bits(got, np.array([alone(part, op) for part in np.split(x, [10, 11, 811])]))


@given(st.sampled_from(oracle.DTYPES), st.sampled_from(list(oracle.TABLE)), st.integers(0, 1000), st.booleans(),
       st.lists(st.integers(0, 200), min_size=1, max_size=20), st.sampled_from([-2, -1, 1, 3]))
def test_any_offsets_of_any_row(dtype, op, seed, is_32, offsets, step):
    if dtype not in oracle.TABLE[op][0]:
        op = "sum"
    offsets = np.array(sorted(offsets), "i4" if is_32 else "i8")
    x = oracle.items_for(op, dtype, 200 * abs(step), seed)[::step]
    got = tilefold.segment_reduce(x, offsets, op)
    assert got.shape[0] == offsets.size - 1
    for one, a, b in zip(got, offsets, offsets[1:]):
        if b > a:
            assert same_bits(one, tilefold.reduce(x[a:b], op))


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(1, 40)), max_size=30), st.sampled_from(["i1", "u8", "f4", "?"]))
def test_any_runs(given_runs, dtype):
    keys = np.concatenate([np.full(n, key) for key, n in given_runs] or [np.zeros(0)]).astype("i8").astype(dtype)
    values = items("f8", keys.size)
    ends = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    parts = np.split(values, ends) if keys.size else []
    runs, sums = tilefold.reduce_by_key(keys, values)
    assert same_bits(runs, keys[np.r_[:min(1, keys.size), ends].astype(int)])
    assert same_bits(sums, np.array([tilefold.sum(part) for part in parts], "f8"))


def test_keys_are_equal_as_numbers_are():
    runs, counts = tilefold.reduce_by_key([0.0, -0.0, np.nan, np.nan, 1.0], np.ones(5), "count_nonzero")
    assert counts.tolist() == [2, 1, 1, 1] and not np.signbit(runs[0])
    runs, sums = tilefold.reduce_by_key(np.array([True, True, False]), [1, 2, 3], "sum64")
    assert runs.tolist() == [True, False] and sums.tolist() == [3, 3] and runs.dtype == bool


def test_long_rows():
    x = items("f4", 2_000_003)
    offsets = np.r_[0, np.sort(np.random.default_rng(2).integers(0, x.size, 5000)), x.size]
    got = tilefold.segment_reduce(x, offsets)
    for i in range(0, 5001, 100):
        assert same_bits(got[i], tilefold.sum(x[offsets[i]:offsets[i + 1]]) if offsets[i] < offsets[i + 1] else got[i])
    runs, sums = tilefold.reduce_by_key(np.repeat(np.arange(5001), np.diff(offsets)), x)
    assert same_bits(sums, got[np.diff(offsets) > 0]) and runs.size == sums.size


def test_no_segments_and_no_runs():
    x = items("f4", 10)
    assert tilefold.segment_reduce(x, [3]).shape == (0,)
    assert tilefold.segment_reduce(x, [3], "minmax").shape == (0, 2)
    assert same_bits(tilefold.segment_reduce(x[:0], [0, 0]), np.float32([-0.0]))
    runs, sums = tilefold.reduce_by_key(np.zeros(0, "i2"), x[:0])
    assert runs.shape == sums.shape == (0,) and runs.dtype == np.int16 and sums.dtype == np.float32


@pytest.mark.parametrize("offsets, kind, text", [
    ([0, 11], ValueError, r"segment 0 is \[0, 11\) of 10 items"),
    ([0, 4, 3, 10], ValueError, r"segment 1 is \[4, 3\) of 10 items"),
    ([-1, 4], ValueError, r"segment 0 is \[-1, 4\) of 10 items"),
    ([0, 2**40], ValueError, r"segment 0 is \[0, 1099511627776\) of 10 items"),
    (np.array([0, 2**31 - 1], "i4"), ValueError, r"segment 0 is \[0, 2147483647\)"),
    (np.array([0, 2**64 - 1], "u8"), ValueError, "offset 1 is 18446744073709551615"),
    ([0.0, 1.0], TypeError, "offsets are float64"),
    ([True, False], TypeError, "offsets are bool"),
    ([], ValueError, r"offsets have the shape \(0,\)"),
    ([[0, 1]], ValueError, r"offsets have the shape \(1, 2\)"),
    (3, ValueError, r"offsets have the shape \(\)"),
])
def test_bad_offsets_are_named(offsets, kind, text):
    x = items("f4", 10)
    with pytest.raises(kind, match=text):
        tilefold.segment_reduce(x, offsets)
    assert same_bits(tilefold.segment_reduce(x, [0, 10]), tilefold.sum(x)[None])


def test_other_bad_input_is_named():
    x = items("f4", (3, 4))
    for call, kind, text in [
        (lambda: tilefold.segment_reduce(x, [0, 1]), ValueError, r"items have the shape \(3, 4\)"),
        (lambda: tilefold.segment_reduce(x[0], [0, 1], "summ"), ValueError, "no operation 'summ'"),
        (lambda: tilefold.segment_reduce([None], [0, 1]), TypeError, "object"),
        (lambda: tilefold.reduce_by_key(x[0], x[1, :2]), ValueError, r"\(4,\), and values \(2,\)"),
        (lambda: tilefold.reduce_by_key(x, x), ValueError, "rows of one length"),
        (lambda: tilefold.reduce_by_key(x[0].astype("c8"), x[1]), TypeError, "keys cannot be complex64"),
        (lambda: tilefold.reduce_by_key(["a"], [1]), TypeError, "<U1"),
    ]:
        with pytest.raises(kind, match=text):
            call()
