# SPDX-License-Identifier: BSD-3-Clause
"""The page of scripts/measure time-to-solution, and its chart."""
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


def draw_times(axes, results, ways):
    """ways: (title, way, seconds in the queue) of each line."""
    for place, (title, way, seconds) in enumerate(ways):
        summaries = [(rate(mean), results.summary(way, mean, seconds)) for mean in results.means()]
        points = [(x, found) for x, found in summaries if found.median not in (None, float("inf"))]
        if not points:
            continue
        middle = [found.median for _, found in points]
        below = [found.median - min(found.seconds) for _, found in points]
        above = [max(found.seconds) - found.median for _, found in points]
        # Side by side, so that the bars of all lines are seen.
        axes.errorbar([x + 0.06 * place for x, _ in points], middle, yerr=[below, above], fmt="o--" if seconds else "o-", capsize=2,
                      markersize=4, linewidth=1.3, elinewidth=0.8, color=COLORS[way], label=title)
    axes.set_xlabel("failures expected in the time of the computation")


def use_logarithms(axes, ticks):
    axes.set_yscale("log")
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def draw_interruptions(axes, results):
    ways = results.ways()
    for place, way in enumerate(ways):
        down = results.summary_of_all(way).down
        axes.scatter([place + 0.3 * (i / max(1, len(down) - 1) - 0.5) for i in range(len(down))], sorted(down), s=9, color=COLORS[way])
    use_logarithms(axes, (0.05, 0.1, 0.2, 0.5, 1, 2))
    axes.set_xticks(range(len(ways)), [tables.TITLES[way].replace(" from", "\nfrom") for way in ways])


def draw(results, queue, path):
    style = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
             "axes.axisbelow": True, "legend.frameon": False, "svg.hashsalt": "fenix"}
    variants = list(tables.variants(results, queue))
    with plt.rc_context(style):
        figure, (times, down, queued) = plt.subplots(1, 3, figsize=(13, 4.2))
        draw_times(times, results, [one for one in variants if not one[2]])
        times.set_title("time to solution, s: median, least and most", loc="left", fontsize=10)
        times.set_ylim(bottom=0)
        times.legend(loc="lower left")
        draw_interruptions(down, results)
        down.set_title("each interruption, s", loc="left", fontsize=10)
        draw_times(queued, results, variants)
        use_logarithms(queued, (10, 20, 50, 100, 200))
        queued.set_ylim(top=500)
        lines, titles = queued.get_legend_handles_labels()
        shown = [(line, title) for line, title, one in zip(lines, titles, variants) if one[2]]
        queued.legend([line for line, _ in shown], [title for _, title in shown], loc="upper left")
        queued.set_title("time to solution, s, with a queue", loc="left", fontsize=10)
        figure.tight_layout()
        # Nothing in the file that changes from run to run.
        figure.savefig(path, metadata={"Date": None, "Creator": None} if path.endswith(".svg") else None)
        plt.close(figure)


def key_figures(results):
    """Values for sentences of the page, by way."""
    values = {}
    for way in results.ways():
        found = results.summary_of_all(way)
        values[f"down_{way}"] = tables.number(statistics.median(found.down)) if found.down else "–"
        values[f"extra_{way}"] = tables.number(found.extra_for_a_failure, 1)
    return values


def write(found, queue, page, images):
    """Writes the page and its chart. found: what main has measured. queue: seconds."""
    results, setup = Results(found), found["setup"]
    chart = os.path.join(images, "time-to-solution.svg")
    draw(results, queue, chart)
    values = {
        **dict.fromkeys((f"{what}_{way}" for what in ("down", "extra") for way in COLORS), "–"),
        **key_figures(results),
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
    os.makedirs(os.path.dirname(os.path.abspath(page)), exist_ok=True)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    return page, chart
