# SPDX-License-Identifier: Apache-2.0
"""A signal's handler, or a finalizer, runs between any two steps of a call, in the same thread. It may fold, too."""
import builtins
import contextlib
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from oracle import items, same_bits

import tilefold

PACKAGE = os.path.dirname(tilefold.__file__)


@contextlib.contextmanager
def between_steps(handler):
    """Has handler() called between any two instructions of the package."""
    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        if event in ("opcode", "line"):
            handler()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


X = items("f4", 1000)
KEYS = np.repeat(np.arange(10), 100)
CALLS = {
    "sum": lambda: tilefold.sum(X), "mean": lambda: tilefold.mean(X), "max": lambda: tilefold.max(X),
    "argmin": lambda: tilefold.argmin(X), "any": lambda: tilefold.any(X), "integers": lambda: tilefold.sum(KEYS),
    "minmax": lambda: tilefold.minmax(X), "axis": lambda: tilefold.sum(X.reshape(10, 100), 0),
    "axes": lambda: tilefold.sum(X.reshape(10, 10, 10), (0, 2)),
    "stats": lambda: tilefold.stats(X), "vdot": lambda: tilefold.vdot(X, X),
    "fuse": lambda: tilefold.fuse("mean", "sum", "min")(X), "initial": lambda: tilefold.sum(X, initial=3),
    "where": lambda: tilefold.mean(X, where=X > 0),
    "segments": lambda: tilefold.segment_reduce(X, [0, 10, 10, 1000]),
    "keys": lambda: np.stack(tilefold.reduce_by_key(KEYS, X)), "batched": lambda: tilefold.batched([X, X[:9]]),
    "indices": lambda: tilefold.reduce_by_index(KEYS, X), "bins": lambda: tilefold.bincount(KEYS, X),
    "piece": lambda: tilefold.piece(X[:500]).merge(tilefold.piece(X[500:], 500)).value(),
    "accumulator": lambda: tilefold.exact_accumulator("f4").add(X).value(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_fold_between_two_steps_changes_no_result(name):
    sevens, count = np.full(3, 7.0), 0

    def handler():
        nonlocal count
        count += 1
        assert tilefold.sum(sevens) == 21
        with contextlib.suppress(tilefold.EmptyError):
            tilefold.reduce(sevens[:0], "mean")

    expected = CALLS[name]()
    for _ in range(2):
        with between_steps(handler):
            got = CALLS[name]()
        for one, other in zip(np.atleast_1d(got), np.atleast_1d(expected)):
            assert same_bits(one, other)
    assert count > 50


def test_signals_that_fold_change_no_result():
    ones, sevens = np.ones(1000), np.full(1, 7.0)
    count = 0

    def handler(*_):
        nonlocal count
        count += 1
        tilefold.sum(sevens)

    wrong = set()
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        while count < 500:
            wrong |= {tilefold.sum(ones) for _ in range(100)} - {1000.0}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not wrong


def test_another_number_of_threads_between_two_steps():
    # What the allocator gets back is overwritten, so that who uses it is seen.
    code = f"""if True:
        import itertools, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import tilefold
        from test_between_steps import CALLS, between_steps
        counts = itertools.cycle([1, 2])

        def handler():
            tilefold.set_num_threads(next(counts))
            tilefold.sum([7.0])

        with between_steps(handler):
            for name, call in CALLS.items():
                call()
        print("done")
    """
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "MALLOC_PERTURB_": "165"}, capture_output=True,
                          text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.fixture
def ten_seconds():
    """A call that waits for itself is ended."""
    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def powers():
    """2 to higher and higher powers, again and again."""
    while True:
        for power in range(0, 1000, 60):
            yield np.array([2.0 ** power])


def test_an_accumulator_that_is_in_use_can_be_added_to(ten_seconds):
    total, other, two = tilefold.exact_accumulator("f8"), tilefold.exact_accumulator("f8"), np.array([2.0])
    large = powers()
    count = 0

    def handler():
        nonlocal count
        count += 1
        total.add(two)

    with between_steps(handler):
        total.add(np.arange(100.0))
        total.merge(other)
        total.value(), total.mean(3), total.to_bytes()
    assert count > 50 and total.value() == 4950 + 2.0 * count
    parts = []
    with between_steps(lambda: total.add(next(large))):  # its bytes become more and more
        parts.append(total.to_bytes())
    assert tilefold.ExactAccumulator.from_bytes("f8", parts[0]).to_bytes() == parts[0]


def test_the_first_call_of_a_thread():
    sevens, found = np.full(3, 7.0), []
    expected = tilefold.sum(X)  # which makes what threads share
    assert tilefold.sum(sevens) == 21

    def handler():  # only while the thread's list is made
        if sys._getframe(2).f_code.co_name in ("__init__", "_idle_results"):
            assert tilefold.sum(sevens) == 21
            found.append("between")

    def run():
        with between_steps(handler):
            found.append(tilefold.sum(X))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(found) > 1 and same_bits(found[-1], expected)


#: Calls of an array that may have one axis or two, and the values that each layout of it gives.
OF_CHANGING = {
    "sum": lambda x: tilefold.sum(x), "axis": lambda x: tilefold.sum(x, 0), "mean": lambda x: tilefold.mean(x),
    "minmax": lambda x: tilefold.minmax(x, axis=-1), "stats": lambda x: tilefold.stats(x)[0],
    "axis of stats": lambda x: tilefold.stats(x, 0)[3], "vdot": lambda x: tilefold.vdot(x, x),
    "fuse": lambda x: tilefold.fuse("count", "sum", "max")(x)[1], "initial": lambda x: tilefold.sum(x, 0, initial=1),
    "where": lambda x: tilefold.sum(x, 0, where=True), "where of means": lambda x: tilefold.mean(x, 0, where=True),
    "segments": lambda x: tilefold.segment_reduce(x, [0, 10, 90]), "offsets": lambda x: tilefold.segment_reduce(X, x),
    "keys": lambda x: tilefold.reduce_by_key(x, x)[1], "batched": lambda x: tilefold.batched([x, x]),
    "piece": lambda x: tilefold.piece(x).append(x).value(), "exact": lambda x: tilefold.exact_sum(x, 1, keepdims=True),
    "accumulator": lambda x: tilefold.exact_accumulator(x.dtype).add(x).value(),
    "reduce": lambda x: tilefold.reduce(x, "minmax", 0), "checked_sum": lambda x: tilefold.checked_sum(x, 0)[0],
    **{name: lambda x, name=name: getattr(tilefold, name)(x, 0)
       for name in ("prod", "min", "max", "var", "std", "argmin", "argmax", "any", "all", "count_nonzero", "logsumexp",
                    "exact_sum", "exact_mean", "compensated_sum")},
    "norm": lambda x: tilefold.norm(x, 2, 0),
    "reduce_by_index": lambda x: tilefold.reduce_by_index(np.arange(len(x)) % 7, x, 7),
    "indices": lambda x: tilefold.reduce_by_index(x, np.ones(1000), 97, mode="drop"),
    "bincount": lambda x: tilefold.bincount(np.arange(1000) % 7, x),
}
#: What has no array, or gets it from a function that is here.
OF_NO_ARRAY = {"CheckedSum", "Stats", "Piece", "ExactAccumulator", "set_num_threads", "get_num_threads",
               "release_memory", "TilefoldError", "ArgumentError", "EmptyError", "FormatError", "UnsupportedError",
               "__version__"}


def test_changing_arrays_go_through_every_function():
    of_other_names = {"segment_reduce": "segments", "reduce_by_key": "keys", "exact_accumulator": "accumulator"}
    named = {of_other_names.get(name, name) for name in tilefold.__all__} - OF_NO_ARRAY
    assert named <= OF_CHANGING.keys()


@pytest.mark.filterwarnings("ignore:Setting the")
@pytest.mark.parametrize("name", OF_CHANGING)
def test_an_array_that_changes_between_two_steps_is_read_as_it_was_at_one_of_them(name):
    """Another thread, or a signal's handler, gives x another shape or dtype meanwhile."""
    call = OF_CHANGING[name]
    kind = "f" if name == "compensated_sum" else "i"
    four, eight = kind + "4", kind + "8"
    layouts = [(four, (2, 500)), (four, (500, 2)), (four, (1000,)), (eight, (2, 250)), (eight, (500,))]
    items_of_all = np.arange(1000, dtype="i4") % (1000 if name == "offsets" else 97)
    possible = []
    for dtype, shape in layouts:
        with contextlib.suppress(ValueError, TypeError):
            possible.append(call(items_of_all.copy().view(dtype).reshape(shape)))
    assert possible
    x, count, steps = items_of_all.copy(), 0, 1

    def handler():
        nonlocal count
        count += 1
        dtype, shape = layouts[count // steps % 5]
        x.shape = (-1,)
        x.dtype = dtype
        x.shape = shape

    for first, steps in [(first, steps) for steps in (1, 2, 3, 5) for first in range(5 * steps)]:
        count = first
        handler()
        got = None
        with between_steps(handler), contextlib.suppress(ValueError, TypeError):
            got = call(x)
        assert got is None or builtins.any(np.array_equal(got, one) for one in possible), got
    assert count > 20
