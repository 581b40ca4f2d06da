# SPDX-License-Identifier: BSD-3-Clause
"""The charts of the page of scripts/bench, one of which docs/results.md shows."""
import os
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  the backend comes first

from aims import RESTORE_LIMITS, SIZES, STORE_LIMITS  # noqa: E402
from results import MIB  # noqa: E402

BLUE, GREY, RED, GREEN = "#3b6ea5", "#b8c4d0", "#b5483a", "#5a8f5a"
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "grid.color": "#e4e4e4",
    "figure.facecolor": "white",
    "legend.frameon": False,
    "savefig.dpi": 130,
}


def save(figure, folder, name):
    path = os.path.join(folder, f"performance-{name}.png")
    # Nothing in the file that changes from run to run.
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)
    return path


def bars(axes, names, summaries, color=BLUE):
    middle = [summary["median"] for summary in summaries]
    down = [summary["median"] - min(summary["median"], summary["min"]) for summary in summaries]
    up = [max(summary["median"], summary["max"]) - summary["median"] for summary in summaries]
    axes.bar(names, middle, width=0.62, color=color, yerr=[down, up], capsize=3, ecolor="#444444")
    for place, value in enumerate(middle):
        axes.annotate(f"{value:.2f}", (place, 0), xytext=(0, 5), textcoords="offset points", ha="center", color="white",
                      fontweight="bold")


def limits(axes, must, aim):
    axes.axhline(must, color=RED, linewidth=1.4, label="must reach")
    axes.axhline(aim, color=GREEN, linewidth=1.4, linestyle="--", label="aim")


def finish(figure, all_axes, title, highest):
    """One repetition that something else held up must not squeeze all the others."""
    all_axes[0].set_ylim(0, 1.5 * highest)
    all_axes[0].set_ylabel("time / memcpy of the same bytes")
    handles, names = all_axes[0].get_legend_handles_labels()
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.legend(handles, names, loc="lower right", ncol=2)


def draw_ratio(results, folder):
    series = []
    for what, run, wanted, must, aim in STORE_LIMITS.values():
        rows = [(size, results.find(run, "store_commit_barrier", bytes=size * MIB, **wanted)) for size in SIZES]
        rows = [(f"{size} MiB", row["ratio"]) for size, row in rows if row]
        if rows:
            series.append((what, rows, must, aim))
    if not series:
        return None
    width = max(5.5, 2.6 * len(series) + 0.8)
    figure, (all_axes,) = plt.subplots(1, len(series), figsize=(width, 4), sharey=True, squeeze=False)
    for axes, (what, rows, must, aim) in zip(all_axes, series):
        bars(axes, [name for name, _ in rows], [ratio for _, ratio in rows])
        limits(axes, must, aim)
        axes.set_title(textwrap.fill(what, 26), loc="left")
    highest = max(max(must, *(ratio["median"] for _, ratio in rows)) for _, rows, must, _ in series)
    finish(figure, all_axes, "store + commit_barrier: median, least and most", highest)
    return save(figure, folder, "ratio")


def draw_restore(results, folder):
    found = [(what, results.find(run, "restore", bytes=64 * MIB), must, aim)
             for what, run, must, aim in RESTORE_LIMITS.values()]
    found = [entry for entry in found if entry[1]]
    if not found:
        return None
    width = max(5.5, 2.6 * len(found) + 1.2)
    figure, (all_axes,) = plt.subplots(1, len(found), figsize=(width, 3.6), sharey=True, squeeze=False)
    for axes, (what, row, must, aim) in zip(all_axes, found):
        bars(axes, ["64 MiB"], [row["ratio"]])
        limits(axes, must, aim)
        axes.set_xlim(-0.8, 0.8)
        axes.set_title(what, loc="left")
    highest = max(max(must, row["ratio"]["median"]) for _, row, must, _ in found)
    finish(figure, all_axes, "member_restore after a death: median, least and most", highest)
    return save(figure, folder, "restore")


def draw_kernels(results, folder):
    by_name = {}
    for kernel in results.xor_kernels():
        by_name.setdefault(kernel.name, []).append(kernel)
    if not by_name:
        return None
    figure, all_axes = plt.subplots(1, len(by_name), figsize=(2.3 * len(by_name) + 0.8, 3.2), sharey=True, squeeze=False)
    for axes, (name, kernels) in zip(all_axes[0], by_name.items()):
        sizes = [kernel.kibibytes for kernel in kernels]
        axes.plot(sizes, [kernel.rate * kernel.to_isal / 1e9 for kernel in kernels], "o-", color=GREY, label="ISA-L")
        axes.plot(sizes, [kernel.rate / 1e9 for kernel in kernels], "o-", color=BLUE, label="fenix")
        axes.set_xscale("log", base=2)
        axes.set_xticks([1, 64, 4096, 65536], ["1 K", "64 K", "4 M", "64 M"])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("bytes of a source")
        axes.set_title(name.replace("xor/sources:", "") + " sources", loc="left")
    all_axes[0][0].set_ylabel("GB/s of all sources")
    all_axes[0][0].legend(loc="lower left")
    figure.suptitle("XOR kernel and ISA-L's xor_gen", x=0.01, ha="left", fontsize=11, fontweight="bold")
    figure.tight_layout()
    return save(figure, folder, "kernels")


def draw_all(results, images, folder):
    """Paths of the charts by name; None for those that there are no figures for."""
    os.makedirs(images, exist_ok=True)
    with plt.rc_context(STYLE):
        return {"ratio": draw_ratio(results, images), "restore": draw_restore(results, folder),
                "kernels": draw_kernels(results, folder)}
