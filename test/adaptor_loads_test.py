# SPDX-License-Identifier: Apache-2.0
#
# Reads the PTX of the same calls over pointers and over adaptors (support/adaptor_loads.cu): through a
# transform iterator every kernel has as many loads of 16 bytes, and copies of 16 bytes to shared memory,
# as from the pointer, and no more of other sizes; through a zip of two pointers it has such loads where
# it has some from one.
#
#     python3 adaptor_loads_test.py NVCC INCLUDE_DIR SOURCE
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from machine_code import demangled

LOAD = re.compile(r"\bld\.(?:\w+[.:])*?global\S*?(?:\.v(\d))?\.[a-z]+(\d+)\b")
COPY = re.compile(r"\bcp\.async\.c[ag]\.shared\.global \[[^;]*?, (\d+);")
KINDS = {"zip_iterator": "zip", "transform_iterator": "transform"}


def bytes_read(body):
    """How many loads and copies of each size stand in a kernel: size in bytes -> count."""
    loads = [int(count or 1) * int(bits) // 8 for count, bits in LOAD.findall(body)]
    return collections.Counter(loads) + collections.Counter(int(size) for size in COPY.findall(body))


def form_of(name):
    """tile_kernel of the whole signature; staged_tile_kernel where its tiles are staged."""
    match = re.search(r"(\w+_kernel)<(?:[\w:]*build<[^>]*>, )?(?:\d+, \d+, (true))?", name)
    return "staged_" + match[1] if match[2] else match[1]


def reads_of(ptx):
    """(kernel, what it reads through) -> bytes_read of each such kernel, in order."""
    entries = re.findall(r"\.entry (\w+)\((.*?\n})\n", ptx, re.DOTALL)
    reads = collections.defaultdict(list)
    for name, (_, body) in zip(demangled([entry[0] for entry in entries]), entries):
        kind = next((kind for adaptor, kind in KINDS.items() if adaptor in name), "pointer")
        reads[form_of(name), kind].append(bytes_read(body))
    return {key: sorted(found, key=lambda counts: sorted(counts.items())) for key, found in reads.items()}


def loads(counts):
    return sum(count.total() for count in counts)


def faults(reads):
    """Kernels that read adaptors otherwise than pointers."""
    found = []
    for (kernel, kind), counts in sorted(reads.items()):
        if kind != "pointer" or (kernel, "transform") not in reads:  # it does not read the items
            continue
        through = reads[kernel, "transform"]
        if [count[16] for count in through] != [count[16] for count in counts] or loads(through) > loads(counts):
            found.append(f"{kernel}: {through} through a transform, {counts} from a pointer")
        zips = reads.get((kernel, "zip"))
        if zips is not None and any(count[16] > 0 for count in counts) and not all(count[16] > 0 for count in zips):
            found.append(f"{kernel}: no loads of 16 bytes through a zip")
    return found


class AdaptorLoads(unittest.TestCase):
    arguments = None

    def test_adaptors_are_read_as_pointers(self):
        nvcc, include_dir, source = self.arguments
        with tempfile.TemporaryDirectory() as directory:
            ptx = pathlib.Path(directory) / "adaptors.ptx"
            done = subprocess.run([nvcc, "-std=c++20", "-arch=sm_90", f"-I{include_dir}", "-ptx", source, "-o", ptx],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            reads = reads_of(ptx.read_text())
        kernels = {kernel for kernel, _ in reads}
        for form in ("tile", "staged_tile", "columns", "lanes", "runs"):
            self.assertIn(f"{form}_kernel", kernels)
        self.assertEqual(faults(reads), [])

    def test_staged_tiles_are_told_from_others(self):
        name = "void tilefold::detail::cuda::{}<tilefold::detail::cuda::build<false, 900>, {}float, true>(float)"
        self.assertEqual([form_of(name.format("tile_kernel", numbers)) for numbers in
                          ("128, 32, true, ", "512, 16, false, ")], ["staged_tile_kernel", "tile_kernel"])
        self.assertEqual(form_of(name.format("lanes_kernel", "")), "lanes_kernel")

    def test_loads_are_counted(self):
        self.assertEqual(bytes_read("ld.global.nc.v4.u32 {%r1}, [%rd1];\n ld.global.f32 %f1, [%rd1];\n"
                                    "ld.shared.v2.f64 {%d1}, [%rd1]; ld.param.u64 %rd1, [p];\n"
                                    "cp.async.cg.shared.global [%r1], [%rd1], 16;"), {16: 2, 4: 1})

    def test_other_loads_are_faults(self):
        wide, narrow = collections.Counter({16: 4}), collections.Counter({4: 16})
        alike = {("k_kernel", kind): [wide] for kind in ("pointer", "transform", "zip")}
        self.assertEqual(faults(alike), [])
        self.assertEqual(len(faults({**alike, ("k_kernel", "transform"): [narrow]})), 1)
        self.assertEqual(len(faults({**alike, ("k_kernel", "zip"): [narrow]})), 1)


if __name__ == "__main__":
    AdaptorLoads.arguments = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
