#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes charts and a page of what scripts/bench has measured. usage: report RESULTS PAGE IMAGES [MODE]

RESULTS: folder with the JSON files; PAGE: file to write; IMAGES: folder for the chart that docs/results.md shows, the others go to that of
PAGE; MODE: what was run.
"""
import datetime
import os
import re
import sys

import charts
import tables
from results import Results

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "performance.md")


def chart(path, page, text):
    return f"![{text}]({os.path.relpath(path, os.path.dirname(os.path.abspath(page)))})" if path else ""


def others_text(folder):
    """How busy other work kept the machine meanwhile, as "0.03 of 2 cores"; nothing if that is not known."""
    try:
        with open(os.path.join(folder, "others.txt"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def caution(others):
    try:
        if not others or float(others.split()[0]) <= 0.2:
            return ""
    except ValueError:
        return ""  # the note is of a run that was cut short
    return (f"**Provisional**: other work took {others} meanwhile. Ratios are rough, above all those of small sizes,\n"
            "and whether an aim is reached cannot be told.")


def main(folder, page, images, mode="standard"):
    results = Results(folder)
    if not results.rows:
        sys.exit(f"report: no results in {folder}")
    os.makedirs(os.path.dirname(os.path.abspath(page)), exist_ok=True)
    drawn = charts.draw_all(results, images, os.path.dirname(os.path.abspath(page)))
    when = datetime.datetime.fromtimestamp(os.path.getmtime(folder), datetime.timezone.utc).date().isoformat()
    others = others_text(folder)
    values = {
        "caution": caution(others),
        "date": when,
        "command": "scripts/bench" + (" --quick" if mode == "quick" else ""),
        "machine": tables.machine_table(results, [("date", when), *([("taken by other work meanwhile", others)] if others else [])]),
        "aims": tables.aims_table(results, provisional=bool(caution(others))),
        "chart_ratio": chart(drawn["ratio"], page, "Store and commit_barrier in times of a memcpy, by policy and size"),
        "chart_restore": chart(drawn["restore"], page, "Restore of 64 MiB in times of a memcpy, by policy"),
        "chart_kernels": chart(drawn["kernels"], page, "Throughput of the XOR kernel beside that of ISA-L"),
        "stores": tables.timed_table(results, ["small", "buddy", "xor", "rs", "others"]),
        "unchanged": tables.timed_table(results, ["unchanged"]),
        "repairs": tables.repairs_table(results),
        "node_loss": tables.node_loss_table(results),
        "parts": tables.timed_table(results, ["parts"]),
        "overlap": tables.overlap_table(results),
        "latency": tables.timed_table(results, ["latency"], ratios=False),
        "restores": tables.timed_table(results, ["restore-buddy", "restore-xor", "restore-rs"]),
        "window": tables.timed_table(results, ["window"]),
        "memory": tables.memory_table(results),
        "allocations": tables.allocations_table(results),
        "instructions": tables.instructions_table(results),
        "kernels": tables.kernels_table(results),
    }
    with open(TEMPLATE, encoding="utf-8") as file:
        text = re.sub(r"\{\{(\w+)\}\}", lambda name: values[name[1]], file.read())
    with open(page, "w", encoding="utf-8") as file:
        file.write(re.sub(r"\n{3,}", "\n\n", text))
    print(f"report: {page}" + "".join(f", {path}" for path in drawn.values() if path))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
