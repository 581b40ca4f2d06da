# Everything the library needs from outside: Open MPI with ULFM, xxHash, ISA-L, spdlog, threads; and libfabric, if there is one.

# Where MPI is: $FENIX_MPI_HOME, else what scripts/bootstrap has recorded, else what is on PATH.
if(NOT DEFINED MPI_HOME)
  set(fenix_cache "$ENV{XDG_CACHE_HOME}")
  if(NOT fenix_cache)
    set(fenix_cache "$ENV{HOME}/.cache")
  endif()
  if(DEFINED ENV{FENIX_MPI_HOME})
    set(MPI_HOME "$ENV{FENIX_MPI_HOME}")
  elseif(EXISTS "${fenix_cache}/fenix/mpi-home")
    file(STRINGS "${fenix_cache}/fenix/mpi-home" MPI_HOME LIMIT_COUNT 1)
  endif()
endif()

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI COMPONENTS C CXX)
if(NOT MPI_FOUND)
  message(FATAL_ERROR "No MPI found. Run scripts/bootstrap, then '. scripts/env.sh', and configure in a new build folder.")
endif()

# ULFM is what makes recovery possible; without its header nothing here compiles.
try_compile(
  FENIX_HAVE_ULFM
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/ulfm_check.c
  LINK_LIBRARIES MPI::MPI_C)
if(NOT FENIX_HAVE_ULFM)
  message(FATAL_ERROR "The MPI found (${MPI_C_COMPILER}) is not Open MPI 5 or later with ULFM. "
                      "Run scripts/bootstrap, then '. scripts/env.sh', and configure in a new build folder.")
endif()

# For the installed package: where its users find the same MPI.
cmake_path(GET MPI_C_COMPILER PARENT_PATH FENIX_MPI_PREFIX)
cmake_path(GET FENIX_MPI_PREFIX PARENT_PATH FENIX_MPI_PREFIX)

find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
find_package(spdlog REQUIRED)
set(FENIX_SPDLOG spdlog::spdlog)
if(FENIX_SPDLOG_IN_HEADERS)
  set(FENIX_SPDLOG "")
endif()
find_package(Threads REQUIRED)

include(FenixLibfabric)
