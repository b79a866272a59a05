# SPDX-License-Identifier: Apache-2.0
#
# Reads the machine code for sm_90 of a battery of kernels of which no function adds what it has
# itself multiplied (functions.hpp): each must hold as many fused multiply-adds as the same source
# compiled with --fmad=false, which are those that the library asks for by name. More of them were
# fused across a border between the user's functions, or between those and the library's. PTX would
# not do: ptxas fuses as well.
#
#     python3 kernels_test.py NVCC INCLUDE_DIR NVDISASM_DIR SOURCE...
#
# NVDISASM_DIR is where to look for nvdisasm once the toolkit and PATH have none. leak.cu, beside this
# file, has kernels that must be complained about.
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

FEWEST_KERNELS = 100

INSTRUCTION = re.compile(r"\b([FDH])FMA2?(?:\.\w+)* ([^;]*?) *;")


def fused(line):
    """F, D or H if a fused multiply-add of floats, doubles or halves stands in the line. Where the addend
    is the zero register or the factor 1, it is a product, a sum or a constant that took this unit."""
    found = INSTRUCTION.search(line)
    if not found:
        return None
    operands = found[2].split(", ")
    plain = operands[-1].lstrip("-") == "RZ" or "1" in operands[1:-1] or operands[1:3] == ["-RZ", "RZ"]
    return None if plain else found[1]


def fused_by_kernel(sass):
    """Mangled name -> how many fused multiply-adds it holds, by letter of their type."""
    kernels = {}
    name = None
    for line in sass.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([\w$.]+),", line)
        if section:
            name = section[1]
            kernels[name] = {"F": 0, "D": 0, "H": 0}
            continue
        letter = fused(line) if name else None
        if letter:
            kernels[name][letter] += 1
    return kernels


def text_of(counts):
    return ", ".join(f"{counts[letter]} {letter}FMA" for letter in "FDH")


def complaints(kernels, without_fmad):
    """A sentence on each kernel whose counts differ between the two compilations."""
    if set(kernels) != set(without_fmad):
        return [f"{name} is in one compilation only" for name in sorted(set(kernels) ^ set(without_fmad))]
    different = sorted(name for name in kernels if kernels[name] != without_fmad[name])
    return [f"{text_of(kernels[mangled])}, but {text_of(without_fmad[mangled])} with --fmad=false: {name}"
            for mangled, name in zip(different, demangled(different))]


class MachineCode:
    """Compiles and disassembles, two sources at a time."""

    closed_reducer = ("--fmad=false",)

    def __init__(self, nvcc, include_dir, nvdisasm_dir):
        self.nvcc, self.include_dir = nvcc, include_dir
        self.disassembler = find_disassembler(nvcc, nvdisasm_dir)

    def command(self, source, cubin):
        return [self.nvcc, "-std=c++20", "-arch=sm_90", "--extended-lambda", f"-I{self.include_dir}", "-cubin",
                "-o", cubin, source]

    def of(self, source, options, directory):
        cubin = f"{directory}/{pathlib.Path(source).stem}{len(options)}.cubin"
        done = subprocess.run([*self.command(source, cubin), *options], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        done = subprocess.run([self.disassembler, "-c", cubin], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        if wrong := miscompiled(done.stdout):
            raise RuntimeError(f"{source}: the compiler has made wrong code (../support/machine_code.py): {wrong[0]}")
        return fused_by_kernel(done.stdout)

    def of_all(self, sources):
        """(source, kernels, the same without fmad) of each source."""
        with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(2) as pool:
            fused = [pool.submit(self.of, source, (), directory) for source in sources]
            closed_reducer = [pool.submit(self.of, source, self.closed_reducer, directory) for source in sources]
            return [(source, a.result(), b.result()) for source, a, b in zip(sources, fused, closed_reducer)]


class Kernels(unittest.TestCase):
    nvcc = include_dir = nvdisasm_dir = None
    sources = []
    maxDiff = None

    def setUp(self):
        self.code = MachineCode(self.nvcc, self.include_dir, self.nvdisasm_dir)

    def test_nothing_is_fused_across_borders(self):
        found = self.code.of_all(self.sources)
        faults = [fault for _, kernels, closed_reducer in found for fault in complaints(kernels, closed_reducer)]
        number = sum(len(kernels) for _, kernels, _ in found)
        print(", ".join(f"{pathlib.Path(source).name}: {len(kernels)} kernels" for source, kernels, _ in found))
        if faults:
            self.fail(f"{len(faults)} of {number} kernels:\n" + "\n".join(faults))
        self.assertGreaterEqual(number, FEWEST_KERNELS)

    def test_wrong_code_is_found(self):
        with tempfile.TemporaryDirectory() as directory, self.assertRaisesRegex(RuntimeError, "VIMNMX.*RELU"):
            self.code.of(str(HERE / "wrong_code.cu"), (), directory)

    def test_a_planted_leak_is_found(self):
        ((_, kernels, closed_reducer),) = self.code.of_all([str(HERE / "leak.cu")])
        faults = complaints(kernels, closed_reducer)
        self.assertEqual(len(kernels), 3)
        self.assertEqual(len(faults), 3, faults)
        self.assertTrue(any("planted_leak_in_double" in fault and "1 DFMA" in fault for fault in faults), faults)
        self.assertTrue(any("planted_leak_in_half" in fault and "1 HFMA" in fault for fault in faults), faults)
        self.assertTrue(any("tile_kernel" in fault and "planted_leak" in fault for fault in faults), faults)


class Reading(unittest.TestCase):
    def test_of_fused_instructions(self):
        sass = """\t.section\t.text.first,"ax",@progbits
        /*0000*/                   FFMA R6, R9, 3.2999999523162841797, R6 ;
        /*0010*/              @!P0 DFMA R6, R9, R8, R6 ;
        /*0020*/                   HFMA2.MMA R6, -RZ, RZ, 0, 0 ;
        /*0020*/                   HFMA2.MMA R6, R5, 1, 1, R2 ;
        /*0020*/                   HFMA2.MMA R6, R5, 3.3, 3.3, -RZ ;
        /*0030*/                   HFMA2 R6, R1.H0_H0, R2.H0_H0, R3.H0_H0 ;
        /*0040*/                   HFMA2.BF16_V2 R6, R1, R2, R3 ;
        /*0050*/                   IMAD R6, R1, R2, R3 ;
        \t.section\t.text.second,"ax",@progbits
        /*0000*/                   FADD R6, R9, R6 ;"""
        self.assertEqual(fused_by_kernel(sass), {"first": {"F": 1, "D": 1, "H": 2}, "second": {"F": 0, "D": 0, "H": 0}})

    def test_that_each_difference_is_told(self):
        none = {"F": 0, "D": 0, "H": 0}
        self.assertEqual(complaints({"a": none, "b": none}, {"a": none, "b": none}), [])
        for letter in "FDH":
            self.assertEqual(len(complaints({"a": {**none, letter: 3}}, {"a": {**none, letter: 2}})), 1)
        self.assertEqual(len(complaints({"a": none}, {"a": none, "b": none})), 1)


if __name__ == "__main__":
    Kernels.nvcc, Kernels.include_dir, Kernels.nvdisasm_dir = sys.argv[1:4]
    Kernels.sources = sys.argv[4:]
    unittest.main(argv=sys.argv[:1])
