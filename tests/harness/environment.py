# SPDX-License-Identifier: BSD-3-Clause
"""The environment of a job, as scripts/env.sh makes it."""
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# fenix-demo of an installed library has these modules, and what it needs of scripts/, in PREFIX/share/fenix.
IS_INSTALLED = not (ROOT / "scripts").is_dir()
SCRIPTS = ROOT if IS_INSTALLED else ROOT / "scripts"


def load(base=None):
    """Returns the variables that a shell has after ". scripts/env.sh". base: the variables before (default: our own)."""
    base = dict(os.environ if base is None else base)
    # What env.sh prints goes to standard error: standard output is the list of variables.
    command = ["sh", "-c", '. "$0" >&2 && exec env -0', str(SCRIPTS / "env.sh")]
    output = subprocess.run(command, env=base, check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    entries = (os.fsdecode(entry).partition("=") for entry in output.split(b"\0") if entry)
    return {name: value for name, _, value in entries}


def tool(name, program):
    """Returns the path of a tool of the build, or installation, that a program is from."""
    return shutil.which(name) if IS_INSTALLED else Path(program).parent.parent / "tools" / name


def share_cores(environment):
    """Makes ranks that wait give up their core: jobs at the same time share the cores, and Open MPI does not see that."""
    environment.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
