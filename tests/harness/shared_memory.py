# SPDX-License-Identifier: BSD-3-Clause
"""Files of a job in /dev/shm: each job has a /dev/shm of its own where the machine allows it.

So nothing that other jobs leave there is taken for a file of this job. Elsewhere, a file counts that is new since the start and that
no living process maps.
"""
import os
import subprocess
from functools import lru_cache
from pathlib import Path

from . import processes

FOLDER = Path("/dev/shm")

# A command for sh. It mounts a /dev/shm of its own, runs the rest of the arguments, and writes the names of files that are
# left to the first one. It hides /proc/kallsyms, which libfabric reads in each process: that takes longer than all other
# steps of its start. Ranks may exit a moment after mpirun.
_OWN = """mount -t tmpfs tmpfs /dev/shm || exit 99
mount --bind /dev/null /proc/kallsyms 2>/dev/null
left=$1; shift
"$@"; status=$?
for turn in 1 2 3 4 5 6 7 8 9 10; do [ -z "$(ls -A /dev/shm)" ] && break; sleep 0.1; done
ls -A /dev/shm >"$left"
exit $status"""


@lru_cache(maxsize=None)
def can_be_own():
    """Tells whether this machine allows a /dev/shm of one's own."""
    test = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /dev/shm"]
    try:
        return subprocess.run(test, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def _is_mapped(path):
    needle = str(path).encode()
    for pid in processes.process_ids():
        try:
            if needle in Path(f"/proc/{pid}/maps").read_bytes():
                return True
        except OSError:
            continue
    return False


class SharedMemory:
    """The files in /dev/shm of one job."""

    def __init__(self, record):
        """record: a file to make, with the names that are left."""
        self.record = record
        self.is_own = can_be_own()
        self._before = set() if self.is_own else set(os.listdir(FOLDER))

    def wrap(self, command):
        """Returns the command that runs this one with a /dev/shm of its own, if it can have one."""
        return ["unshare", "--mount", "sh", "-c", _OWN, "own-shm", str(self.record), *command] if self.is_own else command

    def left(self, seconds=2.0):
        """Returns the files that are left of a command that has ended. seconds: patience with files that others just make."""
        if self.is_own:
            names = self.record.read_text(encoding="utf-8").splitlines() if self.record.exists() else []
            return [FOLDER / name for name in names]
        found = []

        def none_is_left():
            found[:] = [FOLDER / name for name in sorted(os.listdir(FOLDER)) if name not in self._before]
            found[:] = [path for path in found if not _is_mapped(path)]
            return not found

        processes.wait_until(none_is_left, seconds)
        return found

    def remove(self, paths):
        """Removes files that are left. A /dev/shm of its own has gone with the job."""
        for path in () if self.is_own else paths:
            path.unlink(missing_ok=True)
