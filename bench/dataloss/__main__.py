#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a page and its chart of what the program dataloss has simulated. scripts/measure data-loss calls it.

usage: dataloss RESULTS PAGE IMAGES; RESULTS: file with the lines that the program printed
"""
import json
import math
import os
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  the backend comes first

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data-loss.md")
FAILURES = ("nodes", "nodes and racks")
# The time between failures of a job, and of a commit: seconds.
MTBF = {"10 minutes": 600, "1 hour": 3600, "6 hours": 21600, "1 day": 86400, "1 week": 604800}
GIB = 1 << 30
# Milliseconds of a store and commit_barrier of 256 MiB by each rank, by policy, as docs/results.md has them. scripts/bench measures them anew.
MEASURED = {"buddy": 31.7, "xor:4": 70.4, "rs:4+2": 107.9}


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def small(value):
    """Two digits, in words that a table has room for."""
    if value >= 0.001:
        return f"{value:.2g}"
    exponent = math.floor(math.log10(value))
    superscript = str(-exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value / 10 ** exponent:.1f}·10⁻{superscript}"


def loss_table(rows, failures):
    rows = [row for row in rows if row["failures"] == failures]
    sizes = sorted({row["nodes"] for row in rows})
    lines = []
    for name in dict.fromkeys(row["policy"] for row in rows):
        found = {row["nodes"]: row for row in rows if row["policy"] == name}
        cells = [small(found[n][what]) for n in sizes for what in ("loss", "day", "week")]
        memory = found[sizes[0]]["memory"]
        lines.append([name, f"{memory:.2f}", f"{memory - 1:.2f}", *cells])
    heads = [f"{n:,} nodes: {what}" for n in sizes for what in ("a failure", "a day", "a week")]
    return table(["policy", "memory", "in place", *heads], lines)


def rate_text(rows):
    found = {row["nodes"]: row["failures_a_day"] for row in rows if row["failures"] == FAILURES[0]}
    return ", ".join(f"{rate:.2g} a day on {nodes:,} nodes" for nodes, rate in sorted(found.items()))


def draw(rows, path):
    colors = dict(zip(sorted({row["nodes"] for row in rows}), ("#b8c4d0", "#3b6ea5", "#b5483a")))
    style = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
             "axes.axisbelow": True, "legend.frameon": False, "svg.hashsalt": "fenix"}
    with plt.rc_context(style):
        figure, all_axes = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True)
        for axes, failures in zip(all_axes, FAILURES):
            for nodes, color in colors.items():
                found = [row for row in rows if row["nodes"] == nodes and row["failures"] == failures]
                axes.scatter([row["memory"] for row in found], [row["week"] for row in found], s=28, color=color,
                             label=f"{nodes:,} nodes", zorder=3)
                if nodes != max(colors):
                    continue
                for row in found:
                    above = -11 if row["policy"] == "XOR of 8" else 4  # its neighbour's name is there
                    axes.annotate(row["policy"], (row["memory"], row["week"]), xytext=(5, above), textcoords="offset points")
            axes.set_yscale("log")
            axes.set_xlim(2, 4.4)
            axes.set_xlabel("memory of the snapshots, in times of the data (depth 0)")
            axes.set_title(failures + " fail", loc="left", fontsize=10)
        all_axes[0].set_ylabel("probability of losing data in a week")
        all_axes[0].legend(loc="lower right")
        figure.tight_layout()
        # Nothing in the file that changes from run to run.
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)


def daly(cost, mtbf):
    """Seconds of work between two commits (Daly 2006, eq. 37)."""
    if cost >= 2 * mtbf:
        return mtbf
    ratio = math.sqrt(cost / (2 * mtbf))
    return math.sqrt(2 * cost * mtbf) * (1 + ratio / 3 + ratio * ratio / 9) - cost


def wasted(cost, mtbf, interval, restart):
    """The part of the time that is no work: of an exponential time between failures, exact."""
    useful = interval
    spent = mtbf * math.exp(restart / mtbf) * math.expm1((interval + cost) / mtbf)
    return 1 - useful / spent


def seconds(value):
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2g} s" if value < 100 else f"{value / 60:.2g} min" if value < 6000 else f"{value / 3600:.2g} h"


def measured_costs():
    """Seconds of store and commit_barrier for each GiB of a rank, by policy: from the page of scripts/bench, if it has run here."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found = MEASURED
    try:
        with open(os.path.join(root, "build/docs/results/performance.md"), encoding="utf-8") as file:
            rows = re.findall(r"\| `store_commit_barrier` \| (\S+) \| on \| \d+ \| 256 MiB \| ([\d.]+) \(.*?\) ms", file.read())
            found = {**found, **{policy: float(time) for policy, time in rows}}
    except OSError:
        pass
    return {policy: time / 1e3 * GIB / (256 << 20) for policy, time in found.items()}


def interval_table(costs, restart=10):
    rows = []
    for name, cost in costs.items():
        for text, mtbf in MTBF.items():
            interval = daly(cost, mtbf)
            rows.append([name, seconds(cost), text, seconds(math.sqrt(2 * cost * mtbf)), seconds(interval),
                         f"{100 * wasted(cost, mtbf, interval, restart):.2g} %", f"{100 * wasted(cost, mtbf, 3600, restart):.2g} %"])
    return table(["data and policy", "cost of a commit", "MTBF of the job", "Young", "Daly", "lost time at Daly's", "at one hour"], rows)


def main(results, page, images):
    with open(results, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    chart = os.path.join(images, "data-loss.svg")
    draw(rows, chart)
    measured = measured_costs()
    costs = {f"10 GiB a rank, {name}, measured for 2 or 4 ranks": 10 * measured[key]
             for name, key in (("pairs", "buddy"), ("2 of 4", "rs:4+2")) if key in measured}
    costs["a file system: 60 s, to compare"] = 60
    values = {
        "rates": rate_text(rows),
        "window": f"{rows[0]['window']:g}",
        "nodes": loss_table(rows, FAILURES[0]),
        "racks": loss_table(rows, FAILURES[1]),
        "chart": os.path.relpath(chart, os.path.dirname(os.path.abspath(page))),
        "intervals": interval_table(costs),
        "worst_nodes": f"{100 * max(row['error'] / row['loss'] for row in rows if row['failures'] == FAILURES[0]):.0f}",
        "worst": f"{100 * max(row['error'] / row['loss'] for row in rows):.0f}",
    }
    with open(TEMPLATE, encoding="utf-8") as file:
        text = re.sub(r"\{\{(\w+)\}\}", lambda name: values[name[1]], file.read())
    os.makedirs(os.path.dirname(os.path.abspath(page)), exist_ok=True)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"dataloss: {page}, {chart}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
