# SPDX-License-Identifier: Apache-2.0
"""The short way of torch's tensors, with tensors that pretend to be on a GPU: their memory is the host's, and so is
the executor of device -1."""
import contextlib
import types

import ml_dtypes
import numpy as np
import pytest
from test_between_steps import between_steps

import tilefold
from tilefold import _dtypes, _gpu, _gpu_libraries


class Dtype:
    def __init__(self, name):
        self.name = name
        self.numpy = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
        self.is_complex = self.numpy.kind == "c"


DTYPES = {name: Dtype(name) for name in _dtypes.NAMES.values()}
STRIDED = object()


class Tensor:
    def __init__(self, array, **differs):
        self.array = array
        self.is_cuda, self.requires_grad, self.layout, self.neg, self.conj = True, False, STRIDED, False, False
        self.__dict__.update(differs)

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return DTYPES[self.array.dtype.name]

    def detach(self):
        return Tensor(self.array, layout=self.layout, neg=self.neg, conj=self.conj)

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def is_neg(self):
        return self.neg

    def is_conj(self):
        return self.conj

    def get_device(self):
        return -1

    def data_ptr(self):
        return self.array.ctypes.data

    def numel(self):
        return self.array.size

    def stride(self):
        return [step // self.array.itemsize for step in self.array.strides]

    device = "gpu"

    def to(self, dtype):
        return self if dtype == self.device else Tensor(self.array.astype(dtype.numpy))

    def view(self, dtype):
        return Tensor(self.array.view(dtype.numpy))

    def nan_to_num_(self, nan, posinf, neginf):
        self.array[self.array != self.array] = nan
        return self

    def copy_(self, other):
        self.array[...] = other.array

    def isfinite(self):
        return Tensor(np.isfinite(self.array))

    def abs(self):
        return Tensor(np.abs(self.array))

    def __ne__(self, other):
        return Tensor(self.array != other.array)

    def __gt__(self, other):
        return Tensor(self.array > other.array)

    def __sub__(self, other):
        return Tensor(self.array - other.array)

    def __add__(self, number):
        return Tensor(self.array + number)

    def __or__(self, number):
        return Tensor(self.array | number)

    def __and__(self, other):
        return Tensor(self.array & other.array)

    def contiguous(self):
        return Tensor(np.ascontiguousarray(self.array))

    def __getitem__(self, places):
        return Tensor(self.array[places])

    def __int__(self):
        return int(self.array)

    def new_empty(self, shape, dtype):
        return Tensor(np.full(shape, 77, dtype.numpy))


STREAM = {"now": 0}


@pytest.fixture
def torch(monkeypatch):
    """Stands for torch. `long` has the arrays that went another way."""
    made = types.SimpleNamespace(
        **DTYPES, strided=STRIDED, Tensor=Tensor, is_grad_enabled=lambda: True, from_numpy=Tensor,
        where=lambda flag, a, b: Tensor(np.where(flag.array, a.array, b.array)), empty_like=lambda x: Tensor(np.full(x.shape, 77, x.array.dtype)),
        _C=types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: STREAM["now"]))
    monkeypatch.setattr(_gpu_libraries, "_by_type", {Tensor: _gpu_libraries.Torch(made)})
    monkeypatch.setattr(_gpu, "short_ways", dict(_gpu.short_ways))
    monkeypatch.setattr(tilefold._reductions, "_short_ways", _gpu.short_ways)
    made.long = {}
    for name in ("fold", "in_dtype"):
        def other(library, x, *arguments, own=getattr(_gpu, name), **named):
            made.long[id(x)] = x
            return own(library, x, *arguments, **named)
        monkeypatch.setattr(_gpu, name, other)
    return made


def same(got, expected):
    expected = np.asarray(expected)
    assert isinstance(got, Tensor) and got.array.dtype == expected.dtype
    assert got.shape == expected.shape and got.array.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64", "bool", "complex64"])
