# SPDX-License-Identifier: BSD-3-Clause
"""The page docs/time-to-solution.md and its chart."""
import os
import re
import statistics

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  the backend comes first

import tables  # noqa: E402
from figures import Results  # noqa: E402

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "time-to-solution.md")
COLORS = {"restart": "#b5483a", "spares": "#3b6ea5", "shrink": "#5a8f5a", "spawn": "#8a6bab"}


def rate(mean):
    """Failures expected in the time of the computation."""
    return 0.0 if mean is None else 1 / mean


def draw_lines(axes, results, what, queue):
    for title, way, seconds in tables.variants(results, queue):
        points = [(rate(mean), what(results.summary(way, mean, seconds))) for mean in results.means()]
        points = sorted((x, values) for x, values in points if values)
        if not points:
            continue
        x = [at for at, _ in points]
        middle = [statistics.median(values) for _, values in points]
        axes.plot(x, middle, "o--" if seconds else "o-", color=COLORS[way], markersize=4, label=title)
        axes.fill_between(x, [min(values) for _, values in points], [max(values) for _, values in points], color=COLORS[way],
                          alpha=0.12, linewidth=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("failures expected in the time of the computation")


def draw(results, queue, path):
    style = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
             "axes.axisbelow": True, "legend.frameon": False, "svg.hashsalt": "fenix"}
    with plt.rc_context(style):
        figure, (times, work) = plt.subplots(1, 2, figsize=(11, 4.2))
        draw_lines(times, results, lambda found: found.seconds if 2 * found.finished > found.runs else [], queue)
        times.set_title("time to solution, s: median, least and most", loc="left", fontsize=10)
        times.legend(loc="upper left")
        draw_lines(work, results, lambda found: [100 * steps / results.steps for steps in found.repeated], 0)
        work.set_title("steps done more than once, % of all", loc="left", fontsize=10)
        figure.tight_layout()
        # Nothing in the file that changes from run to run.
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)


def write(found, queue, page, images):
    """Writes the page and its chart. found: what main has measured. queue: seconds."""
    results, setup = Results(found), found["setup"]
    chart = os.path.join(images, "time-to-solution.svg")
    draw(results, queue, chart)
    values = {
        "date": found["date"],
        "cores": str(found["cores"]),
        "load": found["load"],
        "others": found["others"],
        "ranks": str(setup["ranks"]),
        "spares": str(setup["spares"]),
        "size": f"{setup['width']}×{setup['height']}",
        "share": f"{setup['width'] * setup['height'] * 8 / setup['ranks'] / (1 << 20):.1f}",
        "steps": f"{setup['steps']:,}",
        "interval": str(setup["interval"]),
        "step": f"{setup['step_time'] * 1e3:g}",
        "compute": f"{setup['steps'] * setup['step_time']:g}",
        "between": f"{setup['interval'] * setup['step_time']:g}",
        "seeds": str(found["seeds"]),
        "queue": f"{queue:g}",
        "chart": os.path.relpath(chart, os.path.dirname(os.path.abspath(page))),
        "times": tables.times_table(results, queue),
        "failures": tables.failure_table(results, queue),
        "memory": tables.memory_table(results),
        "problems": tables.problems_text(results),
        "identical": tables.identical_text(results),
    }
    with open(TEMPLATE, encoding="utf-8") as file:
        text = re.sub(r"\{\{(\w+)\}\}", lambda name: values[name[1]], file.read())
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    return page, chart
