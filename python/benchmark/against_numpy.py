# SPDX-License-Identifier: Apache-2.0
"""Times of the installed package beside NumPy's: every function, dtype, size and axis, as a table.

    python3 against_numpy.py                       prints the import, a sum of 10**8 float64 and the ten worst rows
    python3 against_numpy.py --csv numpy.csv       writes all rows there, too
    python3 against_numpy.py --functions sum,any --dtypes bool

The two take turns, so that both meet the machine's swings; a ratio is the median of the rounds' ratios: above 1
tilefold is faster. Run it on a machine that has nothing else to do: two busy threads cannot beat one where other
programs hold a core. The whole table takes one to five minutes.
"""
import argparse
import csv
import math
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np

import tilefold

FUNCTIONS = ("sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "count_nonzero", "argmin", "argmax")
DTYPES = ("float32", "float64", "float16", "int8", "int32", "int64", "uint8", "bool", "complex64")
SIZES = (10**3, 10**5, 10**6, 10**7)
AXES = (None, 0, 1)
COLUMNS = ("function", "dtype", "items", "axis", "numpy_us", "tilefold_us", "ratio")
SECONDS = 0.15  # of a row, about


def seconds(function, repeats=1):
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - start) / repeats


def compare(ours, theirs, rounds=None):
    """(NumPy's seconds, ours, the ratio), medians of rounds in turn."""
    once = max(seconds(ours), seconds(theirs), 1e-7)
    once = min(once, max(seconds(ours), seconds(theirs), 1e-7))  # the first call may load code
    repeats = max(1, math.ceil(2e-4 / once))
    rounds = rounds or max(5, min(15, int(SECONDS / (2 * once * repeats))))
    pairs = [(seconds(theirs, repeats), seconds(ours, repeats)) for _ in range(rounds)]
    numpys, mine = (statistics.median(one) for one in zip(*pairs))
    return numpys, mine, statistics.median(a / b for a, b in pairs)


def items_of(dtype, n):
    """n items in rows, of which none is zero, so that all() sees every one."""
    values = np.random.default_rng(0).integers(1, 100, n)
    return values.astype(dtype).reshape((1000, n // 1000) if n > 10**5 else (n // 100, 100))


def takes(function, x, axis):
    """Whether tilefold has it."""
    try:
        getattr(tilefold, function)(x, axis)
    except (TypeError, tilefold.UnsupportedError):
        return False
    return True


def rows(functions, dtypes):
    for dtype in dtypes:
        for n in SIZES:
            full = items_of(dtype, n)
            zeros = np.zeros_like(full)
            for function in functions:
                x = zeros if function in ("any", "count_nonzero") else full
                for axis in AXES:
                    if not takes(function, x, axis):
                        continue
                    ours, theirs = getattr(tilefold, function), getattr(np, function)
                    numpys, mine, ratio = compare(lambda: ours(x, axis), lambda: theirs(x, axis))
                    yield dict(zip(COLUMNS, (function, dtype, n, "all" if axis is None else axis, f"{numpys * 1e6:.2f}",
                                             f"{mine * 1e6:.2f}", f"{ratio:.2f}")))


def seconds_of_import(name, before):
    code = f"import time{before}; start = time.perf_counter(); import {name}; print(time.perf_counter() - start)"
    return statistics.median(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(11))


def print_import_and_a_large_sum():
    print(f"import: NumPy {seconds_of_import('numpy', '') * 1e3:.0f} ms, and then tilefold "
          f"{seconds_of_import('tilefold', ', numpy') * 1e3:.0f} ms")
    big = np.random.default_rng(0).standard_normal(10**8)
    numpys, mine, ratio = compare(lambda: tilefold.sum(big), lambda: np.sum(big), 25)
    print(f"sum of 10**8 float64: tilefold {mine * 1e3:.1f} ms, NumPy {numpys * 1e3:.1f} ms, ratio {ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", help="a file for all rows")
    parser.add_argument("--functions", default=",".join(FUNCTIONS), help="some of the functions")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="some of the dtypes")
    arguments = parser.parse_args()
    print(f"tilefold {tilefold.__version__}, NumPy {np.__version__}, Python {platform.python_version()}, "
          f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
    print_import_and_a_large_sum()
    table = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's of overflows
        for row in rows(arguments.functions.split(","), arguments.dtypes.split(",")):
            table.append(row)
            if sys.stderr.isatty():
                print(f"\r{len(table)} rows, {row['function']} of {row['dtype']}".ljust(60), end="", file=sys.stderr)
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
    behind = sum(float(row["ratio"]) < 1 and row["items"] >= 10**5 for row in table)
    mean = math.exp(statistics.fmean(math.log(max(float(row["ratio"]), 1e-3)) for row in table))
    print(f"{len(table)} rows, geometric mean {mean:.2f}; behind NumPy from 10**5 items on: {behind}. The worst:")
    for row in sorted(table, key=lambda row: float(row["ratio"]))[:10]:
        print("  " + "  ".join(str(row[column]) for column in COLUMNS))


if __name__ == "__main__":
    main()
