# SPDX-License-Identifier: Apache-2.0
#
# The battery of ../contraction by clang as CUDA compiler, which fuses by default what nvcc would: each kernel
# holds as many fused multiply-adds as with -ffp-contract=off.
#
#     python3 clang_test.py CLANG CUDA_DIR INCLUDE_DIR NVDISASM_DIR SOURCE...
#
# CUDA_DIR is a CUDA toolkit for clang's --cuda-path.
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "contraction"), str(HERE.parent / "support")]
from kernels_test import MachineCode, complaints


class ClangCode(MachineCode):
    closed_reducer = ("-ffp-contract=off",)

    def __init__(self, clang, cuda_dir, include_dir, nvdisasm_dir):
        super().__init__(clang, include_dir, nvdisasm_dir)
        self.clang, self.cuda_dir = clang, cuda_dir

    def command(self, source, cubin):
        # The libcu++ of CUDA 12.9 uses pack indexing, which clang 19 has and gets wrong.
        return [self.clang, "-std=c++20", "-O2", "-x", "cuda", f"--cuda-path={self.cuda_dir}", "--cuda-gpu-arch=sm_90",
                "--cuda-device-only", "-Wno-unknown-cuda-version", "-U__cpp_pack_indexing", f"-I{self.include_dir}",
                "-o", cubin, source]


class Clang(unittest.TestCase):
    arguments = []
    sources = []

    def setUp(self):
        self.code = ClangCode(*self.arguments)

    def test_nothing_is_fused_across_borders(self):
        found = self.code.of_all(self.sources)
        for source, kernels, closed_reducer in found:
            print(f"{pathlib.Path(source).name}: {len(kernels)} kernels")
            self.assertGreater(len(kernels), 50)
            self.assertEqual(complaints(kernels, closed_reducer), [])

    def test_a_planted_leak_is_found(self):
        ((_, kernels, closed_reducer),) = self.code.of_all([str(HERE.parent / "contraction/leak.cu")])
        faults = complaints(kernels, closed_reducer)
        self.assertEqual(len(kernels), 3)
        # Not in half, whose operators are assembly in CUDA's headers.
        self.assertEqual(len(faults), 2, faults)
        self.assertTrue(any("planted_leak_in_double" in fault and "1 DFMA" in fault for fault in faults), faults)
        self.assertTrue(any("tile_kernel" in fault and "planted_leak" in fault for fault in faults), faults)


if __name__ == "__main__":
    Clang.arguments, Clang.sources = sys.argv[1:5], sys.argv[5:]
    unittest.main(argv=sys.argv[:1])
