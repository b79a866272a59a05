# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe of tilefold. From the root of the source:

    conan create packaging/conan -s compiler.cppstd=20                             # headers, host library
    conan create packaging/conan -s compiler.cppstd=20 -o "&:host=False"           # headers alone
    conan create packaging/conan -s compiler.cppstd=20 -o "&:system_deps=True"     # TBB and Highway of the system
"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rm, rmdir
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"


class TilefoldConan(ConanFile):
    name = "tilefold"
    description = "Reductions for CPU and GPU with one fold order: the same bits on any machine"
    license = "Apache-2.0"
    topics = ("reduction", "reproducibility", "cuda", "header-only")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"host": [True, False], "system_deps": [True, False], "fPIC": [True, False]}
    default_options = {"host": True, "system_deps": False, "fPIC": True}
    options_description = {
        "host": "Build the host library (all cores, vector instructions); without it: headers alone",
        "system_deps": "Take TBB and Highway of the system (Debian: libtbb-dev, libhwy-dev)",
    }

    # The recipe stands in the source that it packages.
    def set_version(self):
        config = load(self, os.path.join(self._root, "include", "tilefold", "config.hpp"))
        parts = [re.search(rf"TILEFOLD_VERSION_{part} (\d+)", config).group(1)
                 for part in ("MAJOR", "MINOR", "PATCH")]
        self.version = ".".join(parts)

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "packaging/deb/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def configure(self):
        if not self.options.host:
            self.package_type = "header-library"
            self.options.rm_safe("fPIC")
            self.options.rm_safe("system_deps")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if self.options.host and not self.options.system_deps:
            self.requires("onetbb/2021.12.0")
            self.requires("highway/1.2.0")

    def system_requirements(self):
        if self.options.host and self.options.system_deps:
            Apt(self).install(["libtbb-dev", "libhwy-dev"])

    def package_id(self):
        if not self.info.options.host:
            self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        if self.options.host and self.settings.os != "Linux":
            self.output.warning("tilefold is tested on Linux alone")

    def generate(self):
        toolchain = CMakeToolchain(self)
        # The cache entries of TILEFOLD_*: nothing but the host library is built.
        for name in ("CUDA", "MPI", "C_LIBRARY", "TOOL", "TESTS", "BENCHMARKS"):
            toolchain.cache_variables[f"TILEFOLD_{name}"] = "OFF"
        # Never sources from the network: what is required is there, or it is an error.
        toolchain.cache_variables["FETCHCONTENT_TRY_FIND_PACKAGE_MODE"] = "ALWAYS"
        toolchain.cache_variables["FETCHCONTENT_FULLY_DISCONNECTED"] = "ON"
        toolchain.generate()
        deps = CMakeDeps(self)
        # As the projects' own packages call them.
        deps.set_property("highway", "cmake_file_name", "hwy")
        deps.set_property("highway", "cmake_target_name", "hwy::hwy")
        deps.generate()

    def build(self):
        if self.options.host:
            cmake = CMake(self)
            cmake.configure()
            cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        if not self.options.host:
            include = os.path.join(self.source_folder, "include")
            copy(self, "tilefold/*", include, os.path.join(self.package_folder, "include"))
            return
        CMake(self).install()
        # CMakeDeps and PkgConfigDeps write these for the consumer.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))
        rm(self, "*.cmake", self.package_folder, recursive=True)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "tilefold")
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "tilefold::core")
        core.libdirs = []
        core.bindirs = []

        # The headers for .cu files. The CUDA runtime comes with nvcc.
        cuda = self.cpp_info.components["cuda"]
        cuda.set_property("cmake_target_name", "tilefold::cuda")
        cuda.set_property("pkg_config_name", "tilefold-cuda")
        cuda.requires = ["core"]
        cuda.libdirs = []
        cuda.bindirs = []

        # For operators of the user's own that multiply and add.
        strict_fp = self.cpp_info.components["strict_fp"]
        strict_fp.set_property("cmake_target_name", "tilefold::strict_fp")
        strict_fp.includedirs = []
        strict_fp.libdirs = []
        strict_fp.bindirs = []
        strict_fp.cxxflags = ["-ffp-contract=off"]

        if self.options.host:
            host = self.cpp_info.components["host"]
            host.set_property("cmake_target_name", "tilefold::host")
            host.set_property("pkg_config_name", "tilefold-host")
            host.libs = ["tilefold_host"]
            host.defines = ["TILEFOLD_HOST_LIBRARY"]
            host.requires = ["core"]
            if self.options.system_deps:
                host.system_libs = ["tbb", "hwy"]
            else:
                host.requires += ["onetbb::libtbb", "highway::highway"]
