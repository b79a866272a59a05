# SPDX-License-Identifier: Apache-2.0
#
# Pieces and exact accumulators: whatever cuts, orders, processes and threads, the bits of one call.
import copy
import functools
import io
import math
import multiprocessing
import os
import pickle
import signal
import threading

import hypothesis
import hypothesis.strategies as st
import numpy as np
import oracle
import pytest
from oracle import items, same_bits

import tilefold

pytestmark = pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value",
                                        "ignore:This process:DeprecationWarning")
#: There are no pieces of sums and products in PyTorch's order (test_order.py).
COMBINATIONS = [(op, dtype) for op, (dtypes, _, _) in oracle.TABLE.items() if not op.startswith("torch_") for dtype in dtypes]


def merged(parts):
    return functools.reduce(lambda a, b: a.merge(b), parts)


@hypothesis.given(st.sampled_from(COMBINATIONS), st.lists(st.integers(0, 300), max_size=5), st.integers(0, 300),
                  st.randoms())
def test_any_cuts_have_the_bits_of_one_call(combination, cuts, n, random):
    op, dtype = combination
    x = oracle.items_for(op, dtype, n, n + 1)
    ends = sorted(min(cut, n) for cut in cuts)
    parts = [tilefold.piece(x[begin:end], begin, op) for begin, end in zip([0, *ends], [*ends, n])]
    while len(parts) > 1:  # in any groups
        i = random.randrange(len(parts) - 1)
        following = parts.pop(i + 1)
        parts[i].merge(pickle.loads(pickle.dumps(following)) if random.random() < 0.5 else following)
    whole = parts[0]
    assert (whole.begin, whole.end, whole.op) == (0, n, op)
    try:
        expected = tilefold.reduce(x, op)
    except tilefold.EmptyError:
        with pytest.raises(tilefold.EmptyError, match="nothing to fold"):
            whole.value()
        return
    got = whole.value()
    assert same_bits(got, expected) and type(got) is type(expected)


def test_pieces_of_any_shape_and_library():
    x = items("f4", (40, 50, 3))
    expected = tilefold.sum(x.transpose(1, 0, 2))
    part = tilefold.piece(x.transpose(1, 0, 2)[:30])
    assert part.append(x.transpose(1, 0, 2)[30:]) is part
    assert same_bits(part.value(), expected)
    assert same_bits(tilefold.piece([1, 2, 3], op="mean").value(), tilefold.mean([1, 2, 3]))
    assert same_bits(tilefold.piece(5.0).value(), np.float64(5))
    swapped = tilefold.piece(x.astype(">f4"))
    assert same_bits(swapped.value(), tilefold.sum(x)) and swapped.dtype == "float32"
    flags = np.array([True, False, True])
    assert tilefold.piece(flags, op="min").value() == False and tilefold.piece(flags, op="max").value() == True  # noqa


def test_places_count_in_the_whole():
    x = items("f8", 1000)
    parts = [tilefold.piece(x[i:i + 100], i, "arg_max") for i in range(0, 1000, 100)]
    assert merged(parts).value() == np.argmax(x)


def test_what_pieces_say_of_themselves():
    part = tilefold.piece(items("bfloat16", 9), 7, "mean")
    assert (part.op, part.dtype, part.begin, part.end) == ("mean", "bfloat16", 7, 16)
    assert repr(part) == "tilefold.Piece('mean' of bfloat16, items [7, 16))"
    for again in (copy.copy(part), copy.deepcopy(part), tilefold.Piece.from_bytes(bytearray(part.to_bytes()))):
        assert repr(again) == repr(part) and again.to_bytes() == part.to_bytes() and again is not part
    with pytest.raises(TypeError, match="use piece"):
        tilefold.Piece()


def test_what_is_refused():
    x = items("f4", 10)
    part = tilefold.piece(x)
    for wrong, match in ((tilefold.piece(x, 11), "ends at 10 cannot be merged with one that begins at 11"),
                         (tilefold.piece(x, 10, "max"), "sum of float32 .* max of float32"),
                         (tilefold.piece(x.astype("f8"), 10), "sum of float64"), ("text", "with a str")):
        with pytest.raises(tilefold.ArgumentError, match=match):
            part.merge(wrong)
    with pytest.raises(tilefold.ArgumentError, match="float64, and must be float32"):
        part.append(x.astype("f8"))
    with pytest.raises(tilefold.ArgumentError, match="begins at 3 has no value"):
        tilefold.piece(x, 3).value()
    for position in (-1, 2 ** 63, 2 ** 64):
        with pytest.raises(tilefold.ArgumentError, match=f"position is {position}"):
            tilefold.piece(x, position)
    with pytest.raises(tilefold.ArgumentError, match="would pass"):
        tilefold.piece(x, 2 ** 63 - 5)
    with pytest.raises(tilefold.ArgumentError, match="'some'"):
        tilefold.piece(x, 0, "some")
    with pytest.raises(tilefold.ArgumentError, match="must be a name"):
        tilefold.piece(x, 0, sum)
    with pytest.raises(tilefold.UnsupportedError, match="object"):
        tilefold.piece(np.array([None]))
    with pytest.raises(tilefold.ArgumentError, match="stream is for arrays of a GPU"):
        tilefold.piece(x, stream=1)
    assert part.end == 10 and same_bits(part.value(), tilefold.sum(x)), "it is as it was"


