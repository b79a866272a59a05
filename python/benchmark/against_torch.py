# SPDX-License-Identifier: Apache-2.0
"""Times on a GPU beside torch's: a call of 1000 floats, sums, rows of log_softmax and logsumexp.

Times of calls are what the host spends on them; the rest is the GPU's, of many calls in a row, the median of rounds in
which the two take turns.
"""
import statistics
import time

import torch

import tilefold
import tilefold.torch as tt


def host_time(function, repeats=2000):
    function()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        function()
    spent = time.perf_counter() - start
    torch.cuda.synchronize()
    return spent / repeats * 1e6


def gpu_time(function, repeats):
    first, last = torch.cuda.Event(True), torch.cuda.Event(True)
    first.record()
    for _ in range(repeats):
        function()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / repeats * 1e3


def graph_of(function):
    """Calls of a graph: what the host spends does not count."""
    function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(10):
            function()
    return graph.replay


def compare(what, ours, theirs, rounds=7):
    pairs = []
    a, b = graph_of(ours), graph_of(theirs)
    for _ in range(rounds + 1):
        pairs.append((gpu_time(a, 3) / 10, gpu_time(b, 3) / 10))
    mine, torchs = (statistics.median(one) for one in zip(*pairs[1:]))
    ratios = sorted(y / x for x, y in pairs[1:])
    print(f"{what}: tilefold {mine:.1f} us, torch {torchs:.1f} us, ratio {statistics.median(ratios):.2f} "
          f"({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


print(f"tilefold {tilefold.__version__}, torch {torch.__version__}, {torch.cuda.get_device_name()}")
x = torch.randn(1000, device="cuda")
for name, function in [("tilefold.sum", lambda: tilefold.sum(x)), ("tilefold.torch.sum", lambda: tt.sum(x)),
                       ("torch.sum", lambda: torch.sum(x))]:
    print(f"host time of a call of 1000 floats, {name}: {min(host_time(function) for _ in range(5)):.1f} us")
for n in (1 << 20, 1 << 26):
    x = torch.randn(n, device="cuda")
    compare(f"sum of {n} floats", lambda: tilefold.sum(x), lambda: torch.sum(x))
for rows, n in [(1 << 16, 64), (1 << 16, 256), (1 << 14, 1024), (1 << 13, 4096), (4096, 16384), (8, 131072),
                (16, 151936), (64, 131072)]:
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn(rows, n, device="cuda").to(dtype)
        short = str(dtype).partition(".")[2]
        compare(f"logsumexp of {rows} rows of {n} {short}", lambda: tt.logsumexp(x, -1), lambda: torch.logsumexp(x, -1))
        compare(f"log_softmax of {rows} rows of {n} {short}", lambda: tt.log_softmax(x, -1),
                lambda: torch.log_softmax(x, -1))
        compare(f"sum of {rows} rows of {n} {short}", lambda: tt.sum(x, -1), lambda: torch.sum(x, -1))
