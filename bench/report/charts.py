# SPDX-License-Identifier: BSD-3-Clause
"""The charts of docs/performance.md."""
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  the backend comes first

from aims import RESTORE_LIMITS, SIZES, STORE_LIMITS  # noqa: E402
from results import MIB  # noqa: E402

BLUE, GREY, RED, GREEN = "#3b6ea5", "#b8c4d0", "#b5483a", "#5a8f5a"
STYLE = {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.grid.axis": "y",
    "grid.color": "#e4e4e4", "axes.axisbelow": True, "axes.titlesize": 10, "savefig.dpi": 130, "figure.facecolor": "white",
    "legend.frameon": False,
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
    drawn = axes.bar(names, middle, width=0.62, color=color, yerr=[down, up], capsize=3, ecolor="#555555")
    axes.bar_label(drawn, [f"{value:.2f}" for value in middle], label_type="center", color="white", fontweight="bold")


def limits(axes, must, aim):
    axes.axhline(must, color=RED, linewidth=1.4)
    axes.axhline(aim, color=GREEN, linewidth=1.2, linestyle="--")
    axes.annotate("must reach", (1, must), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=RED, size=8)
    axes.annotate("aim", (1, aim), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=GREEN, size=8)


def draw_ratio(results, folder):
    series = []
    for what, run, wanted, must, aim in STORE_LIMITS.values():
        rows = [(size, results.find(run, "store_commit_barrier", bytes=size * MIB, **wanted)) for size in SIZES]
        rows = [(f"{size} MiB", row["ratio"]) for size, row in rows if row]
        if rows:
            series.append((what, rows, must, aim))
    if not series:
        return None
    figure, all_axes = plt.subplots(1, len(series), figsize=(2.6 * len(series) + 0.8, 3.6), sharey=True, squeeze=False)
    for axes, (what, rows, must, aim) in zip(all_axes[0], series):
        bars(axes, [name for name, _ in rows], [ratio for _, ratio in rows])
        limits(axes, must, aim)
        axes.set_title(what.replace(", ", ",\n", 1), loc="left")
    all_axes[0][0].set_ylabel("time / memcpy of the same bytes")
    figure.suptitle("store + commit_barrier: median, least and most", x=0.01, ha="left", fontsize=11, fontweight="bold")
    figure.tight_layout()
    return save(figure, folder, "ratio")


def draw_restore(results, folder):
    found = [(what, results.find(run, "restore", bytes=64 * MIB), must, aim)
             for what, run, must, aim in RESTORE_LIMITS.values()]
    found = [entry for entry in found if entry[1]]
    if not found:
        return None
    figure, all_axes = plt.subplots(1, len(found), figsize=(2.6 * len(found) + 1.2, 3.4), sharey=True, squeeze=False)
    for axes, (what, row, must, aim) in zip(all_axes[0], found):
        bars(axes, ["64 MiB"], [row["ratio"]])
        limits(axes, must, aim)
        axes.set_xlim(-0.8, 0.8)
        axes.set_title(what, loc="left")
    all_axes[0][0].set_ylabel("time / memcpy of the same bytes")
    figure.suptitle("member_restore after a death", x=0.01, ha="left", fontsize=11, fontweight="bold")
    figure.tight_layout()
    return save(figure, folder, "restore")


def draw_kernels(results, folder):
    pairs = results.xor_pairs()
    if not pairs:
        return None
    figure, axes = plt.subplots(figsize=(min(10, 1.1 * len(pairs) + 2), 3.6))
    places = range(len(pairs))
    axes.bar([place - 0.2 for place in places], [here / 1e9 for _, here, _ in pairs], 0.38, color=BLUE, label="fenix")
    axes.bar([place + 0.2 for place in places], [isal / 1e9 for _, _, isal in pairs], 0.38, color=GREY, label="ISA-L")
    axes.set_xticks(list(places), [arguments for arguments, _, _ in pairs], rotation=30, ha="right")
    axes.set_ylabel("GB/s")
    axes.legend(loc="upper right")
    axes.set_title("XOR kernel", loc="left", fontweight="bold", fontsize=11)
    figure.tight_layout()
    return save(figure, folder, "kernels")


def draw_all(results, folder):
    """Paths of the charts by name; None for those that there are no figures for."""
    os.makedirs(folder, exist_ok=True)
    with plt.rc_context(STYLE):
        return {"ratio": draw_ratio(results, folder), "restore": draw_restore(results, folder),
                "kernels": draw_kernels(results, folder)}
