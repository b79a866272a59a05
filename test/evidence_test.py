# SPDX-License-Identifier: Apache-2.0
#
# .ci/evidence.py finds the files that a GPU test is compiled from by reading #include lines; nvcc -M says which they are.
# `python3 evidence_test.py SOURCE_DIR NVCC` runs the test.
import pathlib
import subprocess
import sys
import unittest

PROGRAMS = ["gpu.conformance.strict_fp_test", "gpu.cuda.by_key_test", "gpu.nccl.ranks_test"]
ROOT, NVCC = pathlib.Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / ".ci"))
import evidence  # noqa: E402


def compiled_from(source):
    command = [NVCC, "-std=c++20", "-M", *(f"-I{ROOT / folder}" for folder in ("include", "test", "src", ".")), str(ROOT / source)]
    rule = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    paths = (pathlib.Path(name).resolve() for name in rule.replace("\\\n", " ").partition(":")[2].split())
    own = {path.relative_to(ROOT).as_posix() for path in paths if path.is_relative_to(ROOT)}
    return {file for file in own if not file.startswith(("build/", ".deps/"))}


class Evidence(unittest.TestCase):
    def test_each_file_of_a_program_is_known(self):
        for name in PROGRAMS:
            sources = evidence.programs()[name]
            with self.subTest(program=name):
                read = compiled_from(sources[0])
                self.assertGreater(len(read), 50)
                unknown = {file for file in read - evidence.reached_by(sources) if not file.startswith(evidence.HOST_ALONE)}
                self.assertEqual(unknown, set())

    def test_folds_on_the_host_are_left_out_and_what_these_include_is_not(self):
        held = evidence.reached_by(evidence.programs()["gpu.cuda.by_key_test"])
        self.assertFalse([file for file in held if file.startswith(evidence.HOST_ALONE)])
        pack = "include/tilefold/detail/core/pack.hpp"
        self.assertIn(pack, held)
        others = [file for file in held if pack in evidence.included_by(file)]
        self.assertEqual(others, [], "choose a file that only folds on the host include")


unittest.main()
