# SPDX-License-Identifier: Apache-2.0
"""What users of NumPy and of the array API expect of names, arguments, dtypes and odd items."""
import inspect
import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import oracle
import pytest
from oracle import items, same_bits

import tilefold
from tilefold import _arrays

BYTES = np.array([0, 1, 2, 255, 0, 128], "u1")
FOLDS = ["sum", "prod", "min", "max", "minmax", "mean", "var", "std", "argmin", "argmax", "any", "all", "count_nonzero",
         "logsumexp", "norm", "exact_sum", "exact_mean", "compensated_sum"]


@pytest.mark.parametrize("name", FOLDS)
def test_what_follows_axis_is_named(name):
    function = getattr(tilefold, name)
    for bad in (np.float64, np.zeros(1), True):
        with pytest.raises(TypeError, match="positional argument"):
            function(*[np.ones((1, 4))] + ([2] if name == "norm" else []), 0, bad)
    for bad in (np.float64, np.zeros(()), 1, None, "yes"):
        with pytest.raises(tilefold.ArgumentError, match=f"tilefold.{name}: keepdims is .*, and must be True or False"):
            function(np.ones((1, 4)), keepdims=bad)
    assert function(np.ones((1, 4)), axis=0, keepdims=np.True_).shape[:2] == (1, 4)


def test_keepdims_of_the_other_functions():
    for call in (tilefold.stats, tilefold.fuse("mean"), lambda x, **k: tilefold.reduce(x, "sum", **k),
                 lambda x, **k: tilefold.mean(x, where=True, **k), lambda x, **k: tilefold.var(x, ddof=2, **k),
                 lambda x, **k: tilefold.sum(x, initial=1, **k)):
        with pytest.raises(tilefold.ArgumentError, match="keepdims is 'f8'"):
            call(np.ones(3), keepdims="f8")


@pytest.mark.parametrize("dtype", ["f2", "bfloat16", "f4", "f8", "i4", "?"])
def test_means_and_deviations_have_the_dtype_of_the_items(dtype):
    x = items(dtype, (40, 6))
    if dtype == "f2":
        x = x / x.dtype.type(64)
    expected = x.dtype if oracle.is_float(x.dtype) else np.dtype("f8")
    keys, offsets = np.repeat([1, 2], 20), [0, 15, 40]
    for name in ("mean", "var", "std"):
        function = getattr(tilefold, name)
        for axis in (None, 0, (0, 1)):
            wide = np.asarray(function(x, axis=axis, dtype="f8"))
            rounded = wide if expected == "f8" else np.vectorize(
                lambda one: oracle.nearest(expected, Fraction(float(one))), [expected])(wide)
            assert wide.dtype == np.float64
            for got in (function(x, axis=axis), tilefold.reduce(x, name, axis), getattr(tilefold.fuse(name)(x, axis), name),
                        function(x, axis=axis, where=True), function(x, axis=axis, dtype=expected)):
                assert same_bits(got, rounded), (name, axis)
            out = np.empty(wide.shape, expected)
            assert function(x, axis=axis, out=out) is out and same_bits(out, rounded)
        row = x[:, 0]
        alone = [function(row[a:b]) for a, b in zip(offsets, offsets[1:])]
        assert same_bits(tilefold.segment_reduce(row, offsets, name), np.array(alone))
        assert same_bits(tilefold.reduce_by_key(keys, row, name)[1], np.array([function(row[:20]), function(row[20:])]))
        assert same_bits(tilefold.batched([row, x], name), np.array([function(row), function(x)]))
        assert same_bits(tilefold.piece(row, 0, name).value(), function(row))


