# SPDX-License-Identifier: Apache-2.0
#
# .ci/evidence.py finds the files that a GPU test is compiled from by reading #include lines; nvcc -M says which they are.
# So it does for the tests that read what nvcc made, and these are stale once one of the files changes.
# `python3 evidence_test.py SOURCE_DIR NVCC` runs the test.
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

PROGRAMS = ["gpu.conformance.strict_fp_test", "gpu.cuda.by_key_test", "gpu.nccl.ranks_test"]
ROOT, NVCC = pathlib.Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / ".ci"))
import evidence  # noqa: E402


def compiled_from(source):
    command = [NVCC, "-std=c++20", "-x", "cu", "-M", *(f"-I{ROOT / folder}" for folder in ("include", "test", "src", ".")), str(ROOT / source)]
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

    def test_each_file_of_a_test_of_compiled_code_is_known(self):
        for name, sources in evidence.compiled_code().items():
            for source in (file for file in sources if file.endswith((".cu", ".cuh"))):
                with self.subTest(test=name, source=source):
                    unknown = {file for file in compiled_from(source) - evidence.reached_by(sources)
                               if not file.startswith(evidence.HOST_ALONE)}
                    self.assertEqual(unknown, set())

    def test_each_test_of_compiled_code_is_known(self):
        text = (ROOT / "test/compiled_code.cmake").read_text(encoding="utf-8")
        names = re.findall(r"^tilefold_add_compiled_code\((\S+) COMMAND (\S+)", text, re.MULTILINE)
        self.assertEqual({name for name, _ in names}, set(evidence.compiled_code()))
        for name, script in names:
            self.assertIn(f"test/{script}", evidence.compiled_code()[name])
        for read in re.findall(r"\$\{CMAKE_CURRENT_SOURCE_DIR\}/(\S+\.\w+)", text):
            self.assertIn(f"test/{read}", {file for files in evidence.compiled_code().values() for file in files})

    def stale_when_changed(self, changed):
        """Which of them are stale where all had passed before these files changed."""
        caches = (evidence.hash_of, evidence.compiled_digests)
        text_of = evidence.text_of
        with tempfile.TemporaryDirectory() as folder, \
             unittest.mock.patch.object(evidence, "COMPILED", pathlib.Path(folder) / "compiled_code.csv"):
            evidence.record_compiled(evidence.compiled_code(), "V13.0.1")
            self.assertEqual(evidence.stale_compiled("V13.0.1"), [])
            self.assertEqual(evidence.stale_compiled("V13.0.2"), sorted(evidence.compiled_code()))
            with unittest.mock.patch.object(evidence, "text_of", lambda file: text_of(file) + " " * (file in changed)):
                for cache in caches:
                    cache.cache_clear()
                stale = evidence.stale_compiled("V13.0.1")
        for cache in caches:
            cache.cache_clear()
        return stale

    def test_tests_of_compiled_code_are_stale_once_what_they_read_changes(self):
        everything = sorted(evidence.compiled_code())
        for file in ("include/tilefold/op.hpp", "test/compiled_code.cmake", "test/support/machine_code.py"):
            self.assertEqual(self.stale_when_changed([file]), everything, file)
        self.assertEqual(self.stale_when_changed(["test/kernel_table/kernel_table.csv"]), ["kernel_table"])
        self.assertEqual(self.stale_when_changed(["test/contraction/leak.cu"]), ["contraction.kernels"])
        self.assertEqual(self.stale_when_changed(["test/reduce_test.cpp"]), [])


unittest.main()
