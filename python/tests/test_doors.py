# SPDX-License-Identifier: Apache-2.0
"""What functions take beside x and axis: dtype= and where= of means, axis of stats, out= of segments, keys and fuse;
and arrays of libraries that are not known."""
import sys
import types

import numpy as np
import pytest
import tilefold
from oracle import items, same_bits
from tilefold import _arrays, _dtypes, _gpu_libraries

MEANS = {"mean": tilefold.mean, "var": lambda x, *a, **k: tilefold.var(x, *a, ddof=1, **k), "std": tilefold.std}


@pytest.mark.parametrize("name", MEANS)
def test_dtype_of_means_rounds_once(name):
    x = np.clip(items("f4", (40, 7)), -100, 100)  # squares are no more than float16 holds
    for axis in (None, 0, 1):
        for dtype in ("f2", "f4", np.float64):
            got, wide = MEANS[name](x, axis, dtype=dtype), np.asarray(MEANS[name](x, axis, dtype="f8"))
            assert same_bits(np.asarray(got), wide.astype(dtype)) and np.asarray(got).dtype == np.dtype(dtype)
    out = np.empty(7, "f4")
    assert MEANS[name](x, 0, out=out, dtype="f4") is out and same_bits(out, MEANS[name](x, 0, dtype="f4"))
    for bad in ("i4", bool, "c8"):
        with pytest.raises(tilefold.UnsupportedError, match="must be a floating type"):
            MEANS[name](x, dtype=bad)
    with pytest.raises(tilefold.ArgumentError, match="out is an array of float64"):
        MEANS[name](x, 0, out=np.empty(7))


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "?"])
def test_where_of_means_is_the_mean_of_those(name, dtype):
    x, mask = items(dtype, (30, 5, 4)), np.random.default_rng(3).random((30, 5, 4)) < 0.6
    function = MEANS[name]
    assert same_bits(function(x, where=mask), function(x[mask]))
    wide = "f4" if dtype == "f4" else "f8"
    assert isinstance(function(x, where=mask), np.dtype(wide).type)
    got = function(x, 0, where=mask)
    for place in np.ndindex(5, 4):
        column = (slice(None),) + place
        assert same_bits(got[place], function(x[column][mask[column]])), place
    assert same_bits(function(x, (0, 2), where=mask)[1], function(x[:, 1][mask[:, 1]]))
    kept = function(x, (-1, 0), keepdims=True, where=mask)
    assert kept.shape == (1, 5, 1) and same_bits(kept.ravel(), function(x, (0, 2), where=mask))
    # A mask of one axis spreads; a result that has no item is NaN.
    some = np.array([True, False, True, False])
    assert same_bits(function(x, 2, where=some), function(x[:, :, ::2], 2))
    none = mask.copy()
    none[:, 2, 3] = False
    got = function(x, 0, where=none, dtype="f4")
    assert np.isnan(got[2, 3]) and np.isfinite(np.delete(got.ravel(), 11)).all() and got.dtype == np.float32
    out = np.empty((5, 4), wide)
    assert function(x, 0, out=out, where=mask) is out and same_bits(out, function(x, 0, where=mask))
    assert function(x[:0], 0, where=mask[:0]).shape == (5, 4) and np.isnan(function(x[:0], 0, where=mask[:0])).all()
    with pytest.raises(tilefold.UnsupportedError, match="where is int64"):
        function(x, where=np.ones(4, "i8"))
    with pytest.raises(tilefold.ArgumentError, match="does not spread"):
        function(x, where=np.ones(3, bool))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "?"])