def test_the_second_tensor_goes_it_and_has_the_same_bits(torch, dtype):
    random = np.random.default_rng(11)
    x = (random.standard_normal((20, 50)) * 90).astype(dtype)
    for op in ("sum",) if dtype == "complex64" else ("sum", "prod", "max", "mean", "argmin", "minmax", "any"):
        if dtype == "bool" and op == "minmax":
            continue
        function = getattr(tilefold, op)
        expected = function(x)
        for items in (x, x[:7], x.copy()):
            same(function(Tensor(items)), function(items))
        same(function(Tensor(x)), expected)
    same(tilefold.reduce(Tensor(x), "sum"), tilefold.reduce(x, "sum"))
    assert len(torch.long) <= 1  # what showed the type


NAN_BITS = {"float16": np.uint16(0x7e00), "bfloat16": np.uint16(0x7fc0), "float32": np.uint32(0x7fc00000)}


def nearest(wide, dtype):
    """`wide` rounded once: the nearest of all values of a type of 16 bits, the even one of two."""
    if np.isnan(wide):
        return np.array(NAN_BITS[dtype.name]).view(dtype)[()]
    if dtype == np.float32:
        return np.float32(wide)
    bits = np.arange(np.array(np.inf, dtype).view("u2"), dtype="u2")  # of the finite ones
    away = np.abs(bits.view(dtype).astype("f8") - abs(wide))
    best = bits[away == away.min()]
    return (best[best % 2 == 0] if best.size > 1 else best).view(dtype)[0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_libtilefold_rounds_means_and_does_it_once(torch, monkeypatch, dtype):
    def narrowed(*arguments):
        raise AssertionError("rounded in Python")

    monkeypatch.setattr(_gpu_libraries.Torch, "narrowed", narrowed)
    kind = DTYPES[dtype].numpy
    half = float(ml_dtypes.finfo(kind).eps) / 2
    # Means between 1 and its neighbour; a float32 on the way would make those beside the middle the middle.
    x = np.array([[2, 2, 4 * half, 2.0 ** -24], [2, 2, 4 * half, -2.0 ** -24], [2, 2, 4 * half, 0],
                  [1, 2, np.nan, 3], [1, 2, -np.nan, 3]]).astype(kind)
    wide = x.astype("f8").sum(1) / 4  # exact
    assert dtype == "float32" or (wide.astype("f4")[:3] == 1 + half).all() and (wide[:2] != 1 + half).all()
    expected = np.array([nearest(mean, kind) for mean in wide])
    assert expected[0] == 1 + 2 * half and expected[1] == expected[2] == 1
    for row, mean in zip(x, expected):
        same(tilefold.mean(Tensor(row)), mean)  # the first of them goes the long way
        same(tilefold.mean(Tensor(np.repeat(row, 2)[::2])), mean)
    assert len(torch.long) == 1 + len(x)
    same(tilefold.mean(Tensor(x), 1), expected)
    same(tilefold.mean(Tensor(x), -1, keepdims=True), expected[:, None])
    same(tilefold.mean(Tensor(np.ascontiguousarray(x.T)), 0), expected)
    same(tilefold.mean(Tensor(np.repeat(x, 2, 1)[:, ::2]), 1), expected)
    same(tilefold.mean(Tensor(x.reshape(5, 2, 2)), (1, 2)), expected)
    same(tilefold.mean(Tensor(x.astype("f8")), 1, dtype=dtype), expected)
    out = Tensor(np.zeros(5, kind))
    assert tilefold.mean(Tensor(x), 1, out=out) is out
    same(out, expected)
    for function in (tilefold.var, tilefold.std):
        same(function(Tensor(x), 1), function(x, 1))
        for _ in range(2):
            same(function(Tensor(x[0])), function(x[0]))


def test_streams_have_executors_of_their_own(torch, monkeypatch):
    x = Tensor(np.arange(10, dtype="f4"))
    tilefold.sum(x)
    asked = []
    own = _gpu.executor_of
    monkeypatch.setattr(_gpu, "executor_of", lambda *place: asked.append(place) or own(*place))
    for stream in (5, 6, 5, 6):
        monkeypatch.setitem(STREAM, "now", stream)
        same(tilefold.sum(x), np.float32(45))
    assert asked == [(-1, 5), (-1, 6)]


def test_results_are_new(torch):
    x = Tensor(np.arange(10, dtype="f4"))
    first, second, third = (tilefold.sum(x) for _ in range(3))
    third.array[...] = 0
    assert second.array == 45 and second.array is not third.array
    same(tilefold.sum(x), np.float32(45))


def test_what_is_refused_or_lies_otherwise_does_not_go_it(torch):
    x = np.arange(12, dtype="f4").reshape(3, 4)
    tilefold.sum(Tensor(x))
    for differs, part in (({"requires_grad": True}, "gradient"), ({"layout": "sparse"}, "layout"),
                          ({"neg": True}, "negated")):
        with pytest.raises(tilefold.UnsupportedError, match=part):
            tilefold.sum(Tensor(x, **differs))
        with pytest.raises(tilefold.UnsupportedError, match=part):
            tilefold.max(Tensor(x, **differs))
    z = np.ones(3, "c8")
    same(tilefold.sum(Tensor(z)), np.complex64(3))
    with pytest.raises(tilefold.UnsupportedError, match="conjugated"):
        tilefold.sum(Tensor(z, conj=True))
    torch.long.clear()
    same(tilefold.sum(Tensor(x.T)), tilefold.sum(x.T))
    same(tilefold.sum(Tensor(x[:, ::2])), tilefold.sum(x[:, ::2]))
    same(tilefold.sum(Tensor(x), 0), tilefold.sum(x, 0))
    same(tilefold.sum(Tensor(x), keepdims=True), tilefold.sum(x, keepdims=True))
    assert len(torch.long) == 4


@pytest.mark.parametrize("dtype", ["float32", "int8", "float16", "bool"])
def test_items_by_index_have_the_same_bits(torch, dtype):
    random = np.random.default_rng(12)
    indices, weights = random.integers(0, 9, 300) ** 2, random.standard_normal(300).astype("f4")
    for shape in ((300,), (300, 4), (300, 2, 3)):
        x = (random.standard_normal(shape) * 90).astype(dtype)
        for op in ("sum", "max", "mean", "argmin", "summary"):
            expected = tilefold.reduce_by_index(indices, x, 90, op)
            same(tilefold.reduce_by_index(Tensor(indices.astype("u1")), Tensor(x), 90, op), expected)
            same(tilefold.reduce_by_index(Tensor(np.repeat(indices, 2)[::2]), Tensor(x), 90, op, mode="drop"), expected)
        same(tilefold.reduce_by_index(Tensor(indices), Tensor(x)), tilefold.reduce_by_index(indices, x))
        out = Tensor(np.zeros((70,) + shape[1:], expected.dtype))
        assert tilefold.reduce_by_index(Tensor(indices), Tensor(x), 70, "mean", out=Tensor(np.zeros(
            (70,) + shape[1:], tilefold.mean(x).dtype))).shape == out.shape
    same(tilefold.bincount(Tensor(indices), minlength=80), tilefold.bincount(indices, minlength=80))
    same(tilefold.bincount(Tensor(indices), Tensor(weights)), tilefold.bincount(indices, weights))
    same(tilefold.bincount(Tensor(indices[:0])), np.zeros(0, "i8"))
    for call, text in [
            (lambda: tilefold.reduce_by_index(Tensor(indices), Tensor(x), 5), "has the index [0-9]+, but there are 5 results"),
            (lambda: tilefold.reduce_by_index(Tensor(indices - 1), Tensor(x)), "has the index -1, but"),
            (lambda: tilefold.reduce_by_index(Tensor(weights), Tensor(x), 5), "indices is float32, and must be integers"),
            (lambda: tilefold.reduce_by_index(Tensor(indices), Tensor(x[1:]), 5), r"values have the shape \(299, 2, 3\)"),
            (lambda: tilefold.reduce_by_index(indices, Tensor(x), 5), "indices is a ndarray"),
            (lambda: tilefold.reduce_by_index(Tensor(np.array([2**63 - 1])), Tensor(x[:1])), "num_results is 9223372036854775808"),
            (lambda: tilefold.bincount(Tensor(indices), Tensor(weights[1:])), r"and weights \(299,\)"),
            (lambda: tilefold.bincount(Tensor(weights)), "x is float32")]:
        with pytest.raises(tilefold.TilefoldError, match=text):
            call()


def test_errors_come_through(torch):
    nothing = Tensor(np.zeros(0, "f4"))
    tilefold.sum(nothing)
    with pytest.raises(tilefold.EmptyError):
        tilefold.mean(nothing)
    with pytest.raises(tilefold.ArgumentError, match="no operation 'mad'"):
        tilefold.reduce(nothing, "mad")


class CupyArray(Tensor):
    """One of CuPy, which shows itself at once."""
    device = contextlib.nullcontext()
    device.id = -1

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__array_interface__, "data": (self.array.ctypes.data, False)}

    def astype(self, name):
        return CupyArray(self.array.astype(name))


