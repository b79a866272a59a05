# SPDX-License-Identifier: Apache-2.0
#
# What is taken and what is refused: other libraries' arrays, out=, and bad input, which is named and after which
# everything can be used again.
import pickle

import numpy as np
import oracle
import pytest
from oracle import items, same_bits

import tilefold
from tilefold import _arrays


class Tensor:
    """An array of another library, as it shows itself through DLPack."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        assert self.device[0] == 1, "memory of a GPU is not asked for"
        return self.array.__dlpack__(**options)


def raises():
    raise RuntimeError("deleted")


@pytest.mark.parametrize("device", [None, "cpu", "", b"a", 1, (), (1,), (1, 0, 0), ("1", 0), (1, None), (1.0, 0), raises])
def test_an_array_that_shows_no_device(device):
    class Odd(Tensor):
        def __dlpack_device__(self):
            return device() if callable(device) else device

    odd = Odd(np.ones(3))
    for call in (tilefold.sum, tilefold.stats, tilefold.piece, tilefold.fuse("mean"), tilefold.exact_accumulator("f8").add,
                 lambda x: tilefold.batched([x]), lambda x: tilefold.segment_reduce(np.ones(3), x),
                 lambda x: tilefold.reduce_by_key(x, np.ones(3))):
        with pytest.raises(tilefold.UnsupportedError, match="tilefold.*this Odd gives no device, which is two int") as found:
            call(odd)
        assert device is not raises or str(found.value).endswith("RuntimeError: deleted")


@pytest.mark.parametrize("dtype", [[1], "f8\0", "\ud800", "nonsense", object(), {}, "O", "U3", 5, "f8,,f4", "(2,f8",
                                   "a" * 10**6, [("a", "f8")]])
def test_no_dtype(dtype):
    for call in (lambda: tilefold.exact_accumulator(dtype), lambda: tilefold.sum([1.0, 2.0], dtype=dtype)):
        with pytest.raises(tilefold.UnsupportedError, match=r"^tilefold\.\w+: ") as found:
            call()
        assert len(str(found.value)) < 200


def test_notes_of_an_error_go_through_pickle():
    with pytest.raises(tilefold.TilefoldError) as caught:
        tilefold.sum(["text"])
    caught.value.asked_by = "somebody"
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.asked_by == "somebody" and again.status == caught.value.status and str(again) == str(caught.value)


def test_no_memory_for_a_device_is_told_as_that():
    class Odd(Tensor):
        def __dlpack_device__(self):
            raise MemoryError("for two integers")

    with pytest.raises(MemoryError, match="for two integers"):
        tilefold.sum(Odd(np.ones(3)))


class CudaArray:
    __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3}


@pytest.mark.parametrize("dtype", [d for d in oracle.DTYPES if d != "bfloat16"])
def test_dlpack_on_the_host_without_a_copy(dtype):
    x = items(dtype, (6, 7))
    for layout in (x, x.T, x[::2, ::-1], x[:0], x[1, 2, ...]):
        tensor = Tensor(layout)
        assert np.shares_memory(_arrays.items_of(tensor), layout) or layout.size == 0
        for axis in (None,) + tuple(range(layout.ndim)):
            got = tilefold.sum(tensor, axis)
            assert same_bits(got, tilefold.sum(layout, axis)) and isinstance(got, (np.ndarray, np.generic))
    runs, sums = tilefold.reduce_by_key(Tensor(np.array([1, 1, 2])), Tensor(x[0, :3]))
    assert runs.tolist() == [1, 2]
    assert same_bits(sums, tilefold.segment_reduce(Tensor(x[0]), Tensor(np.array([0, 2, 3]))))
    if np.dtype(dtype).kind == "f":
        assert tilefold.stats(Tensor(x)) == tilefold.stats(x)
        assert same_bits(tilefold.vdot(Tensor(x), x), tilefold.vdot(x, x))


@pytest.mark.parametrize("call", [tilefold.sum, tilefold.stats, lambda x: tilefold.segment_reduce(x, [0, 1]),
                                  lambda x: tilefold.segment_reduce(np.ones(3), x), tilefold.fuse("mean"),
                                  lambda x: tilefold.sum(np.ones(3), initial=1, out=None) + tilefold.sum(x),
                                  lambda x: tilefold.reduce_by_key(x, np.ones(3)), lambda x: tilefold.vdot(x, x)])
def test_arrays_of_a_gpu_whose_library_is_not_known(call):
    for kind in (2, 10, 13, 14):
        with pytest.raises(tilefold.UnsupportedError, match=rf"this Tensor is on DLPack's device \({kind}, 1\).*CuPy has been"):
            call(Tensor(np.ones(3, "f4"), (kind, 1)))
    with pytest.raises(tilefold.UnsupportedError, match="this CudaArray is in CUDA's memory.*CuPy has been"):
        call(CudaArray())


class OfGpu:
    """An array of a GPU, as one of CuPy's."""

    def __init__(self, shape=(3,)):
        self.shape = shape


