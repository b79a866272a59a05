# SPDX-License-Identifier: Apache-2.0
#
# Items by index: each result has the bits of its items alone, in the order of their positions.
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import items, same_bits
from test_segments import alone

import tilefold

INDEX_DTYPES = [*oracle.INTEGERS, ">i4", ">u8"]
#: Whose results are folds of floats, in the order of the oracle, or exact.
KNOWN = [op for op in oracle.TABLE if oracle.TABLE[op][2] == 0 and op not in ("arg_min", "arg_max")]


def some_indices(n, bins, seed=1):
    """Bins of few and many items, and empty ones."""
    rng = np.random.default_rng(seed)
    return (rng.integers(0, bins, n) * rng.random(n)).astype("i8")


def expected_of(indices, x, bins, op):
    """Of each bin what reduce() gives; places are those of the whole row."""
    found = []
    for i in range(bins):
        own = np.flatnonzero(indices == i)
        one = alone(x[own], op)
        found.append(one.dtype.type(own[one]) if op in ("arg_min", "arg_max") and own.size else one)
    return np.array(found)


def wide(x):
    """NumPy does not know NaNs of bfloat16 as equal."""
    return x.astype("f4") if x.dtype.name == "bfloat16" else x


@pytest.mark.parametrize("op", oracle.TABLE)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_every_operation(dtype, op):
    x, indices = oracle.items_for(op, dtype, 700), some_indices(700, 40)
    if dtype not in oracle.TABLE[op][0] and not (dtype == "?" and op in ("min", "max", "minmax")):
        with pytest.raises(tilefold.UnsupportedError, match=f"no {oracle.IN_PYTHON.get(op, op)} of "):
            tilefold.reduce_by_index(indices, x, 45, op)
        return
    expected = expected_of(indices, x, 45, op)
    got = tilefold.reduce_by_index(indices, x, 45, op)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_array_equal(wide(got), wide(expected))
    assert same_bits(got, expected) or np.isnan(wide(got).astype("f8")).any()


@pytest.mark.parametrize("op", KNOWN)
@pytest.mark.parametrize("dtype", ["i1", "u4", "bfloat16", "f4", "f8", "?", "c8"])
def test_the_bits_of_the_oracle(dtype, op):
    """No code of tilefold makes what is expected."""
    of_dtypes, fold, _ = oracle.TABLE[op]
    if dtype not in of_dtypes:
        return
    x, indices = oracle.items_for(op, dtype, 3000), some_indices(3000, 17)
    got = tilefold.reduce_by_index(indices, x, 17, op)
    for i in range(15):
        own = x[indices == i]
        with np.errstate(all="ignore"):
            expected = fold(own[None])[0].astype(got.dtype)
        assert own.size and same_bits(got[i], expected), i


def special(dtype, n):
    """Magnitudes that lose each other, both signs, and NaNs, infinities and zeros of both signs here and there."""
    x = items(dtype, n, 5)
    at = np.random.default_rng(6).permutation(n)
    for k, value in enumerate((np.nan, np.inf, -np.inf, -0.0, 0.0, -np.nan)):
        x[at[k::97]] = value
    return x


@pytest.mark.parametrize("dtype", oracle.FLOATS)
@pytest.mark.parametrize("op", ["sum", "min", "max", "prod", "mean", "count_nonzero", "argmin"])
def test_special_floats(dtype, op):
    x, indices = special(dtype, 2000), some_indices(2000, 300)
    with np.errstate(all="ignore"):
        expected = expected_of(indices, x, 310, op if op != "argmin" else "arg_min")
    got = tilefold.reduce_by_index(indices, x, 310, op)
    raw = f"u{got.dtype.itemsize}"  # all NaNs of results are one
    of_items = expected.view(raw)[np.isin(np.arange(310), indices)]
    assert np.array_equal(got.view(raw)[np.isin(np.arange(310), indices)], of_items)


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_indices_of_any_type(dtype):
    x, indices = items("f4", 400), some_indices(400, 100)
    expected = expected_of(indices, x, 100, "sum")
    given_indices = indices.astype(dtype)
    assert same_bits(tilefold.reduce_by_index(given_indices, x, 100), expected)
    assert same_bits(tilefold.reduce_by_index(np.repeat(given_indices, 3)[::3], np.repeat(x, 2)[::2], 100), expected)
    assert same_bits(tilefold.reduce_by_index(given_indices[::-1], x[::-1], 100),
                     expected_of(indices[::-1], x[::-1], 100, "sum"))
    shifted = np.zeros(401 * given_indices.itemsize + 1, "u1")[1:-given_indices.itemsize].view(dtype)
    shifted[:] = given_indices
    assert same_bits(tilefold.reduce_by_index(shifted, x, 100), expected)


