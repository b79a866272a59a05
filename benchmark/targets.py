#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was asked of the GPU path, and what runs of the benchmark programs reached: a table for every
theme, a line for every kind of input. Why a line falls short stands in a file of its own, {"line": "cause"}.

    targets.py gpu.json segments.json reducers.json exact.json torch.json --causes causes.json
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import sys
from dataclasses import dataclass

import report

WHOLE = 10**9  # bytes from which on a row shows bandwidth


@dataclass(frozen=True)
class Line:
    line: str
    asked: str
    shapes: str

    @property
    def modes(self):
        """Those of the rows that count."""
        return (getattr(self, "mode", "graph"),)

    def counts(self, row):
        return row.mode in self.modes and re.fullmatch(self.shapes, row.shape) is not None

    def of(self, rows):
        """The rows that count, with a time of ours."""
        return [r for r in rows if self.counts(r) and report.OURS in r.contestants]


@dataclass(frozen=True)
class Large(Line):
    """The largest input of every shape, against the ceiling and peers."""
    share: float = None
    ratio: float = None
    peer: str = "."
    least_bytes: int = WHOLE

    def measured(self, rows):
        found = [r for r in self.of(rows) if r.bytes >= self.least_bytes]
        largest = {r.shape: r for r in found}  # n ascends within a shape
        return against(largest, self.share, self.ratio, self.peer)


@dataclass(frozen=True)
class Each(Line):
    """Every row of some sizes, against the ceiling and peers."""
    least: int = 1  # n
    most: int = math.inf
    share: float = None
    ratio: float = None
    peer: str = "."
    mode: str = "graph"

    def measured(self, rows):
        found = [r for r in self.of(rows) if self.least <= r.n <= self.most]
        return against({name_of(r): r for r in found}, self.share, self.ratio, self.peer)


@dataclass(frozen=True)
class Beside(Line):
    """Our time in units of another one of ours: of a contestant in the same row, or of `shape` at the
    same n."""
    most: float
    who: str = report.OURS
    shape: str = None
    least: int = 1  # n
    mode: str = "graph"

    def measured(self, rows):
        other = {(r.shape, r.n): r.contestants[self.who].median for r in rows
                 if r.mode == self.mode and self.who in r.contestants}
        parts = {}
        for r in self.of(rows):
            time = other.get((self.shape or r.shape, r.n))
            if time and r.n >= self.least:
                parts[name_of(r)] = r.contestants[report.OURS].median / time
        if not parts:
            return None
        return span(parts, f"of {self.shape or self.who}", max), max(parts.values()) <= self.most


@dataclass(frozen=True)
class Microseconds(Line):
    """The time of one call, and of the best peer."""
    most: float
    modes = ("graph", "hot")

    def measured(self, rows):
        found = self.of(rows)
        parts = []
        for r in found:
            peer = r.best_peer()
            beside = f" ({peer} {r.contestants[peer].median * 1e6:.2f})" if peer else ""
            parts.append(f"{r.shape}, {'cold' if r.mode == 'graph' else r.mode} "
                         f"{r.contestants[report.OURS].median * 1e6:.2f} us{beside}")
        slowest = max((r.contestants[report.OURS].median for r in found), default=None)
        return ("; ".join(parts), slowest * 1e6 <= self.most) if parts else None


@dataclass(frozen=True)
class Sweep(Line):
    """The ratio over the sizes of a sweep: its geometric mean and its least."""
    mode: str
    mean: float
    least: float = 0.0

    def measured(self, rows):
        parts, reached = [], True
        found = {}
        for row in self.of(rows):
            if row.ratio() and 1 << 10 <= row.n <= 1 << 26:
                found.setdefault(row.shape, {})[report.power(row.n)] = row.ratio()
        for shape, ratios in found.items():
            mean = statistics.geometric_mean(ratios.values())
            worst = min(ratios, key=ratios.get)
            parts.append(f"{shape} {mean:.3f} (least {ratios[worst]:.3f} at {worst})")
            reached &= mean >= self.mean and ratios[worst] >= self.least
        return ("; ".join(parts), reached) if parts else None