def test_a_bfloat16_is_rounded_once():
    # By way of a float32 the second rounding would meet a tie that is none.
    one, more = 1 + 2.0 ** -8, 1 + 2.0 ** -8 + 2.0 ** -40
    for value, expected in ((one, 1.0), (more, 1 + 2.0 ** -7), (-more, -1 - 2.0 ** -7), (math.inf, math.inf)):
        x = np.array([value, value])
        assert float(tilefold.mean(x, dtype=ml_dtypes.bfloat16)) == expected
    assert np.isnan(tilefold.mean([math.nan], dtype=ml_dtypes.bfloat16).astype("f4"))


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
def test_any_correction(dtype, name):
    x, mask = items(dtype, (7, 9)), ~np.eye(7, 9, dtype=bool)
    function, numpys = getattr(tilefold, name), getattr(np, name)
    result = np.dtype("f4" if dtype == "f4" else "f8")
    near = {"rtol": 1e-6 if dtype == "f4" else 1e-13, "atol": 0}
    for ddof in (2, 1.5, -1, 0.25, 3):
        for axis in (None, 0, (0, 1)):
            for more in ({}, {"keepdims": True}, {"where": mask}):
                expected = numpys(x.astype("f8"), axis=axis, ddof=ddof, **more)
                got = function(x, axis=axis, ddof=ddof, **more)
                assert got.dtype == result and got.shape == expected.shape
                np.testing.assert_allclose(got, expected, **near)
                assert same_bits(got, function(x, axis=axis, correction=ddof, **more))
                out = np.empty(expected.shape, result)
                assert function(x, axis=axis, ddof=ddof, out=out, **more) is out and same_bits(out, got)
            fused = getattr(tilefold.fuse(name)(x, axis, correction=ddof), name)
            assert same_bits(fused, function(x, axis=axis, ddof=ddof))
        if name == "var":
            assert same_bits(np.float64(tilefold.stats(x, ddof=ddof).variance), function(x, ddof=ddof, dtype="f8"))
            assert same_bits(tilefold.stats(x, 0, correction=ddof).variance, function(x, axis=0, ddof=ddof, dtype="f8"))
    for many in (7, 8, 100):
        assert np.isnan(function(x, axis=0, ddof=many)).all(), "as of one item with ddof=1"
    with pytest.raises(tilefold.EmptyError):
        function(x[:0], ddof=2)
    for bad in ("1", None, 1j, math.nan, math.inf, [1]):
        with pytest.raises(tilefold.ArgumentError, match=f"tilefold.{name}: ddof is"):
            function(x, ddof=bad)
    with pytest.raises(tilefold.UnsupportedError, match="no (var|std|population_variance) of complex64"):
        function(x.astype("c8"), ddof=2)


def test_one_variance():
    x = items("f8", 100)
    for ddof in (0, 1, 2):
        expected = tilefold.var(x, ddof=ddof)
        assert tilefold.stats(x, ddof=ddof).variance == expected == tilefold.fuse("var")(x, ddof=ddof).var
    assert tilefold.stats(x).variance == tilefold.var(x) == tilefold.fuse("var")(x).var == tilefold.reduce(x, "var")


@pytest.mark.parametrize("dtype", oracle.COMPLEX)
def test_products_of_complex_numbers(dtype):
    x = items(dtype, (5, 30)) / np.array(8, dtype)

    def join(a, b):
        made = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype)
        made.real = a.real * b.real - a.imag * b.imag
        made.imag = a.real * b.imag + a.imag * b.real
        return made

    expected = oracle.tree(x.copy(), join)
    assert same_bits(tilefold.prod(x, axis=1), expected)
    assert same_bits(tilefold.prod(x.T, axis=0), expected)
    assert tilefold.prod(np.zeros(0, dtype)) == 1 and tilefold.reduce(x[0], "product") == expected[0]
    assert np.allclose(tilefold.prod(x, axis=1, where=np.arange(30) < 4), np.prod(x[:, :4], axis=1))
    assert same_bits(tilefold.prod(x[0], initial=2), tilefold.prod(np.array([2, expected[0]], dtype)))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u1", "u2", "u4"])
