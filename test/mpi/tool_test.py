# SPDX-License-Identifier: Apache-2.0
#
# The tool as mpirun starts it: what ranks say that do not see the same file, and what processes say
# without an MPI. The MPI is a module beside the tool, so a copy of the tool alone has none.
#
#     python3 tool_test.py TOOL MPIRUN [FLAG]...      the last flag takes a number of ranks
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest


class ToolUnderMpirun(unittest.TestCase):
    tool = mpirun = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.without_mpi = shutil.copy(self.tool, os.path.join(self.folder.name, "tilefold"))

    def file(self, name, dtype, size):
        path = os.path.join(self.folder.name, name)
        subprocess.run([self.tool, "generate", "--dtype", dtype, "--bytes", str(size), path],
                       check=True, stdout=subprocess.DEVNULL)
        return path

    def run_ranks(self, ranks, command, **more):
        return subprocess.run(self.mpirun + [str(ranks)] + command, capture_output=True, text=True,
                              timeout=60, **more)

    @staticmethod
    def complaints(result):
        return [line for line in result.stderr.splitlines() if line.startswith("tilefold: ")]

    def of_each_rank(self, files):
        """Ranks that each reduce a file of their own."""
        cases = " ".join(f"{rank}) file={file};;" for rank, file in enumerate(files))
        words = f"case $OMPI_COMM_WORLD_RANK in {cases} esac; exec {self.tool} reduce $file"
        return self.run_ranks(len(files), ["sh", "-c", words])

    def test_ranks_that_see_another_length_are_told(self):
        long = self.file("long.npy", "float32", 4000000)
        short = self.file("short.npy", "float32", 3999996)
        for files, rank in ([long, long, short], 2), ([short, long], 1):
            result = self.of_each_rank(files)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.returncode, 2)
            items = {long: "1000000 items of float32", short: "999999 items of float32"}
            said = (f"rank {rank} sees {items[files[rank]]}, rank 0 sees {items[files[0]]}: "
                    "is it the same file for both?")
            self.assertEqual(self.complaints(result), [f"tilefold: {files[0]}: {said}"])

    def test_ranks_that_see_another_type_are_told(self):
        result = self.of_each_rank([self.file("f.npy", "float32", 4000),
                                    self.file("i.npy", "int32", 4000)])
        self.assertEqual(result.returncode, 2)
        self.assertIn("rank 1 sees 1000 items of int32, rank 0 sees 1000 items of float32",
                      result.stderr)

    def test_a_rank_that_cannot_read_is_told(self):
        result = self.of_each_rank([self.file("f.npy", "float32", 4000),
                                    os.path.join(self.folder.name, "none.npy")])
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(self.complaints(result)), 1)
        self.assertIn("rank 1: ", result.stderr)

    def test_one_rank_shows_the_bar(self):
        file = self.file("f.npy", "float32", 4000000)
        result = self.run_ranks(2, [self.tool, "reduce", "--progress", "--chunk", "4096", file])
        self.assertEqual(result.returncode, 0)
        # Open MPI 5 may pass on what a process writes to stderr as stdout.
        shown = result.stdout + result.stderr
        self.assertIn(f"reducing {file} by 2 ranks, the first [", shown)
        self.assertNotIn("rank 1", shown)

    def test_what_is_built_without_mpi_says_so_once(self):
        file = self.file("f.npy", "float32", 4000)
        result = self.run_ranks(3, [self.without_mpi, "reduce", "--json", "--on", "host", file])
        self.assertEqual(result.returncode, 0)
        values = {json.loads(line)["bits"] for line in result.stdout.splitlines()}
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.assertEqual(len(values), 1)
        self.assertEqual(self.complaints(result), [
            "tilefold: started as 3 processes, but built without MPI: each of them reduces whole "
            "files and prints the same result"])

    def test_an_mpi_that_cannot_be_loaded_is_named(self):
        with open(os.path.join(self.folder.name, "tilefold-mpi.so"), "w") as module:
            module.write("no library")
        file = self.file("f.npy", "float32", 4000)
        result = self.run_ranks(2, [self.without_mpi, "reduce", "--json", "--on", "host", file])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(len(self.complaints(result)), 1)
        self.assertIn("its MPI cannot be loaded", result.stderr)
        self.assertIn("tilefold-mpi.so", result.stderr)

    def test_no_mpi_is_loaded_without_a_launcher(self):
        file = self.file("f.npy", "float32", 4000)
        maps = subprocess.run(["sh", "-c", f"LD_DEBUG=libs {self.tool} reduce {file}"],
                              capture_output=True, text=True, timeout=60, check=True).stderr
        self.assertIn("libstdc++", maps)
        self.assertNotIn("libmpi", maps)

    def test_other_launchers_without_mpi(self):
        file = self.file("f.npy", "float32", 4000)
        for variables, complains in (
                ({"PMI_RANK": "0", "PMI_SIZE": "2"}, True),
                ({"PMI_RANK": "1", "PMI_SIZE": "2"}, False),
                ({"PMI_RANK": "0", "PMI_SIZE": "1"}, False),
                ({"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "2"}, True),
                ({"SLURM_STEP_NUM_TASKS": "2"}, False),
                ({}, False)):
            result = subprocess.run([self.without_mpi, "reduce", "--on", "host", file],
                                    capture_output=True, text=True, timeout=60,
                                    env=dict(os.environ, **variables))
            self.assertEqual(result.returncode, 0)
            self.assertEqual("without MPI" in result.stderr, complains, variables)


if __name__ == "__main__":
    ToolUnderMpirun.tool, *ToolUnderMpirun.mpirun = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
