#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how costs grow with the number of ranks, and makes a page of it. scripts/measure scaling calls it.

usage: scaling BUILD RESULTS PAGE [--report]

BUILD: folder with scaling, scaling_ulfm and scaling_local; RESULTS: folder for what was measured; PAGE: file to write.
--report: measures nothing, and makes the page of the results that are there.
"""
import datetime
import json
import os
import re
import subprocess
import sys

import tables

BYTES = 65536
RANKS = (2, 4, 8, 16)
LARGE = (100, 1000, 10000, 100000)
# Ranks in all, and on a node.
NODES = ((8, 8), (32, 32), (128, 128), (1000, 128), (10000, 128))
RUNS = 3
ATTEMPTS = 2
# Ranks in the tables of cohorts and of deaths.
FEWER = 8
TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scaling.md")


def lines_of(command, limit=120, **variables):
    """The lines of JSON that a command prints. Open MPI's windows may crash after a death: then once more."""
    for _ in range(ATTEMPTS):
        done = subprocess.run(["timeout", "-s", "KILL", str(limit), *command], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True, check=False,
                              env={**os.environ, **variables})
        # mpirun may write a byte of its own in front of what a rank writes.
        rows = [json.loads(line[line.index("{"):]) for line in done.stdout.splitlines() if '"phase"' in line]
        if done.returncode == 0 and rows:
            return rows
        print(f"scaling: once more, since it ended with {done.returncode}: {' '.join(command)}", flush=True)
    print(f"scaling: left out, since it failed {ATTEMPTS} times: {' '.join(command)}", flush=True)
    return []


def measure(build):
    def program(name):
        return os.path.join(build, name)

    def run(processes, name, *arguments, **variables):
        return lines_of(["mpirun", "--with-ft", "ulfm", "-n", str(processes), program(name), *map(str, arguments)],
                        **variables)

    cases = [(ranks, "buddy", 1) for ranks in RANKS] + [(FEWER, "buddy", deaths) for deaths in (2, 4)]
    cases += [(FEWER, f"xor:{cohort}", 1) for cohort in (2, 4, 8)] + [(FEWER, "rs:8+2", 1)]
    cases += [(ranks, "xor:4", 1) for ranks in RANKS if ranks not in (2, FEWER)]
    rows = []
    for ranks, policy, deaths in cases:
        print(f"scaling: {policy}, {ranks} ranks, {deaths} dying", flush=True)
        for number in range(RUNS if policy == "buddy" else 1):
            rows += [{"run": number, **row} for row in run(ranks + deaths, "scaling", policy, deaths, BYTES)]
            if policy == "buddy":  # right after the other, so that both meet the same disturbances
                rows += [{"run": number, "ranks": ranks, **row} for row in run(ranks + deaths, "scaling_ulfm", deaths)]
    print("scaling: over libfabric", flush=True)
    fabric = [row for ranks in RANKS for row in run(ranks + 1, "scaling", "buddy", 1, BYTES, FENIX_PATH="fabric")]
    print("scaling: large teams", flush=True)
    nodes = lines_of([program("scaling_local"), "--node", *(f"{ranks}:{on_node}" for ranks, on_node in NODES)])
    return {"small": rows, "fabric": fabric, "nodes": nodes,
            "large": lines_of([program("scaling_local"), *map(str, LARGE)]),
            "date": datetime.date.today().isoformat(), "cores": os.cpu_count()}


def main(build, folder, page, report=False):
    path = os.path.join(folder, "scaling.json")
    if not report:
        os.makedirs(folder, exist_ok=True)
        found = measure(build)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=0)
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    values = tables.all_tables(found, RANKS, FEWER)
    with open(TEMPLATE, encoding="utf-8") as file:
        text = re.sub(r"\{\{(\w+)\}\}", lambda name: values[name[1]], file.read())
    os.makedirs(os.path.dirname(os.path.abspath(page)), exist_ok=True)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"scaling: {page}")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[4:] not in ([], ["--report"]):
        sys.exit(__doc__)
    main(*sys.argv[1:4], report=len(sys.argv) == 5)