def test_integers_are_added_in_64_bits_everywhere(dtype):
    most = np.full(4000, np.iinfo(dtype).max, dtype)
    total, wide = int(most[0]) * 4000, np.dtype("i8" if dtype[0] == "i" else "u8")
    for got in (tilefold.sum(most), tilefold.reduce(most, "sum"), tilefold.segment_reduce(most, [0, 4000])[0],
                tilefold.reduce_by_key(np.zeros(4000), most)[1][0], tilefold.batched([most])[0],
                tilefold.piece(most).value(), tilefold.sum(most.reshape(4, 1000), axis=(0, 1)),
                tilefold.sum(most[::-1]), tilefold.sum(most.reshape(2000, 2), axis=0).sum()):
        assert got == total and got.dtype == wide
    square = most[:1].repeat(2)
    for got in (tilefold.prod(square), tilefold.reduce(square, "product"), tilefold.piece(square, 0, "prod").value()):
        assert got == int(most[0]) ** 2 % 2 ** 64 and got.dtype == wide
    narrow = tilefold.reduce(most, "sum32")
    assert narrow.dtype == np.dtype(dtype[0] + "4") and int(narrow) % 2 ** 32 == total % 2 ** 32
    assert tilefold.reduce(square, "product32").dtype == narrow.dtype
    assert tilefold.vdot(square, square) == 2 * int(most[0]) ** 2 % 2 ** 64


def test_exact_sums_of_integers_do_not_wrap():
    for dtype, bad, good in [("u8", [2 ** 63] * 2, [2 ** 63, 2 ** 63 - 1]), ("i8", [2 ** 63 - 1, 1], [2 ** 63 - 1, -1]),
                             ("i8", [-2 ** 63, -1], [-2 ** 63, 2 ** 63 - 1]),
                             ("i8", [2 ** 63 - 1] * 3 + [-2 ** 63], [2 ** 63 - 1] * 3 + [-2 ** 63] * 2)]:
        bad, good = np.array(bad, dtype), np.array(good, dtype)
        assert int(tilefold.exact_sum(good)) == sum(map(int, good)) == int(tilefold.piece(good, 0, "exact_sum").value())
        rows = np.stack([np.zeros_like(bad), bad])
        for call in (lambda: tilefold.exact_sum(bad), lambda: tilefold.exact_sum(rows, axis=1),
                     lambda: tilefold.exact_sum(rows.T, axis=0), lambda: tilefold.segment_reduce(bad, [0, 0, len(bad)], "exact_sum"),
                     lambda: tilefold.batched([bad], "exact_sum"), lambda: tilefold.piece(bad, 0, "exact_sum").value(),
                     lambda: tilefold.exact_accumulator(dtype).add(bad).value()):
            with pytest.raises(tilefold.ArgumentError, match="exact sum of integers is about .*64 bits do not hold"):
                call()
        assert tilefold.exact_mean(bad) == sum(map(int, bad)) / len(bad)
    for items_of_sum in ([], [0], [1, -1], [0, 5], [-3]):
        x = np.array(items_of_sum, "i8")
        assert tilefold.exact_sum(x) == sum(items_of_sum) == tilefold.exact_accumulator("i8").add(x).value()


@pytest.mark.parametrize("dtype", ["i1", "i8", "u8", "?"])
def test_sums_with_a_verdict(dtype):
    x = np.concatenate([items(dtype, 30, 5), np.full(12, True if dtype == "?" else np.iinfo(dtype).max, dtype)]).reshape(6, 7)
    for axis, keepdims in ((None, False), (0, True), (1, False), ((0, 1), True)):
        found = tilefold.checked_sum(x, axis, keepdims=keepdims)
        both = tilefold.reduce(x, "checked_sum", axis, keepdims=keepdims)
        assert isinstance(found, tilefold.CheckedSum) and found.fits.dtype == bool
        assert same_bits(found.value, tilefold.sum(x, axis, keepdims=keepdims))
        assert np.array_equal(found.value, both[..., 0]) and np.array_equal(found.fits, both[..., 1] == 1)
        assert found.fits.shape == found.value.shape and np.asarray(found.value).flags.c_contiguous
        real = x.astype(object).sum(axis, keepdims=keepdims)
        assert np.array_equal(found.fits, np.asarray(found.value).astype(object) == real)
    some = np.arange(42).reshape(6, 7) % 3 == 0
    assert tilefold.checked_sum(x, 1, where=some)[1].tolist() == tilefold.checked_sum(np.where(some, x, x.dtype.type(0)), 1)[1].tolist()