def test_bytes_that_are_wrong():
    data = tilefold.piece(items("f4", 100), 3, "variance").to_bytes()
    for bad in (b"", b"x", data[:-1], data + b"\0", data[:20] + bytes([data[20] ^ 1]) + data[21:]):
        with pytest.raises(tilefold.FormatError, match="tilefold") as found:
            tilefold.Piece.from_bytes(bad)
        assert isinstance(found.value, ValueError) and found.value.status == 13
        assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)
    with pytest.raises(tilefold.ArgumentError, match="bytes are a str"):
        tilefold.Piece.from_bytes("text")


def part_of(cut):
    begin, end = cut
    return tilefold.piece(items("f8", 200_000)[begin:end], begin, "logsumexp")


def test_pieces_of_other_processes():
    cuts = [(0, 1), (1, 70_000), (70_000, 70_001), (70_001, 200_000)]
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            parts = pool.map_async(part_of, cuts).get(60)
        assert same_bits(merged(parts).value(), tilefold.logsumexp(items("f8", 200_000)))


def test_threads_may_share_accumulators_and_pieces():
    x = items("f8", 200_000)
    total, start = tilefold.exact_accumulator("f8"), threading.Barrier(8)
    piece, other = tilefold.piece(x, 0, "sum"), tilefold.piece(x[:0], 0, "sum")
    expected, failures = piece.value(), []

    def work(number):
        start.wait()
        for i in range(number, 1000, 8):
            total.add(x[i * 200:(i + 1) * 200])
            one, two = (piece, other) if number % 2 else (other, piece)  # merged with each other, in both orders
            try:
                one.merge(two)
                failures.append("merged")
            except tilefold.ArgumentError:
                pass
            if not same_bits(piece.value(), expected) or piece.to_bytes()[:4] != b"TFPC":
                failures.append("changed")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # An empty piece at 0 takes the other one in, once.
    assert failures.count("merged") <= 1 and "changed" not in failures
    assert total.value() == math.fsum(x)


def in_child(body):
    """What body() returns in a forked process, as text; it has a minute."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            text = str(body())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    assert os.waitpid(child, 0)[1] == 0, "the child hangs"
    return text


@pytest.mark.parametrize("make", [lambda: tilefold.piece(np.ones(10)), lambda: tilefold.exact_accumulator("f8").add([10.0])])
def test_a_fork_while_another_thread_holds_the_lock(make):
    kept, held, done = make(), threading.Event(), threading.Event()
    before, own = kept.value(), tilefold._pieces._library.call

    def read():
        with kept._lock:
            held.set()
            done.wait()

    def change(name, *arguments):
        if name != "a change that takes long":
            return own(name, *arguments)
        held.set()
        done.wait()

    for work in (read, lambda: kept._add("a change that takes long", np.ones(3), (2, 64), None)):
        held.clear()
        done.clear()
        with pytest.MonkeyPatch.context() as patch:
            thread = threading.Thread(target=work)
            if work is not read:
                patch.setattr(tilefold._pieces._library, "call", change)
            thread.start()
            held.wait()
            patch.undo()
            try:
                if work is read:  # nothing has changed
                    assert in_child(kept.value) == str(before)
                else:
                    for call in (kept.value, kept.to_bytes, lambda: kept.merge(make()), lambda: make().merge(kept)):
                        assert f": this {type(kept).__name__} was being changed" in in_child(call)
            finally:
                done.set()
                thread.join()
    assert kept.value() == before


@pytest.mark.parametrize("make,change", [
    (lambda begin: tilefold.piece(np.ones(10), begin), "tilefold_piece_append"),
    (lambda begin: tilefold.exact_accumulator("f8").add(np.ones(10)), "tilefold_accumulator_add")])
def test_a_handler_uses_what_another_thread_merges(make, change):
    """The main thread changes x, while another one merges x into y. A handler that comes into the change asks for y:
    it would wait for ever if the other thread held y and waited for x."""
    y, x, in_change, own, values = make(0), make(10), threading.Event(), tilefold._pieces._library.call, []
    merge = threading.Thread(target=lambda: in_change.wait(60) and y.merge(x), daemon=True)

    def call(name, *arguments):
        if name == change and not in_change.is_set():
            in_change.set()
            merge.join(0.5)  # it waits for x
            handler = threading.Thread(target=lambda: values.append(y.value()), daemon=True)
            handler.start()
            handler.join(20)
        return own(name, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tilefold._pieces._library, "call", call)
        merge.start()
        x._add(change, np.ones(3), (2, 64), None)
        merge.join(60)
    assert not merge.is_alive() and values == [10] and y.value() == 23


def test_a_fork_in_a_call_goes_on_with_it():
    """A signal's handler that forks comes into a call of its own thread: the child goes on with the call."""
    kept, forked = tilefold.piece(np.ones(10)), []
    own = tilefold._pieces._library.call

    def call(*arguments):
        if not forked:
            forked.append(os.fork())
            if forked[0] == 0:
                signal.alarm(60)
        return own(*arguments)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tilefold._pieces._library, "call", call)
            kept.append(np.ones(5))
        value = kept.value()
    finally:
        if forked[0] == 0:
            os._exit(0 if value == 15 else 1)
    assert os.waitpid(forked[0], 0)[1] == 0 and value == 15


