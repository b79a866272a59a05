# SPDX-License-Identifier: Apache-2.0
#
# Threads of the program, forks, what an import says where something is missing, and which module imports which.
import ast
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import oracle
import pytest
from oracle import items, same_bits

import tilefold

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forks among threads


def test_threads_at_once():
    arrays = [items("f4", 1_000_003, seed) for seed in range(4)]
    expected = [(tilefold.sum(x), tilefold.mean(x)) for x in arrays]
    found, start = {}, threading.Barrier(8)

    def work(number):
        start.wait()
        for _ in range(5):
            for i, x in enumerate(arrays):
                found.setdefault((number, i), set()).add((tilefold.sum(x).tobytes(), tilefold.mean(x).tobytes()))
            with pytest.raises(tilefold.ArgumentError, match=f"'op of {number}'"):
                tilefold.reduce(arrays[0], f"op of {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 32
    assert all(sums == {tuple(one.tobytes() for one in expected[i])} for (_, i), sums in found.items())


def test_many_threads_of_short_calls():
    arrays = [items(dtype, n, n) for n, dtype in enumerate(["f4", "f8", "i2", "u8", "?", "f2"], 1000)]
    calls = [(function, x) for x in arrays for function in (tilefold.sum, tilefold.mean, tilefold.max, tilefold.argmin,
                                                            tilefold.count_nonzero, lambda x: tilefold.piece(x).value())]
    expected = [np.asarray(function(x)).tobytes() for function, x in calls]
    wrong, start = [], threading.Barrier(24)

    def work(number):
        start.wait()
        for i in range(number, number + 300):  # each thread another call at a time
            function, x = calls[i % len(calls)]
            if np.asarray(function(x)).tobytes() != expected[i % len(calls)]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def in_child(body):
    """Whether body() is true in a forked process; it has a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        is_right = False
        try:
            is_right = bool(body())
        finally:
            os._exit(0 if is_right else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_fork_after_use():
    x = items("f8", 3_000_000)
    expected = tilefold.sum(x)
    assert in_child(lambda: same_bits(tilefold.sum(x), expected) and tilefold.get_num_threads() == 1)
    assert in_child(lambda: in_child(lambda: same_bits(tilefold.sum(x), expected)))
    assert same_bits(tilefold.sum(x), expected) and tilefold.get_num_threads() == 0


def test_no_call_imports_a_module():
    """A forked child would wait for an import that another thread had begun."""
    calls = """
import sys, numpy, tilefold
x = numpy.ones((9, 8))
before = set(sys.modules)
for call in (tilefold.sum, tilefold.stats, tilefold.argmax, tilefold.fuse("mean", "max"), tilefold.piece,
             tilefold.exact_accumulator("f8").add, lambda x: tilefold.sum(x, 0), lambda x: tilefold.sum(x, dtype="f4"),
             lambda x: tilefold.batched([x[0]]), lambda x: tilefold.segment_reduce(x[0], [0, 3, 8]),
             lambda x: tilefold.reduce_by_key(x[0], x[1]), lambda x: tilefold.reduce_by_index([0] * 8, x[1]),
             lambda x: tilefold.bincount([0] * 8, x[1])):
    call(x)
    assert set(sys.modules) == before, (call, set(sys.modules) - before)
"""
    subprocess.run([sys.executable, "-c", calls], check=True, timeout=100)


def test_a_fork_while_another_thread_folds():
    x = items("f8", 1_000_000)
    expected = tilefold.sum(x)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            tilefold.sum(x)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert all(in_child(lambda: same_bits(tilefold.sum(x), expected)) for _ in range(10))
    finally:
        stop.set()
        thread.join()


def folds_in_a_child_of(x, expected, parents):
    """Whether every way to make an executor works in a child, which oneTBB's threads and its owners of locks are not
    in: by Python, by C, and one of the parent's."""
    result, double = np.empty(()), tilefold._library.code_of(x.dtype)

    def sum_with(executor):
        tilefold._library.call("tilefold_reduce_as", executor, b"sum", x.ctypes.data, double, x.size,
                               result.ctypes.data, double)
        return same_bits(result, expected)

    before = tilefold.get_num_threads()
    is_right = before == 1 and same_bits(tilefold.sum(x), expected)
    for count in (2, 0, 1, 4096):
        tilefold.set_num_threads(count)
        is_right &= same_bits(tilefold.sum(x), expected) and tilefold.get_num_threads() == 1
    try:
        tilefold.set_num_threads(4097)
    except tilefold.ArgumentError:
        is_right &= tilefold.get_num_threads() == 1
    else:
        is_right = False
    for handle in [tilefold._threads._Executor(count) for count in (2, 0, 1)] + parents:
        is_right &= sum_with(handle)
    parents.clear()  # and destroyed
    return is_right


def test_many_forks_while_threads_make_executors():
    x = items("f8", 1_000_000)
    expected = tilefold.sum(x)
    seed = oracle.SEEDS[-1]
    stop, started = threading.Event(), threading.Barrier(4)

    def work(number):
        random = np.random.default_rng((seed, number))
        started.wait()
        while not stop.is_set():
            executor = tilefold._threads._Executor(int(random.integers(0, 4)))
            tilefold.set_num_threads(int(random.integers(0, 4)))
            tilefold.sum(x[:int(random.integers(100_000, 300_000))])
            del executor

    parents = [tilefold._threads._Executor(count) for count in (2, 0, 1)]
    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    started.wait()
    try:
        for i in range(60):
            assert in_child(lambda: folds_in_a_child_of(x, expected, parents)), f"fork {i}, TILEFOLD_TEST_SEED={seed}"
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        tilefold.set_num_threads(0)


# A fresh process forks a parent that has made no call yet. Its thread makes the first one, which makes an executor and
# the tables of oneTBB and of libtilefold, while it forks. The call folds no items: a fold sets a static variable of its
# own (docs/python.md: the first fold of a kind).
FIRST_CALLS = """
import os, signal, sys, threading, time, warnings
import numpy as np, tilefold
warnings.simplefilter("ignore", DeprecationWarning)
random, x = np.random.default_rng(int(sys.argv[1])), np.empty(0)

def fork(body):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if body() else 1)
    return os.waitpid(child, 0)[1] == 0

def parent():
    tilefold.set_num_threads(2)
    begun = threading.Event()

    def first():
        begun.set()
        tilefold.sum(x)

    threading.Thread(target=first).start()
    begun.wait()
    end = time.perf_counter() + wait
    while time.perf_counter() < end:
        pass
    return fork(lambda: tilefold.sum(x) == 0)

for i in range(150):
    wait = random.random() * 3e-4
    if not fork(parent):
        sys.exit(f"the child of fork {i} hangs")
"""


def test_forks_during_the_first_call():
    seed = oracle.SEEDS[-1]
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS, str(seed)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"TILEFOLD_TEST_SEED={seed}: {done.stderr}"


def limited(_):
    return tilefold.get_num_threads(), tilefold.sum(items("f4", 500_000)).tobytes()


def test_a_worker_of_a_pool_may_set_the_number_of_threads():
    expected = tilefold.sum(items("f4", 500_000)).tobytes()
    for way, count in (("fork", 1), ("spawn", 2)):
        with multiprocessing.get_context(way).Pool(2, tilefold.set_num_threads, (2,)) as pool:
            assert pool.map_async(limited, range(4)).get(60) == [(count, expected)] * 4


def sum_of(seed):
    return tilefold.sum(items("f4", 500_000, seed))


def mean_of_nothing(_):
    return tilefold.mean([])


def test_pools_of_processes():
    expected = [sum_of(seed) for seed in range(4)]
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            assert same_bits(pool.map_async(sum_of, range(4)).get(60), expected)
            with pytest.raises(tilefold.EmptyError, match="nothing to fold"):
                pool.map_async(mean_of_nothing, [0]).get(60)


def run_python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=60)


