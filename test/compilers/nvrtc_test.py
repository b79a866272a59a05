# SPDX-License-Identifier: Apache-2.0
#
# Compiles kernels.cu by NVRTC for sm_90, and reads the machine code: as many fused multiply-adds as with
# --fmad=false, so none across a border to the kernels' own products and sums. With --gpu it runs them
# instead, and compares bits with a tree in Python (../contraction/neighbour_tree.py).
#
#     python3 nvrtc_test.py [--gpu] LIBNVRTC NVDISASM_DIR INCLUDE_DIR...
#
# NVDISASM_DIR: where to look for nvdisasm once toolkit and PATH have none. INCLUDE_DIR: tilefold's, its folder
# tilefold/nvrtc, CUDA's, and libcu++'s if it is another one.
import ctypes
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "contraction"), str(HERE.parent / "support")]
from kernels_test import complaints, fused_by_kernel
from machine_code import find_disassembler, miscompiled
from neighbour_tree import Real, fold

LEAK = """
template <class T> __global__ void planted_leak(T* x) { x[0] = x[1] * x[2] + x[3]; }
template __global__ void planted_leak<float>(float*);
"""


class Compiler:
    """NVRTC, with the options that docs/kernels.md names."""

    def __init__(self, library, include_dirs):
        self.nvrtc = ctypes.CDLL(library)
        self.options = ["-std=c++20", "-default-device", *(f"-I{directory}" for directory in include_dirs)]

    def version(self):
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        return f"{major.value}.{minor.value}"

    def text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.nvrtc, f"nvrtcGet{what}")(program, text)
        return text.raw

    def cubin(self, source, *options):
        program = ctypes.c_void_p()
        self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None)
        options = [option.encode() for option in (*self.options, "-arch=sm_90", *options)]
        status = self.nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        if status != 0:
            raise RuntimeError(self.text(program, "ProgramLog").decode())
        self.log = self.text(program, "ProgramLog").decode()
        return self.text(program, "CUBIN")


class WithCompiler(unittest.TestCase):
    library = nvdisasm_dir = None
    include_dirs = []
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.compiler = Compiler(cls.library, cls.include_dirs)
        cls.source = (HERE / "kernels.cu").read_text()
        print(f"NVRTC {cls.compiler.version()}")


class Nvrtc(WithCompiler):
    def code(self, source, *options):
        disassembler = find_disassembler("nvcc", self.nvdisasm_dir)
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(self.compiler.cubin(source, *options))
            file.flush()
            done = subprocess.run([disassembler, "-c", file.name], capture_output=True, text=True, check=True)
        self.assertEqual(miscompiled(done.stdout), [])
        return fused_by_kernel(done.stdout)

    def test_nothing_is_fused_across_borders(self):
        kernels = self.code(self.source)
        self.assertEqual(len(kernels), 5)
        self.assertEqual(complaints(kernels, self.code(self.source, "--fmad=false")), [])

    def test_warns_of_nothing(self):
        self.compiler.cubin(self.source)
        self.assertEqual(self.compiler.log.strip("\n\0"), "")

    def test_a_planted_leak_is_found(self):
        faults = complaints(self.code(LEAK), self.code(LEAK, "--fmad=false"))
        self.assertEqual(len(faults), 1, faults)

    def test_without_its_folder_of_headers_it_says_which_one_is_missing(self):
        compiler = Compiler(self.library, [d for d in self.include_dirs if not d.endswith("nvrtc")])
        with self.assertRaisesRegex(RuntimeError, 'cannot open source file "(concepts|type_traits)"'):
            compiler.cubin(self.source)


class Device:
    """The first GPU, by the driver's own interface."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: error {status}")

    def load(self, cubin):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        return module

    def run(self, module, kernel, threads, items, count, results):
        """kernel<<<1, threads>>>(items, count, results): arrays of ctypes; `results` comes back."""
        function, places = ctypes.c_void_p(), []
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        for array in (items, results):
            place = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(ctypes.sizeof(array)))
            self.call("cuMemcpyHtoD_v2", place, array, ctypes.c_size_t(ctypes.sizeof(array)))
            places.append(place)
        values = [places[0], ctypes.c_int(count), places[1]]
        pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
        self.call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, pointers, None)
        self.call("cuMemcpyDtoH_v2", results, places[1], ctypes.c_size_t(ctypes.sizeof(results)))
        for place in places:
            self.call("cuMemFree_v2", place)
        return list(results)


class OnAGpu(WithCompiler):
    def setUp(self):
        self.device = Device()
        self.module = self.device.load(self.compiler.cubin(self.source))

    def check_folds(self, real, kernel, type_of_items):
        seed = random.randrange(2**32)
        items = real.mixed(seed, 256)
        array = (type_of_items * 256)(*items)
        for count in [*range(1, 70), 100, 127, 128, 129, 255, 256]:
            ours = self.device.run(self.module, kernel, 256, array, count, (type_of_items * 9)())
            warps = [items[first:min(first + 32, count)] for first in range(0, count, 32)]
            expected = [fold(real.subtract, each) for each in (items[:count], *warps)]
            self.assertEqual([real.bits(x) for x in ours[:len(expected)]], [real.bits(x) for x in expected],
                             f"seed {seed}, {count} items")

    def test_folds_of_floats(self):
        self.check_folds(Real("f"), "folds_of_floats", ctypes.c_float)

    def test_folds_of_doubles(self):
        self.check_folds(Real("d"), "folds_of_doubles", ctypes.c_double)

    def test_reducers(self):
        # Whole numbers, whose sums are exact: the largest is item 11, the least item 23.
        items = [float((i * 7 + 1) % 61) for i in range(256)]
        items[11], items[23] = 500.0, -3.0
        out = self.device.run(self.module, "reducers", 256, (ctypes.c_float * 256)(*items), 200, (ctypes.c_double * 6)())
        own = sum(x + 1 for x in items[:32])
        self.assertEqual(out, [sum(items[:200]) / 200, 500.0, -3.0, 23.0, 500.0, own])


if __name__ == "__main__":
    arguments = sys.argv[1:]
    which = "Nvrtc"
    if arguments[0] == "--gpu":
        which = "OnAGpu"
        del arguments[0]
    WithCompiler.library, WithCompiler.nvdisasm_dir, *WithCompiler.include_dirs = arguments
    unittest.main(argv=[sys.argv[0], which])
