#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table of what Nsight Compute counted while tilefold_profiles ran: what each call's kernels waited for.

    ncu --clock-control none --profile-from-start off --csv --page raw --section SpeedOfLight \\
        --section WarpStateStats --section SchedulerStats --section Occupancy --section LaunchStats \\
        --section MemoryWorkloadAnalysis --metrics l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum \\
        tilefold_profiles > profiles.csv
    waits.py profiles.csv > benchmark/results/h200_profiles.md

The program prints the name of each call and gives each a stream of its own: by the streams this tells whose
kernel is whose. Kernels that take less than a twentieth of their call are left out.
"""
import argparse
import csv
import pathlib
import re
import sys
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True
import report  # noqa: E402  (found through the path above)

TIME = "gpu__time_duration.sum"
MEMORY = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
ISSUED = "sm__issue_active.avg.pct_of_peak_sustained_elapsed"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
REGISTERS = "launch__registers_per_thread"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "nsecond": 1e-3, "usecond": 1.0, "msecond": 1e3}
LEAST_SHARE = 0.05
# What a warp waits for, of the names that Nsight Compute has for it. `selected` and `not_selected` are no waits.
WAITS = {
    "long_scoreboard": "memory", "short_scoreboard": "shared memory", "barrier": "its block", "wait": "arithmetic",
    "no_instruction": "instructions", "imc_miss": "constants", "branch_resolving": "branches",
    "math_pipe_throttle": "a busy pipe", "mio_throttle": "shared memory's queue", "lg_throttle": "memory's queue",
    "drain": "stores", "membar": "a fence", "dispatch_stall": "the dispatcher", "tex_throttle": "memory's queue",
    "sleeping": "a pause", "misc": "other things"
}


@dataclass
class Kernel:
    call: str
    name: str
    us: float
    memory: float  # these are percentages
    issued: float
    warps: float
    registers: int
    waits: list  # of (cycles for each instruction, what for), the longest first
    conflicts: float = None  # of banks of shared memory, if they were counted


def number(text):
    return float(text.replace(",", ""))


def waits_of(row):
    cycles = {}
    for name, value in row.items():
        found = STALL.fullmatch(name)
        if found and found[1] in WAITS and value:
            what = WAITS[found[1]]
            cycles[what] = cycles.get(what, 0.0) + number(value)
    return sorted(((c, what) for what, c in cycles.items()), reverse=True)


def read(lines):
    """The program's names of calls, and all kernels, of the output of both."""
    rows = [r for r in csv.reader(line for line in lines if not line.startswith("==")) if r]
    at = next((i for i, r in enumerate(rows) if r[0] == "ID"), None)
    if at is None:
        raise ValueError("no table: was it made with --csv --page raw?")
    header, units = rows[at], dict(zip(rows[at], rows[at + 1]))
    missing = [name for name in (TIME, MEMORY, ISSUED, WARPS, REGISTERS, "Stream") if name not in header]
    if missing:
        raise ValueError(f"no column {missing[0]}: which sections were asked for?")
    table = [dict(zip(header, r)) for r in rows[at + 2:] if len(r) == len(header)]
    calls = [",".join(r) for r in rows[:at] + [r for r in rows[at + 2:] if len(r) != len(header)]]
    streams = list(dict.fromkeys(row["Stream"] for row in table))
    if len(streams) != len(calls):
        raise ValueError(f"{len(calls)} names of calls, but kernels in {len(streams)} streams")
    return [
        Kernel(calls[streams.index(row["Stream"])],
               re.search(r"\w+_kernel", row["Kernel Name"])[0],
               number(row[TIME]) * MICROSECONDS[units[TIME]], number(row[MEMORY]), number(row[ISSUED]),
               number(row[WARPS]), int(number(row[REGISTERS])), waits_of(row),
               number(row[CONFLICTS]) if row.get(CONFLICTS) else None) for row in table
    ]


def counts_conflicts(kernels):
    return any(k.conflicts is not None for k in kernels)


def lines_of(kernels):
    counted = counts_conflicts(kernels)
    whole = {}
    for k in kernels:
        whole[k.call] = whole.get(k.call, 0.0) + k.us
    last = None
    for k in kernels:
        if k.us < LEAST_SHARE * whole[k.call]:
            continue
        waits = ", ".join(f"{what} {cycles:.1f}" for cycles, what in k.waits[:3])
        conflicts = None if k.conflicts is None else k.conflicts / 1e3
        yield [k.call if k.call != last else "", f"`{k.name}`", report.fixed(k.us, 1), report.fixed(k.memory, 0),
               report.fixed(k.issued, 0), report.fixed(k.warps, 0), str(k.registers), waits,
               *([report.fixed(conflicts, 1)] if counted else [])]
        last = k.call


def markdown(kernels, gpu):
    header = ["call", "kernel", "us", "memory, %", "issued, %", "warps, %", "registers", "a warp waits for, cycles"]
    header += ["bank conflicts, thousands"] if counts_conflicts(kernels) else []
    return "\n".join([
        f"# What limits the kernels on {gpu}\n",
        "Of calls whose kernels are farthest from the memory's limit, one call each, as Nsight Compute counted it: "
        "the memory's rate, the cycles in which an instruction was issued, and resident warps, each as a share of the "
        "most that the GPU has; the registers of a thread; and for what a warp waited between two instructions. Times "
        "are longer than the benchmarks', for the profiler starts each kernel by itself, with cold caches.\n",
        report.table(header, list(lines_of(kernels)))])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("csv", help="what ncu --csv --page raw and the program printed")
    parser.add_argument("--gpu", default="a GPU", help="for the title: an H200")
    given = parser.parse_args(arguments)
    try:
        kernels = read(pathlib.Path(given.csv).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError, KeyError, TypeError) as problem:
        print(f"waits.py: {given.csv}: {problem}", file=sys.stderr)
        return 2
    print(markdown(kernels, given.gpu))
    return 0


if __name__ == "__main__":
    sys.exit(main())