def test_verdicts_turn_at_the_ends():
    most = 2 ** 63 - 1
    assert tilefold.checked_sum([most, 1]) == (-2 ** 63, False) and tilefold.checked_sum([most, 1, -1]) == (most, True)
    assert tilefold.checked_sum([-2 ** 63, -1]) == (most, False) and tilefold.checked_sum(np.zeros(0, int)) == (0, True)
    assert tilefold.checked_sum(np.array([2 ** 64 - 1, 1], "u8")) == (0, False)
    parts = tilefold.piece([most], 0, "checked_sum").merge(tilefold.piece([1, -1], 1, "checked_sum"))
    assert parts.value().tolist() == [most, 1]
    with pytest.raises(tilefold.UnsupportedError, match="no checked_sum of float64"):
        tilefold.checked_sum([1.0])
    with pytest.raises(tilefold.ArgumentError, match="keepdims"):
        tilefold.checked_sum([1], keepdims=1)


def test_dtypes_are_what_numpy_names():
    for name in ("float64", "<f8", ">f8", "d", "double", "half", "<q", ">q", "i8", "?", "B", np.float32, float, np.dtype(">i2")):
        plain = np.dtype(name).newbyteorder("=")
        assert tilefold.exact_accumulator(name).dtype == plain.name and tilefold.sum([1, 2], dtype=name).dtype == plain
        if plain.kind == "f":
            assert tilefold.mean([1, 2], dtype=name).dtype == plain
    assert tilefold.sum([1, 2], dtype="bfloat16").dtype == ml_dtypes.bfloat16
    assert tilefold.exact_accumulator("bfloat16").dtype == "bfloat16"
    for bad in ("float63", "O", "U3"):
        with pytest.raises(TypeError):
            tilefold.sum([1, 2], dtype=bad)


BOOL_CALLS = {
    **{name: getattr(tilefold, name) for name in FOLDS if name != "compensated_sum"},
    "sum of an axis": lambda x: tilefold.sum(x.reshape(2, 3), axis=0), "max of an axis": lambda x: tilefold.max(x.reshape(2, 3), axis=0),
    "argmax of an axis": lambda x: tilefold.argmax(x.reshape(3, 2).T, axis=0), "inf": lambda x: tilefold.norm(x, math.inf),
    "stats": tilefold.stats, "fuse": tilefold.fuse("sum", "mean", "max", "argmax"), "vdot": lambda x: tilefold.vdot(x, x),
    "vdot of two": lambda x: tilefold.vdot(x, x[::-1]), "segments": lambda x: tilefold.segment_reduce(x, [0, 3, 6]),
    "values": lambda x: tilefold.reduce_by_key([1, 1, 1, 2, 2, 2], x)[1],
    "by index": lambda x: tilefold.reduce_by_index(np.arange(len(x)) % 4, x),
    "keys": lambda x: tilefold.reduce_by_key(x, np.ones(len(x)))[1], "batched": lambda x: tilefold.batched([x, x[1:]]),
    "piece": lambda x: tilefold.piece(x).value(), "piece of max": lambda x: tilefold.piece(x, 0, "max").value(),
    "accumulator": lambda x: tilefold.exact_accumulator("?").add(x).value(), "dtype": lambda x: tilefold.sum(x, dtype="f4"),
    "where": lambda x: tilefold.sum(np.arange(6), where=x), "where of means": lambda x: tilefold.mean(np.arange(6), where=x),
    "where of means along an axis": lambda x: tilefold.var(np.arange(12).reshape(2, 6), axis=1, where=x),
    "checked_sum": tilefold.checked_sum, "stats of an axis": lambda x: tilefold.stats(x.reshape(2, 3), 1),
    "fuse of an axis": lambda x: tuple(tilefold.fuse("mean", "min", "any")(x.reshape(2, 3), 0)),
    **{f"reduce by {op}": lambda x, op=op: tilefold.reduce(x, op) for op in [*oracle.TABLE, "summary"]
       if "?" in oracle.TABLE.get(op, ["?"])[0]},
}