@pytest.mark.parametrize("bins", [1, 2, 2048, 2049, 70_000])
def test_many_items(bins):
    """By several threads, and with groups of more than one result."""
    n = 200_003
    x, indices = items("f8", n), np.random.default_rng(4).integers(0, bins, n)
    got = tilefold.reduce_by_index(indices, x, bins)
    order = np.argsort(indices, kind="stable")
    offsets = np.searchsorted(indices[order], np.arange(bins + 1))
    assert same_bits(got, tilefold.segment_reduce(x[order], offsets))
    if bins == 1:
        assert same_bits(got[0], tilefold.sum(x))
    threads = tilefold.get_num_threads()
    for count in (1, 3):
        tilefold.set_num_threads(count)
        try:
            assert same_bits(tilefold.reduce_by_index(indices, x, bins), got)
        finally:
            tilefold.set_num_threads(threads)


@pytest.mark.parametrize("op", ["sum", "arg_max", "minmax", "mean"])
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 5), (300,), (0,)])
def test_columns(op, shape):
    x, indices = items("f4", (500,) + shape), some_indices(500, 30)
    got = tilefold.reduce_by_index(indices, x, 33, op)
    tail = (2,) if op == "minmax" else ()
    assert got.shape == (33,) + shape + tail
    for place in np.ndindex(shape):
        own = x[(slice(None),) + place]
        assert same_bits(got[(slice(None),) + place], tilefold.reduce_by_index(indices, own, 33, op)), place
    transposed = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)
    assert same_bits(tilefold.reduce_by_index(indices, transposed, 33, op), got)
    expected = expected_of(indices, x.reshape(500, -1)[:, 0], 33, op) if x.size else None
    assert expected is None or np.array_equal(got.reshape((33, -1) + tail)[:, 0], expected, equal_nan=op == "mean")


@given(st.sampled_from(oracle.DTYPES), st.sampled_from(list(oracle.TABLE)), st.integers(0, 300), st.integers(0, 60),
       st.integers(1, 4), st.integers(0, 1000))
def test_any_rows(dtype, op, n, bins, columns, seed):
    if dtype not in oracle.TABLE[op][0]:
        op = "sum"
    rng = np.random.default_rng(seed)
    indices = rng.integers(-3, bins + 3, n)
    x = oracle.items_for(op, dtype, (n, columns), seed)
    got = tilefold.reduce_by_index(indices, x, bins, op, mode="drop")
    assert got.shape[:2] == (bins, columns)
    for i in set(indices[(0 <= indices) & (indices < bins)]):
        for column in range(columns):
            own = np.flatnonzero(indices == i)
            one = tilefold.reduce(x[own, column], op)
            assert same_bits(got[i, column], own[one] if op.startswith("arg") else one)