class Allowing(pickle.Unpickler):
    """Loads what the package names, and no function of Python's own."""

    def find_class(self, module, name):
        assert module.startswith("tilefold."), f"{module}.{name}"
        return super().find_class(module, name)


def test_pickles_name_functions_of_the_package_alone():
    for kept in (tilefold.piece(np.ones(3)), tilefold.exact_accumulator("f4").add(np.ones(3, "f4"))):
        again = Allowing(io.BytesIO(pickle.dumps(kept))).load()
        assert type(again) is type(kept) and again.to_bytes() == kept.to_bytes()


def test_pickles_of_results_name_functions_of_the_package_alone():
    x = items("i4", (5, 6))
    fused = tilefold.fuse("count", "mean", "min", "minmax")
    halves = tilefold.fuse("max", "sum")
    results = [tilefold.checked_sum(x), tilefold.checked_sum(x, 0), tilefold.checked_sum(x[:, :0], 0, keepdims=True),
               tilefold.checked_sum(x[:, :0], 1), tilefold.checked_sum(np.ones((3, 0), "u8"), 0), tilefold.stats(x * 0.5),
               tilefold.stats(x, 1), fused(x), fused(x, 1, keepdims=True), halves(items("bfloat16", (3, 4)), 1),
               halves(items("f2", 9))]
    for protocol in range(3, pickle.HIGHEST_PROTOCOL + 1):  # older ones write bytes as a call of _codecs.encode
        for kept in results:
            data = pickle.dumps(kept, protocol)
            for again in (Allowing(io.BytesIO(data)).load(), copy.copy(kept), copy.deepcopy(kept)):
                assert type(again) is type(kept) and again._fields == kept._fields and len(again) == len(kept)
                for one, other in zip(again, kept):
                    assert type(one) is type(other) and same_bits(one, other)
        for function in (fused, halves):
            data = pickle.dumps(function, protocol)
            for again in (Allowing(io.BytesIO(data)).load(), copy.copy(function), copy.deepcopy(function)):
                assert type(again) is type(function) and again.names == function.names
                assert repr(again(x)) == repr(function(x))


def test_pickles_of_results_keep_what_a_user_put_there():
    """Arrays that are not ours are pickled as NumPy does."""
    found = tilefold.stats(items("f8", (3, 4)), 1)
    swapped = np.arange(1.0, 4.0).astype(">f8")
    record = np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")])
    masked = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    objects = np.array([1, None, "three"], object)
    for other in (swapped, record, masked, objects, np.datetime64("2026-01-01"), np.array(["a", "bc"]), np.longdouble(3),
                  np.array([[1, 2]], "m8[s]"), swapped[0], ("float64", None, b"12345678"), None, "text"):
        kept = found._replace(mean=other)
        for again in (pickle.loads(pickle.dumps(kept)), copy.deepcopy(kept)):
            assert type(again) is type(kept) and type(again.mean) is type(other)
            if isinstance(other, (np.ndarray, np.generic)):
                # NumPy's pickles of an older protocol keep the items of the other byte order, and not the order.
                assert again.mean.dtype in (other.dtype, other.dtype.newbyteorder("=")) and np.array_equal(again.mean, other)
            else:
                assert again.mean == other
            assert same_bits(again.variance, found.variance)


