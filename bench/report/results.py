# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/bench has measured, from the files of one folder."""
import glob
import json
import os
import re
from collections import namedtuple

MIB = 1 << 20
Row = namedtuple("Row", "run ranks row")
# rate: bytes of the sources in a second. to_…: time in times of that of memcpy, of ISA-L.
Kernel = namedtuple("Kernel", "name kibibytes rate to_memcpy to_isal")


def size_text(count):
    for unit, bytes_of in (("GiB", MIB << 10), ("MiB", MIB), ("KiB", 1 << 10)):
        if count >= bytes_of:
            return f"{count / bytes_of:g} {unit}"
    return f"{count} bytes"


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def instructions_in(text):
    """Returns the instructions of all stores and of all commits, as callgrind_annotate prints them."""
    counted = {}
    for name in ("store", "commit"):
        line = re.search(r"^\s*([\d,]+)\s.*[:/]fenix_bench_steady_" + name + r"\b", text, re.MULTILINE)
        if line:
            counted[name] = int(line[1].replace(",", ""))
    return counted


class Results:
    """Rows of fenix_bench by the name of their run, which is that of the file; figures of the kernels; instructions."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = []
        self.machine = {}
        self.refused = []
        self.waits = {}  # numbers of ranks, by what MPI did while it waited: spin, yield or sleep
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            content = load(path)
            if not content or content.get("benchmark") != "fenix_bench":
                continue
            run = os.path.splitext(os.path.basename(path))[0]
            self.machine = self.machine or content["machine"]
            self.refused += [case for case in content["refused"]]
            ranks = int(content["run"]["ranks"]) + int(content["run"]["spares"])
            self.waits.setdefault(content["run"].get("waits", "unknown"), set()).add(ranks)
            self.rows += [Row(run, int(content["run"]["ranks"]), row) for row in content["results"]]
        self.kernels = self._kernels()
        self.instructions = self._instructions()

    def find(self, run, operation, **wanted):
        """The first row of a run that has these values; None without one."""
        for entry in self.rows:
            row = entry.row
            if entry.run == run and row["operation"] == operation and all(row[k] == v for k, v in wanted.items()):
                return row
        return None

    def of_modes(self, runs, mode, operation="store_commit_barrier"):
        """Pairs of a size and the time in a mode, in times of that in the usual one, with hashes; smallest first."""
        found = []
        for entry in sorted(self.rows, key=lambda entry: entry.row["bytes"]):
            row = entry.row
            if entry.run in runs and row["operation"] == operation and row["mode"] == mode and row["hashes"] == "on":
                usual = self.find(entry.run, operation, mode="usual", **{k: row[k] for k in ("policy", "hashes", "depth", "bytes")})
                if usual:
                    found.append((size_text(row["bytes"]), row["seconds"]["median"] / usual["seconds"]["median"]))
        return found

    def repairs(self):
        """Pairs of the number of ranks, and times of repairs in times of ULFM's steps."""
        content = load(os.path.join(self.folder, "repair.json")) or {"runs": []}
        return [(f"{entry['ranks']} ranks", entry["ratios"]) for entry in content["runs"]]

    def node_loss_runs(self):
        """Pairs of a policy, and the seconds of each part in its runs."""
        contents = [load(path) for path in sorted(glob.glob(os.path.join(self.folder, "node-loss-*.json")))]
        return [(content["policy"], content["runs"]) for content in contents if content and content["runs"]]

    def node_losses(self):
        """Pairs of a policy, and times until the data is back in times of MPI_Sendrecv."""
        return [(policy, [(run["group"] + run["restore"]) / run["sendrecv"] for run in runs]) for policy, runs in self.node_loss_runs()]

    def of_run(self, run):
        return [entry for entry in self.rows if entry.run == run]

    def _kernels(self):
        """From names like xor/sources:4/KiB:64; what is compared with was measured in turn with the kernel."""
        content = load(os.path.join(self.folder, "kernels.json")) or {}
        kernels = []
        for entry in content.get("benchmarks", []):
            name = re.match(r"(.+)/KiB:(\d+)", entry["name"])
            if name and entry.get("run_type", "iteration") == "iteration":
                kernels.append(Kernel(name[1], int(name[2]), entry["bytes_per_second"], entry.get("to_memcpy"),
                                      entry.get("to_isal")))
        return kernels

    def xor_kernels(self):
        return [kernel for kernel in self.kernels if kernel.name.startswith("xor/") and kernel.to_isal]

    def _instructions(self):
        """Instructions of each store and of each commit, mean of the ranks."""
        content = load(os.path.join(self.folder, "instructions.json"))
        if not content:
            return {}
        calls = content["results"][0]["iterations"]
        counted = {"store": [], "commit": []}
        for path in glob.glob(os.path.join(self.folder, "callgrind-*.txt")):
            with open(path, encoding="utf-8", errors="replace") as file:
                for name, instructions in instructions_in(file.read()).items():
                    counted[name].append(instructions / calls)
        return {name: sum(values) / len(values) for name, values in counted.items() if values}
