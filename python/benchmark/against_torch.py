# SPDX-License-Identifier: Apache-2.0
"""Times of the installed package beside torch's on a GPU: every function, dtype, shape and axis, as a table.

    python3 against_torch.py                       prints the ten worst rows and the geometric mean
    python3 against_torch.py --csv torch.csv       writes all rows there, too
    python3 against_torch.py --functions sum,any --dtypes bfloat16 --seconds 60

A time is the GPU's, of one call among many that a CUDA graph launches, so what the host spends does not count. `warm`
calls read the same tensor again, `cold` calls read others in turn, 256 MiB of them. The two libraries take turns, so
that both meet the machine's swings; a ratio is the median of the rounds' ratios: above 1 tilefold is faster.
"""
import argparse
import csv
import math
import statistics
import sys
import time

import torch

import tilefold
import tilefold.torch as tt

COLUMNS = ("function", "dtype", "shape", "axis", "memory", "torch_us", "tilefold_us", "ratio")
SHAPES = ((1000,), (1 << 20,), (1 << 26,), (1 << 28,), (65536, 64), (16384, 1024), (4096, 16384), (512, 50257),
          (64, 131072), (8, 1 << 20))
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float64": torch.float64, "int32": torch.int32,
          "int64": torch.int64}
FLOATS = ("float32", "bfloat16", "float64")
COLD_BYTES = 256 << 20
ROUNDS = 5


def along(function):
    """A torch function that takes None for all axes."""
    return lambda x, axis: function(x) if axis is None else function(x, axis)


def all_axes(x, axis):
    return tuple(range(x.dim())) if axis is None else axis


# Name -> (tilefold's, torch's, dtypes).
FUNCTIONS = {
    "sum": (tilefold.sum, along(torch.sum), DTYPES),
    "prod": (tilefold.prod, along(torch.prod), DTYPES),
    "min": (tilefold.min, along(torch.amin), DTYPES),
    "max": (tilefold.max, along(torch.amax), DTYPES),
    "argmin": (tilefold.argmin, along(torch.argmin), DTYPES),
    "argmax": (tilefold.argmax, along(torch.argmax), DTYPES),
    "any": (tilefold.any, along(torch.any), DTYPES),
    "all": (tilefold.all, along(torch.all), DTYPES),
    "count_nonzero": (tilefold.count_nonzero, torch.count_nonzero, DTYPES),
    "mean": (tilefold.mean, along(torch.mean), FLOATS),
    "var": (lambda x, axis: tilefold.var(x, axis, ddof=1), torch.var, FLOATS),
    "std": (lambda x, axis: tilefold.std(x, axis, ddof=1), torch.std, FLOATS),
    "norm": (lambda x, axis: tilefold.norm(x, 2, axis), lambda x, axis: torch.linalg.vector_norm(x, 2, axis), FLOATS),
    "logsumexp": (tilefold.logsumexp, lambda x, axis: torch.logsumexp(x, all_axes(x, axis)), FLOATS),
    "log_softmax": (tt.log_softmax, torch.log_softmax, FLOATS),
}


def graph_of(function, tensors):
    """A CUDA graph with a call of each tensor, and how many these are."""
    function(tensors[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for x in tensors:
            function(x)
    return graph


def microseconds(graph, replays):
    first, last = torch.cuda.Event(True), torch.cuda.Event(True)
    first.record()
    for _ in range(replays):
        graph.replay()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / replays * 1e3


def compare(ours, theirs, tensors):
    """(torch's microseconds, ours, the ratio), medians of rounds in turn."""
    graphs = [graph_of(function, tensors) for function in (theirs, ours)]
    for graph in graphs:
        microseconds(graph, 1)
    replays = max(1, min(20, int(2000 / (1 + microseconds(graphs[0], 1)))))
    pairs = [[microseconds(graph, replays) / len(tensors) for graph in graphs] for _ in range(ROUNDS)]
    torchs, mine = (statistics.median(one) for one in zip(*pairs))
    return torchs, mine, statistics.median(a / b for a, b in pairs)


def items_of(dtype, shape, zeros):
    if zeros:
        return torch.zeros(shape, dtype=dtype, device="cuda")
    if dtype.is_floating_point:
        return torch.randn(shape, device="cuda").to(dtype)
    return torch.randint(1, 100, shape, device="cuda", dtype=dtype)


def rows(functions, dtypes, deadline):
    for shape in SHAPES:
        for dtype in dtypes:
            made = {}
            for name in functions:
                ours, theirs, takes = FUNCTIONS[name]
                if dtype not in takes:
                    continue
                zeros = name in ("any", "count_nonzero")  # which torch and tilefold have to read to the end
                if zeros not in made:
                    made[zeros] = items_of(DTYPES[dtype], shape, zeros)
                x = made[zeros]
                bytes_of_x = x.numel() * x.element_size()
                for axis in (None,) if len(shape) == 1 else (0, 1):
                    if name == "log_softmax" and axis is None:
                        continue
                    for memory in ("warm", "cold") if bytes_of_x <= COLD_BYTES // 4 else ("cold",):
                        if time.monotonic() > deadline:
                            return
                        copies = 1 if memory == "warm" else min(64, max(1, COLD_BYTES // bytes_of_x))
                        tensors = [x] * 8 if memory == "warm" else [x] + [x.clone() for _ in range(copies - 1)]
                        torchs, mine, ratio = compare(lambda y: ours(y, axis), lambda y: theirs(y, axis), tensors)
                        yield dict(zip(COLUMNS, (name, dtype, "x".join(map(str, shape)), "all" if axis is None else axis,
                                                 memory, f"{torchs:.2f}", f"{mine:.2f}", f"{ratio:.3f}")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", help="a file for all rows")
    parser.add_argument("--functions", default=",".join(FUNCTIONS), help="some of the functions")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="some of the dtypes")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stops after this time")
    arguments = parser.parse_args()
    print(f"tilefold {tilefold.__version__}, torch {torch.__version__}, CUDA {torch.version.cuda}, "
          f"{torch.cuda.get_device_name()}")
    table = []
    for row in rows(arguments.functions.split(","), arguments.dtypes.split(","), time.monotonic() + arguments.seconds):
        table.append(row)
        if sys.stderr.isatty():
            print(f"\r{len(table)} rows, {row['function']} of {row['dtype']}".ljust(60), end="", file=sys.stderr)
    if not table:
        sys.exit("against_torch.py: no row was measured")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
    slower = sum(float(row["ratio"]) < 1 for row in table)
    mean = math.exp(statistics.fmean(math.log(float(row["ratio"])) for row in table))
    print(f"{len(table)} rows, geometric mean {mean:.3f}; slower than torch: {slower}. The worst:")
    for row in sorted(table, key=lambda row: float(row["ratio"]))[:10]:
        print("  " + "  ".join(str(row[column]) for column in COLUMNS))
    # The host's part, which the graphs leave out.
    x = torch.randn(1000, device="cuda")
    for name, function in (("tilefold.sum", tilefold.sum), ("tilefold.torch.sum", tt.sum), ("torch.sum", torch.sum)):
        print(f"a call of 1000 floats, {name}: {min(host_microseconds(lambda: function(x)) for _ in range(5)):.1f} us")


def host_microseconds(function, repeats=2000):
    function()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    spent = time.perf_counter() - start
    torch.cuda.synchronize()
    return spent / repeats * 1e6


if __name__ == "__main__":
    main()
