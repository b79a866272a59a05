# SPDX-License-Identifier: Apache-2.0
#
# Reads what the compiler made of the default kernels (support/default_kernels.cu) for sm_90: no spills,
# no stack frames, a full tile read by 16-byte loads for every aligned type of 1 to 8 bytes, and no
# constant of the module, which would cost every launch of a graph 0.15 to 0.35 us.
#
#     python3 default_kernels_test.py NVCC INCLUDE_DIR SOURCE
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ITEM_BYTES = {"signed char": 1, "__half": 2, "int": 4, "float": 4, "long": 8, "double": 8}
KERNEL = re.compile(r"(?:tile|short)_kernel<.*?, (\d+), (\d+), .*?source_of<.*?, ([\w ]+) const\*>")


def demangled(name):
    return subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout.strip()


def memory_faults(ptxas_log):
    """Kernels that keep something in local memory, from the output of ptxas -v."""
    found = re.findall(r"Function properties for (\w+)\s*\n\s*(\d+) bytes stack frame, "
                       r"(\d+) bytes spill stores, (\d+) bytes spill loads", ptxas_log)
    if not found:
        return ["ptxas reported on no function"]
    return [f"{demangled(name)}: stack frame {stack}, spill stores {stores}, spill loads {loads} bytes"
            for name, stack, stores, loads in found if (stack, stores, loads) != ("0", "0", "0")]


def wide_loads(body):
    """How many global loads of at least 16 bytes stand in a kernel."""
    loads = re.findall(r"\bld\.[\w.:]*?global[\w.:]*?\.v(\d)\.[a-z]+(\d+)\b", body)
    return sum(int(count) * int(bits) >= 128 for count, bits in loads)


def load_faults(kernels):
    """Kernels (demangled name -> PTX) that read a full tile by narrower loads, and types without one."""
    faults = []
    seen = set()
    for name, body in kernels.items():
        match = KERNEL.search(name)
        if not match:
            faults.append(f"cannot read the policy and the type of {name}")
            continue
        vt, item = int(match[2]), match[3]
        seen.add(item)
        expected = max(1, vt * ITEM_BYTES[item] // 16)
        if wide_loads(body) < expected:
            faults.append(f"{item}, vt = {vt}: {wide_loads(body)} loads of 16 bytes, not {expected}")
    return faults + [f"no kernel reads {item}" for item in ITEM_BYTES if item not in seen]


def constants(ptx):
    """The names of what the module keeps in constant memory."""
    return [demangled(name) for name in re.findall(r"^\s*(?:\.\w+ )*\.const .*?(\w+)(?:\[\d+\])?\s*(?:=.*)?;", ptx, re.MULTILINE)]


def kernels_of(ptx):
    return {demangled(m[1]): m[0] for m in re.finditer(r"\.entry (\w+)\(.*?\n}\n", ptx, re.DOTALL)}


def compile_kernels(nvcc, include_dir, source):
    """The log of ptxas and the PTX."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            [nvcc, "-std=c++20", "-arch=sm_90", f"-I{include_dir}", "-Xptxas", "-v", "--keep",
             "--keep-dir", directory, "-c", source, "-o", f"{directory}/kernels.o"],
            capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stderr, (pathlib.Path(directory) / pathlib.Path(source).with_suffix(".ptx").name).read_text()


class DefaultKernels(unittest.TestCase):
    arguments = None

    def test_the_compiled_kernels(self):
        log, ptx = compile_kernels(*self.arguments)
        self.assertEqual(memory_faults(log), [])
        self.assertEqual(load_faults(kernels_of(ptx)), [])
        self.assertEqual(constants(ptx), [])

    def test_constants_are_found(self):
        self.assertEqual(constants(".const .align 4 .u32 _Z4zerov;\n.visible .const .align 4 .b8 table[12];"),
                         ["zero()", "table"])
        self.assertEqual(constants("ld.const.u32 %r1, [zero];\n.global .align 4 .u32 other;"), [])

    def test_spills_and_stack_frames_are_found(self):
        line = "Function properties for kernel\n    {} bytes stack frame, {} bytes spill stores, {} bytes spill loads"
        self.assertEqual(memory_faults(line.format(0, 0, 0)), [])
        for numbers in ((8, 0, 0), (0, 4, 0), (0, 0, 4)):
            self.assertEqual(len(memory_faults(line.format(*numbers))), 1)
        self.assertEqual(len(memory_faults("")), 1)

    def test_narrow_loads_are_found(self):
        name = "tile_kernel<build<900>, 256, {}, source_of<index, {} const*>, reducer>"
        wide = {name.format(16 // size, item): "ld.global.nc.v4.u32 {%r1}, [%rd1];"
                for item, size in ITEM_BYTES.items()}
        self.assertEqual(load_faults(wide), [])
        self.assertEqual(len(load_faults({**wide, name.format(4, "float"): "ld.global.v2.f32 {%f1}, [%rd1];"})), 1)
        self.assertEqual(len(load_faults({**wide, name.format(8, "float"): "ld.global.v4.f32 {%f1}, [%rd1];"})), 1)
        self.assertEqual(len(load_faults({**wide, name.format(8, "double"): "ld.shared.v2.f64 {%d1}, [%rd1];" * 4})), 1)
        self.assertEqual(len(load_faults({})), len(ITEM_BYTES))


if __name__ == "__main__":
    DefaultKernels.arguments = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
