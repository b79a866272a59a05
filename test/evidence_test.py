# SPDX-License-Identifier: Apache-2.0
#
# .ci/evidence.py finds the files that a GPU test is compiled from by reading #include lines; nvcc -M says which they are.
# So it does for the tests that read what nvcc made, and these are stale once one of the files changes.
# `python3 evidence_test.py SOURCE_DIR NVCC` runs the test.
import ast
import pathlib
import re
import shutil
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
        for file in ("include/tilefold/op.hpp", "test/compiled_code.cmake", "test/support/machine_code.py",
                     "cmake/disassembler.sh"):
            self.assertEqual(self.stale_when_changed([file]), everything, file)
        self.assertEqual(self.stale_when_changed(["test/kernel_table/kernel_table.csv"]), ["kernel_table"])
        self.assertEqual(self.stale_when_changed(["test/contraction/leak.cu"]), ["contraction.kernels"])
        self.assertEqual(self.stale_when_changed(["test/reduce_test.cpp", "cmake/setup.sh"]), [])

    def test_each_module_that_a_program_imports_is_known(self):
        own = {pathlib.PurePath(file).stem: file for folder in ("test", "python", "docs") for file in evidence.found(folder + "/**/*.py")}
        for name, sources in (evidence.programs() | evidence.compiled_code()).items():
            reached = evidence.reached_by(sources)
            for file in (file for file in reached if file.endswith(".py")):
                nodes = list(ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))))
                imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
                imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
                with self.subTest(program=name, file=file):
                    self.assertEqual({own[module] for module in imported & set(own)} - reached, set())


class Changes(unittest.TestCase):
    """Which lines of the evidence a change makes stale, in a copy of the sources."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name).resolve()
        for name in ("cmake", "docs/site", "examples", "include", "python", "src", "test"):
            shutil.copytree(ROOT / name, cls.root / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("CMakeLists.txt", "CMakePresets.json", "README.md"):
            shutil.copy(ROOT / name, cls.root / name)

    def setUp(self):
        patch = unittest.mock.patch.object(evidence, "ROOT", self.root)
        patch.start()
        self.addCleanup(evidence.forget)
        self.addCleanup(patch.stop)
        evidence.forget()
        self.before = evidence.digests()

    def stale(self, file, old, new):
        """The lines that are stale once `old` in a file, or its end, is `new`."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1) if old else text + new, encoding="utf-8")
        evidence.forget()
        after = evidence.digests()
        path.write_text(text, encoding="utf-8")
        return {name for name in self.before if after.get(name) != self.before[name]}

    def test_options_of_all_programs(self):
        for file in ("CMakeLists.txt", "test/CMakeLists.txt", "test/capi/tests.cmake", "src/host/CMakeLists.txt"):
            self.assertEqual(self.stale(file, "", "\nadd_compile_options(\n  --use_fast_math)\n"), set(self.before), file)
        self.assertEqual(self.stale("test/CMakeLists.txt", "", "\ntarget_compile_options(gpu.cuda.axis_test PRIVATE -g)\n"),
                         set(self.before))
        self.assertEqual(self.stale("test/CMakeLists.txt", "", "\ntarget_compile_options(host_tests PRIVATE -g)\n"), set())
        with unittest.mock.patch.object(evidence, "SANITIZERS", ["memcheck"]):
            evidence.forget()
            self.assertFalse(set(evidence.digests().values()) & set(self.before.values()))

    def test_files_of_libtilefold(self):
        of_library = {"gpu.capi.c_cuda_test", "python.gpu_tests"}
        self.assertEqual(self.stale("src/capi/libtilefold.map", "", "\nmore;\n"), of_library)
        self.assertEqual(self.stale("test/capi/tests.cmake", "", "\nset(x y)\n"), {"gpu.capi.c_cuda_test"})

    def test_what_programs_in_python_read(self):
        self.assertEqual(self.stale("test/contraction/neighbour_tree.py", "", "\nx = 1\n"), {"gpu.nvrtc"})
        for file in ("python/tests/test_between_steps.py", "docs/site/snippets.py"):
            self.assertEqual(self.stale(file, "", "\nx = 1\n"), {"python.gpu_tests"})
        self.assertEqual(self.stale("README.md", "True torch.Size", "False torch.Size"), {"python.gpu_tests"})
        self.assertEqual(self.stale("README.md", "", "\nA sentence.\n"), set())

    def test_headers_for_nvrtc(self):
        self.assertEqual(self.stale("include/tilefold/nvrtc/type_traits", "", "\n#define is_same_v broken\n"), {"gpu.nvrtc"})
        self.assertEqual(self.stale("include/tilefold/nvrtc/type_traits", "", "\n// a comment\n"), set())
        self.assertEqual(self.stale("include/tilefold/nvrtc/README.md", "", "\nA sentence.\n"), set())

    def test_changes_of_nothing(self):
        for file, old, new in (("CMakePresets.json", "Everything, with CUDA for sm_90", "What needs a GPU"),
                               ("test/gpu_tests.cmake", "endforeach()\n", "endforeach()  # a comment\n"),
                               ("cmake/add_header_tests.cmake", "-O0", "-O1"),
                               ("include/tilefold/op.hpp", "\nnamespace", "\n  namespace"),
                               ("include/tilefold/op.hpp", "namespace tilefold", "namespace  /* of all */ tilefold"),
                               ("include/tilefold/op.hpp", "(", "(/* nothing */ ")):
            self.assertLessEqual(self.stale(file, old, new), {"consumer"}, (file, new))

    def test_what_only_looks_like_a_blank_or_a_comment(self):
        for file, text in (("a.cpp", '"a  b"'), ("a.cpp", "'\\t' // c"), ("a.cpp", "#define f (x)"), ("a.py", "x = ' # no comment'"),
                           ("a.csv", "kernel #2,1")):
            (self.root / file).write_text(text, encoding="utf-8")
            self.assertEqual(evidence.text_of(file), text.removesuffix(" // c"))
            evidence.forget()


unittest.main()
