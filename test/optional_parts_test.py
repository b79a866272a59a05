# SPDX-License-Identifier: Apache-2.0
#
# Optional parts are asked for by what CMake found: configures the tool without an MPI, an NCCL, a CUDA toolkit, a
# Python, and with an MPI where this machine has one, and builds what depends on the answer. (oneTBB and Highway are
# needed: without packages of them CMake fetches them.)
#
#     python3 optional_parts_test.py SOURCE_DIR CXX [--mpi]
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock


# Programs, headers and libraries are looked for in an empty folder alone; what has a package for CMake (oneTBB,
# Highway, CLI11) is found where it is.
BARE_MACHINE = [f"-DCMAKE_FIND_ROOT_PATH_MODE_{kind}=ONLY" for kind in ("PROGRAM", "INCLUDE", "LIBRARY")]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class OptionalParts(unittest.TestCase):
    def configure(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        return run("cmake", "-S", source, "-B", self.build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={cxx}",
                   f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}", f"-DCMAKE_FIND_ROOT_PATH={self.build}/nothing",
                   "-DTILEFOLD_TESTS=OFF", "-DTILEFOLD_BENCHMARKS=OFF", *options)

    def build_target(self, target):
        done = run("cmake", "--build", self.build, "--target", target)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])

    def expect_only_the_host(self):
        targets = run("ninja", "-C", self.build, "-t", "targets", "all").stdout.splitlines()
        self.assertIn("tilefold_tool: phony", targets)
        self.assertEqual([target for target in targets if "program_ranks_mpi" in target or ".cu.o" in target], [])

    def test_without_any_of_them(self):
        done = self.configure(*BARE_MACHINE, "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        self.expect_only_the_host()
        self.build_target("src/tool/CMakeFiles/tilefold_tool_parts.dir/program_ranks.cpp.o")

    def test_what_is_off_is_not_built(self):
        done = self.configure("-DTILEFOLD_MPI=OFF", "-DTILEFOLD_CUDA=OFF")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        self.expect_only_the_host()

    def test_a_preset_builds_for_a_gpu_that_answers(self):
        answers = {"exit 1": self.assertIn, "exit 0": self.assertNotIn,
                   "exec sleep 60": self.assertIn}  # a driver that is stuck: it is waited for 10 s
        for answer, sentence in answers.items():
            with tempfile.TemporaryDirectory() as folder:
                smi = pathlib.Path(folder) / "nvidia-smi"
                smi.write_text(f"#!/bin/sh\n{answer}\n")
                smi.chmod(0o755)
                with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
                    done = self.configure("-DTILEFOLD_MPI=OFF", "-DTILEFOLD_CUDA=")  # as presets run and test do
            self.assertEqual(done.returncode, 0, done.stdout[-2000:])
            sentence("no GPU answers", done.stdout)
            if answer != "exit 0":
                self.expect_only_the_host()

    def test_what_is_on_and_absent_is_named(self):
        for option, sentence in (("TILEFOLD_MPI", "Could NOT find MPI"), ("TILEFOLD_CUDA", "TILEFOLD_CUDA is ON, but")):
            done = self.configure(*BARE_MACHINE, f"-D{option}=ON")
            self.assertNotEqual(done.returncode, 0, option)
            self.assertIn(sentence, done.stdout)

    @unittest.skipUnless("--mpi" in sys.argv, "no MPI")
    def test_with_an_mpi(self):
        done = self.configure("-DTILEFOLD_MPI=ON", "-DTILEFOLD_CUDA=OFF")
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        self.build_target("tilefold_tool_mpi")
        self.assertTrue((self.build / "src/tool/tilefold-mpi.so").is_file())


if __name__ == "__main__":
    source, cxx = sys.argv[1:3]
    os.environ.pop("CUDACXX", None)
    unittest.main(argv=sys.argv[:1])