@pytest.mark.parametrize("name", BOOL_CALLS)
def test_any_byte_of_a_bool_but_0_is_true(name):
    call = BOOL_CALLS[name]
    for many in (1, 300):
        if many > 1 and ("axis" in name or name in ("segments", "values", "where", "where of means")):
            continue
        odd, plain = np.tile(BYTES, many).view(bool), np.tile(BYTES, many) != 0
        expected = call(plain)
        for x in (odd, Versioned(odd)) if name in FOLDS + ["stats", "piece", "accumulator"] else (odd,):
            got = call(x)
            assert type(got) is type(expected)
            for a, b in zip(np.atleast_1d(got), np.atleast_1d(expected)):
                assert same_bits(a, b), (got, expected)
    assert tilefold.sum(BYTES.view(bool)) == 4 and tilefold.argmax(BYTES.view(bool)) == 1


@pytest.mark.parametrize("source", ["f2", "f4", "f8", "bfloat16"])
@pytest.mark.parametrize("dtype", oracle.INTEGERS)
def test_floats_become_integers_as_everywhere(dtype, source):
    source, info = oracle.dtype_of(source), np.iinfo(dtype)
    values = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.75, -1.75, 0.5, -0.5, 300.5, -300.5, 1e5, -1e5, 1e20, -1e20, 3e38]
    values += [float(info.max), float(info.min), float(info.max) * 2, float(info.min) / 2]
    with np.errstate(over="ignore"):
        x = np.array(values).astype(source)
    for one in x:
        real = float(one)
        expected = 0 if math.isnan(real) else info.max if real >= info.max else info.min if real <= info.min else int(real)
        got = tilefold.sum(np.array([one]), dtype=dtype)
        assert int(got) == expected and got.dtype == dtype, real
        assert tilefold.prod(np.array(one), dtype=dtype) == expected
    assert tilefold.sum([math.nan, 1.0], dtype=int) == 1


def test_vdot_of_complex_numbers_and_bool():
    for dtype in oracle.COMPLEX:
        x, y = items(dtype, 50), items(dtype, 50, 2)
        terms = np.empty(50, dtype)
        terms.real = x.real * y.real - (-x.imag) * y.imag
        terms.imag = x.real * y.imag + (-x.imag) * y.real
        got = tilefold.vdot(x, y)
        assert same_bits(got, oracle.tree(terms[None], np.add)[0]) and np.allclose(got, np.vdot(x, y))
    x, y = items("?", 999), items("?", 999, 2)
    assert tilefold.vdot(x, y) == np.count_nonzero(x & y) and tilefold.vdot(x[:0], y[:0]) == 0


@pytest.mark.parametrize("dtype", oracle.REAL)
def test_the_greatest_size_of_all_dtypes(dtype):
    x = items(dtype, (30, 4))
    wide = np.abs(x.astype("f8"))
    result = {"f8": "f8", "f4": "f4", "f2": "f4", "bfloat16": "f4"}.get(dtype, "f8")
    for axis in (None, 0, 1):
        assert same_bits(tilefold.norm(x, math.inf, axis), np.max(wide, axis).astype(result))
    if dtype[0] == "i":
        assert tilefold.norm(np.array([np.iinfo(dtype).min], dtype), math.inf) == -float(np.iinfo(dtype).min)
    assert tilefold.norm(x[:0], math.inf) == 0


def test_the_norm_of_a_matrix_is_that_of_a_vector():
    x = items("f8", (4, 5))
    assert same_bits(tilefold.norm(x), tilefold.norm(x.ravel())) and np.isclose(tilefold.norm(x), np.linalg.norm(x, "fro"))


ALIASES = {"prod": "product", "argmin": "arg_min", "argmax": "arg_max", "var": "population_variance",
           "std": "population_standard_deviation", "norm": "l2"}


@pytest.mark.parametrize("name", FOLDS)
def test_one_vocabulary(name):
    x = items("f8", (4, 25)) / 16
    expected = getattr(tilefold, name)(x)
    for op in {name, ALIASES.get(name, name)}:
        assert same_bits(tilefold.reduce(x, op), expected)
        assert same_bits(tilefold.piece(x, 0, op).value(), expected)
        assert same_bits(tilefold.segment_reduce(x.ravel(), [0, 100], op)[0], expected)
        assert same_bits(tilefold.batched([x], op)[0], expected)
        assert same_bits(getattr(tilefold.fuse(op)(x), op), expected)