def test_out_of_range():
    x = items("f4", 6)
    for bad, shown in ((-1, "-1"), (5, "5"), (2**40, "1099511627776"), (-2**63, "-9223372036854775808")):
        indices = np.array([0, 4, 1, bad, -7, 2])
        out = np.full(5, 7, "f4")
        with pytest.raises(ValueError, match=rf"^tilefold.reduce_by_index: item 3 has the index {shown}, but there are 5"):
            tilefold.reduce_by_index(indices, x, 5, out=out)
        assert (out == 7).all()
        got = tilefold.reduce_by_index(indices, x, 5, mode="drop")
        assert same_bits(got, np.array([x[0], x[2], x[5], -0.0, x[1]], "f4"))
    with pytest.raises(ValueError, match="item 0 has the index 18446744073709551615, but there are 5 results"):
        tilefold.reduce_by_index(np.array([2**64 - 1], "u8"), x[:1], 5)
    with pytest.raises(ValueError, match="item 1 has the index -1, but there are 1 results"):
        tilefold.reduce_by_index([0, -1], [1, 2])
    with pytest.raises(ValueError, match="num_results is 9223372036854775808"):
        tilefold.reduce_by_index(np.array([2**63 - 1]), x[:1])
    assert same_bits(tilefold.reduce_by_index([-1, -1], x[:2], 2, mode="drop"), np.float32([-0.0, -0.0]))


def test_the_number_of_results():
    x = items("f4", 3)
    assert same_bits(tilefold.reduce_by_index([2, 0, 2], x), np.array([x[1], -0.0, x[0] + x[2]], "f4"))
    assert tilefold.reduce_by_index(np.array([2, 0, 2], "u1"), x, np.int16(7)).shape == (7,)
    for none in ([], np.zeros(0, "i4")):
        assert tilefold.reduce_by_index(none, x[:0]).shape == (0,)
        assert same_bits(tilefold.reduce_by_index(none, x[:0], 2), np.float32([-0.0, -0.0]))
        assert tilefold.reduce_by_index(none, x[:0], 2, "minmax").tolist() == [[np.inf, -np.inf]] * 2
        assert tilefold.reduce_by_index(none, x[:0], 2, "argmax").tolist() == [-1, -1]
        assert tilefold.reduce_by_index(none, np.zeros((0, 3)), 2).shape == (2, 3)
    assert tilefold.reduce_by_index([5, 9], x[:2], 0, mode="drop").shape == (0,)
    with pytest.raises(ValueError, match="item 0 has the index 5, but there are 0 results"):
        tilefold.reduce_by_index([5, 9], x[:2], 0)


def test_out():
    x, indices = items("f4", (50, 2)), some_indices(50, 9)
    room = np.zeros((9, 4), "f4")
    assert tilefold.reduce_by_index(indices, x, 9, out=room[:, ::2]).base is room
    assert same_bits(room[:, ::2].copy(), tilefold.reduce_by_index(indices, x, 9)) and not room[:, 1::2].any()
    for bad in (np.zeros((9, 2)), np.zeros((8, 2), "f4"), [0] * 9):
        with pytest.raises(ValueError, match="out is a"):
            tilefold.reduce_by_index(indices, x, 9, out=bad)