@dataclass(frozen=True)
class Sync(Line):
    """Calls that return the value: our time in units of thrust's, and of what cannot be undercut, an
    empty kernel, the wait for it, and the time to read n at the speed of large reads."""
    thrust: float
    floor: float
    modes = ("sync",)

    def measured(self, rows):
        speed = max((r.bytes / r.ceiling for r in rows if r.mode == "graph" and r.ceiling), default=None)
        of_thrust, of_floor = {}, {}
        for row in self.of(rows):
            if row.n > 1 << 20:
                continue
            name = name_of(row)
            thrust = ratio(row, "thrust")
            if thrust:
                of_thrust[name] = 1 / thrust
            if row.ceiling and speed:
                of_floor[name] = row.contestants[report.OURS].median / (row.ceiling + row.bytes / speed)
        if not of_thrust or not of_floor:
            return None
        reached = max(of_thrust.values()) <= self.thrust and max(of_floor.values()) <= self.floor
        return f"{span(of_thrust, 'of thrust', max)}; {span(of_floor, 'of the floor', max)}", reached


def name_of(row):
    return f"{row.shape} of {row.n}"


def against(rows, share, least_ratio, peer):
    """What the named rows reach of the ceiling and of their peers, and whether both are enough; None
    if what is asked was not measured."""
    shares = {name: r.ceiling / r.contestants[report.OURS].median for name, r in rows.items() if r.ceiling}
    ratios = {name: ratio(r, peer) for name, r in rows.items() if ratio(r, peer)}
    if (share and not shares) or (least_ratio and not ratios) or not (shares or ratios):
        return None
    if least_ratio and not share:
        shares = {}
    parts = [span(shares, "of the ceiling")] if shares else []
    if ratios:
        parts.append(span(ratios, "of the best peer" if peer == "." else f"of {peer}"))
    reached = ((share is None or min(shares.values()) >= share)
               and (least_ratio is None or min(ratios.values()) >= least_ratio))
    return "; ".join(parts), reached


def ratio(row, peer):
    """The time of the fastest contestant named like `peer` in units of ours; None without one."""
    times = [t.median for who, t in row.contestants.items()
             if not who.startswith(report.OURS) and re.match(peer, who)]
    return min(times) / row.contestants[report.OURS].median if times else None


def span(values, unit, worst=min):
    """From the least to the greatest value, and where the worse of the two was seen."""
    low, high = min(values.values()), max(values.values())
    if len(values) == 1:
        return f"{low:.3f} {unit}"
    name = worst(values, key=values.get)
    return f"{low:.3f} to {high:.3f} {unit} ({'least' if worst is min else 'most'}: {name})"


ONE_FOLD = [
    Large("float, double, int32, int64 sum, min, max, product, 4 to 8 GiB",
          ">= 1.00 of CUB and >= 0.985 of ceiling",
          "(float|double|int32|int64)_(sum|min|max|product)", share=0.985, ratio=1.0),
    Large("half and bf16 to float, int8 to int32, uint8 count_if, half max", ">= 0.97 of ceiling",
          "half_to_float_sum|bfloat16_to_float_sum|int8_to_int32_sum|uint8_count_if|half_max",
          share=0.97),
    Large("any misalignment, 1..15 bytes for bytes, 1..7 items for half, 1..3 for float",
          ">= 0.95 of ceiling", "(float|half|int8)_.*_off_by_.*", share=0.95),
    Large("transform, zip of 2 and 3 arrays, thrust::device_vector and span iterators, strided view of 2",
          ">= 0.97 of ceiling",
          "float_(transform|transform_iterator|dot|zip_of_.|sum_device_vector|sum_span|every_other)"
          "|half_transform_iterator", share=0.97),
    Large("structs of 8, 12, 16, 24, 32, 64 bytes", ">= 0.97 of ceiling", "struct(8|12|16|24|32|64)_sum",
          share=0.97),
    Large("struct of 128 bytes", ">= 1.00 of CUB and >= 0.90 of ceiling", "struct128_sum", share=0.90,
          ratio=1.0),
    Large("count, sum, sum of squares in double from float", ">= 0.97 of ceiling", "float_moments",
          share=0.97),
    Large("non-commutative op on float, double, 2x2 float matrices", ">= 0.97 of ceiling",
          ".*_noncommutative", share=0.97),
    Large("compute-heavy transform (about 30 flops an item)",
          "within 5% of a hand-written grid-stride kernel", "float_polynomial", ratio=0.95,
          peer="by-hand"),
    Sweep("n = 2^10 .. 2^26, graph-launched, cold",
          "geometric mean >= 1.05 of CUB; no point under 0.97",
          "float_sum|double_sum|half_to_float_sum|int8_to_int32_sum", "graph", 1.05, 0.97),
    Sweep("the same, launched from the host", "geometric mean >= 1.3 of CUB",
          "float_sum|double_sum|half_to_float_sum|int8_to_int32_sum", "stream", 1.3),
    Sync("synchronous call, n <= 2^20",
         "<= 0.45 of thrust::reduce's time; <= 1.15 of an empty kernel + sync + the time to read n",
         "(float|double)_sum", 0.45, 1.15),
    Large("input in managed memory, in pinned host memory", "works, documented speed",
          "float_sum_(managed|pinned)", least_bytes=0),
]

