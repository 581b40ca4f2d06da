# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/bench has measured, from the files of one folder."""
import glob
import json
import os
import re
from collections import namedtuple

MIB = 1 << 20
Row = namedtuple("Row", "run ranks row")


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


class Results:
    """Rows of fenix_bench by the name of their run, which is that of the file; figures of the kernels; instructions."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = []
        self.machine = {}
        self.refused = []
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            content = load(path)
            if not content or content.get("benchmark") != "fenix_bench":
                continue
            run = os.path.splitext(os.path.basename(path))[0]
            self.machine = self.machine or content["machine"]
            self.refused += [case for case in content["refused"]]
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

    def of_run(self, run):
        return [entry for entry in self.rows if entry.run == run]

    def _kernels(self):
        """Bytes per second by (kernel, implementation, arguments), from names like xor/avx512/4/65536."""
        content = load(os.path.join(self.folder, "kernels.json")) or {}
        figures = {}
        for entry in content.get("benchmarks", []):
            rate = entry.get("bytes_per_second")
            wanted = {"median"} if entry.get("run_type") == "aggregate" else {None}
            if rate is None or entry.get("aggregate_name") not in wanted:
                continue
            parts = re.sub(r"^BM_", "", entry.get("run_name", entry["name"])).split("/")
            kernel, implementation = parts[0], parts[1] if len(parts) > 1 else ""
            figures[(kernel, implementation, "/".join(parts[2:]))] = rate
        return figures

    def xor_pairs(self):
        """(arguments, bytes per second here, of ISA-L) of the XOR kernel; of several implementations the best one."""
        ours, theirs = {}, {}
        for (kernel, implementation, arguments), rate in self.kernels.items():
            if not re.match(r"xor", kernel, re.IGNORECASE):
                continue
            isal = "isa" in (kernel + implementation).lower()
            side = theirs if isal else ours
            side[arguments] = max(rate, side.get(arguments, 0))
        return [(arguments, ours[arguments], theirs[arguments]) for arguments in ours if arguments in theirs]

    def _instructions(self):
        """Instructions of each store and of each commit, mean of the ranks."""
        content = load(os.path.join(self.folder, "instructions.json"))
        if not content:
            return {}
        calls = content["results"][0]["iterations"]
        counted = {"store": [], "commit": []}
        for path in glob.glob(os.path.join(self.folder, "callgrind-*.txt")):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            for name, values in counted.items():
                line = re.search(r"^\s*([\d,]+)\s.*[:/]fenix_bench_steady_" + name + r"\b", text, re.MULTILINE)
                if line:
                    values.append(int(line[1].replace(",", "")) / calls)
        return {name: sum(values) / len(values) for name, values in counted.items() if values}