@pytest.mark.parametrize("call, kind, text", [
    (lambda x: tilefold.reduce_by_index([0.0, 1.0], x), TypeError, "indices is float64, and must be integers"),
    (lambda x: tilefold.reduce_by_index([True, False], x), TypeError, "indices is bool"),
    (lambda x: tilefold.reduce_by_index(np.zeros(0), x[:0]), TypeError, "indices is float64"),
    (lambda x: tilefold.reduce_by_index([[0, 1]], x), ValueError, r"indices has the shape \(1, 2\)"),
    (lambda x: tilefold.reduce_by_index(3, x), ValueError, r"indices has the shape \(\)"),
    (lambda x: tilefold.reduce_by_index([0, 1, 2], x), ValueError, r"indices are 3, and values have the shape \(2,\)"),
    (lambda x: tilefold.reduce_by_index([0], 3.0), ValueError, r"indices are 1, and values have the shape \(\)"),
    (lambda x: tilefold.reduce_by_index([0, 1], x, -1), ValueError, "num_results is -1"),
    (lambda x: tilefold.reduce_by_index([0, 1], x, 2.0), TypeError, "num_results is 2.0"),
    (lambda x: tilefold.reduce_by_index([0, 1], x, 2, mode="clip"), ValueError, "mode is 'clip'"),
    (lambda x: tilefold.reduce_by_index([0, 1], x, 2, "summ"), ValueError, "no operation 'summ'"),
    (lambda x: tilefold.reduce_by_index([0, 1], [None, 1], 2), TypeError, "object"),
    (lambda x: tilefold.reduce_by_index([0, 1], x, 2, stream=3), ValueError, "stream is for arrays of a GPU"),
    (lambda x: tilefold.bincount([0, -2, 1]), ValueError, "item 1 has the index -2"),
    (lambda x: tilefold.bincount([0, -2, 1], [1, 2, 3]), ValueError, "item 1 has the index -2, and must not be negative"),
    (lambda x: tilefold.bincount([0], minlength=True), TypeError, "minlength is True, and must be an integer"),
    (lambda x: tilefold.reduce_by_index([0], [1.0], True), TypeError, "num_results is True, and must be an integer"),
    (lambda x: tilefold.bincount([0.5]), TypeError, "x is float64"),
    (lambda x: tilefold.bincount([[1]]), ValueError, r"x has the shape \(1, 1\)"),
    (lambda x: tilefold.bincount([0, 1], [1.0]), ValueError, r"x has the shape \(2,\), and weights \(1,\)"),
    (lambda x: tilefold.bincount([0, 1], [1j, 2]), TypeError, "weights are complex128"),
    (lambda x: tilefold.bincount([0, 1], ["a", "b"]), TypeError, "weights are <U1"),
    (lambda x: tilefold.bincount([0, 1], minlength=-1), ValueError, "minlength is -1"),
    (lambda x: tilefold.bincount([0, 1], minlength=None), TypeError, "minlength is None"),
])
def test_bad_input_is_named(call, kind, text):
    with pytest.raises(kind, match=text):
        call(items("f4", 2))


@pytest.mark.parametrize("dtype", oracle.INTEGERS)
def test_bincount(dtype):
    x = some_indices(1000, 60).astype(dtype)
    for minlength in (0, 3, 200):
        got = tilefold.bincount(x, minlength=minlength)
        assert got.dtype == np.int64 and np.array_equal(got, np.bincount(x.astype("i8"), minlength=minlength))
    for of_weights in ("f8", "f4", "f2", "bfloat16", "i2", "?", ">f8"):
        weights = items(of_weights.lstrip(">"), 1000).astype(of_weights if of_weights != "bfloat16" else None)
        got = tilefold.bincount(x, weights, 70)
        assert same_bits(got, expected_of(x, weights.astype("f8"), 70, "sum") + 0.0)
        np.testing.assert_allclose(got, np.bincount(x.astype("i8"), weights.astype("f8"), 70), rtol=1e-12, atol=1e-10)


def test_bincount_of_little():
    assert tilefold.bincount([]).shape == (0,) and tilefold.bincount([], minlength=2).tolist() == [0, 0]
    assert tilefold.bincount(np.zeros(0, "i4"), np.zeros(0)).dtype == np.float64
    got = tilefold.bincount([2, 2], [-0.0, -0.0])
    assert same_bits(got, np.bincount([2, 2], [-0.0, -0.0])) and not np.signbit(got).any()
    assert np.isnan(tilefold.bincount([0, 1, 1], [1, np.inf, -np.inf])).tolist() == [False, True]


def test_a_sum_does_not_depend_on_other_bins():
    x = special("f4", 5000)
    x[~np.isfinite(x)] = 3
    indices = some_indices(5000, 50)
    got = tilefold.reduce_by_index(indices, x, 50)
    for i in (0, 7, 31):
        others = np.where(indices == i, i, 49 - indices // 2)
        assert same_bits(tilefold.reduce_by_index(np.where(others == i, indices, others), x, 50)[i],
                         tilefold.sum(x[np.where(others == i, indices, others) == i]))
        kept = indices == i
        assert same_bits(tilefold.reduce_by_index(indices[kept], x[kept], 50)[i], got[i])
