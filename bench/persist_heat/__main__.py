# SPDX-License-Identifier: BSD-3-Clause
"""Measures the overhead of stores in examples/python/persist_heat2d.py, as a function of their interval and of the size of the problem.

It is the experiment of section V of "Data Persistency for Fault-Tolerance Using MPI Semantics" (Gracia et al., 2016), figures 9 and 10.
"""
import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
from pathlib import Path

from harness import environment

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples/python/persist_heat2d.py"
INTERVALS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# Rows of a process: the time of a step grows with them.
ROWS = (8, 16, 32, 64, 128, 256, 512, 1024)
TEMPLATE = Path(__file__).with_name("page.md")
RESULTS = ROOT / "build/docs/results"


def run(options, rows, interval):
    """Returns the seconds of a step."""
    site = Path(options.package).resolve()
    # Without the library before it, Debian's mpi4py would take Debian's own MPI: processes would not find each other.
    libraries = [f"{options.variables['FENIX_MPI_HOME']}/lib", options.variables.get("LD_LIBRARY_PATH", "")]
    variables = dict(options.variables, PYTHONPATH=str(site / "site"), OMP_NUM_THREADS="1", LD_LIBRARY_PATH=":".join(filter(None, libraries)))
    # NumPy's temporary arrays would go back to the system in each step, or not, as their size and what else was freed have it.
    variables.update(MALLOC_MMAP_THRESHOLD_=str(1 << 30), MALLOC_TRIM_THRESHOLD_=str(1 << 30))
    if interval:
        library = next((site / "prefix").glob("lib*/**/libfenix_mpi.so"))
        variables.update(LD_PRELOAD=str(library))
    steps = max(96, options.cells // (rows * options.columns))
    command = ["timeout", "-s", "KILL", "120", "mpirun", "--with-ft", "ulfm", "-n", str(options.ranks), sys.executable, str(PROGRAM), "--time",
               "--columns", str(options.columns), "--rows", str(rows), "--steps", str(steps), "--interval", str(interval)]
    text = subprocess.run(command, env=variables, check=True, capture_output=True, text=True).stdout
    seconds, ranks = re.search(r"seconds (\S+) ranks (\d+)", text).groups()
    if int(ranks) != options.ranks:
        raise SystemExit(f"persist-heat: {ranks} ranks instead of {options.ranks}: mpi4py has found another MPI")
    return float(seconds) / steps


def measure(options):
    """Returns the seconds of a step, by rows and interval, of each round. The order is another one in each round."""
    wanted = [(options.rows, interval) for interval in (0, *INTERVALS)] + [(rows, interval) for rows in ROWS for interval in (0, 1)]
    seconds = {}
    for number in range(options.rounds):
        for rows, interval in random.sample(sorted(set(wanted)), len(set(wanted))):
            seconds.setdefault(f"{rows} {interval}", []).append(run(options, rows, interval))
        print(f"persist-heat: round {number + 1} of {options.rounds}", flush=True)
    return {"ranks": options.ranks, "columns": options.columns, "rows": options.rows, "seconds": seconds}


def ratio(results, rows, interval):
    """Returns the time relative to the program without stores, and its standard error, from the rounds."""
    plain, stored = results["seconds"][f"{rows} 0"], results["seconds"][f"{rows} {interval}"]
    ratios = [b / a for a, b in zip(plain, stored)]
    return statistics.mean(ratios), statistics.stdev(ratios) / math.sqrt(len(ratios))


def fit(points):
    """Fits c in T(x) = (x + c) / x to points (x, T). Returns c and its standard error."""
    # T - 1 = c / x: a line through the origin.
    weight = sum(1 / x**2 for x, _ in points)
    c = sum((t - 1) / x for x, t in points) / weight
    rest = sum((t - 1 - c / x)**2 for x, t in points) / (len(points) - 1)
    return c, math.sqrt(rest / weight)


def line_through(points, scales):
    """Fits y = a + b x to points (x, y), whose errors grow with scales. Returns a, b and the standard error of a."""
    weights = [1 / scale**2 for scale in scales]
    total = sum(weights)
    x_middle = sum(w * x for w, (x, _) in zip(weights, points)) / total
    y_middle = sum(w * y for w, (_, y) in zip(weights, points)) / total
    spread = sum(w * (x - x_middle)**2 for w, (x, _) in zip(weights, points))
    b = sum(w * (x - x_middle) * (y - y_middle) for w, (x, y) in zip(weights, points)) / spread
    a = y_middle - b * x_middle
    rest = sum(w * (y - a - b * x)**2 for w, (x, y) in zip(weights, points)) / (len(points) - 2)
    return a, b, math.sqrt(rest * (1 / total + x_middle**2 / spread))


def times_by_size(results):
    """Returns the line of a step's time without stores, and of what a store adds, by rows."""
    plain = {rows: statistics.median(results["seconds"][f"{rows} 0"]) for rows in ROWS}
    added = [(rows, statistics.median(results["seconds"][f"{rows} 1"]) - plain[rows]) for rows in ROWS]
    return line_through(list(plain.items()), plain.values()), line_through(added, plain.values())


def draw(axes, points, errors, model, label):
    axes.errorbar([x for x, _ in points], [t for _, t in points], yerr=errors, fmt="o", markersize=4, capsize=2, color="#3b6ea5")
    ends = min(x for x, _ in points), max(x for x, _ in points)
    curve = [ends[0] + (ends[1] - ends[0]) * i / 200 for i in range(201)]
    axes.plot(curve, [model(x) for x in curve], linewidth=1.2, color="#b5483a", label=label)
    axes.set_ylim(bottom=1.0)
    axes.legend()


def report(results, page):
    """Writes the page, and its picture beside it."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    style = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
             "axes.axisbelow": True, "legend.frameon": False, "svg.hashsalt": "fenix"}
    by_interval = [(interval, *ratio(results, results["rows"], interval)) for interval in INTERVALS]
    by_size = [(rows, *ratio(results, rows, 1)) for rows in ROWS]
    c_i, error_i = fit([(x, t) for x, t, _ in by_interval])
    c_s, error_s = fit([(x, t) for x, t, _ in by_size])
    (u, v, _), (p, q, error_p) = times_by_size(results)
    with plt.rc_context(style):
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
        draw(left, [(x, t) for x, t, _ in by_interval], [e for _, _, e in by_interval], lambda x: (x + c_i) / x, f"(i + {c_i:.3f}) / i")
        left.set_xlabel("interval i between stores, steps")
        left.set_title("time relative to the program without stores", loc="left", fontsize=10)
        draw(right, [(x, t) for x, t, _ in by_size], [e for _, _, e in by_size],
             lambda x: 1 + (p + q * x) / (u + v * x), "1 + (p + q s) / (u + v s)")
        right.set_xlabel("size s of the problem: rows of a process; a store in each step")
        figure.tight_layout()
        page.parent.mkdir(parents=True, exist_ok=True)
        image = page.with_suffix(".svg")
        figure.savefig(image, metadata={"Date": None, "Creator": None})
    lines = [f"![Overhead by interval and by size]({image.name})", "",
             f"{results['ranks']} ranks, {results['columns']} columns, {len(next(iter(results['seconds'].values())))} rounds; mean ± standard "
             "error of the ratio of two runs of a round.", "", f"| interval i, {results['rows']} rows | T(i) | fit |", "|---|---|---|"]
    lines += [f"| {x} | {t:.3f} ± {e:.3f} | {(x + c_i) / x:.3f} |" for x, t, e in by_interval]
    lines += ["", "| rows s, a store in each step | T(s) | (s + c) / s | 1 + (p + q s) / (u + v s) |", "|---|---|---|---|"]
    lines += [f"| {x} | {t:.3f} ± {e:.3f} | {(x + c_s) / x:.3f} | {1 + (p + q * x) / (u + v * x):.3f} |" for x, t, e in by_size]
    lines += ["", "| | c | standard error | in the paper |", "|---|---|---|---|",
              f"| T(i) = (i + c) / i | {c_i:.4f} | {100 * error_i / c_i:.1f} % | less than 5 % |",
              f"| T(s) = (s + c) / s | {c_s:.2f} | {100 * error_s / c_s:.1f} % | less than 3 % |"]
    lines += ["", f"A step without stores takes u + v s = {1e6 * u:.1f} + {1e6 * v:.3f} s µs. A store in each step adds p + q s = "
              f"{1e6 * p:.2f} (± {1e6 * error_p:.2f}) + {1e6 * q:.3f} s µs: the message, and the average of s rows."]
    page.write_text(TEMPLATE.read_text(encoding="utf-8").replace("<!-- results -->", "\n".join(lines)), encoding="utf-8")
    print("\n".join(lines[-6:]))


def main():
    parser = argparse.ArgumentParser(prog="scripts/measure persist-heat", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", metavar="FOLDER", help="made by scripts/build-python from a release build (default: makes one)")
    parser.add_argument("--report", metavar="JSON", help="measures nothing, and makes the page of these results")
    parser.add_argument("--json", default="build/persist-heat.json", metavar="FILE", help="keeps the results there (%(default)s)")
    parser.add_argument("--rounds", type=int, default=10, help="runs of each kind (%(default)s)")
    parser.add_argument("--ranks", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--columns", type=int, default=64, help="(%(default)s)")
    parser.add_argument("--rows", type=int, default=64, help="rows of a process, for the intervals (%(default)s)")
    parser.add_argument("--cells", type=int, default=40_000_000, help="updated by each process in a run (%(default)s)")
    options = parser.parse_args()
    if options.report:
        results = json.loads(Path(options.report).read_text(encoding="utf-8"))
    else:
        options.variables = environment.load(os.environ)
        results = measure(options)
        Path(options.json).write_text(json.dumps(results), encoding="utf-8")
    report(results, RESULTS / "persist-heat.md")


main()
