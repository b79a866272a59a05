# SPDX-License-Identifier: Apache-2.0
#
# A result has the bits of its items as one contiguous row, whatever their layout in memory, the axes, and the
# number of threads.
import itertools

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import items, same_bits

import tilefold

OPS = list(oracle.TABLE)


def expected_of(x, op, axes, keepdims=False):
    """Of copies of rows, one by one."""
    native = x.astype(x.dtype.newbyteorder("="))
    rows, shape = oracle.rows_of(native, axes)
    if keepdims:
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    results = [tilefold.reduce(np.array(row), op) for row in rows]
    some = tilefold.reduce(np.ones(1, native.dtype), op)
    return np.array(results, some.dtype).reshape(list(shape) + list(some.shape))


def layouts(dtype):
    x = items(dtype, (4, 6, 5))
    yield "plain", x
    yield "Fortran", np.asfortranarray(x)
    yield "reversed", x[:, ::2, ::-1]
    yield "all reversed", x[::-1, ::-1, ::-1]
    yield "turned", x.transpose(2, 0, 1)
    yield "broadcast", np.broadcast_to(x[:, :1, :], (4, 3, 5))
    yield "one item", np.broadcast_to(x[1, 2, 3], (3, 2))
    yield "overlapping", np.lib.stride_tricks.sliding_window_view(x.ravel(), 7)
    if x.dtype.itemsize > 1 and x.dtype.name != "bfloat16":
        yield "other byte order", x.astype(x.dtype.newbyteorder(">"))
    packed = np.zeros((4, 6, 5), np.dtype([("tag", "u1"), ("x", x.dtype)]))["x"]
    packed[...] = x
    yield "unaligned", packed
    aligned = np.zeros((4, 6, 5), np.dtype([("tag", "f8"), ("x", x.dtype)]))["x"]  # complex128: at steps of 24
    aligned[...] = x
    yield "aligned", aligned
    records = np.zeros((4, 6), np.dtype([("x", x.dtype), ("y", x.dtype)]))["y"]
    records[...] = x[:, :, 0]
    yield "field", records
    read_only = x.copy()
    read_only.flags.writeable = False
    yield "read-only", read_only
    yield "no axis", x[0, 0, 0, ...]
    yield "nothing", x[:, :0]


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_every_layout_along_every_axis(dtype):
    for name, x in layouts(dtype):
        for size in range(x.ndim + 1):
            for axes in itertools.combinations(range(x.ndim), size):
                for op in ("sum", "count_nonzero"):
                    got = tilefold.reduce(x, op, axes)
                    assert same_bits(got, expected_of(x, op, axes)), (name, op, axes)


@st.composite
def arrays(draw):
    """An array of any dtype and layout: sliced with any steps, turned, broadcast, in any byte order."""
    dtype = draw(st.sampled_from(oracle.DTYPES))
    shape = draw(st.lists(st.integers(0, 6), max_size=4))
    x = items(dtype, shape, draw(st.integers(0, 1000)))
    if dtype != "bfloat16" and draw(st.booleans()):
        x = x.astype(x.dtype.newbyteorder(">"))
    if draw(st.booleans()):
        x = np.asfortranarray(x).reshape(x.shape)
    step = st.sampled_from([-3, -2, -1, 1, 1, 2])
    x = x[tuple(slice(None, None, draw(step)) for _ in shape)]
    x = x.transpose(draw(st.permutations(range(x.ndim))))
    for _ in range(draw(st.integers(0, 2))):
        x = np.broadcast_to(x, (draw(st.integers(1, 5)),) + x.shape)
        x = np.moveaxis(x, 0, draw(st.integers(0, x.ndim - 1)))
    return dtype, x


@given(arrays(), st.sampled_from(OPS), st.data())
def test_any_layout(array, op, data):
    dtype, x = array
    if dtype not in oracle.TABLE[op][0]:
        op = "sum"
    named = data.draw(st.sets(st.integers(0, x.ndim - 1)) if x.ndim else st.just(set()), "axes")
    axis = tuple(i - x.ndim if data.draw(st.booleans()) else i for i in named)
    keepdims = data.draw(st.booleans(), "keepdims")
    try:
        expected = expected_of(x, op, named, keepdims)
    except (tilefold.EmptyError, tilefold.ArgumentError) as error:  # the latter: 64 bits do not hold an exact sum
        with pytest.raises(type(error)):
            tilefold.reduce(x, op, axis)
        return
    with np.errstate(all="ignore"):
        assert same_bits(tilefold.reduce(x, op, axis, keepdims=keepdims), expected)


