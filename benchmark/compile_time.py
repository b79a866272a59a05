#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long nvcc takes for a file with one device reduction: by tilefold, through the header of the
verb or through that of everything, and by cub::DeviceReduce.

Needs nvcc, no GPU. The runs of both are interleaved; the times are medians of nvcc's CPU time and of
the wall clock, so that other work on the machine shows as a difference between them.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

OURS = """
#include <tilefold/HEADER>

void sum(tilefold::cuda_executor& executor, const float* items, int n, float* out) {
  tilefold::reduce_into(executor, items, items + n, out);
}
"""
SOURCES = {
    "tilefold/reduce.hpp": OURS.replace("HEADER", "reduce.hpp"),
    "tilefold/tilefold.cuh": OURS.replace("HEADER", "tilefold.cuh"),
    "cub/device/device_reduce.cuh": """
#include <cub/device/device_reduce.cuh>

void sum(void* scratch, std::size_t& bytes, const float* items, int n, float* out,
         cudaStream_t stream) {
  cub::DeviceReduce::Sum(scratch, bytes, items, out, n, stream);
}
""",
}


def find_nvcc(named):
    candidates = [named] if named else [os.environ.get("CUDACXX", "nvcc"), "/usr/local/cuda/bin/nvcc"]
    found = next(filter(None, map(shutil.which, candidates)), None)
    if not found:
        raise SystemExit(f"compile_time.py: there is no compiler '{candidates[0]}'")
    return found


def compile_once(command, source):
    """CPU seconds (of nvcc and all that it starts) and wall seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run([*command, "-c", source, "-o", os.devnull], capture_output=True, text=True)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        error = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise SystemExit(f"compile_time.py: '{' '.join(done.args)}' failed: {error}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def measure(command, runs, folder):
    """{name: ([CPU seconds], [wall seconds])}; a first run of each, which reads the disk, not kept."""
    times = {name: ([], []) for name in SOURCES}
    for turn in range(runs + 1):
        for i, (name, text) in enumerate(SOURCES.items()):
            source = folder / f"sum{i}.cu"
            source.write_text(text, encoding="utf-8")
            cpu, wall = compile_once(command, str(source))
            if turn > 0:
                times[name][0].append(cpu)
                times[name][1].append(wall)
            print(f"run {turn} of {runs}: {name} {cpu:.2f} s", file=sys.stderr)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nvcc", help="default: CUDACXX, nvcc on PATH, /usr/local/cuda/bin/nvcc")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--flag", action="append", default=[], help="one more flag for both; repeatable")
    given = parser.parse_args()
    if given.runs < 1:
        parser.error(f"--runs is {given.runs}: at least one is needed")
    include = pathlib.Path(__file__).resolve().parent.parent / "include"
    command = [find_nvcc(given.nvcc), "-std=c++20", "-O3", f"-arch={given.arch}", f"-I{include}",
               *given.flag]
    with tempfile.TemporaryDirectory() as folder:
        times = measure(command, given.runs, pathlib.Path(folder))
    print("| one sum of floats, with | CPU s | wall s | CPU, of cub's |\n| --- | --: | --: | --: |")
    medians = {name: [statistics.median(t) for t in both] for name, both in times.items()}
    cub = medians["cub/device/device_reduce.cuh"][0]
    for name, (cpu, wall) in medians.items():
        print(f"| {name} | {cpu:.2f} | {wall:.2f} | {cpu / cub:.2f} |")


if __name__ == "__main__":
    main()