def test_axis_of_stats(dtype):
    x = items(dtype, (30, 6))
    for axis in (0, 1, (0, 1), ()):
        for keepdims in (False, True):
            found = tilefold.stats(x, axis, keepdims=keepdims)
            assert found.count.dtype == np.int64 and np.all(found.count == (x.size // max(found.count.size, 1)))
            assert same_bits(found.mean, np.asarray(tilefold.mean(x, axis, keepdims=keepdims, dtype="f8")))
            assert same_bits(found.variance, np.asarray(tilefold.var(x, axis, keepdims=keepdims, dtype="f8")))
            assert np.array_equal(found.min, np.asarray(tilefold.min(x, axis, keepdims=keepdims)).astype("f8"))
            assert np.array_equal(found.max, np.asarray(tilefold.max(x, axis, keepdims=keepdims)).astype("f8"))
    with pytest.raises(tilefold.EmptyError):
        tilefold.stats(x[:0], 0)


def test_out_of_segments_and_keys():
    x = items("f4", (100,))
    out = np.empty(6, "f4")[::2]
    assert tilefold.segment_reduce(x, [0, 10, 10, 100], out=out) is out
    assert same_bits(out.copy(), tilefold.segment_reduce(x, [0, 10, 10, 100]))
    pairs = np.empty((2, 2), "f4")
    assert tilefold.segment_reduce(x, [0, 10, 100], "minmax", out=pairs) is pairs
    keys = np.repeat(np.arange(5, dtype="i4"), 20)
    room = np.full(7, -1, "i4"), np.full(9, 7, "f4")
    got = tilefold.reduce_by_key(keys, x, "mean", out=room)
    expected = tilefold.reduce_by_key(keys, x, "mean")
    assert all(same_bits(a.copy(), b) and np.shares_memory(a, c) for a, b, c in zip(got, expected, room))
    assert room[0][5:].tolist() == [-1, -1] and room[1][5:].tolist() == [7.0] * 4
    for bad, what in [((np.empty(4, "i4"), np.empty(9, "f4")), "room for 4 runs, and there are 5"),
                      ((np.empty(9, "i8"), np.empty(9, "f4")), "array of int64"), (np.empty(9), "two arrays"),
                      ((np.empty(9, "i4"), [0] * 9), "must be a NumPy array")]:
        with pytest.raises(tilefold.ArgumentError, match=what):
            tilefold.reduce_by_key(keys, x, "mean", out=bad)
    fixed = np.empty(3, "f4")
    fixed.flags.writeable = False
    for bad, what in [(np.empty(4, "f4"), r"shape \(4,\)"), (np.empty(3), "array of float64"), (fixed, "read-only")]:
        with pytest.raises(tilefold.ArgumentError, match=what):
            tilefold.segment_reduce(x, [0, 10, 10, 100], out=bad)


def test_fuse_of_other_functions_and_out():
    x = items("f4", (50, 4))
    names = ("sum", "argmax", "mean", "exact_sum", "minmax", "any", "norm", "logsumexp", "count_nonzero")
    for axis in (None, 0, 1):
        for name, got in zip(names, tilefold.fuse(*names)(x, axis)):
            assert same_bits(np.asarray(got), np.asarray(getattr(tilefold, name)(x, axis=axis))), name
    assert tilefold.fuse("sum", "prod")(x[:0]) == (-0.0, 1)
    out = np.empty(4, "f4"), np.empty(4, "f4")
    got = tilefold.fuse("mean", "sum")(x, 0, out=out)
    assert got.mean is out[0] and got.sum is out[1] and same_bits(out[1], tilefold.sum(x, 0))
    assert tilefold.fuse("mean", "sum")(x, 0, out=(None, out[1])).sum is out[1]
    before = out[0].copy()
    with pytest.raises(tilefold.ArgumentError, match="out is an array of float64"):
        tilefold.fuse("mean", "sum")(x[:9] + 1, 0, out=(out[0], np.empty(4)))
    assert same_bits(out[0], before)
    with pytest.raises(tilefold.ArgumentError, match="out must be 2 arrays"):
        tilefold.fuse("mean", "sum")(x, out=np.empty(2))


def test_minmax_of_bool_in_c():
    x = np.array([[True, False], [True, True], [False, False]])
    assert tilefold.minmax(x, 1).tolist() == [[False, True], [True, True], [False, False]]
    assert tilefold.minmax(x[:0], 0).dtype == bool and tilefold.minmax(x[:0], 0).tolist() == [[True, False]] * 2


class Alien:
    """An array of a library that shows DLPack and nothing else. `device` is what it claims."""
    device = (1, 0)

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def test_dlpack_alone_on_the_host():
    x = items("f4", (6, 7))
    assert np.shares_memory(_arrays.items_of(Alien(x)), x)
    for axis in (None, 0, 1):
        assert same_bits(np.asarray(tilefold.sum(Alien(x), axis)), np.asarray(tilefold.sum(x, axis)))
    assert same_bits(tilefold.segment_reduce(Alien(x[0]), Alien(np.array([0, 3, 7]))),
                     tilefold.segment_reduce(x[0], [0, 3, 7]))


class Host(_gpu_libraries.GpuLibrary):
    """Stands for torch: NumPy's arrays, with the executor of the host behind them."""
    name = "host"

    def owns(self, x):
        return isinstance(x, np.ndarray)

    def items(self, x):
        steps = tuple(step // x.itemsize for step in x.strides)
        return _gpu_libraries.Items(x.ctypes.data, _dtypes.of_dtype(x.dtype), x.shape, steps, -1, 0)

    def empty(self, like, shape, code):
        return np.empty(shape, _dtypes.name_of(code))

    def address(self, x):
        return x.ctypes.data

    def cast(self, x, code):
        return x.astype(_dtypes.name_of(code))

    def scaled(self, x, factor, is_root):
        return np.asarray(super().scaled(x, factor, is_root))

    def contiguous(self, x):
        return np.ascontiguousarray(x)

    def copy(self, to, x):
        to[...] = x

    def from_numpy(self, like, array):
        return array

    def stacked(self, initial, x):
        return np.stack([np.full_like(x, initial), x])


class OnGpu(Alien):
    device = (2, 0)


def on_gpu(monkeypatch, given_back):
    """Has OnGpu's arrays seen by Host."""
    monkeypatch.setattr(_gpu_libraries, "_by_type", {})
    library = _gpu_libraries.Dlpack(Host(), lambda x: x.array, OnGpu)
    if given_back is not None:
        library.give = given_back
    monkeypatch.setattr(_gpu_libraries, "_dlpack_library", lambda x: library if isinstance(x, OnGpu) else None)


@pytest.mark.parametrize("given_back", [None, OnGpu])
def test_dlpack_alone_on_a_gpu(monkeypatch, given_back):
    on_gpu(monkeypatch, given_back)
    kind = np.ndarray if given_back is None else given_back

    def same(got, expected):
        assert isinstance(got, kind)
        return same_bits(got if given_back is None else got.array, np.asarray(expected))

    x = items("f4", (6, 7))
    for axis in (None, 0, 1, (0, 1)):
        assert same(tilefold.sum(OnGpu(x.T), axis), tilefold.sum(x.T, axis))
    assert same(tilefold.sum(OnGpu(x), 0, initial=2), tilefold.sum(x, 0, initial=2))
    assert same(tilefold.mean(OnGpu(x), dtype="f4"), tilefold.mean(x, dtype="f4"))
    out = OnGpu(np.empty(7, "f4"))
    assert tilefold.max(OnGpu(x), 0, out=out) is out and same_bits(out.array, tilefold.max(x, 0))
    for ddof in (0, 1, 2.5):
        assert same(tilefold.var(OnGpu(x), 0, ddof=ddof), tilefold.var(x, 0, ddof=ddof))
        assert same(tilefold.var(OnGpu(x), ddof=ddof, dtype="f8"), tilefold.var(x, ddof=ddof, dtype="f8"))
        assert tilefold.var(OnGpu(x), 0, correction=ddof, out=out) is out
        assert same_bits(out.array, tilefold.var(x, 0, ddof=ddof))
        for axis in (None, 1) if given_back is None else ():  # others have no items
            assert np.array_equal(np.asarray(tilefold.stats(OnGpu(x), axis, ddof=ddof)[2]),
                                  np.asarray(tilefold.stats(x, axis, ddof=ddof)[2]))
            assert same_bits(np.asarray(tilefold.fuse("var", "mean")(OnGpu(x), axis, ddof=ddof)[0]),
                             np.asarray(tilefold.fuse("var", "mean")(x, axis, ddof=ddof)[0]))
    assert same(tilefold.std(OnGpu(x), 0, ddof=2), tilefold.std(x, 0, ddof=2))
    for wanted in ("i4", "u1"):
        assert same(tilefold.sum(OnGpu(np.abs(x)), dtype=wanted), tilefold.sum(np.abs(x), dtype=wanted))
    for other in ("i4", "?"):
        y = x.astype(other)
        assert same(tilefold.vdot(OnGpu(y), OnGpu(y)), tilefold.vdot(y, y))
    for op in ("mean", "std"):
        assert same(tilefold.segment_reduce(OnGpu(x[0]), [0, 3, 7], op), tilefold.segment_reduce(x[0], [0, 3, 7], op))
        assert same(tilefold.batched([OnGpu(x), OnGpu(x.T)], op), tilefold.batched([x, x.T], op))
    assert same(tilefold.segment_reduce(OnGpu(x[0]), [0, 3, 7]), tilefold.segment_reduce(x[0], [0, 3, 7]))
    assert same(tilefold.vdot(OnGpu(x), OnGpu(x)), tilefold.vdot(x, x))
    assert same(tilefold.batched([OnGpu(x), OnGpu(x.T)]), tilefold.batched([x, x.T]))
    with pytest.raises(tilefold.UnsupportedError, match="where= of means"):
        tilefold.mean(OnGpu(x), where=True)
    with pytest.raises(tilefold.ArgumentError, match="must be an array of"):
        tilefold.vdot(OnGpu(x), [1.0])


class Shown:
    """An array that has __cuda_array_interface__ and nothing else; its memory is the host's."""

    def __init__(self, array, read_only=False):
        self.array = array
        self.__cuda_array_interface__ = {"shape": array.shape, "strides": array.strides, "typestr": array.dtype.str,
                                         "data": (array.ctypes.data, read_only), "version": 3}


def test_cuda_array_interface_alone(monkeypatch):
    monkeypatch.setattr(_gpu_libraries, "_by_type", {})
    library = _gpu_libraries.CudaArrays(Host(), lambda x: x.array, Shown)
    monkeypatch.setattr(_gpu_libraries, "_cuda_array_library", lambda x: library if isinstance(x, Shown) else None)
    x = items("f4", (6, 7))
    for axis in (None, 0, 1, (0, 1)):
        got = tilefold.sum(Shown(x.T), axis)
        assert isinstance(got, np.ndarray) and same_bits(got, np.asarray(tilefold.sum(x.T, axis)))
    assert same_bits(tilefold.segment_reduce(Shown(x[0]), [0, 3, 7]), tilefold.segment_reduce(x[0], [0, 3, 7]))
    out = Shown(np.empty(7, "f4"))
    assert tilefold.max(Shown(x, True), 0, out=out) is out and same_bits(out.array, tilefold.max(x, 0))
    with pytest.raises(tilefold.ArgumentError, match="out"):
        tilefold.max(Shown(x), 0, out=Shown(np.empty(7, "f4"), True))
    mixed = tilefold.vdot(Shown(x), x)  # one of the library that makes results
    assert same_bits(mixed, np.asarray(tilefold.vdot(x, x)))


def test_cuda_array_interface_through_torch(monkeypatch):
    """What torch is shown, and which stream waits for which."""
    waited, moved = [], [0]

    def as_tensor(view, device):
        shown = view.__cuda_array_interface__
        return types.SimpleNamespace(shown=shown, owner=view.owner, device=device,
                                     data_ptr=lambda: shown["data"][0] + moved[0])

    torch = types.SimpleNamespace(
        as_tensor=as_tensor,
        cuda=types.SimpleNamespace(
            current_device=lambda: 3, default_stream=lambda device: ("default", device),
            ExternalStream=lambda handle, device: (handle, device),
            current_stream=lambda device: types.SimpleNamespace(wait_stream=lambda other: waited.append((device, other)))))
    monkeypatch.setitem(sys.modules, "torch", torch)
    x = Shown(np.ones(3, "f4"), True)
    seen = _gpu_libraries.tensor_of_cuda_array(x)
    assert seen.shown["data"] == (x.array.ctypes.data, False) and seen.owner is x and not waited
    for stream, other in ((1, ("default", "cuda:3")), (2, (2, "cuda:3"))):
        x.__cuda_array_interface__["stream"] = stream
        assert "stream" not in _gpu_libraries.tensor_of_cuda_array(x).shown and waited.pop() == ("cuda:3", other)
    assert x.__cuda_array_interface__["data"][1] is True and x.__cuda_array_interface__["stream"] == 2
    moved[0] = 8
    with pytest.raises(tilefold.UnsupportedError, match="this Shown is not on torch's current GPU, 3"):
        _gpu_libraries.tensor_of_cuda_array(x)
    moved[0] = 0
    with pytest.raises(tilefold.UnsupportedError, match="arrays of >f4 are not taken"):
        _gpu_libraries.tensor_of_cuda_array(Shown(np.ones(3, ">f4")))
    x.__cuda_array_interface__["mask"] = Shown(np.ones(3, "?"))
    with pytest.raises(tilefold.UnsupportedError, match="masks are not taken"):
        _gpu_libraries.tensor_of_cuda_array(x)


def test_dlpack_alone_on_a_gpu_needs_a_library_with_memory():
    for device in (2, 13):
        alien = OnGpu(np.ones(3))
        alien.device = (device, 1)
        with pytest.raises(tilefold.UnsupportedError, match=rf"device \({device}, 1\).*torch or CuPy has been imported"):
            tilefold.sum(alien)


class JaxArray:
    """Stands for an array of JAX on a GPU: its memory is the host's. `order` has its axes, the outermost first."""
    __module__ = "jaxlib._jax"

    def __init__(self, array, order=None, devices=1, tiling=()):
        order = tuple(range(array.ndim)) if order is None else order
        self.memory = np.array(array.transpose(order), order="C")
        self.array = self.memory.transpose(np.argsort(order))
        self.shape, self.ndim, self.dtype, self.device = array.shape, array.ndim, array.dtype, "gpu"
        self.sharding = types.SimpleNamespace(device_set=set(range(devices)))
        self.format = types.SimpleNamespace(layout=types.SimpleNamespace(major_to_minor=order, tiling=tiling))
        self.is_done = False

    def __dlpack_device__(self):
        if len(self.sharding.device_set) > 1:
            raise BufferError("not sharded arrays")
        return 2, -1

    def block_until_ready(self):
        return self

    def unsafe_buffer_pointer(self):
        return self.memory.ctypes.data

    def astype(self, dtype):
        assert self.is_done
        return JaxArray(self.array.astype(dtype))

    def __int__(self):
        assert self.is_done
        return int(self.array)

    def __getitem__(self, key):
        return JaxArray(self.array[key])


@pytest.fixture
def jax(monkeypatch):
    made = types.SimpleNamespace(
        Array=JaxArray, core=types.SimpleNamespace(Tracer=type(None)), device_put=lambda array, device: JaxArray(array),
        numpy=types.SimpleNamespace(array=lambda x: JaxArray(x.array), where=lambda flag, a, b: a))
    library = _gpu_libraries.Jax(made)
    monkeypatch.setattr(_gpu_libraries, "_by_type", {JaxArray: library})

    def done(x):
        x.is_done = True
        return x

    library.done = done  # the host's executor has nothing to wait for
    return made


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (2, 1, 0), (1, 0, 2)])
def test_jax_arrays_of_any_layout(jax, order):
    x = items("f4", (6, 5, 7))
    there = JaxArray(x, order)
    for axis in (None, 0, 1, 2, (0, 2), ()):
        assert same_bits(tilefold.sum(there, axis).array, np.asarray(tilefold.sum(x, axis)))
        assert same_bits(tilefold.mean(there, axis, dtype="f4").array, np.asarray(tilefold.mean(x, axis, dtype="f4")))
    assert same_bits(tilefold.vdot(there, JaxArray(x)).array, np.asarray(tilefold.vdot(x, x)))
    assert same_bits(tilefold.batched([there, JaxArray(x)]).array, tilefold.batched([x, x]))
    assert tilefold.piece(there).value() == tilefold.sum(x)


def test_jax_counts_runs_when_they_are_there(jax):
    keys, x = np.repeat(np.arange(5, dtype="i4"), 20), items("f4", 100)
    got = tilefold.reduce_by_key(JaxArray(keys), JaxArray(x))
    for one, expected in zip(got, tilefold.reduce_by_key(keys, x)):
        assert same_bits(one.array, expected)


def test_jax_items_by_index_are_there(jax):
    indices, x = np.arange(100, dtype="i4") % 7, items("f4", (100, 3))
    for op in ("sum", "argmax"):
        got = tilefold.reduce_by_index(JaxArray(indices), JaxArray(x), op=op)
        assert got.is_done and same_bits(got.array, tilefold.reduce_by_index(indices, x, op=op))
    assert same_bits(tilefold.bincount(JaxArray(indices)).array, tilefold.bincount(indices))


def test_jax_arrays_of_several_devices_or_in_tiles_are_refused(jax):
    x = items("f4", (6, 5))
    with pytest.raises(tilefold.UnsupportedError, match=r"lies on 4 devices.*jax\.device_put"):
        tilefold.sum(JaxArray(x, devices=4))
    with pytest.raises(tilefold.UnsupportedError, match=r"tiles of \(\(8, 128\),\)"):
        tilefold.sum(JaxArray(x, tiling=((8, 128),)), 0)