class Cupy(_gpu_libraries.Cupy):
    def empty(self, like, shape, code):
        return CupyArray(np.empty(shape, _dtypes.name_of(code)))

    def from_numpy(self, like, array):
        return CupyArray(array)

    def contiguous(self, x):
        return CupyArray(np.ascontiguousarray(x.array))


@pytest.fixture
def cupy(monkeypatch):
    made = types.SimpleNamespace(ndarray=CupyArray, where=lambda flag, a, b: a, cuda=types.SimpleNamespace(
        get_current_stream=lambda: types.SimpleNamespace(ptr=0)))
    monkeypatch.setitem(_gpu_libraries._by_type, CupyArray, Cupy(made))


MEMORY = np.concatenate([np.zeros(64), np.arange(1.0, 2001.0), np.full(4000, 1e6)]).astype("f4")  # 0s and more around


def on_host(found):
    return np.asarray(getattr(found, "array", found))


#: What x is: other shapes, strides and places of items.
LAYOUTS = [MEMORY[64:1064].reshape(10, 100), MEMORY[64:1064].reshape(10, 100).T, MEMORY[64:1064], MEMORY[164:664],
           MEMORY[64:2064].reshape(20, 100)[::2], MEMORY[64:2064][::2], MEMORY[64:2064].reshape(20, 10, 10)]