OfGpu.__module__ = "cupy._core"


def test_a_gpu_without_cuda_in_the_library(monkeypatch):
    from tilefold import _gpu_libraries

    class Library(_gpu_libraries.Cupy):
        def owns(self, x):
            return isinstance(x, OfGpu)

        def items(self, x):
            return _gpu_libraries.Items(4096, (2, 32), x.shape, (1,), 0, 0)

    monkeypatch.setattr(_gpu_libraries, "_library_of_type", lambda kind: Library(None) if kind is OfGpu else None)
    for call in (tilefold.sum, tilefold.stats, lambda x: tilefold.max(x, 0), tilefold.fuse("var")):
        with pytest.raises(tilefold.UnsupportedError, match="built without CUDA.*TILEFOLD_C_CUDA"):
            call(OfGpu())
    with pytest.raises(tilefold.UnsupportedError, match="CuPy array is on a GPU"):
        tilefold.vdot(np.ones(3), OfGpu())


def test_stream_is_for_a_gpu():
    for call in (tilefold.sum, tilefold.stats, tilefold.min, tilefold.fuse("mean")):
        with pytest.raises(tilefold.ArgumentError, match="stream is for arrays of a GPU"):
            call(np.ones(3), stream=0)


def test_dlpack_that_numpy_cannot_read():
    class Strange(Tensor):
        def __dlpack__(self, **options):
            raise BufferError("bfloat16 has no name here")

    with pytest.raises(tilefold.UnsupportedError, match="NumPy cannot read this Strange: bfloat16 has no name"):
        tilefold.sum(Strange(np.ones(3)))


def test_a_capsule_that_was_used_is_refused_by_name():
    class Once(Tensor):
        def __init__(self, array):
            super().__init__(array)
            self.capsule = array.__dlpack__()

        def __dlpack__(self, **options):
            return self.capsule

    once = Once(np.ones(3))
    assert tilefold.sum(once) == 3
    with pytest.raises(tilefold.UnsupportedError, match="NumPy cannot read this Once"):
        tilefold.sum(once)


def test_what_numpy_makes_an_array_of():
    assert tilefold.sum([[1.5, 2], [3, 4]], axis=0).tolist() == [4.5, 6]
    assert tilefold.sum(memoryview(b"abc")) == 294 and tilefold.max(range(5)) == 4
    assert isinstance(tilefold.min(np.float32(3)), np.float32)


@pytest.mark.parametrize("bad, text", [
    (np.array([1, None]), "arrays of object"), ([[1], [2, 3]], None), ("text", "<U4"), (np.array([b"a"]), "S1"),
    (np.array(["2020-01-01"], "M8[D]"), "datetime64"), (np.zeros(2, "m8[s]"), "timedelta64"),
    (np.zeros(2, [("x", "f4")]), "x"), (np.zeros(2, np.longdouble), "float128"),
    (np.zeros(2, np.clongdouble), "complex256"), ({"a": 1}, "object"), (None, "object"),
])
def test_dtypes_that_are_not_taken(bad, text):
    kind = TypeError if text else ValueError  # NumPy's own, of a ragged list
    for call in (tilefold.sum, tilefold.mean, tilefold.stats, lambda x: tilefold.sum(x, dtype="f8"),
                 lambda x: tilefold.segment_reduce(np.atleast_1d(x), [0, 1])):
        with pytest.raises(kind, match=text):
            call(bad)


def test_masks_are_not_lost():
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    with pytest.raises(tilefold.UnsupportedError, match=r"x\.filled"):
        tilefold.sum(masked)
    assert tilefold.sum(masked.compressed()) == 4


def test_out_takes_results_in_any_layout():
    x = items("f8", (3, 4, 5))
    expected = tilefold.min(x, 1)
    for out in (np.zeros((3, 5)), np.zeros((5, 3)).T, np.zeros((3, 5))[::-1], np.zeros((6, 10))[::2, 1::2]):
        assert tilefold.min(x, axis=1, out=out) is out
        assert np.array_equal(out, expected)
    one = np.zeros(())
    assert tilefold.sum(x, out=one) is one and one == tilefold.sum(x)
    kept = np.zeros((3, 1, 5, 2))
    assert tilefold.minmax(x, 1, keepdims=True, out=kept) is kept and np.array_equal(kept[:, 0, :, 0], expected)
    bits = tilefold.sum(x, 0)
    assert same_bits(tilefold.sum(x, 0, out=x[1]), bits), "also over items that were read"
    nothing = np.zeros((0, 3))
    assert tilefold.sum(np.zeros((0, 3, 4)), 2, out=nothing) is nothing