def error_of_import(path):
    done = run_python("import tilefold", TILEFOLD_LIBRARY=path)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: tilefold: ")
    return last


def test_an_import_names_what_is_missing(tmp_path):
    assert "there is no /nowhere/libtilefold.so: install the wheel" in error_of_import("/nowhere/libtilefold.so")
    text = tmp_path / "text.so"
    text.write_text("no library")
    error = error_of_import(str(text))
    assert f"{text} cannot be loaded" in error and "libtbb12 and libhwy1" in error


def test_another_library_is_not_taken_for_libtilefold():
    with open("/proc/self/maps") as maps:
        libc = next(line.split()[-1] for line in maps if "libc.so" in line or "libc-" in line)
    assert f"{libc} is not the libtilefold of this package" in error_of_import(libc)


def test_without_torch_there_is_no_attribute_torch():
    done = run_python("import sys, tilefold\nsys.modules['torch'] = None\nprint(hasattr(tilefold, 'torch'))\n"
                      "try:\n    tilefold.torch\nexcept AttributeError as error:\n    print(error)\n"
                      "try:\n    import tilefold.torch\nexcept ModuleNotFoundError as error:\n    print(error.name)\n")
    assert done.stdout.splitlines() == ["False", "tilefold.torch is there where PyTorch is installed", "torch"], done


def test_the_end_of_a_program_is_silent():
    for code in ("", "import threading\nt = threading.Thread(target=lambda: tilefold.sum([1]))\nt.start()\n"
                     "tilefold.set_num_threads(2)\ntilefold.sum([1.0] * 9)"):
        done = run_python(f"import tilefold\nkept = tilefold.sum([1])\n{code}")
        assert done.returncode == 0 and done.stderr == "" == done.stdout


def test_the_wheel_needs_no_library_of_the_system_but_those_of_c_and_cpp():
    done = run_python("import os, tilefold; print(os.path.dirname(tilefold.__file__)); tilefold.sum([1.0] * 9)\n"
                      "print(*[line.split()[-1] for line in open('/proc/self/maps') if 'tbb' in line or 'hwy' in line])")
    package, *files = done.stdout.split()
    assert {os.path.dirname(file) for file in files} == {os.path.join(package, "libs")}, done.stdout


def test_modules_import_only_those_above_them_in_the_map():
    package = pathlib.Path(tilefold.__file__).parent
    order = re.findall(r"^#   (\w+)  ", (package / "__init__.py").read_text(), re.M)
    assert sorted(order) == sorted({one.stem for one in package.glob("*.py") if one.stem != "__init__"} | {"_gpu_libraries"})
    for path in package.rglob("*.py"):
        place = path.relative_to(package).parts
        own = pathlib.Path(place[0]).stem
        for node in ast.walk(ast.parse(path.read_text())):
            # What a nested package imports from within itself has one dot less.
            if own != "__init__" and isinstance(node, ast.ImportFrom) and node.level == len(place):
                for name in [node.module.partition(".")[0]] if node.module else [one.name for one in node.names]:
                    assert order.index(name) < order.index(own), f"{'/'.join(place)} imports {name}"