def test_strides_beyond_32_bits():
    # 12 GiB of zeros that are never touched, but for what is written here.
    x = np.zeros(3 << 32, "u1")
    far = x[::-(1 << 32)]
    far[...] = [1, 2, 3]
    assert far.strides == (-(1 << 32),) and tilefold.sum(far) == 6 and tilefold.argmax(far) == 2
    both = np.lib.stride_tricks.as_strided(x[(1 << 32) - 1:], (2, 3), (1 << 32, 1))
    both[...] = [[5, 6, 7], [8, 9, 10]]
    assert tilefold.max(both, axis=1).tolist() == [7, 10] and tilefold.sum(both, axis=0).tolist() == [13, 15, 17]


def test_more_items_than_32_bits_count():
    n = (1 << 32) + 4  # pages of zeros that are read alone take no memory
    x = np.zeros(n, "u1")
    x[[5, 1 << 31, n - 1]] = [1, 2, 3]
    assert tilefold.max(x) == 3 and tilefold.reduce(x, "sum") == 6
    assert tilefold.segment_reduce(x, [0, 6, 1 << 31, n - 1, n], "max").tolist() == [1, 0, 2, 3]
    assert tilefold.max(x[::-1].reshape(5, -1), axis=1).tolist() == [3, 0, 2, 0, 1]


@pytest.fixture
def threads():
    yield tilefold.set_num_threads
    tilefold.set_num_threads(0)


@pytest.mark.parametrize("op", ["sum", "mean", "variance", "exact_sum", "arg_max", "logsumexp", "minmax", "l2"])
def test_bits_do_not_depend_on_the_number_of_threads(threads, op):
    flat = items("f4", 3_000_017)
    tall, wide = flat[:3_000_000].reshape(-1, 3), flat[:3_000_000].reshape(3, -1)
    offsets = np.sort(np.random.default_rng(0).integers(0, flat.size, 1000))
    found = set()
    for count in (1, 2, 3, 16, 0):
        threads(count)
        assert tilefold.get_num_threads() == count
        got = [tilefold.reduce(flat, op), tilefold.reduce(flat[::-1], op), tilefold.reduce(tall, op, 0),
               tilefold.reduce(tall, op, 1), tilefold.reduce(wide, op, 0), tilefold.reduce(wide, op, 1),
               tilefold.segment_reduce(flat, offsets, op)]
        found.add(b"".join(np.asarray(one).tobytes() for one in got))
    assert len(found) == 1


def test_numbers_of_threads_that_are_refused(threads):
    threads(3)
    for bad in (-1, 4097):
        with pytest.raises(tilefold.ArgumentError, match=f"threads is {bad}"):
            threads(bad)
    with pytest.raises(TypeError):
        threads(1.5)
    assert tilefold.get_num_threads() == 3 and tilefold.sum([1, 2]) == 3


def test_items_at_odd_addresses():
    """Contiguous, so that NumPy would leave them where they are."""
    x = items("f8", 12)
    odd = np.frombuffer(b"\0" + x.tobytes(), "f8", offset=1)
    record = np.zeros(1, [("tag", "u1"), ("value", "f8", 12)])
    record["value"] = x
    for y in (odd, odd.reshape(3, 4), record["value"], odd[:0], odd[:1].reshape(())):
        assert y.size == 0 or not y.flags.aligned
        same = np.array(y)
        assert same_bits(tilefold.sum(y), tilefold.sum(same))
        for axis in range(y.ndim):
            assert same_bits(tilefold.sum(y, axis), tilefold.sum(same, axis))
    assert same_bits(tilefold.piece(odd).value(), tilefold.sum(x))
    assert same_bits(tilefold.exact_accumulator("f8").add(odd).value(), tilefold.exact_sum(x))
    offsets = np.frombuffer(b"\0" + np.array([0, 5, 12]).tobytes(), "i8", offset=1)
    assert same_bits(tilefold.segment_reduce(odd, offsets), tilefold.segment_reduce(x, [0, 5, 12]))
    keys, sums = tilefold.reduce_by_key(odd, odd)
    assert same_bits(sums, tilefold.reduce_by_key(x, x)[1]) and len(keys) == 12
    assert same_bits(tilefold.batched([odd, odd[:3]]), tilefold.batched([x, x[:3]]))