def test_bad_out_is_refused_and_stays_as_it_was():
    x = items("f8", (3, 4))
    read_only = np.full(4, 7.0)
    read_only.flags.writeable = False
    for out, text in [(np.full(3, 7.0), r"shape \(3,\), and must be one of float64 and shape \(4,\)"),
                      (np.full(4, 7, "f4"), "array of float32"), (np.full((1, 4), 7.0), r"\(1, 4\)"),
                      (np.full(4, 7.0).astype(">f8"), ">f8"), (read_only, "read-only"), ([7.0] * 4, "out is a list")]:
        for call in (lambda: tilefold.sum(x, axis=0, out=out), lambda: tilefold.sum(x, 0, dtype="f8", out=out),
                     lambda: tilefold.mean(x, axis=0, out=out)):
            with pytest.raises(tilefold.ArgumentError, match=text):
                call()
        assert np.all(np.asarray(out) == 7)
    out = np.full(2, 7.0)
    with pytest.raises(tilefold.EmptyError):
        tilefold.mean(np.zeros((0, 2)), axis=0, out=out)
    assert np.all(out == 7)


@pytest.mark.parametrize("call, kind, text", [
    (lambda x: tilefold.sum(x, axis=2), ValueError, "no axis 2 in an array of rank 2"),
    (lambda x: tilefold.sum(x, axis=-3), ValueError, "no axis -3"),
    (lambda x: tilefold.sum(x, axis=(0, -2)), ValueError, r"named twice in \(0, -2\)"),
    (lambda x: tilefold.sum(x, axis=1.0), TypeError, "axis is 1.0"),
    (lambda x: tilefold.sum(5, axis=0), ValueError, "no axis 0 in an array of rank 0"),
    (lambda x: tilefold.reduce(x, "summ"), ValueError, "'summ', did you mean 'sum'. There are sum, sum64"),
    (lambda x: tilefold.reduce(x, None), ValueError, "op is None"),
    (lambda x: tilefold.reduce(x, "bit_or"), TypeError, "no bit_or of float32"),
    (lambda x: tilefold.min(x.astype("c8")), TypeError, "no min of complex64"),
    (lambda x: tilefold.var(x, ddof="2"), ValueError, "ddof is '2'"),
    (lambda x: tilefold.std(x, correction=np.nan), ValueError, "correction is nan"),
    (lambda x: tilefold.var(x, ddof=1, correction=1), ValueError, "two names of one thing"),
    (lambda x: tilefold.norm(x, 3), ValueError, "ord is 3"),
    (lambda x: tilefold.sum(np.zeros((1,) * 9)), ValueError, "rank is 9"),
    (lambda x: tilefold.mean(x[:0]), ValueError, "nothing to fold, and mean has no result"),
])
def test_bad_arguments_are_named(call, kind, text):
    x = items("f4", (3, 4))
    with pytest.raises(kind, match=text) as caught:
        call(x)
    if isinstance(caught.value, tilefold.TilefoldError):
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value) and again.status == caught.value.status > 0
        assert str(again) == str(caught.value)
    assert tilefold.count_nonzero(np.ones(5)) == 5, "it can be used again"


def test_results_go_through_pickle():
    found = tilefold.stats([1.0, 2.0])
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "i8"])
def test_initial(dtype):
    x = items(dtype, (6, 7))
    for function, numpys in ((tilefold.min, np.min), (tilefold.max, np.max)):
        for initial in (0, 5, -1) if dtype[0] != "u" else (0, 5):
            for axis in (None, 0, (0, 1)):
                assert same_bits(function(x, axis, initial=initial), numpys(x, axis, initial=initial))
    for axis in (None, 1):
        total = tilefold.sum(x, axis)
        assert same_bits(tilefold.sum(x, axis, initial=3), np.asarray(3, total.dtype) + total)
        assert same_bits(tilefold.sum(x, axis, dtype="f8", initial=0.5), 0.5 + tilefold.sum(x, axis, dtype="f8"))
        assert same_bits(tilefold.prod(x, axis, initial=2), np.asarray(2, total.dtype) * tilefold.prod(x, axis))
    out = np.zeros(7, tilefold.sum(x, 0).dtype)
    assert tilefold.sum(x, 0, out=out, initial=1) is out and same_bits(out, tilefold.sum(x, 0, initial=1))
    assert tilefold.sum(x, 0, keepdims=True, initial=1).shape == (1, 7)
    assert tilefold.min(x[:0], initial=4) == 4


def test_initial_of_zeros_and_nan():
    assert np.signbit(tilefold.min([0.0], initial=-0.0)) and not np.signbit(tilefold.max([-0.0], initial=0.0))
    assert np.isnan(tilefold.min([1.0], initial=np.nan)) and np.isnan(tilefold.max([np.nan], initial=1))