REDUCERS = [
    Large("count, mean, variance, min, max in one pass over floats, 4 GiB", ">= 0.95 of ceiling",
          "five_statistics", share=0.95),
    Large("the least, the greatest and where they are, of floats, 4 GiB", ">= 0.95 of ceiling",
          "arg_min|arg_minmax", share=0.95),
    Large("count of a byte value", ">= 0.95 of ceiling", "count_byte", share=0.95),
    Large("logsumexp", ">= 0.90 of ceiling", "logsumexp", share=0.90),
    Large("l2 norm", ">= 0.95 of ceiling", "l2", share=0.95),
    Large("compensated float sum", ">= 0.95 of ceiling", "compensated_sum", share=0.95),
    Large("top_k<8>", ">= 0.80 of ceiling", "top_8", share=0.80),
    Beside("any, a hit in the first percent of 4 GiB", "< 0.10 of the time without a hit",
           "any_of_early_hit", 0.10, shape="any_of_no_hit", least=1 << 28),
    Each("warp_fold", ">= 1.0 of cub::WarpReduce", "warp_.*", ratio=1.0, mode="hot"),
    Each("block_fold", ">= 1.0 of cub::BlockReduce", "block_.*", ratio=1.0, mode="hot"),
    Beside("host: count, mean, variance, min, max in one pass, 2^26 floats", "within 10% of the plain sum",
           "fused_five", 1.10, who="sum", least=1 << 26, mode="host"),
]

FORESTS = [
    Each("equal segments of 16 to 65536 floats, 4 GiB", ">= 0.95 of ceiling", "segments_equal", least=16,
         share=0.95),
    Each("equal segments of 4 floats", ">= 0.92 of ceiling", "segments_equal", most=4, share=0.92),
    Each("offsets, mean length 16 to 4096 (constant, uniform, geometric)", ">= 0.90 of ceiling",
         "segments_(constant|uniform|geometric)", least=16, share=0.90),
    Each("offsets, mean length 4 and 7", ">= 0.80 of ceiling", "segments_(constant|uniform|geometric)",
         most=15, share=0.80),
    Each("offsets, power law; one of 32M and 4M of 8", ">= 0.85 of ceiling",
         "segments_(power_law|one_giant)", share=0.85),
    Each("rows of 64 to 16384 halves into float, 256 MiB and 1 GiB", ">= 0.95 of ceiling",
         "half_rows_(256_mib|1_gib)", share=0.95),
    Each("rows of 64 to 16384 halves into float, 1 to 4096 rows", "no slower than PyTorch",
         "half_rows_batch_.*", ratio=1.0, peer="torch"),
    Each("columns of 64 to 4096 wide float matrices; middle axis of rank 3; 4 GiB", ">= 0.95 of ceiling",
         "columns|axis_middle", least=64, most=4096, share=0.95),
    *(Each(f"reduce_by_key, int32 and float, runs of {n}", f">= {share:.2f} of ceiling", "by_key", least=n,
           most=n, share=share) for n, share in ((2, 0.70), (16, 0.85), (256, 0.88), (65536, 0.90))),
    Each("reduce_by_key, int32 and float, power law", ">= 0.85 of ceiling", "by_key_power_law", share=0.85),
    Each("structs of 16, 32 and 64 bytes by segment, mean length 4, 64 and 1024",
         ">= 1.00 of CUB and >= 0.90 of ceiling", "struct.._segments_(equal|geometric)", share=0.90,
         ratio=1.0, peer="cub"),
    Each("structs of 16, 32 and 64 bytes by key, runs of 2, 16 and 256",
         ">= 1.00 of CUB and >= 0.90 of ceiling", "struct.._by_key", share=0.90, ratio=1.0, peer="cub"),
    Microseconds("reduce_by_key of 10^6 floats, whole call in a graph", "<= 15 us", "by_key_of_a_million",
                 15.0),
    Microseconds("1000 segments of 1000 floats, whole call in a graph", "<= 4 us", "thousand_.*", 4.0),
    Beside("mean, variance, min, max by segment, 64 to 65536 floats, equal lengths and offsets",
           "within 10% of the plain sum", "statistics_.*", 1.10, who="tilefold-sum"),
    Each("host: equal segments, offsets, rows, columns, middle axis, runs of keys", ">= 0.9 of a plain read",
         "equal|csr_.*|rows|columns|middle|by_key|fused_four", share=0.9, mode="host"),
]

