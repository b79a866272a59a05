# SPDX-License-Identifier: Apache-2.0
"""Times of the installed package beside NumPy's: the import, a sum of 10**8 float64, other folds, a call of 1000.

The two take turns, so that both meet the machine's swings; ratios are the median of the rounds'. Run it on a machine
that has nothing else to do: two busy threads cannot beat one where other programs hold a core.
"""
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np

import tilefold


def seconds(function, repeats=1):
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - start) / repeats


def compare(what, ours, theirs, rounds, repeats=1):
    pairs = [(seconds(ours, repeats), seconds(theirs, repeats)) for _ in range(rounds + 1)][1:]
    mine, numpys = (statistics.median(one) for one in zip(*pairs))
    ratios = sorted(b / a for a, b in pairs)
    print(f"{what}: tilefold {mine * 1e6:.1f} us, NumPy {numpys * 1e6:.1f} us, "
          f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def seconds_of_import(name, before):
    code = f"import time{before}; start = time.perf_counter(); import {name}; print(time.perf_counter() - start)"
    return statistics.median(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(11))


print(f"tilefold {tilefold.__version__}, NumPy {np.__version__}, Python {platform.python_version()}, "
      f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
print(f"import: NumPy {seconds_of_import('numpy', '') * 1e3:.0f} ms, and then tilefold "
      f"{seconds_of_import('tilefold', ', numpy') * 1e3:.0f} ms")
big = np.random.default_rng(0).standard_normal(10**8)
compare("sum of 10**8 float64", lambda: tilefold.sum(big), lambda: np.sum(big), 25)
square = big[:9 * 10**6].reshape(3000, 3000)
for dtype in ("float64", "float32"):
    x = square.astype(dtype)
    for name in ("sum", "mean", "var", "max", "argmax"):
        ours, theirs = getattr(tilefold, name), getattr(np, name)
        for axis in (None, 0, 1):
            along = "all axes" if axis is None else f"axis {axis}"
            compare(f"{name} of 3000 x 3000 {dtype}, {along}", lambda: ours(x, axis), lambda: theirs(x, axis), 15)
few = big[:1000].copy()
compare("sum of 1000 float64", lambda: tilefold.sum(few), lambda: np.sum(few), 25, 1000)
