#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the rows, columns and statistics of tilefold_segments_benchmark, as JSON that report.py and
targets.py read beside that program's.

    torch_rows.py --out torch.json [--filter <regex>] [--repetitions 5]

Names and sizes are the program's, and so is the way of timing: calls in a row in a CUDA graph, each on
other memory with L2 full of something else (graph), or all on the same memory (hot). Needs PyTorch
with CUDA; the first results of every shape are checked against float64.
"""
import argparse
import datetime
import json
import re
import statistics
import sys
from dataclasses import dataclass

GIB = 1 << 30
MEASURED_BYTES = 4 * GIB  # one graph reads about this much, or `MOST_LAUNCHES` times its input
MOST_LAUNCHES = 32
FLUSH_BYTES = 256 << 20
ITERATIONS = 2


@dataclass(frozen=True)
class Shape:
    name: str
    n: int  # the last part of a run's name
    sizes: tuple  # of the tensor
    axis: int  # that is folded
    halves: bool = False
    who: str = "torch"
    results: int = 1  # floats for every row
    mode: str = "graph"

    @property
    def input_bytes(self):
        items = 1
        for size in self.sizes:
            items *= size
        return items * (2 if self.halves else 4)

    @property
    def bytes(self):
        items = self.input_bytes // (2 if self.halves else 4)
        return self.input_bytes + items // self.sizes[self.axis] * 4 * self.results

    @property
    def launches(self):
        """As many as the program's."""
        stride = -(-self.input_bytes // (2 << 20)) * (2 << 20)
        return min(max(MEASURED_BYTES // stride, 2), MOST_LAUNCHES)

    @property
    def run_name(self):
        return f"{self.name}/{self.mode}/{self.who}/{self.n}"


def shapes():
    found = []
    for n in (64, 256, 1024, 4096, 16384):
        for name, items in (("half_rows_1_gib", 1 << 29), ("half_rows_256_mib", 1 << 27)):
            found.append(Shape(name, n, (items // n, n), 1, halves=True))
        for batch in (1, 16, 256, 4096):
            found.append(Shape(f"half_rows_batch_{batch}", n, (batch, n), 1, halves=True))
    for batch, n in ((8, 131072), (16, 151936), (64, 131072)):
        found.append(Shape(f"half_rows_batch_{batch}", n, (batch, n), 1, halves=True))
    for n in (4, 16, 64, 128, 256, 1024, 4096, 65536):
        found.append(Shape("segments_equal", n, (min(GIB // n, 1 << 25), n), 1))
    for width in (64, 256, 1024, 4096):
        found.append(Shape("columns", width, (GIB // width, width), 0))
        found.append(Shape("axis_middle", width, (GIB // 1024 // width, 1024, width), 1))
    for n in (64, 1024, 65536):
        found.append(Shape("statistics_equal", n, (GIB // 4 // n, n), 1, who="torch-var-mean", results=2))
    for mode in ("graph", "hot"):
        found.append(Shape("thousand_equal", 1000, (1000, 1000), 1, mode=mode))
    return found


class Rows:
    """Measures shapes on one GPU."""

    def __init__(self, torch):
        self.torch = torch
        self.flush = torch.zeros(FLUSH_BYTES // 4, device="cuda")
        self.memory = {}  # by type: what all inputs of it are parts of

    def input(self, shape):
        """Items of both signs, as many as the launches of the shape read together."""
        torch = self.torch
        dtype = torch.float16 if shape.halves else torch.float32
        if dtype not in self.memory:
            self.memory.clear()
            items = torch.empty(2 * GIB, dtype=dtype, device="cuda")
            for part in items.split(1 << 28):
                part.normal_()
            self.memory[dtype] = items
        return self.memory[dtype]

    def windows(self, shape):
        items = self.input(shape)
        count = shape.launches if shape.mode == "graph" else 1
        size = items.element_size()
        stride = -(-shape.input_bytes // (2 << 20)) * (2 << 20) // size
        length = shape.input_bytes // size
        count = min(count, items.numel() // stride)
        return [items[i * stride:i * stride + length].view(shape.sizes) for i in range(count)]

    def fold(self, shape):
        torch = self.torch
        if shape.who == "torch-var-mean":
            return lambda x: torch.var_mean(x, dim=shape.axis)
        return lambda x: (torch.sum(x, dim=shape.axis, dtype=torch.float32),)

    def check(self, shape, fold, window):
        """The sums or means of the first rows in float64; all of them would not fit."""
        torch = self.torch
        kept = 0 if shape.axis else 1
        part = window.narrow(kept, 0, min(64, shape.sizes[kept])).double()
        got = fold(window)[-1].narrow(0, 0, part.shape[kept]).double()
        if shape.who == "torch-var-mean":
            got *= shape.sizes[shape.axis]
        error = (got - torch.sum(part, dim=shape.axis)).abs()
        if not bool((error <= 1e-4 * torch.sum(part.abs(), dim=shape.axis)).all()):
            raise RuntimeError("results are wrong")

    def measure(self, shape, repetitions):
        """Seconds of one call, by repetition."""
        torch = self.torch
        windows, fold, launches = self.windows(shape), self.fold(shape), shape.launches
        self.check(shape, fold, windows[0])
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(launches):
                fold(windows[i % len(windows)])
        graph.replay()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times = []
        for _ in range(repetitions):
            total = 0.0
            for _ in range(ITERATIONS):
                if shape.mode == "graph":
                    self.flush.sum()  # reads, so that nothing is left to be written back
                begin.record()
                graph.replay()
                end.record()
                end.synchronize()
                total += begin.elapsed_time(end) * 1e-3 / launches
            times.append(total / ITERATIONS)
        return times


def entry(shape, times):
    """As Google Benchmark's reporter of the program writes the median repetition."""
    ordered = sorted(times)
    outer = len(ordered) // 4
    median = statistics.median_low(ordered)
    return {
        "name": shape.run_name, "run_name": shape.run_name, "run_type": "iteration",
        "repetitions": len(times), "threads": 1, "iterations": ITERATIONS, "real_time": median * 1e6,
        "time_unit": "us", "bytes_per_second": shape.bytes / median,
        "lower_quartile": ordered[outer] * 1e6, "upper_quartile": ordered[-1 - outer] * 1e6
    }


def context(torch, repetitions):
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "device": torch.cuda.get_device_name(),
        "torch": torch.__version__, "cuda_runtime": torch.version.cuda or "",
        "repetitions": str(repetitions)
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, metavar="FILE", help="the JSON to write")
    parser.add_argument("--filter", default="", metavar="REGEX", help="that names must contain")
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args(arguments)
    try:
        import torch
    except ImportError as problem:
        print(f"torch_rows.py: {problem}", file=sys.stderr)
        return 2
    if not torch.cuda.is_available():
        print("torch_rows.py: PyTorch sees no GPU", file=sys.stderr)
        return 2
    rows, entries, failed = Rows(torch), [], False
    # One type of items after the other, for their memory is made once.
    for shape in sorted(shapes(), key=lambda s: s.halves):
        if not re.search(given.filter, shape.run_name):
            continue
        try:
            times = rows.measure(shape, given.repetitions)
        except RuntimeError as problem:
            print(f"{shape.run_name}: {problem}", file=sys.stderr)
            failed = True
            continue
        entries.append(entry(shape, times))
        print(f"{shape.run_name:45} {statistics.median(times) * 1e6:10.2f} us")
    with open(given.out, "w", encoding="utf-8") as file:
        json.dump({"context": context(torch, given.repetitions), "benchmarks": entries}, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