EXACT = [
    Large("exact sum of floats, normal and uniform, 4 GiB", ">= 0.985 of ceiling",
          "exact_sum_float_(normal|uniform)", share=0.985),
    Large("exact sum of floats, lognormal of sigma 5", ">= 0.90 of ceiling", "exact_sum_float_lognormal_5",
          share=0.90),
    Large("exact sum of floats, log-uniform over 200 binades", ">= 0.60 of ceiling",
          "exact_sum_float_log_uniform", share=0.60),
    Large("exact sum of doubles, normal, uniform, lognormal of sigma 5, 4 GiB", ">= 0.985 of ceiling",
          "exact_sum_double_(normal|uniform|lognormal_5)", share=0.985),
    Large("exact sum of doubles, log-uniform over 1600 binades", ">= 0.50 of ceiling",
          "exact_sum_double_log_uniform", share=0.50),
    Large("exact sum of half and bf16", ">= 0.95 of ceiling", "exact_sum_(half|bfloat16)_.*", share=0.95),
    Large("exact dot product and l2 norm of floats", ">= 0.90 of ceiling", "exact_(dot|l2)_float_normal",
          share=0.90),
    Beside("exact sums of floats and doubles, any n from 2^10 on, from a graph", "<= 2 times the plain sum",
           "exact_sum_(float|double)_normal", 2.0, who="tilefold-plain"),
    Beside("exact sums by segment (64, 1024, equal lengths and offsets) and by key (runs of 16)",
           "<= 1/0.60 of the plain sums' time", "exact_segments_(equal|offsets)(_double)?|exact_by_key(_double)?", 1 / 0.6,
           who="tilefold-plain"),
    Beside("deposits of floats into 1, 1024 and 2^20 accumulators", "within 4 times atomicAdd on floats",
           "deposit_float", 4.0, who="atomicAdd-float"),
]

SECTIONS = {"One fold": ONE_FOLD, "Reducers, and folds in kernels": REDUCERS,
            "Segments, rows, columns and runs of keys": FORESTS, "Exact sums": EXACT}


def merged(runs):
    """The rows of several runs: contestants of the same row come together, from the first run that has
    them."""
    rows = {}
    for row in (row for run in runs for row in run):
        known = rows.setdefault((row.shape, row.mode, row.n), row)
        for who, times in row.contestants.items():
            known.contestants.setdefault(who, times)
        known.ceiling = known.ceiling or row.ceiling
    return report.sorted_rows(rows.values())


def told(files, targets):
    """Of which runs a section's figures are."""
    lines = []
    for name, context, rows in files:
        if any(target.counts(row) for target in targets for row in rows):
            lines.append(f"{name}: {report.facts(context)}.\n")
    return lines


def table(rows, targets, causes):
    lines = []
    for target in targets:
        result = target.measured(rows)
        if result is None:
            lines.append([target.line, target.asked, "not in this run", "open"])
            continue
        text, reached = result
        lines.append([target.line, target.asked, text,
                      "reached" if reached else causes.get(target.line, "short")])
    header = "| shape | asked | measured | reached, or why not |\n|---|---|---|---|\n"
    return header + "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def markdown(files, causes):
    rows = merged([found for _, _, found in files])
    parts = [
        "# Targets, and what is reached\n",
        "Ceiling: the fastest kernel that only reads as many bytes in the same run. Peers: their time "
        "divided by tilefold's, so above 1 tilefold is faster. Workspace (asked: n/2^12 accumulators and 64 KiB "
        "at most): a test, CudaWorkspace.IsSmall, asserts that and 1/30 for bookkeeping; pairs of 8-byte "
        "items and accumulators of other sizes than large items' take up to n/2^9 accumulators.\n"
    ]
    for title, targets in SECTIONS.items():
        parts += [f"## {title}\n", *told(files, targets), table(rows, targets, causes)]
    return "\n".join(parts)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("json", nargs="+", help="what --benchmark_out wrote, or torch_rows.py --out")
    parser.add_argument("--causes", metavar="FILE", help="JSON: why lines fall short")
    given = parser.parse_args(arguments)
    try:
        files = [(pathlib.Path(path).name, *report.load(path)) for path in given.json]
        causes = {}
        if given.causes:
            with open(given.causes, encoding="utf-8") as file:
                causes = json.load(file)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        print(f"targets.py: {problem!r}", file=sys.stderr)
        return 2
    print(markdown(files, causes), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
