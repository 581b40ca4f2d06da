# SPDX-License-Identifier: BSD-3-Clause
"""Memory of the ranks of a job, as the kernel counts it."""
import re
import time
from pathlib import Path

_PAUSE = 0.5  # seconds between samples: a look at a process takes the kernel some 100 µs


def of_process(pid):
    """Returns (Pss, Rss) in bytes, or nothing if the process has gone. Pss: memory that n processes share counts as an n-th of it."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return None
    found = dict(re.findall(r"^(Pss|Rss):\s+(\d+) kB$", text, re.MULTILINE))
    return (int(found["Pss"]) * 1024, int(found["Rss"]) * 1024) if len(found) == 2 else None


class Peaks:
    """The largest of the samples of a run."""

    def __init__(self):
        self.job_pss = self.rank_pss = self.rank_rss = 0
        self._next = 0.0

    def sample(self, job, active_processes):
        """Takes a sample if it is time for one. active_processes: function that returns the ids of ranks that compute."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PAUSE
        active = set(active_processes())
        found = {process.pid: of_process(process.pid) for process in job.find() if process.is_rank}
        self.add({pid: both for pid, both in found.items() if both}, active)

    def add(self, found, active):
        """found: (Pss, Rss) by process id. active: processes that compute; the others are spares."""
        computing = [both for pid, both in found.items() if pid in active]
        self.job_pss = max(self.job_pss, sum(pss for pss, _ in found.values()))
        if computing:
            self.rank_pss = max(self.rank_pss, sum(pss for pss, _ in computing) / len(computing))
            self.rank_rss = max(self.rank_rss, sum(rss for _, rss in computing) / len(computing))

    def figures(self):
        return {"job_pss": self.job_pss, "rank_pss": self.rank_pss, "rank_rss": self.rank_rss}
