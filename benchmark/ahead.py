#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where tilefold was behind a peer or far from the memory's limit: each such row beside its mark, of what the
benchmark programs wrote. A row without figures stays, as not measured.

    ahead.py segments.json structs.json one.json host.json --native host_native.json --causes causes.json

Several files may tell of one row: the first one counts. `--native` names a run of the host program that was
compiled for the machine (-march=native), whose rivals get a column of their own. `--causes`: {"how a row's name begins": "why not"}.
"""
import argparse
import json
import pathlib
import sys
import textwrap
from dataclasses import dataclass

import report
import targets

PROMISED = report.OURS + "-bound"  # ours, told how long segments are at most


@dataclass(frozen=True)
class Row:
    """A shape at some n, what stood there before (a share of the ceiling, unless it says else), and what is
    asked: a share of the ceiling, a ratio to the best of some peers, or microseconds."""
    line: str
    before: str
    shape: str
    n: tuple
    share: float = None
    ratio: float = None
    most_us: float = None
    beside: float = None  # most times the time of the contestant named `peer`
    peer: str = "."
    mode: str = "graph"

    @property
    def asked(self):
        parts = []
        if self.share is not None:
            parts.append(f"{self.share:.2f}")
        if self.ratio is not None:
            parts.append(f"{self.ratio:.2f} of {'the best peer' if self.peer == '.' else self.peer}")
        if self.most_us is not None:
            parts.append(f"{self.most_us:g} us")
        if self.beside is not None:
            parts.append(f"{self.beside:.2f} times the sum")
        return ", ".join(parts)


def segments(line, before, shape, marks, **more):
    """A row for each of some lengths, with a mark each."""
    return [Row(f"{line}, {n}", b, shape, (n,), share=mark, **more)
            for (n, mark), b in zip(marks.items(), before)]


STRUCTS = ((16, "16"), (24, "24"), (32, "32"), (64, "64"), (128, "128"))

GPU = [
    *segments("offsets, constant", ("0.60", "0.92"), "segments_constant", {4: 0.90, 16: 0.98}),
    *segments("offsets, uniform", ("0.51", "0.81", "0.82", "0.77", "0.74"), "segments_uniform",
              {4: 0.90, 16: 0.92, 64: 0.92, 256: 0.92, 1024: 0.92}),
    *segments("offsets, geometric", ("0.46", "0.74", "0.73", "0.65", "0.72", "0.76"), "segments_geometric",
              {4: 0.80, 16: 0.90, 64: 0.90, 256: 0.90, 1024: 0.90, 4096: 0.90}),
    Row("power law of mean 4, 30% empty", "0.40", "segments_power_law", (4,), share=0.80),
    Row("one of 32M and 4M of 8", "0.67", "segments_one_giant", (8,), share=0.85),
    *segments("equal lengths", ("0.91", "0.95"), "segments_equal", {64: 0.97, 256: 0.97}),
    *(Row(f"struct of {b} bytes, one fold", before, f"struct{b}_sum", (), share=0.98)
      for b, before in ((12, "0.84"), (24, "0.97"), (32, "0.92"), (64, "0.70"))),
    Row("struct of 128 bytes, one fold", "", "struct128_sum", (), share=0.90, ratio=1.0),
    *(Row(f"struct of {name} bytes, segments, {what}, {n}", "", f"struct{b}_segments_{what}", (n,), share=0.90,
          ratio=1.0) for b, name in STRUCTS for what in ("equal", "geometric") for n in (4, 64, 1024)),
    *(Row(f"struct of {name} bytes, by key, runs of {n}", "", f"struct{b}_by_key", (n,), share=0.90, ratio=1.0)
      for b, name in STRUCTS for n in (2, 16, 256)),
    *segments("by key, runs of", ("0.67", "0.58", "0.61", "0.65"), "by_key",
              {2: 0.80, 16: 0.85, 256: 0.90, 65536: 0.90}),
    Row("by key, power law", "0.64", "by_key_power_law", (4,), share=0.85),
    Row("by key, 10^6 keys", "33 us", "by_key_of_a_million", (16,), most_us=15.0, mode="hot"),
    *(Row(f"four statistics by segment, {what}, {n}", before, shape, (n,), beside=1.15, peer="tilefold-sum")
      for what, shape in (("equal", "statistics_equal"), ("offsets", "statistics_csr"))
      for n, before in ((64, "2.4 to 2.6 times"), (1024, "2.6 to 3.0"), (65536, "2.6"))),
    Row("double minimum, 2^24", "0.975 of CUB", "double_min", (1 << 24,), ratio=1.0),
    Row("double sum, 2^24", "0.97 of CUB", "double_sum", (1 << 24,), ratio=1.0),
    Row("bytes, misaligned sums", "0.92", "int8_to_int32_sum_off_by_.*", (), share=0.98),
    Row("bytes, count_if", "0.96", "uint8_count_if", (), share=0.98),
    Row("1000 x 1000 floats, hot, equal", "2.8 us", "thousand_equal", (1000,), most_us=2.5, mode="hot"),
    Row("1000 x 1000 floats, hot, offsets", "3.15 us", "thousand_csr", (1000,), most_us=2.6, mode="hot"),
    *(Row(f"{what} from the host, 2^{e}", "0.84 to 0.97 of CUB", shape, (1 << e,), ratio=1.0, mode="stream")
      for what, shape in (("int8", "int8_to_int32_sum"), ("float", "float_sum")) for e in (10, 12)),
    *(Row(f"half rows, 1 of {n}", "0.90 of torch", "half_rows_batch_1", (n,), ratio=1.2, peer="torch")
      for n in (64, 256, 1024, 4096, 16384)),
    *(Row(f"half rows, {batch} of {n}", "", f"half_rows_batch_{batch}", (n,), ratio=1.2, peer="torch")
      for batch, n in ((8, 131072), (16, 151936), (64, 131072))),
]

HOST = [
    Row("host: statistics of rows of 16", "0.08", "fused_four", (16,), share=0.5, mode="host"),
    Row("host: offsets, constant 4", "0.48, 0.58 of OpenMP", "csr_constant", (4,), share=0.7, ratio=1.1, mode="host"),
    *(Row(f"host: offsets, geometric {n}", before, "csr_geometric", (n,), share=share, ratio=1.1, mode="host")
      for n, before, share in ((4, "0.37", 0.7), (7, "0.48", 0.7), (33, "0.68, 0.72 of OpenMP", None),
                               (256, "0.98", None))),
    Row("host: power law", "0.20", "csr_power_law", (5,), share=0.5, ratio=1.1, mode="host"),
    *(Row(f"host: {what}, 2^{e}", before, shape, (1 << e,), ratio=1.05, mode="host")
      for what, shape, before in (("double sum", "double_sum", "0.85 to 0.94 of OpenMP"),
                                  ("float dot product", "float_dot", "0.68 to 0.81 of OpenMP"))
      for e in (16, 18)),
]


def found(asked, rows):
    """The measured rows that a row asks for; of several sizes without a number, the largest of each shape."""
    matching = [r for r in rows if r.mode == asked.mode and targets.re.fullmatch(asked.shape, r.shape)
                and report.OURS in r.contestants and (not asked.n or r.n in asked.n)]
    return list({r.shape: r for r in matching}.values()) if not asked.n else matching


def ours(row):
    """The contestant of ours that counts: the faster one of those with and without a promise."""
    return min((who for who in (report.OURS, PROMISED) if who in row.contestants),
               key=lambda who: row.contestants[who].median)


def best_peer(row, pattern="."):
    peers = [who for who in row.contestants if not who.startswith(report.OURS) and targets.re.match(pattern, who)]
    return min(peers, key=lambda who: row.contestants[who].median, default=None)


def reached(asked, row):
    time = row.contestants[ours(row)].median
    peer = best_peer(row, asked.peer)
    checks = []
    if asked.share is not None:
        checks.append(row.ceiling is not None and row.ceiling / time >= asked.share)
    if asked.ratio is not None:
        checks.append(peer is not None and row.contestants[peer].median / time >= asked.ratio)
    if asked.most_us is not None:
        checks.append(time * 1e6 <= asked.most_us)
    if asked.beside is not None:
        sums = row.contestants.get(asked.peer)
        checks.append(sums is not None and time <= asked.beside * sums.median)
    return all(checks)


def cause_of(asked, causes, otherwise):
    """Causes are told of rows whose names begin so."""
    fitting = [name for name in causes if asked.line.startswith(name)]
    return causes[max(fitting, key=len)] if fitting else otherwise


def cells(asked, row, causes, native):
    time = row.contestants[ours(row)].median
    plain = row.contestants[report.OURS].median
    promised = row.contestants.get(PROMISED)
    if asked.beside is not None:
        peer = asked.peer if asked.peer in row.contestants else None
    else:
        peer = best_peer(row, asked.peer)
    peer_time = peer and row.contestants[peer].median
    result = [
        asked.line, asked.before, asked.asked, report.fixed(plain * 1e6, 2),
        report.fixed(promised and promised.median * 1e6, 2), report.fixed(row.ceiling and row.ceiling / time, 3),
        f"{peer} {peer_time * 1e6:.2f}" if peer else "", report.fixed(peer and peer_time / time, 3)
    ]
    if native is not None:
        other = native.get((row.shape, row.n))
        rival = other and best_peer(other)
        result.append(f"{rival} {other.contestants[rival].median * 1e6:.2f}" if rival else "")
    result.append("yes" if reached(asked, row) else cause_of(asked, causes, "no"))
    return result


def table(asked_rows, rows, causes, native=None):
    header = ["row", "before", "asked", "us", "with the bound", "of a plain read", "best peer, us", "ratio"]
    header += ["best peer for the machine"] if native is not None else []
    header.append("reached, or why not")
    lines = []
    for asked in asked_rows:
        measured = found(asked, rows)
        if measured:
            worst = max(measured, key=lambda r: r.contestants[ours(r)].median / (r.ceiling or 1))
            lines.append(cells(asked, worst, causes, native))
        else:
            blank = [""] * (len(header) - 4)
            lines.append([asked.line, asked.before, asked.asked, *blank, cause_of(asked, causes, "not measured")])
    notes = numbered(lines)
    return report.table(header, lines) + notes


def numbered(lines):
    """Moves causes out of the rows, which have numbers for them, into a list that is returned: many rows have the
    same."""
    causes = list(dict.fromkeys(line[-1] for line in lines if line[-1] not in ("yes", "no", "not measured")))
    for line in lines:
        if line[-1] in causes:
            line[-1] = f"[{causes.index(line[-1]) + 1}]"
    items = [textwrap.fill(f"- [{i}] {cause}", 130, subsequent_indent="  ", break_long_words=False,
                           break_on_hyphens=False) for i, cause in enumerate(causes, 1)]
    return "\n" + "\n".join(items) + "\n" if items else ""


def markdown(files, native, causes):
    rows = targets.merged([found_rows for _, _, found_rows in files])
    native_rows = {(r.shape, r.n): r for _, _, found_rows in native for r in found_rows}
    parts = ["# Rows that were behind\n",
             "Rows in which a peer was ahead, or the memory far from busy, beside what was asked of them. `us`: tilefold; "
             "`with the bound`: the same with `segment_bound()`. Shares of a plain read and ratios to the best peer are "
             "of the faster one; a ratio above 1 says that tilefold is faster. All of a row ran in turn in one program. "
             "Numbers in brackets: the causes below the table.\n"]
    parts += [f"{name}: {report.facts(context)}.\n" for name, context, _ in [*files, *native]]
    parts += ["## GPU\n", table(GPU, rows, causes), "## Host\n",
              table(HOST, rows, causes, native_rows if native else None)]
    return "\n".join(parts)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("json", nargs="+", help="what --benchmark_out wrote, or torch_rows.py --out")
    parser.add_argument("--native", action="append", default=[], metavar="FILE")
    parser.add_argument("--causes", metavar="FILE", help="JSON: why rows fall short")
    given = parser.parse_args(arguments)
    try:
        files, native = ([(pathlib.Path(path).name, *report.load(path)) for path in paths]
                         for paths in (given.json, given.native))
        causes = json.loads(pathlib.Path(given.causes).read_text(encoding="utf-8")) if given.causes else {}
    except (OSError, ValueError, KeyError, TypeError) as problem:
        print(f"ahead.py: {problem!r}", file=sys.stderr)
        return 2
    print(markdown(files, native, causes), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
