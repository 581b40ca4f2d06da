# SPDX-License-Identifier: BSD-3-Clause
"""Describes the extension module fenix._binding to cffi: its declarations, its C code, and the fenix and MPI that it is linked with.

fenix is looked for in $FENIX_PREFIX; without it in the folders of $CMAKE_PREFIX_PATH, and in ~/.local, /usr/local and /usr. MPI is the
one that this fenix was built with; $MPICC names another one. A fenix staged below $DESTDIR is taken from there, and looked for at run
time in its later place.
"""
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import cffi

HERE = Path(__file__).resolve().parent


def library_folder(prefix):
    """Returns the folder of libfenix.so below a prefix, or nothing if fenix is not installed there."""
    if not (prefix / "include/fenix.h").is_file():
        return None
    return next((file.parent for file in sorted(prefix.glob("lib*/**/libfenix.so"))), None)


def candidates():
    """Yields the prefixes in which fenix may be installed. Where FENIX_PREFIX is set, it is the only one."""
    if os.environ.get("FENIX_PREFIX"):
        yield Path(os.environ["FENIX_PREFIX"])
        return
    for entry in re.split("[:;]", os.environ.get("CMAKE_PREFIX_PATH", "")):
        if entry:
            yield Path(entry)
    yield from (Path.home() / ".local", Path("/usr/local"), Path("/usr"))


def find_fenix():
    """Returns the prefix of fenix and the folder of its library."""
    tried = []
    for prefix in candidates():
        folder = library_folder(prefix)
        if folder:
            return prefix, folder
        tried.append(str(prefix))
    raise SystemExit("fenix: no include/fenix.h and libfenix.so in " + ", ".join(tried) + "\n"
                     "fenix: install the library with cmake --install, and set FENIX_PREFIX to its prefix")


def find_mpicc(folder):
    """Returns the mpicc of the MPI that fenix was built with."""
    if os.environ.get("MPICC"):
        return os.environ["MPICC"]
    configuration = folder / "cmake/fenix/fenixConfig.cmake"
    if configuration.is_file():
        home = re.search(r'set\(MPI_HOME "([^"]+)"\)', configuration.read_text(encoding="utf-8"))
        if home and os.access(f"{home[1]}/bin/mpicc", os.X_OK):
            return f"{home[1]}/bin/mpicc"
    found = shutil.which("mpicc")
    if not found:
        raise SystemExit("fenix: no mpicc found: set MPICC to that of the Open MPI that fenix was built with")
    return found


def flags_of(mpicc, kind, prefix):
    """Returns the values of one kind of option that mpicc would give to the compiler or the linker."""
    command = [*shlex.split(mpicc), f"--showme:{kind}"]
    try:
        words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"fenix: {mpicc} is no mpicc of Open MPI: {error}") from error
    return [word[len(prefix):] for word in words if word.startswith(prefix)]


def make_builder():
    prefix, folder = find_fenix()
    mpicc = find_mpicc(folder)
    of_mpi = flags_of(mpicc, "link", "-L")
    folders = [str(folder), *of_mpi]
    at_run_time = [name.removeprefix(os.environ.get("DESTDIR", "")) for name in folders]
    builder = cffi.FFI()
    builder.cdef((HERE / "binding/declarations.h").read_text(encoding="utf-8"))
    builder.set_source(
        "fenix._binding", (HERE / "binding/binding.c").read_text(encoding="utf-8"),
        define_macros=[("FENIX_PYTHON_MPI", '"' + ":".join(of_mpi) + '"')],
        include_dirs=[str(prefix / "include"), *flags_of(mpicc, "compile", "-I")],
        library_dirs=folders,
        # The fenix and the MPI that were found here are also taken at run time, unless LD_LIBRARY_PATH names others.
        runtime_library_dirs=at_run_time,
        libraries=["fenix", *flags_of(mpicc, "link", "-l")])
    return builder


builder = make_builder()
