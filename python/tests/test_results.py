# SPDX-License-Identifier: Apache-2.0
#
# Every operation of every dtype along every axis, against NumPy, the definition of the order, and fractions.
import itertools
import math

import numpy as np
import oracle
import pytest
from oracle import items, same_bits

import tilefold

pytestmark = pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
SHAPE = (3, 5, 7)
AXES = [None, 0, 1, -1, -3, (0, 2), (-1, 0), (0, 1, 2), (1,), ()]


def reference(op, x, axis, keepdims):
    axes = range(x.ndim) if axis is None else [i % x.ndim for i in (axis if isinstance(axis, tuple) else (axis,))]
    rows, shape = oracle.rows_of(x, list(axes))
    expected = oracle.TABLE[op][1](rows)
    if op in oracle.AS_ITEMS and oracle.is_float(x.dtype):
        expected = expected.astype(x.dtype)
    if keepdims:
        shape = [1 if i in list(axes) else n for i, n in enumerate(x.shape)]
    return expected.reshape(shape + list(expected.shape[1:]))


@pytest.mark.parametrize("seed", oracle.SEEDS)
@pytest.mark.parametrize("op", oracle.TABLE)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_every_operation_of_every_dtype_along_every_axis(dtype, op, seed):
    x = oracle.items_for(op, dtype, SHAPE, seed)
    takes, tolerance = oracle.TABLE[op][0], oracle.tolerance_of(op, dtype)
    as_bool = dtype == "?" and op in ("min", "max", "minmax")  # the package's own
    if dtype not in takes and not as_bool:
        with pytest.raises(tilefold.UnsupportedError, match=f"no {oracle.IN_PYTHON.get(op, op)} of "):
            tilefold.reduce(x, op)
        return
    for axis, keepdims in itertools.product(AXES, (False, True)):
        got = tilefold.reduce(x, op, axis, keepdims=keepdims)
        expected = reference(op, x, axis, keepdims)
        if tolerance == 0:
            assert same_bits(got, expected), (axis, keepdims)
        else:
            # Items cancel; so do the greatest item and the logarithm of the sum, where the result is near 0.
            scale = np.max(np.abs(x.astype("f8"))) if op == "mean" else 1 if op == "logsumexp" else 0
            assert got.shape == expected.shape and got.dtype == expected.dtype
            np.testing.assert_allclose(got.astype("f8"), expected.astype("f8"), tolerance, tolerance * scale,
                                       err_msg=str(axis))


@pytest.mark.parametrize("seed", oracle.SEEDS)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_columns_that_stand_side_by_side(dtype, seed):
    """Around the lanes of a vector, runs of 8 rows and the tasks of two threads."""
    for op in ("sum", "product", "min", "max", "arg_min", "arg_max", "any", "all", "count_nonzero"):
        if dtype not in oracle.TABLE[op][0]:
            continue
        for rows, columns in ((1, 3), (7, 16), (8, 64), (9, 33), (300, 65), (2500, 70)):
            x = oracle.items_for(op, dtype, (rows, columns), seed)
            if op in ("any", "all", "count_nonzero"):  # columns of few that are 0, and of few that are not
                rare = np.random.default_rng(seed).random(x.shape) * rows < 0.5
                x[rare] = 0
                x[:, ::2] *= rare[:, ::2]
            if dtype == "?" and op == "product":
                x = np.random.default_rng(seed).random(x.shape) * rows >= 0.5
            if dtype == "?":  # any byte but 0 is true
                x = (x.view("u1") * np.uint8(3)).view("?")
            got, expected = tilefold.reduce(x, op, 0), reference(op, x.view("u1") != 0 if dtype == "?" else x, 0, False)
            assert same_bits(got, expected), (op, rows, columns)


def test_truths_in_variances_of_columns():
    """Any byte but 0 is 1: with the bits of columns of 0 and 1, which NumPy's variances confirm."""
    for rows, columns in ((7, 16), (9, 33), (300, 65), (2500, 70)):
        truths = np.random.default_rng(columns).random((rows, columns)) < 0.3
        bytes_of_them = (truths.view("u1") * np.random.default_rng(rows).integers(1, 256, truths.shape, "u1")).view("?")
        got = tilefold.var(bytes_of_them, axis=0)
        assert same_bits(got, tilefold.var(truths.astype("u1"), axis=0)), (rows, columns)
        np.testing.assert_allclose(got, truths.astype("f8").var(0), rtol=1e-12)


