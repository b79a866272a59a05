# Copyright 2026 The tilefold authors
#
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

from spack.package import *


class Tilefold(CMakePackage):
    """Reductions for CPU and GPU with one fold order: the same bits on any machine."""

    # No release has been tagged yet, so the source is the checkout that this file stands in.
    # `spack dev-build tilefold@0.3.0` builds the checkout that it runs in.
    git = Path(__file__).resolve().parents[5].as_uri()

    license("Apache-2.0")

    version("main", branch="main")
    version("0.3.0", tag="v0.3.0")

    variant("tool", default=False, description="Build the command-line tool")
    variant("c", default=True, description="Build libtilefold, the C interface")
    variant("mpi", default=False, description="Ranks of MPI in the tool")

    conflicts("+mpi", when="~tool", msg="only the tool is built with MPI")
    conflicts("%gcc@:11", msg="tilefold needs C++20: GCC 12 or later")
    conflicts("%clang@:13", msg="tilefold needs C++20: clang 14 or later")
    conflicts("platform=windows")
    conflicts("platform=darwin", msg="tilefold is tested on Linux alone")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("tbb")
    depends_on("highway@1.0:")
    depends_on("cli11@2:", when="+tool", type="build")
    depends_on("nlohmann-json@3:", when="+tool", type="build")
    depends_on("mpi", when="+mpi")

    def cmake_args(self):
        return [
            # Never sources from the network: what is depended on is there, or it is an error.
            self.define("FETCHCONTENT_TRY_FIND_PACKAGE_MODE", "ALWAYS"),
            self.define("FETCHCONTENT_FULLY_DISCONNECTED", True),
            self.define("TILEFOLD_CUDA", "OFF"),
            self.define("TILEFOLD_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
            self.define_from_variant("TILEFOLD_C_LIBRARY", "c"),
            self.define_from_variant("TILEFOLD_TOOL", "tool"),
            self.define("TILEFOLD_TESTS", False),
            self.define("TILEFOLD_BENCHMARKS", False),
        ]
