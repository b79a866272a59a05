# SPDX-License-Identifier: Apache-2.0
#
# What runs in the stream that a caller names: all of it. A library of NumPy's arrays stands for one of a GPU.
import contextlib

import numpy as np
import pytest
from oracle import items, same_bits

import tilefold
from tilefold import _dtypes, _fuse, _gpu_libraries, _reductions


class Shown(np.ndarray):
    """An array that says in which stream it was worked on."""
    library = None

    def __pow__(self, other):
        self.library.work("pow")
        return super().__pow__(other)


class Library(_gpu_libraries.GpuLibrary):
    name = "NumPy"

    def __init__(self):
        self.stream, self.entered, self.worked = None, [], []
        self.kind = type("Own", (Shown,), {"library": self})

    def work(self, name):
        self.worked.append((name, self.stream))

    def owns(self, x):
        return isinstance(x, Shown)

    def items(self, x):
        return _gpu_libraries.Items(x.ctypes.data, _dtypes.of_dtype(x.dtype), x.shape,
                                    [step // x.itemsize for step in x.strides], -1, 0)

    @contextlib.contextmanager
    def in_stream(self, x, stream):
        self.entered.append(stream)
        before, self.stream = self.stream, stream
        yield
        self.stream = before

    def empty(self, like, shape, code):
        self.work("empty")
        return np.empty(shape, _dtypes.name_of(code)).view(self.kind)

    def address(self, x):
        return x.ctypes.data

    def cast(self, x, code):
        self.work("cast")
        return x.astype(_dtypes.name_of(code))

    def copy(self, to, x):
        self.work("copy")
        to[...] = x

    def stacked(self, initial, x):
        self.work("stacked")
        return np.stack([np.full_like(x, initial), x]).view(self.kind)


@pytest.fixture
def library(monkeypatch):
    made, known = Library(), _gpu_libraries.library_of
    for module in (_fuse, _reductions):
        monkeypatch.setattr(module, "library_of", lambda x: made if made.owns(x) else known(x))
    return made


def all_in(library, stream):
    return library.worked and {at for _, at in library.worked} == {stream} and set(library.entered) <= {stream}


@pytest.mark.parametrize("stream", [None, "s"])
@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_fuse_is_in_one_stream(library, dtype, stream):
    host = items(dtype, (7, 9))
    fused = tilefold.fuse("count", "mean", "var", "std", "min", "max")
    found = fused(host.view(library.kind), 0, stream=stream)
    assert all_in(library, stream) and ("pow", stream) in library.worked
    for name, got, expected in zip(fused.names, found, fused(host, 0)):
        if name != "std":  # a root of NumPy's here
            assert same_bits(np.asarray(got), expected.astype(got.dtype)), name


def test_fuse_of_nothing_on_a_gpu(library):
    x = np.zeros((0, 3), "i4")
    found = tilefold.fuse("count", "max", "sum")(x.view(library.kind), 0)
    assert found.count.dtype == np.float64 and np.asarray(found.count).tolist() == [0.0] * 3
    assert same_bits(np.asarray(found.max), tilefold.max(x, 0)) and same_bits(np.asarray(found.sum), tilefold.sum(x, 0))


@pytest.mark.parametrize("stream", [None, "s"])
@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_initial_is_in_one_stream(library, dtype, stream):
    host = items(dtype, (7, 9))
    for function in (tilefold.sum, tilefold.prod, tilefold.min, tilefold.max):
        expected = function(host, 0, initial=2)
        got = function(host.view(library.kind), 0, initial=2, stream=stream)
        assert same_bits(np.asarray(got), expected) and all_in(library, stream)
        out = np.empty_like(expected).view(library.kind)
        assert function(host.view(library.kind), 0, initial=2, out=out, stream=stream) is out
        assert same_bits(np.asarray(out), expected) and all_in(library, stream)
    assert ("stacked", stream) in library.worked and ("copy", stream) in library.worked


@pytest.mark.parametrize("dtype, initial", [("i4", 1.5), ("f4", 1j), ("f4", [1, 2]), ("f4", "x"), ("f4", object()),
                                            ("i1", 300), ("i1", np.int64(300))])
def test_bad_initial_is_named(library, dtype, initial):
    for x in (np.ones(3, dtype), np.ones(3, dtype).view(library.kind)):
        with pytest.raises(tilefold.ArgumentError, match=f"initial is .* must be a number that is {x.dtype}"):
            tilefold.min(x, initial=initial)


def test_no_stream_on_the_host():
    for call in (lambda: tilefold.fuse("mean")(np.ones(3), stream=1),
                 lambda: tilefold.sum(np.ones(3), initial=1, stream=1),
                 lambda: tilefold.max(np.ones(3), initial=1, stream=1)):
        with pytest.raises(tilefold.ArgumentError, match="stream is for arrays of a GPU"):
            call()