@pytest.mark.parametrize("seed", oracle.SEEDS)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_rows_around_vectors(dtype, seed):
    """Items that are found twice, rows that begin anywhere, and enough rows for two threads."""
    for op in ("product", "min", "max", "arg_min", "arg_max", "any", "all"):
        if dtype not in oracle.TABLE[op][0]:
            continue
        for length in (1, 31, 32, 33, 64, 65, 100, 127, 257, 1100):
            rows = 3000 if length == 100 else 9
            rng = np.random.default_rng([seed, length])
            x = rng.choice(oracle.items_for(op, dtype, 40, seed), (rows, length))
            if dtype == "?" or op in ("any", "all"):  # the one that decides stands at a place of its own, or nowhere
                usual = op in ("product", "min", "arg_min", "all")
                x = np.full((rows, length), usual, x.dtype)
                x[np.arange(rows // 2), rng.integers(0, length, rows // 2)] = not usual
            if dtype == "?":  # any byte but 0 is true
                x = (x.view("u1") * np.uint8(3)).view("?")
            got, expected = tilefold.reduce(x, op, 1), reference(op, x.view("u1") != 0 if dtype == "?" else x, 1, False)
            assert same_bits(got, expected), (op, length)


def test_the_table_has_every_operation_of_libtilefold():
    assert {tilefold._library.name_of_op(op).decode() for op in oracle.TABLE} | {"summary"} == set(tilefold._library._names_of_c())


@pytest.mark.parametrize("seed", oracle.SEEDS)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_long_ranges(dtype, seed):
    for n in (1, 2, 1000, 100_003, 600_001):
        x = items(dtype, n, [seed, n])
        for op in ("sum", "min", "max", "arg_min", "count_nonzero"):
            if dtype in oracle.TABLE[op][0]:
                assert same_bits(tilefold.reduce(x, op), oracle.TABLE[op][1](x[None])[0]), (op, n)


def test_functions_are_their_operations():
    x = items("f8", (4, 50)) / 16
    for function, op in [("min", "min"), ("max", "max"), ("minmax", "minmax"), ("mean", "mean"),
                         ("argmin", "arg_min"), ("argmax", "arg_max"), ("any", "any"), ("all", "all"),
                         ("count_nonzero", "count_nonzero"), ("logsumexp", "logsumexp"), ("norm", "l2"),
                         ("exact_sum", "exact_sum"), ("exact_mean", "exact_mean"),
                         ("compensated_sum", "compensated_sum"), ("sum", "sum"),
                         ("prod", "product"), ("var", "population_variance"),
                         ("std", "population_standard_deviation")]:
        for axis in (None, 0, -1):
            got = getattr(tilefold, function)(x, axis=axis, keepdims=True)
            assert same_bits(got, tilefold.reduce(x, op, axis, keepdims=True)), function
            out = np.empty_like(got)
            assert getattr(tilefold, function)(x, axis=axis, keepdims=True, out=out) is out
            assert same_bits(out, got), function
    assert same_bits(tilefold.var(x, 0, ddof=1), tilefold.reduce(x, "variance", 0))
    assert same_bits(tilefold.std(x, 0, ddof=1), tilefold.reduce(x, "standard_deviation", 0))
    assert same_bits(tilefold.std(x), np.sqrt(tilefold.var(x)))
    assert same_bits(tilefold.norm(x, 1), tilefold.reduce(x, "l1"))
    assert same_bits(tilefold.norm(x, math.inf, 1), tilefold.reduce(x, "linf", 1))


@pytest.mark.parametrize("seed", oracle.SEEDS)
@pytest.mark.parametrize("dtype", oracle.REAL)
def test_where_a_result_is_exact_it_is_numpys(dtype, seed):
    x = items(dtype, (30, 7), seed)
    plain = x.astype("f4") if dtype == "bfloat16" else x
    for axis in (None, 0, 1, (0, 1)):
        for name in ("min", "max", "any", "all", "count_nonzero"):
            expected = getattr(np, name)(plain, axis=axis)
            got = getattr(tilefold, name)(x, axis=axis)
            assert np.array_equal(got, expected), name
            assert got.dtype == (x.dtype if name in ("min", "max") else np.asarray(expected).dtype), name
            assert isinstance(got, np.ndarray) == isinstance(expected, np.ndarray), name
        if np.dtype(x.dtype).kind in "iub":
            assert same_bits(tilefold.sum(x, axis), np.sum(x, axis)), "64 bits, wrapped"
            assert same_bits(tilefold.prod(x, axis), np.prod(x, axis))
    for axis in (None, 0, 1):
        assert np.array_equal(tilefold.argmin(x, axis), np.argmin(plain, axis))
        assert np.array_equal(tilefold.argmax(x, axis, keepdims=True), np.argmax(plain, axis, keepdims=True))


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("wanted", ["i1", "i4", "i8", "u2", "u8", "f2", "f4", "f8", ">f8", "c8", "c16", "?"])
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_a_dtype_converts_items_and_is_that_of_the_result(dtype, wanted):
    x = items(dtype, (4, 9), 3)
    if wanted == "f2" or np.dtype(wanted).kind in "iu" and x.dtype.kind not in "iub":
        x = np.minimum(np.abs(x), 100).astype(x.dtype)  # what the other type cannot hold has no meaning
    native = np.dtype(wanted).newbyteorder("=")
    with np.errstate(all="ignore"):
        converted = x.astype(native)
    accumulator = oracle.wide(native) if native.kind in "iub" else oracle.narrow(native)
    expected = oracle.tree(converted.astype(accumulator), np.add).astype(native)
    got = tilefold.sum(x, axis=1, dtype=wanted)
    assert same_bits(got, expected)
    out = np.empty(4, native)
    assert tilefold.sum(x, 1, dtype=wanted, out=out) is out and same_bits(out, expected)


def test_dtype_of_numpys_own_meaning():
    assert same_bits(tilefold.sum(np.full(3, 100, "i1"), dtype="i1"), np.sum(np.full(3, 100, "i1"), dtype="i1"))
    assert same_bits(tilefold.prod([2, 3], dtype="f4"), np.float32(6))
    with pytest.raises(TypeError, match="object"):
        tilefold.sum([1, 2], dtype=object)


def test_nan_and_signed_zeros():
    for dtype in ("f2", "f4", "f8"):
        nan = np.array([1, np.nan, -5, np.nan, 7], dtype)
        assert np.isnan(tilefold.min(nan)) and np.isnan(tilefold.max(nan)) and np.isnan(tilefold.sum(nan))
        assert tilefold.argmin(nan) == tilefold.argmax(nan) == 1
        zeros = np.array([0.0, -0.0, 0.0], dtype)
        assert np.signbit(tilefold.min(zeros)) and not np.signbit(tilefold.max(zeros))
        assert np.isnan(tilefold.mean(nan)) and np.isnan(tilefold.logsumexp(nan))
        assert tilefold.count_nonzero(np.array([0.0, -0.0, np.nan], dtype)) == 1
        for made in (tilefold.prod(np.array([[np.inf, 0, 3]] * 9, dtype), axis=1), tilefold.sum(np.array([np.inf, -np.inf], dtype))):
            assert np.isnan(made).all() and not np.signbit(made).any()  # x86 makes NaNs with a sign
    assert tilefold.sum(np.array([np.inf, 1.0])) == np.inf
    assert np.isnan(tilefold.exact_sum(np.array([np.inf, -np.inf])))


@pytest.mark.parametrize("seed", oracle.SEEDS)
def test_exact_sums_need_no_order(seed):
    rng = np.random.default_rng(seed)
    x = np.concatenate([items("f8", 20_000, seed) * 1e300, items("f8", 20_000, seed), [5e-324]])
    x = np.concatenate([x, -x, items("f8", 10, seed)])
    expected = math.fsum(x)
    for _ in range(3):
        rng.shuffle(x)
        assert tilefold.exact_sum(x) == expected
        assert same_bits(tilefold.exact_sum(x[None], axis=1), np.array([expected]))
    assert tilefold.sum(x) != expected, "the data is hard"


def test_statistics_in_one_read():
    for dtype in oracle.REAL:
        x = items(dtype, (7, 40))
        found = tilefold.stats(x)
        wide = x.astype("f8")
        assert found.count == 280 and found.min == wide.min() and found.max == wide.max()
        assert same_bits(np.float64(found.mean), tilefold.mean(x, dtype="f8"))
        assert same_bits(np.float64(found.variance), tilefold.var(x, dtype="f8"))
        assert tilefold.stats(x, ddof=1).variance == tilefold.var(x, ddof=1, dtype="f8")
        assert tilefold.stats(x.T[::-1]) == tilefold.stats(np.ascontiguousarray(x.T[::-1]))
    nothing = tilefold.stats(np.zeros(0))
    assert nothing.count == 0 and nothing[3:] == (math.inf, -math.inf)
    assert math.isnan(nothing.mean) and math.isnan(nothing.variance)
    with pytest.raises(tilefold.UnsupportedError, match="complex64"):
        tilefold.stats(np.zeros(3, "c8"))


@pytest.mark.parametrize("seed", oracle.SEEDS)
def test_dot_products(seed):
    for dtype in oracle.INTEGERS + oracle.FLOATS:
        x, y = items(dtype, (9, 37), [seed, 1]), items(dtype, (9, 37), [seed, 2])
        accumulator = oracle.narrow(x.dtype)
        products = x.astype(accumulator) * y.astype(accumulator)
        assert same_bits(tilefold.vdot(x, y), oracle.tree(products.reshape(1, -1), np.add)[0]), dtype
        assert same_bits(tilefold.vdot(x.T, y.T), oracle.tree(products.T.reshape(1, -1), np.add)[0]), dtype
    with pytest.raises(tilefold.ArgumentError, match="3 items of float64 and 4 of float64"):
        tilefold.vdot(np.zeros(3), np.zeros(4))


NOTHING = {  # of float32, from docs/c.md
    "sum": -0.0, "sum64": -0.0, "product": 1, "product64": 1, "min": np.inf, "max": -np.inf, "minmax": [np.inf, -np.inf],
    "any": False, "all": True, "count_nonzero": 0, "l1": 0, "l2": 0, "linf": 0, "logsumexp": -np.inf,
    "softmax_pair": [-np.inf, 0], "compensated_sum": -0.0, "exact_sum": 0, "torch_sum": 0, "torch_product": 1,
}


@pytest.mark.parametrize("op", oracle.TABLE)
def test_nothing(op):
    nothing = np.zeros((3, 0, 2), "f4")
    if "f4" in oracle.TABLE[op][0]:
        dtype = tilefold.reduce(np.ones(1, "f4"), op).dtype
        for axis, shape in ((None, ()), (1, (3, 2)), ((0, 1), (2,))):
            if op in NOTHING:
                expected = np.broadcast_to(np.array(NOTHING[op], dtype), shape + np.shape(NOTHING[op]))
                assert same_bits(tilefold.reduce(nothing, op, axis), expected), axis
            else:
                with pytest.raises(tilefold.EmptyError, match=f"and {oracle.IN_PYTHON.get(op, op)} has no result"):
                    tilefold.reduce(nothing, op, axis)
        assert tilefold.reduce(nothing, op, 0).size == 0, "no results of something"
        assert tilefold.reduce(nothing, op, 2).size == 0
    assert tilefold.min(np.zeros(0, "i2")) == 32767 and tilefold.max(np.zeros(0, "u2")) == 0
    assert tilefold.reduce(np.zeros(0, "u1"), "bit_and") == 255
    assert tilefold.reduce(np.zeros(0, "u1"), "checked_sum").tolist() == [0, 1]
    assert tilefold.reduce(np.zeros(0, "u1"), "sum32") == 0 and tilefold.reduce(np.zeros(0, "i2"), "product32") == 1


def test_no_axis():
    for dtype in oracle.DTYPES:
        x = items(dtype, ())
        assert tilefold.sum(x) == x and tilefold.sum(x, axis=()) == x and np.shape(tilefold.sum(x)) == ()
        assert tilefold.sum(x, keepdims=True).shape == ()
        assert tilefold.sum(x[()]) == x
    assert tilefold.sum([1, 2, 3]) == 6 and isinstance(tilefold.sum([1, 2, 3]), np.int64)
    assert isinstance(tilefold.sum(np.ones(3)), np.float64) and isinstance(tilefold.mean(5), np.float64)
    assert tilefold.sum(True) == 1 and tilefold.argmin(7.0) == 0


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8"])
def test_questions_and_places_that_are_found_in_other_ways(dtype):
    for n in (0, 1, 2, 17, 1000, 70_001):
        zeros = np.zeros(n, dtype)
        rows = [zeros, zeros + np.ones(1, dtype)]
        for at in {0, n // 2, n - 1} if n else ():
            for value in (1, -0.0, math.nan, -1) if dtype[0] == "f" else (1, np.iinfo(dtype).min if dtype[0] == "i" else 1):
                for base in rows[:2]:
                    row = base.copy()
                    row[at] = value
                    rows.append(row)
                    rows.append((1 - base if dtype != "?" else ~base).astype(dtype))
        for x in rows:
            for name in ("any", "all", "count_nonzero"):
                expected = getattr(np, name)(x)
                for layout in (x, x.reshape(1, -1), np.repeat(x, 2)[::2]):
                    got = getattr(tilefold, name)(layout)
                    assert got == expected and type(got) is type(np.asarray(expected)[()]), (name, n)
                assert np.array_equal(getattr(tilefold, name)(x.reshape(-1, 1), axis=0), np.atleast_1d(expected))
            if dtype == "?":
                assert tilefold.sum(x) == np.sum(x) and isinstance(tilefold.sum(x), np.int64)
            for name in ("argmax", "argmin") if dtype[0] != "f" else ():  # whose zeros have an order
                if n:
                    got = getattr(tilefold, name)(x)
                    assert got == getattr(np, name)(x) and isinstance(got, np.int64)
                else:
                    with pytest.raises(tilefold.EmptyError, match=f"tilefold.{name}: "):
                        getattr(tilefold, name)(x)


@pytest.mark.parametrize("seed", oracle.SEEDS)
@pytest.mark.parametrize("dtype", oracle.REAL)
def test_means_have_the_bits_of_the_tree_in_float64(dtype, seed):
    """Whose sums are of integers, too; of all items, of rows, along axis 0, and of deviations the sums alone."""
    for n in (1, 3, 1000, 4097, 70_001, 2 ** 20 + 1):
        extreme = np.full(n, np.iinfo(dtype).max if dtype[0] in "iu" else 1).astype(oracle.dtype_of(dtype))
        for x in (items(dtype, n, [seed, n]), extreme):
            expected = oracle.tree(x[None].astype("f8"), np.add)[0] / n
            expected = expected.astype(x.dtype) if oracle.is_float(x.dtype) else expected
            assert same_bits(tilefold.mean(x), expected), n
            assert same_bits(tilefold.segment_reduce(x, [0, n], "mean")[0], expected), n
            assert same_bits(tilefold.mean(np.repeat(x, 2)[::2]), expected), n
            assert same_bits(tilefold.mean(x[:, None], 0)[0], expected), n
            if dtype not in ("f2", "bfloat16", "f4"):
                assert same_bits(tilefold.var(x), tilefold.var(x.astype("f8"))), n


#: The names of operations whose results no order can change.
EXACT = ("sum", "min", "max", "minmax", "arg_min", "arg_max", "any", "all", "count_nonzero")


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_exact_results_of_ranges_that_begin_anywhere(dtype):
    """Where another way begins: vectors, blocks, threads, NumPy's own, by the size of an item."""
    size = oracle.dtype_of(dtype).itemsize
    for byte_count in (0, 16, 64, 1024, 2 ** 14, 2 ** 18, 2 ** 20, 2 ** 21):
        for n in {byte_count // size - 1, byte_count // size, byte_count // size + 1, byte_count // size + 5}:
            if n < 1:
                continue
            memory = items(dtype, n + 3, n)
            memory[np.random.default_rng(n).integers(0, n + 3, n // 3)] = 0
            for start in (0, 1, 3):
                x = memory[start:start + n]
                for op in EXACT:
                    if dtype not in oracle.TABLE[op][0] or op == "sum" and (x.dtype.kind in "fc" or x.dtype.name == "bfloat16"):
                        continue
                    assert same_bits(tilefold.reduce(x, op), oracle.TABLE[op][1](x[None])[0]), (op, n, start)


def test_bools_of_any_byte():
    for n in (1, 5, 63, 64, 1000, 70_001, 2 ** 20 + 1):
        for values in ([0], [2], [0, 1, 2, 255], [255, 0]):
            byte = np.resize(np.array(values, "u1"), n)
            x, clean = byte.view(bool), byte != 0
            for name in ("sum", "min", "max", "any", "all", "count_nonzero", "argmin", "argmax"):
                assert same_bits(getattr(tilefold, name)(x), getattr(np, name)(clean).astype(getattr(tilefold, name)(x).dtype)
                                 if name != "count_nonzero" else np.int64(np.count_nonzero(clean))), (name, n, values)
            assert tilefold.mean(x) == np.mean(clean, dtype="f8") and tilefold.minmax(x).tolist() == [clean.min(), clean.max()]
            assert tilefold.var(x) == tilefold.var(clean)
