# SPDX-License-Identifier: Apache-2.0
#
# Machine code for GPUs that no test has run on: what a kernel must do whatever the GPU is counted in the code for
# sm_90, which has been tested, and for the others. A compiler that loses a store, a barrier, an atomic operation or
# an addition for one of them (as nvcc 13.0 did with thrust's reduce_by_key for sm_100, NVIDIA/cudf#23204) is found.
# Loads and moves are not compared: each GPU has its own ways to copy.
#
#     python3 machine_code_test.py NVCC INCLUDE_DIR NVDISASM_DIR
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from machine_code import demangled, find_disassembler, miscompiled

TESTED = 90
OTHERS = (100, 120)
INSTRUCTION = re.compile(r"\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)([.A-Z0-9_]*)")
WIDTH = re.compile(r"\.([US]?(?:8|16|64|128))\b")
# Stores, and what changes memory that others read, barriers, and sums of doubles.
COUNTED = {"STG": "store", "ST": "store", "ATOMG": "atomic operation", "REDG": "atomic operation",
           "RED": "atomic operation", "BAR": "barrier", "DADD": "addition of doubles"}
FEWEST_KERNELS = 10


def counts_of(sass):
    """Kernel -> how often each thing that is counted stands in it. The GPU's number in a name becomes 0."""
    kernels = {}
    counts = None
    for line in sass.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([\w$.]+),", line)
        if section:
            name = re.sub(r"(buildILb\dEJLi)\d+E", r"\g<1>0E", section[1])
            counts = kernels[name] = collections.Counter()
            continue
        found = INSTRUCTION.search(line) if counts is not None else None
        if found and found[1] in COUNTED:
            width = WIDTH.search(found[2])
            counts[COUNTED[found[1]] + (f" of {width[1]} bits" if width and found[1] != "BAR" else "")] += 1
    return kernels


def complaints(tested, other, architecture):
    """A sentence on each kernel that both have and that lacks something. (ptxas makes several copies of some code.)"""
    shared = [name for name in tested if name in other and tested[name] - other[name]]
    return [f"sm_{architecture}: {dict(other[name])}, but sm_{TESTED}: {dict(tested[name])}: {readable}"
            for name, readable in zip(shared, demangled(shared))]


class Architectures(unittest.TestCase):
    nvcc = include_dir = nvdisasm_dir = None
    maxDiff = None

    def code(self, architecture, directory, *options):
        cubin = f"{directory}/{architecture}.cubin"
        subprocess.run([self.nvcc, "-std=c++20", f"-arch=sm_{architecture}", f"-I{self.include_dir}", *options, "-cubin",
                        "-o", cubin, HERE / "calls.cu"], check=True)
        disassembler = find_disassembler(self.nvcc, self.nvdisasm_dir)
        sass = subprocess.run([disassembler, "-c", cubin], capture_output=True, text=True, check=True).stdout
        self.assertEqual(miscompiled(sass), [])
        return counts_of(sass)

    def test_do_the_same(self):
        with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(2) as pool:
            made = {a: pool.submit(self.code, a, directory, "-DTILEFOLD_PLANTED") for a in (TESTED, *OTHERS)}
            code = {a: one.result() for a, one in made.items()}
        for architecture in OTHERS:
            with self.subTest(architecture):
                shared = set(code[TESTED]) & set(code[architecture])
                print(f"sm_{architecture}: {len(shared)} kernels that sm_{TESTED} has, too")
                self.assertGreaterEqual(len(shared), FEWEST_KERNELS)
                faults = complaints(code[TESTED], code[architecture], architecture)
                planted = [fault for fault in faults if "loses_a_store" in fault]
                self.assertEqual(len(planted), 1, "the planted fault was not found")
                self.assertEqual([fault for fault in faults if fault not in planted], [])


if __name__ == "__main__":
    Architectures.nvcc, Architectures.include_dir, Architectures.nvdisasm_dir = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
