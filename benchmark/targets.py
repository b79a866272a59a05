#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was asked of the GPU path, and what a run of tilefold_gpu_benchmark reached: a line for every
kind of input. Why a line falls short stands in a file of its own, {"line": "cause"}.

    targets.py results.json --causes causes.json
"""
import argparse
import json
import re
import statistics
import sys
from dataclasses import dataclass

import report

WHOLE = 10**9  # bytes from which on a row shows bandwidth


@dataclass(frozen=True)
class Large:
    """Rows of large inputs against the ceiling, and against peers if a ratio is asked."""
    line: str
    asked: str
    shapes: str
    share: float = None
    ratio: float = None
    peer: str = "."
    least_bytes: int = WHOLE

    def measured(self, rows):
        found = [r for r in rows if r.mode == "graph" and re.fullmatch(self.shapes, r.shape)
                 and r.bytes >= self.least_bytes and report.OURS in r.contestants]
        largest = list({r.shape: r for r in found}.values())  # n ascends within a shape
        if not largest:
            return None
        parts, reached = [], True
        shares = {r.shape: r.ceiling / r.contestants[report.OURS].median for r in largest if r.ceiling}
        if shares:
            parts.append(span(shares, "of the ceiling"))
            reached &= self.share is None or min(shares.values()) >= self.share
        ratios = {r.shape: ratio(r, self.peer) for r in largest if ratio(r, self.peer)}
        if ratios:
            parts.append(span(ratios, "of the best peer" if self.peer == "." else f"of {self.peer}"))
            reached &= self.ratio is None or min(ratios.values()) >= self.ratio
        return "; ".join(parts), reached


@dataclass(frozen=True)
class Sweep:
    """The ratio over the sizes of a sweep: its geometric mean and its least."""
    line: str
    asked: str
    shapes: str
    mode: str
    mean: float
    least: float = 0.0

    def measured(self, rows):
        parts, reached = [], True
        found = {}
        for row in rows:
            if (row.mode == self.mode and re.fullmatch(self.shapes, row.shape) and row.ratio()
                    and 1 << 10 <= row.n <= 1 << 26):
                found.setdefault(row.shape, {})[report.power(row.n)] = row.ratio()
        for shape, ratios in found.items():
            mean = statistics.geometric_mean(ratios.values())
            worst = min(ratios, key=ratios.get)
            parts.append(f"{shape} {mean:.3f} (least {ratios[worst]:.3f} at {worst})")
            reached &= mean >= self.mean and ratios[worst] >= self.least
        return ("; ".join(parts), reached) if parts else None


@dataclass(frozen=True)
class Sync:
    """Calls that return the value: our time in units of thrust's, and of what cannot be undercut, an
    empty kernel, the wait for it, and the time to read n at the speed of large reads."""
    line: str
    asked: str
    thrust: float
    floor: float

    def measured(self, rows):
        speed = max((r.bytes / r.ceiling for r in rows if r.mode == "graph" and r.ceiling), default=None)
        of_thrust, of_floor = {}, {}
        for row in rows:
            if row.mode != "sync" or row.n > 1 << 20 or report.OURS not in row.contestants:
                continue
            name = f"{row.shape} of {row.n}"
            thrust = ratio(row, "thrust")
            if thrust:
                of_thrust[name] = 1 / thrust
            if row.ceiling and speed:
                of_floor[name] = row.contestants[report.OURS].median / (row.ceiling + row.bytes / speed)
        if not of_thrust or not of_floor:
            return None
        reached = max(of_thrust.values()) <= self.thrust and max(of_floor.values()) <= self.floor
        return f"{span(of_thrust, 'of thrust', max)}; {span(of_floor, 'of the floor', max)}", reached


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


TARGETS = [
    Large("float, double, int32, int64 sum, min, max, product, 4 to 8 GiB",
          ">= 1.00 of CUB and >= 0.985 of ceiling",
          "(float|double|int32|int64)_(sum|min|max|product)", share=0.985, ratio=1.0),
    Large("half and bf16 to float, int8 to int32, uint8 count_if, half max", ">= 0.97 of ceiling",
          "half_to_float_sum|bfloat16_to_float_sum|int8_to_int32_sum|uint8_count_if|half_max",
          share=0.97),
    Large("any misalignment, 1..15 bytes for bytes, 1..7 items for half, 1..3 for float",
          ">= 0.95 of ceiling", ".*_off_by_.*", share=0.95),
    Large("transform, zip of 2 and 3 arrays, thrust::device_vector and span iterators, strided view of 2",
          ">= 0.97 of ceiling",
          "float_(transform|transform_iterator|dot|zip_of_.|sum_device_vector|sum_span|every_other)"
          "|half_transform_iterator", share=0.97),
    Large("structs of 8, 12, 16, 24, 32, 64 bytes", ">= 0.97 of ceiling", "struct.*_sum", share=0.97),
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
         0.45, 1.15),
    Large("input in managed memory, in pinned host memory", "works, documented speed",
          "float_sum_(managed|pinned)", least_bytes=0),
]


def markdown(context, rows, causes):
    lines = []
    for target in TARGETS:
        result = target.measured(rows)
        text, reached = result if result else ("not in this run", False)
        verdict = "reached" if reached else causes.get(target.line, "short")
        lines.append([target.line, target.asked, text, verdict])
    header = "| shape | asked | measured | reached, or why not |\n|---|---|---|---|\n"
    told = ", ".join(f"{k} {v}" for k, v in context.items()
                     if isinstance(v, str) and k not in report.PRIVATE)
    return "\n".join([
        "# What was asked, and what is reached\n",
        f"{told}.\n",
        "Ceiling: the fastest kernel that only reads as many bytes in the same run. Peers: their time in "
        "units of ours, so above 1 tilefold is faster. Workspace (asked: n/2^12 accumulators and 64 KiB "
        "at most): a test, CudaWorkspace.IsSmall, asserts that and 1/30 for bookkeeping; pairs of 8-byte "
        "items and accumulators of other sizes than large items' take up to n/2^9 accumulators.\n",
        header + "".join("| " + " | ".join(cells) + " |\n" for cells in lines),
    ])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("json", help="what --benchmark_out wrote")
    parser.add_argument("--causes", metavar="FILE", help="JSON: why lines fall short")
    given = parser.parse_args(arguments)
    try:
        context, rows = report.load(given.json)
        causes = {}
        if given.causes:
            with open(given.causes, encoding="utf-8") as file:
                causes = json.load(file)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        print(f"targets.py: {problem!r}", file=sys.stderr)
        return 2
    print(markdown(context, rows, causes), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