@pytest.mark.parametrize("dtype, initial", [("i4", 1.5), ("f4", 1j), ("f4", [1, 2]), ("f4", "x"), ("i1", 300),
                                            ("i1", np.int64(-129)), ("i1", np.array(128)), ("i8", 2 ** 63),
                                            ("u8", np.int8(-1)), ("u2", 2 ** 64)])
def test_bad_initial_is_named(dtype, initial):
    with pytest.raises(tilefold.ArgumentError, match="initial is .* must be a number"):
        tilefold.min(np.ones(3, dtype), initial=initial)


@pytest.mark.parametrize("dtype", oracle.REAL)
def test_fuse(dtype):
    x = items(dtype, (20, 30))
    fused = tilefold.fuse("std", "count", "min", "mean", "max", "var")
    for axis in (None, 0, -1):
        for ddof in (0, 1):
            for keepdims in (False, True):
                found = fused(x, axis, ddof=ddof, keepdims=keepdims)
                assert found._fields == fused.names
                assert same_bits(found.mean, tilefold.mean(x, axis, keepdims=keepdims))
                assert same_bits(found.var, tilefold.var(x, axis, ddof=ddof, keepdims=keepdims))
                assert same_bits(found.std, tilefold.std(x, axis, ddof=ddof, keepdims=keepdims))
                assert same_bits(found.min, tilefold.min(x, axis, keepdims=keepdims))
                assert same_bits(found.max, tilefold.max(x, axis, keepdims=keepdims))
                assert np.all(np.equal(found.count, x.size if axis is None else x.shape[axis]))
    assert tilefold.fuse("mean")([1, 2]) == (1.5,)


@pytest.mark.parametrize("dtype", oracle.REAL)
def test_fuse_of_nothing(dtype):
    x = np.zeros((0, 3), items(dtype, 1).dtype)
    fused = tilefold.fuse("min", "count", "sum", "max", "norm")
    for axis in (None, 0, (0, 1)):
        for keepdims in (False, True):
            found = fused(x, axis, keepdims=keepdims)
            for name in ("min", "max", "sum", "norm"):
                assert same_bits(getattr(found, name), getattr(tilefold, name)(x, axis=axis, keepdims=keepdims)), name
            assert found.count.dtype == np.int64 and np.all(found.count == 0) and found.count.shape == found.min.shape
    out = np.empty(3, x.dtype), np.empty(3, "i8")
    assert tilefold.fuse("max", "count")(x, 0, out=out).count is out[1] and same_bits(out[0], tilefold.max(x, 0))
    assert tilefold.fuse("min", "mean")(x, 1).mean.shape == (0,)
    for names in (("min", "mean"), ("count", "var"), ("std",), ("count", "argmin")):
        with pytest.raises(tilefold.EmptyError):
            tilefold.fuse(*names)(x, 0)


@pytest.mark.parametrize("op", ["sum\0x", "sum\0", "\0", "sum\ud800", ""])
def test_names_that_c_would_read_otherwise(op):
    for x in (np.ones(3), np.ones(3, "i1"), np.ones((2, 2))[:, 0]):
        for call in (tilefold.reduce, lambda x, op: tilefold.piece(x, 0, op), lambda x, op: tilefold.batched([x], op),
                     lambda x, op: tilefold.segment_reduce(x, [0, 1], op),
                     lambda x, op: tilefold.reduce_by_key(x, x, op)):
            with pytest.raises(tilefold.ArgumentError, match="op is .* must be a name|no operation"):
                call(x, op)


def test_bad_fuse_is_named():
    for names, text in [(("median",), "'median'.* There are sum, "), ((), "each once"), (("min", "min"), "each once")]:
        with pytest.raises(tilefold.ArgumentError, match=text):
            tilefold.fuse(*names)
    with pytest.raises(tilefold.ArgumentError, match="ddof is 'x'"):
        tilefold.fuse("var")([1.0], ddof="x")
    with pytest.raises(tilefold.EmptyError):
        tilefold.fuse("mean")([])
    with pytest.raises(tilefold.UnsupportedError, match="no summary of complex64"):
        tilefold.fuse("mean")(np.ones(3, "c8"))


def test_correction_is_ddof():
    x = np.random.default_rng(5).standard_normal((7, 9))
    for correction in (0, 1):
        for axis in (None, 0):
            for name in ("var", "std"):
                function = getattr(tilefold, name)
                found = function(x, axis, correction=correction)
                assert same_bits(found, function(x, axis, ddof=correction))
                assert np.allclose(found, getattr(np, name)(x, axis, ddof=correction), rtol=1e-13, atol=0)
