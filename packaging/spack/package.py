# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack 1.0 or later; docs/operations.md says how to use it. It has not been built.
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Fenix(CMakePackage):
    """Process recovery and in-memory redundant storage for MPI programs that survive the death of ranks."""

    license("BSD-3-Clause")

    # "spack develop" names the folder with the sources, also for a release.
    version("develop")
    version("0.4.0")

    variant("fortran", default=True, description="Fortran interface")
    variant("libfabric", default=True, description="The path between nodes over libfabric")
    variant("tests", default=False, description="Tests, with the fault points that they need")
    variant("examples", default=False, description="Examples")
    variant("bench", default=False, description="Benchmarks")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    generator("ninja")

    # From 5 on it has ULFM.
    depends_on("openmpi@5:")
    depends_on("openmpi+fortran", when="+fortran")
    depends_on("xxhash")
    depends_on("isa-l")
    depends_on("spdlog")
    depends_on("libfabric@1.14:", when="+libfabric")
    depends_on("googletest", type="build", when="+tests")
    depends_on("libpng", when="+examples")
    depends_on("cli11", type="build", when="+bench")
    depends_on("nlohmann-json", type="build", when="+bench")
    depends_on("benchmark", when="+bench")

    conflicts("%gcc@:11", msg="C++20 is needed, and GCC 12 is the oldest that was tried")

    def cmake_args(self):
        return [
            self.define("MPI_HOME", self.spec["mpi"].prefix),
            self.define_from_variant("FENIX_FORTRAN", "fortran"),
            self.define_from_variant("FENIX_WITH_LIBFABRIC", "libfabric"),
            self.define_from_variant("FENIX_BUILD_TESTS", "tests"),
            self.define_from_variant("FENIX_FAULT_INJECTION", "tests"),
            self.define_from_variant("FENIX_BUILD_EXAMPLES", "examples"),
            self.define_from_variant("FENIX_BUILD_BENCH", "bench"),
            self.define("FENIX_WERROR", False),
        ]