def test_a_name_that_is_near_is_proposed():
    for bad, near in (("summ", "sum"), ("varience", "variance"), ("arg_mx", "arg_max"), ("count", "count_nonzero")):
        with pytest.raises(tilefold.ArgumentError, match=f"'{bad}'.* did you mean '{near}'|'{bad}'; there are"):
            tilefold.reduce(np.ones(3), bad)
    with pytest.raises(tilefold.ArgumentError, match="no operation 'arg_mim', did you mean 'arg"):
        tilefold.reduce(np.ones(3), "arg_mim")
    with pytest.raises(tilefold.ArgumentError, match="no operation 'medan', did you mean 'mean'"):
        tilefold.fuse("medan")


@pytest.mark.parametrize("call, name", [
    (lambda: tilefold.mean(np.zeros(0)), "mean"), (lambda: tilefold.max(np.zeros(3), 2), "max"),
    (lambda: tilefold.sum(np.zeros(3, "M8[s]")), "sum"), (lambda: tilefold.argmin(np.zeros((0, 2)), 0), "argmin"),
    (lambda: tilefold.min(np.zeros(3, "c8")), "min"), (lambda: tilefold.reduce(np.zeros(3), "mad"), "reduce"),
    (lambda: tilefold.segment_reduce(np.zeros(3), [0, 4]), "segment_reduce"), (lambda: tilefold.stats(np.zeros(2, "c8")), "stats"),
    (lambda: tilefold.reduce_by_index([3], [1], 2), "reduce_by_index"), (lambda: tilefold.bincount([-1]), "bincount"),
    (lambda: tilefold.reduce_by_key([1j], [1]), "reduce_by_key"), (lambda: tilefold.batched([[]], "mean"), "batched"),
    (lambda: tilefold.fuse("mean")([]), "fuse"), (lambda: tilefold.fuse("mode"), "fuse"),
    (lambda: tilefold.piece([1], -1), "piece"), (lambda: tilefold.piece([1], 3).value(), "Piece.value"),
    (lambda: tilefold.piece([1]).merge(tilefold.piece([1], 2)), "Piece.merge"),
    (lambda: tilefold.Piece.from_bytes(b"x"), "Piece.from_bytes"),
    (lambda: tilefold.exact_accumulator("f8").mean(0), "ExactAccumulator.mean"),
    (lambda: tilefold.ExactAccumulator("c8"), "ExactAccumulator"), (lambda: tilefold.vdot([1], [1.0]), "vdot"),
    (lambda: tilefold.set_num_threads(-1), "set_num_threads"), (lambda: tilefold.sum([1], where=[3]), "sum"),
    (lambda: tilefold.norm([1.0], 7), "norm"), (lambda: tilefold.sum(np.ones(3), initial="x"), "sum"),
])
def test_errors_name_the_function_that_was_called(call, name):
    with pytest.raises(tilefold.TilefoldError) as caught:
        call()
    assert str(caught.value).startswith(f"tilefold.{name}: "), caught.value
    assert "tilefold_" not in str(caught.value)


def test_names_of_the_package():
    assert "Any" not in dir(tilefold)
    for name in tilefold.__all__:
        text = getattr(getattr(tilefold, name), "__doc__", None) or ""
        assert "docs/" not in text and ".md" not in text, name
    for kind in (tilefold.Piece, tilefold.ExactAccumulator):
        for name, member in vars(kind).items():
            assert "docs/" not in (inspect.getdoc(member) or ""), name
    assert "docs/" not in tilefold.__doc__


class Versioned:
    """An array of a library that speaks DLPack 1.x."""

    def __init__(self, array):
        self.array, self.asked = array, {}

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked = {"max_version": max_version, "copy": copy}
        return self.array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="this NumPy speaks DLPack 0")