def test_a_fused_function_goes_to_other_processes():
    x = items("f8", 1000)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map_async(tilefold.fuse("mean", "var", "argmin"), [x]).get(60)[0]
    expected = tilefold.fuse("mean", "var", "argmin")(x)
    assert found == expected and type(found) is type(expected)


def test_what_was_not_made_says_so():
    calls = {
        tilefold.Piece: [lambda p: p.op, lambda p: p.dtype, lambda p: p.begin, lambda p: p.end,
                         lambda p: p.append([1.0]), lambda p: p.merge(tilefold.piece([1.0])),
                         lambda p: tilefold.piece([1.0]).merge(p), lambda p: p.value(), lambda p: p.to_bytes(), repr,
                         pickle.dumps, copy.copy, copy.deepcopy],
        tilefold.ExactAccumulator: [lambda a: a.dtype, lambda a: a.add([1.0]), lambda a: a.value(), lambda a: a.mean(3),
                                    lambda a: a.merge(tilefold.exact_accumulator("f8")), lambda a: a.to_bytes(),
                                    lambda a: tilefold.exact_accumulator("f8").merge(a), repr, pickle.dumps, copy.copy,
                                    copy.deepcopy, lambda a: a == a],
    }
    for kind, all_calls in calls.items():
        bare, failed = kind.__new__(kind), kind.__new__(kind)
        with pytest.raises(TypeError):
            failed.__init__(*["c8"] * (kind is tilefold.ExactAccumulator))
        for call in all_calls:
            for one in (bare, failed):
                with pytest.raises(TypeError, match=f"this {kind.__name__} was not made by .*, {kind.__name__}.from_bytes"):
                    call(one)
        with pytest.raises(AttributeError, match="no attribute 'size'"):
            bare.size


def test_an_accumulator_is_made_once():
    total = tilefold.exact_accumulator("f8").add([1.0, 2.0])
    handle = total._handle.value
    with pytest.raises(TypeError, match="this ExactAccumulator is made already"):
        total.__init__("f8")
    assert total._handle.value == handle and total.value() == 3

# ---- exact accumulators


@pytest.mark.parametrize("dtype", oracle.REAL)
def test_accumulators_need_no_order(dtype):
    x = oracle.items_for("exact_sum", dtype, 999)
    order = np.random.default_rng(3).permutation(999)
    a = tilefold.exact_accumulator(x.dtype if dtype != "bfloat16" else "bfloat16")
    b = tilefold.ExactAccumulator(a.dtype)
    assert a == b and a.add(x) is a
    b.add(x[order][:500])
    assert a != b and a != 3
    b.merge(tilefold.exact_accumulator(a.dtype).add(x[order][500:].reshape(1, -1)))
    assert a == b and a.to_bytes() == b.to_bytes()
    assert same_bits(b.value(), oracle.exactly(x[None])[0]) and same_bits(b.value(), tilefold.exact_sum(x))
    assert same_bits(b.mean(999), oracle.exactly(x[None], 999, "f8")[0])
    from_bytes = tilefold.ExactAccumulator.from_bytes(a.dtype, a.to_bytes())
    for again in (pickle.loads(pickle.dumps(b)), copy.copy(b), from_bytes):
        assert again == a and again is not b and again.dtype == a.dtype
    with pytest.raises(TypeError):
        hash(a)


def test_accumulators_refuse():
    a = tilefold.exact_accumulator(np.float32)
    assert a.value() == 0 and repr(a).startswith("tilefold.ExactAccumulator('float32'")
    with pytest.raises(tilefold.ArgumentError, match="float32 cannot be merged with one of float64"):
        a.merge(tilefold.exact_accumulator("f8"))
    with pytest.raises(tilefold.ArgumentError, match="with a int"):
        a.merge(3)
    with pytest.raises(tilefold.ArgumentError, match="float64, and must be float32"):
        a.add(np.zeros(3))
    for n in (0, -1, 2 ** 63):
        with pytest.raises(tilefold.ArgumentError, match=f"n is {n}"):
            a.mean(n)
    with pytest.raises(tilefold.UnsupportedError, match="complex64"):
        tilefold.exact_accumulator("c8")
    with pytest.raises(tilefold.FormatError, match="bytes"):
        tilefold.ExactAccumulator.from_bytes("f8", a.to_bytes())

# ---- many arrays