OF_CHANGING = {
    "sum": lambda x: tilefold.sum(x), "max": lambda x: tilefold.max(x), "axis": lambda x: tilefold.sum(x, 0),
    "last axis": lambda x: tilefold.mean(x, -1), "minmax": lambda x: tilefold.minmax(x, keepdims=True),
    "vdot": lambda x: tilefold.vdot(x, type(x)(LAYOUTS[2])), "segments": lambda x: tilefold.segment_reduce(x, [0, 10, 10, 900]),
    "keys": lambda x: tilefold.reduce_by_key(x, x)[1], "batched": lambda x: tilefold.batched([x, x])[:1],
    "by index": lambda x: tilefold.reduce_by_index(type(x)(np.arange(1000) % 7), x, 7),
    "piece": lambda x: tilefold.piece(x).value(), "accumulator": lambda x: tilefold.exact_accumulator("f4").add(x).value(),
}


@pytest.mark.parametrize("kind", [Tensor, CupyArray])
@pytest.mark.parametrize("name", OF_CHANGING)
def test_an_array_that_changes_between_two_steps_is_read_as_it_was_at_one_of_them(torch, cupy, name, kind):
    """Another thread, or a signal's handler, gives x another shape or other memory: torch's resize_() and set_()."""
    call, refused = OF_CHANGING[name], (ValueError, TypeError)
    possible = []
    for layout in LAYOUTS:
        with contextlib.suppress(*refused):
            possible.append(on_host(call(kind(layout))))
    x, count, at = kind(LAYOUTS[0]), 0, 0

    def handler():
        nonlocal count
        count += 1
        x.array = LAYOUTS[first if count <= at else second]

    assert possible
    for first, second in ((0, 1), (2, 3)):
        at, count = 0, 1
        while at < count:  # one change, after each step in turn
            at, count = at + 1, 0
            x.array = LAYOUTS[first]
            got = None
            with between_steps(handler), contextlib.suppress(*refused):
                got = on_host(call(x))
            assert got is None or any(np.array_equal(got, one) for one in possible), (at, first, second, got)
    assert at > 20