def test_dlpack_of_version_1():
    x = items("f4", (6, 7))
    x.flags.writeable = False  # which a capsule of version 0 cannot say
    shown = Versioned(x)
    assert same_bits(tilefold.sum(shown, 0), tilefold.sum(x, 0)) and shown.asked == {"max_version": (1, 0), "copy": None}
    assert np.shares_memory(_arrays.items_of(shown), x) and not _arrays.items_of(shown).flags.writeable
    assert tilefold.stats(shown) == tilefold.stats(x) and tilefold.piece(shown).value() == tilefold.sum(x)
    with pytest.raises(tilefold.ArgumentError, match="out is a Versioned, and must be a NumPy array"):
        tilefold.sum(x, 0, out=shown)
    result = tilefold.sum(x, 0)
    assert np.shares_memory(np.from_dlpack(result), result), "results go to other libraries in the same way"


def test_dtype_with_initial():
    for function, numpys in ((tilefold.sum, np.sum), (tilefold.prod, np.prod)):
        for dtype in ("i4", "i8", "u2", "f2", "f4", "f8"):
            for x in (np.array([1, 2], "i4"), np.arange(1, 7, dtype="u1").reshape(2, 3)):
                for axis in (None, 0):
                    found, expected = (f(x, axis, dtype=dtype, initial=3) for f in (function, numpys))
                    assert found.dtype == expected.dtype == np.dtype(dtype) and np.array_equal(found, expected)
    out = np.zeros((), "i4")
    assert tilefold.sum(np.ones(2, "i4"), dtype="i4", initial=2**31 - 1, out=out) is out and out == 1 - 2**31


def test_initial_of_a_numpy_integer():
    for kind in (np.int64, np.int8, np.uint64):
        assert tilefold.sum(np.ones(2, "u8"), initial=kind(1)) == 3
        assert tilefold.max(np.ones(2, "u1"), initial=kind(7)) == 7
    with pytest.raises(tilefold.ArgumentError, match="initial is -1"):
        tilefold.sum(np.ones(2, "u8"), initial=np.int64(-1))


@pytest.mark.parametrize("axis", [True, False, np.True_, 1.5, "0", [0], (0, True), (0.0,)])
def test_an_axis_is_an_integer(axis):
    for function in (tilefold.sum, tilefold.argmax, tilefold.stats, tilefold.logsumexp, tilefold.fuse("mean")):
        with pytest.raises(tilefold.UnsupportedError, match="axis is "):
            function(np.ones((2, 3)), axis)


def test_repr_of_a_sum_that_does_not_fit():
    kept = tilefold.exact_accumulator("u8").add(np.array([2**63] * 2, "u8"))
    assert repr(kept) == "tilefold.ExactAccumulator('uint64', value beyond uint64)"


def test_fuse_takes_every_operation():
    x = items("f8", 100) / 16
    names = ["count", "l1", "linf", "sum64", "product64", "variance", "standard_deviation", "softmax_pair", "summary"]
    found = tilefold.fuse(*names)(x)
    assert found.count == 100
    for name in names[1:]:
        assert same_bits(getattr(found, name), tilefold.reduce(x, name)), name
    assert tilefold.fuse("bit_xor", "checked_sum")(np.array([1, 2, 4])).bit_xor == 7


@pytest.mark.parametrize("dtype", ["bool", "i1", "i4", "i8", "u8", "f2", "f4", "f8"])
def test_where_of_logsumexp(dtype):
    x = items(dtype, (20, 30))
    mask = np.arange(600).reshape(20, 30) % 7 != 3
    some = np.where(mask, x.astype("f8" if x.dtype.kind in "biu" else x.dtype), -np.inf)
    for axis in (None, 0, 1):
        got = tilefold.logsumexp(x, axis, where=mask)
        assert same_bits(got, tilefold.logsumexp(some.astype(x.dtype) if x.dtype.kind == "f" else some, axis))
    assert tilefold.logsumexp(x, where=False) == -np.inf
    small = np.array([1, 2, 3, 0]).astype(dtype)
    expected = np.log(np.sum(np.exp(small[:3].astype("f8"))))
    assert tilefold.logsumexp(small, where=[True, True, True, False]) == pytest.approx(expected, rel=1e-7 if dtype in ("f2", "f4") else 1e-15, abs=0)


