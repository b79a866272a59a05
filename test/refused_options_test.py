# SPDX-License-Identifier: Apache-2.0
#
# Compiler options that would move a bit are refused, with one sentence that names the option; code
# that is linked on the device compiles.
#
#     python3 refused_options_test.py INCLUDE_DIR CXX [NVCC]
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

# Option -> what the error says.
EVERY_COMPILER = {
    "-ffast-math": "-ffast-math reorders additions",
    "-Ofast": "-ffast-math reorders additions",
    "-ffinite-math-only": "-ffinite-math-only loses NaN and infinities",
}
# Clang knows most of these options as well, but clang 14 says nothing of them to a header.
GCC = {
    "-funsafe-math-optimizations": "-fassociative-math (-funsafe-math-optimizations) reorders additions",
    "-fassociative-math -fno-signed-zeros -fno-trapping-math": "reorders additions",
    "-freciprocal-math": "-freciprocal-math rounds quotients twice",
    "-fno-signed-zeros": "-fno-signed-zeros loses the sign of zero",
    "-fsingle-precision-constant": "-fsingle-precision-constant makes floats of doubles",
}
GCC_ON_X86 = {
    "-mfpmath=387": "x87 arithmetic (-mfpmath=387, -m32) keeps more digits than a type has",
    "-mfpmath=both": "the compiler may keep more digits (-mfpmath=both, unsafe math)",
}
NO_HARM = ["", "-O2 -fno-trapping-math -fno-math-errno", "-frounding-math"]
REFUSAL = "tilefold_does_not_go_with_use_fast_math_or_ftz_true"
NVCC = {
    "-use_fast_math": REFUSAL,
    "-ftz=true": REFUSAL,
    "-Xcompiler=-ffast-math": "-ffast-math reorders additions",
    "-Xcompiler=-ffinite-math-only": "-ffinite-math-only loses NaN and infinities",
}

DEVICE_PROGRAM = """
#include <tilefold/tilefold.cuh>
__global__ void own(float* x) { *x = tilefold::warp_fold(*x, tilefold::plus{}); }
void verbs(tilefold::cuda_executor& exec, float* x, long long* count) {
  tilefold::reduce_into(exec, x, x + 9, x);
  tilefold::reduce_into(exec, x, x + 9, count, tilefold::reducers::count());
}
"""

# Kernels that call functions of their own.
LINKED_PROGRAM = """
#include <cuda/std/mdspan>
#include <tilefold/tilefold.cuh>
namespace mds = cuda::std;
void verbs(tilefold::cuda_executor& exec, float* x) {
  tilefold::segmented_reduce_into(exec, x, 10L, 64L, x, tilefold::reducers::exact_sum{});
  tilefold::axis_reduce(exec, mds::mdspan<const float, mds::dextents<long, 2>>(x, 9, 9),
                        mds::mdspan<float, mds::dextents<long, 1>>(x, 9), 0, tilefold::reducers::variance{});
  tilefold::log_softmax(exec, x, 10L, 64L, x);
}
"""

ERROR = re.compile(r"\berror *:")


def errors(command):
    """The lines of `command`'s output that are errors; [] if it succeeds."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return []
    return [line for line in done.stdout.splitlines() if ERROR.search(line)] or [done.stdout]


def is_clang(compiler):
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return "clang" in version.stdout


class HostOptions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.source = pathlib.Path(self.folder.name) / "unit.cpp"

    def tearDown(self):
        self.folder.cleanup()

    def compile(self, header, *options):
        self.source.write_text(f"#include <tilefold/{header}>\n")
        return errors([cxx, "-std=c++20", "-fsyntax-only", "-w", f"-I{include}", *options, self.source])

    def test_harmless_ones_compile(self):
        for options in NO_HARM:
            self.assertEqual(self.compile("config.hpp", *options.split()), [], options)

    def test_harmful_ones_are_refused_in_one_sentence(self):
        table = dict(EVERY_COMPILER)
        if not is_clang(cxx):
            table.update(GCC)
            if platform.machine() in ("x86_64", "AMD64"):
                table.update(GCC_ON_X86)
        for options, sentence in table.items():
            with self.subTest(options):
                found = self.compile("half.hpp", *options.split())
                self.assertEqual(len(found), 1, found)
                self.assertIn("tilefold: ", found[0])
                self.assertIn(sentence, found[0])

    def test_an_older_language_is_refused_before_anything_else(self):
        # Those that a user includes.
        headers = sorted(path.relative_to(include / "tilefold")
                         for folder in ("", "reducers") for path in (include / "tilefold" / folder).glob("*.hpp"))
        self.assertGreater(len(headers), 20)
        for header in headers:
            with self.subTest(str(header)):
                found = self.compile(header, "-std=c++17")
                self.assertIn("tilefold needs C++20: compile with -std=c++20", found[0])
                # The compiler says how many there were, too, and that the file that stops it is missing.
                self.assertLessEqual(len(found), 3, found)


@unittest.skipIf(len(sys.argv) < 4, "no nvcc")
class DeviceOptions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.source = pathlib.Path(self.folder.name) / "unit.cu"
        self.output = pathlib.Path(self.folder.name) / "unit.out"
        self.source.write_text(DEVICE_PROGRAM)

    def tearDown(self):
        self.folder.cleanup()

    def compile(self, *options):
        return errors([nvcc, "-std=c++20", f"-I{include}", *options, self.source])

    def test_harmful_ones_are_refused(self):
        for options, sentence in NVCC.items():
            with self.subTest(options):
                self.assertIn(sentence, "\n".join(self.compile("-cubin", "-o", self.output, options)))

    def test_every_kernel_that_folds_refuses_them_and_no_other(self):
        for options, refuses in (("-ftz=true", True), ("-ftz=false", False)):
            self.assertEqual(self.compile("-ptx", "-o", self.output, options), [])
            kernels = re.split(r"\.visible \.entry ", self.output.read_text())[1:]
            folds = [kernel for kernel in kernels if "store_kernel" not in kernel.split("(")[0]]
            self.assertGreater(len(folds), 3)
            for kernel in folds:
                self.assertEqual(REFUSAL in kernel, refuses, kernel.split("(")[0])

    def test_units_that_are_linked_on_the_device_compile(self):
        self.source.write_text(LINKED_PROGRAM)
        self.assertEqual(self.compile("-arch=sm_90", "-rdc=true", "-c", "-o", self.output), [])

    def test_an_older_language_is_refused_before_anything_else(self):
        found = self.compile("-std=c++17", "-cubin", "-o", self.output)
        self.assertIn("tilefold needs C++20: compile with -std=c++20", found[0])
        self.assertLessEqual(len(found), 3, found)


if __name__ == "__main__":
    include, cxx = pathlib.Path(sys.argv[1]), sys.argv[2]
    nvcc = sys.argv[3] if len(sys.argv) > 3 else None
    unittest.main(argv=sys.argv[:1])