@pytest.mark.parametrize("op", ["sum", "mean", "minmax", "arg_min", "any", "summary"])
@pytest.mark.parametrize("dtype", ["f4", "i2", "?"])
def test_batched_folds_each_array_alone(dtype, op):
    if dtype == "?" and op == "summary":
        op = "count_nonzero"
    arrays = [items(dtype, n, n) for n in (1, 7, 1000, 33)] + [items(dtype, (9, 20)).T]
    got = tilefold.batched(arrays, op)
    assert same_bits(got, np.stack([tilefold.reduce(x, op) for x in arrays]))


def test_batched_refuses():
    with pytest.raises(tilefold.ArgumentError, match="no arrays"):
        tilefold.batched([])
    with pytest.raises(tilefold.ArgumentError, match="array 1 is of float64, and array 0 of float32"):
        tilefold.batched([np.zeros(3, "f4"), np.zeros(3)])
    with pytest.raises(tilefold.EmptyError):
        tilefold.batched([np.zeros(3), np.zeros(0)], "mean")
    assert same_bits(tilefold.batched([np.zeros(0), [1.0]]), np.array([-0.0, 1.0]))

# ---- where


@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_where_puts_what_changes_nothing_in_the_places_of_others(dtype):
    x = oracle.items_for("exact_sum", dtype, (13, 21))
    mask = np.random.default_rng(1).random((13, 21)) < 0.6
    mask[3], mask[4] = False, True
    is_float = oracle.is_float(x.dtype)
    least, most = (-np.inf, np.inf) if is_float else (False, True) if dtype == "?" else (0, 0)
    if x.dtype.kind in "iu":
        least, most = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    zero = -0.0 if is_float else complex(-0.0, -0.0) if x.dtype.kind == "c" else 0
    cases = [("sum", zero), ("prod", 1), ("min", most), ("max", least), ("any", 0), ("all", 1), ("count_nonzero", 0),
             ("norm", 0), ("exact_sum", zero), ("logsumexp", -np.inf)]
    for name, neutral in cases:
        function = getattr(tilefold, name)
        if x.dtype.kind == "c" and name not in ("sum", "prod", "any", "all", "count_nonzero"):
            with pytest.raises(tilefold.UnsupportedError):
                function(x, where=mask)
            continue
        items = x.astype("f8") if name == "logsumexp" and not is_float else x
        replaced = np.where(mask, items, np.array(neutral).astype(items.dtype))
        for axis in (None, 0, 1):
            got = function(x, axis=axis, where=mask)
            assert same_bits(got, function(replaced, axis=axis)), name
            out = np.empty_like(got)
            assert function(x, axis=axis, where=mask, out=out) is out and same_bits(out, got), name
        rows = function(x, axis=1, where=mask, keepdims=True)
        assert same_bits(rows[4], function(x[4], keepdims=True)), "nothing is left out"
        assert same_bits(function(x, where=mask[0]), function(x, where=np.broadcast_to(mask[0], x.shape))), name
# Behind the last item nothing changes: rows that are filled up have the bits of shorter ones.
        assert same_bits(function(x, axis=1, where=np.arange(21) < 8), function(x[:, :8], axis=1)), name


def test_where_agrees_with_numpy():
    x, mask = items("i4", (50, 7)), np.random.default_rng(2).random((50, 7)) < 0.5
    for axis in (None, 0, 1):
        for name in ("sum", "prod", "any", "all"):
            expected = getattr(np, name)(x, axis=axis, where=mask)
            assert np.array_equal(getattr(tilefold, name)(x, axis=axis, where=mask), expected)
        for name in ("min", "max"):
            assert np.array_equal(getattr(tilefold, name)(x, axis=axis, where=mask, initial=5),
                                  getattr(np, name)(x, axis=axis, where=mask, initial=5))


def test_where_refuses():
    x = np.ones((3, 4))
    with pytest.raises(tilefold.UnsupportedError, match="where is int64"):
        tilefold.sum(x, where=np.ones(4, "i8"))
    with pytest.raises(tilefold.ArgumentError, match=r"shape \(3,\), which does not spread over \(3, 4\)"):
        tilefold.sum(x, where=np.ones(3, bool))
    with pytest.raises(tilefold.ArgumentError, match="does not spread"):
        tilefold.sum(x, where=np.ones((2, 3, 4), bool))
    with pytest.raises(tilefold.ArgumentError, match="stream is for arrays of a GPU"):
        tilefold.sum(x, where=True, stream=3)
    assert tilefold.sum(x, where=True) == 12


def test_gpu_memory_can_be_given_back():
    tilefold.release_memory()