@pytest.mark.parametrize("call, kind, text", [
    (lambda: tilefold.piece([1.0], "sum"), TypeError, "position is 'sum', and must be an integer"),
    (lambda: tilefold.piece([1.0], 1.5), TypeError, "position is 1.5, and must be an integer"),
    (lambda: tilefold.exact_accumulator("f8").mean(1.5), TypeError, "n is 1.5, and must be an integer"),
    (lambda: tilefold.norm([1.0], [1]), ValueError, r"ord is \[1\], and must be 1, 2 or inf"),
    (lambda: tilefold.norm([1.0], "fro"), ValueError, "ord is 'fro', and must be 1, 2 or inf"),
    (lambda: tilefold.var([1.0], ddof=10 ** 400), ValueError, "ddof is 1000*, and must be a finite number"),
    (lambda: tilefold.argmax([1j]), TypeError, "no argmax of complex128"),
    (lambda: tilefold.var([1j]), TypeError, "no var of complex128"),
])
def test_wrong_arguments_are_named(call, kind, text):
    with pytest.raises(kind, match=text) as caught:
        call()
    assert isinstance(caught.value, tilefold.TilefoldError)


def test_a_kept_plan_of_an_axis_is_that_of_the_call(monkeypatch):
    """What a call along one axis found out about its arguments is kept for the next one with the same."""
    monkeypatch.setattr(tilefold._reductions, "_MOST_PLANS", 8)
    x = np.arange(24, dtype="f4").reshape(4, 6)
    layouts = [x, x[:, ::2], x.T, x[::-1], x.astype(">f4"), x.astype("i2"), x.astype("f8"), np.asfortranarray(x), x[1:, 1:]]
    for _ in range(3):
        for one in layouts:
            for axis in (0, 1, -1):
                for keepdims in (False, True):
                    got = tilefold.sum(one, axis, keepdims=keepdims)
                    assert np.array_equal(got, one.sum(axis, keepdims=keepdims)) and got.shape == one.sum(axis, keepdims=keepdims).shape
                    assert np.array_equal(tilefold.reduce(one, "argmax", axis), one.argmax(axis))
                    assert tilefold.mean(one, axis, dtype="f8").dtype == np.float64
        assert len(tilefold._reductions._axis_plans) <= 8
        for bad in (True, np.True_, 2, -3, 1.0, "1"):
            with pytest.raises(tilefold.TilefoldError):
                tilefold.sum(x, bad)
    out = np.empty(4, "f4")
    assert tilefold.sum(x, 1, out=out) is out and np.array_equal(out, x.sum(1))
    with pytest.raises(tilefold.TilefoldError, match="out"):
        tilefold.sum(x, 1, out=np.empty(4))


def test_the_short_way_along_an_axis_is_the_long_one(monkeypatch):
    x = np.random.default_rng(3).standard_normal((6, 8)).astype("f4")
    packed = np.zeros(6, dtype=[("before", "u1"), ("x", "f4")])
    packed["x"] = x[:, 0]
    layouts = [x, x[:, ::2], x.T, x[::-1, ::-3], x.astype(">f4"), x.astype("f2"), (x * 9).astype("i1"), x > 0, x + 1j, x[0],
               x[0, ::-2], packed["x"], x.astype(">i4")[0], x.reshape(2, 3, 8), x[:0], x[:, :0], x[:1], x.view(np.matrix)]
    short = tilefold._reductions._along
    taken = []

    def along(*arguments):
        found = short(*arguments)
        taken.append(found is not None)
        return found

    for one in layouts:
        for op in ("sum", "prod", "max", "argmin", "any", "mean", "std", "minmax", "softmax_pair", "summary"):
            for axis in range(-one.ndim, one.ndim):
                results = []
                for way in (along, lambda *_: None):
                    monkeypatch.setattr(tilefold._reductions, "_along", way)
                    try:
                        results.append(tilefold.reduce(one, op, axis))
                    except tilefold.TilefoldError as error:
                        results.append((type(error), str(error).partition(": ")[2]))  # the name is the caller's
                got, expected = results
                assert type(got) is type(expected), (one.dtype, op, axis)
                if isinstance(got, tuple):
                    assert got == expected
                else:
                    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
                    assert got.tobytes() == expected.tobytes(), (one.dtype, one.shape, op, axis)
    assert 400 < sum(taken) < len(taken)
