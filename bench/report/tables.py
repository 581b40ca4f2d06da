# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the page of scripts/bench."""
from statistics import median

from aims import MODES, all_aims, verdict, with_spread
from results import MIB, size_text

MACHINE = {
    "cpu": "processor",
    "cores": "cores",
    "memory": "memory",
    "kernel": "kernel",
    "huge_pages": "transparent huge pages",
    "compiler": "compiler",
    "build": "build",
    "mpi": "MPI",
    "fenix": "fenix",
}


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] +
                     ["| " + " | ".join(line) + " |" for line in lines])


def policy_text(row):
    return row["policy"] + (f", {MODES[row['mode']]}" if row["mode"] in MODES else "")


def time_text(seconds):
    """Median (least–most) with one unit for all three."""
    scale, unit = (1e3, "ms") if seconds["median"] >= 1e-3 else (1e6, "µs")
    digits = 1 if seconds["median"] * scale >= 10 else 2
    return with_spread({key: seconds[key] * scale for key in ("median", "min", "max")}, digits) + " " + unit


def waits_text(results):
    """As "spin with 2 ranks, sleep with 4, 7 ranks"."""
    return ", ".join(f"{what} with {', '.join(map(str, sorted(ranks)))} ranks" for what, ranks in results.waits.items())


def machine_table(results, extra):
    lines = [(title, results.machine[key]) for key, title in MACHINE.items() if results.machine.get(key)]
    return table(("", ""), [*lines, ("waits in MPI", waits_text(results)), *extra])


def aims_table(results, provisional):
    said = (lambda aim: f"({verdict(aim).replace('*', '')})") if provisional else verdict
    lines = [(aim.what, f"{'≥' if aim.more_is_better else '≤' if aim.must else ''} {aim.must:g}".strip(),
              "" if aim.aim is None else f"{aim.aim:g}", aim.text or "–", said(aim)) for aim in all_aims(results)]
    return table(("what", "must reach", "aim", "reached", "reached?"), lines)


def timed_table(results, runs, ratios=True):
    lines = []
    for run in runs:
        for entry in results.of_run(run):
            row = entry.row
            if "ratio" not in row:
                continue
            compared = (time_text(row["memcpy_seconds"]), with_spread(row["ratio"]), f"{row['ratio']['of_least']:.2f}")
            lines.append((f"`{row['operation']}`", policy_text(row), row["hashes"], str(entry.ranks),
                          size_text(row["bytes"]), time_text(row["seconds"]), *(compared if ratios else ()),
                          f"{row['spread_over_ranks']['median'] * 100:.0f} %", str(row["repetitions"])))
    if not lines:
        return "Not measured."
    return table(("operation", "policy", "hashes", "ranks", "size", "time",
                  *(("memcpy", "ratio", "of the least") if ratios else ()), "over ranks", "repetitions"), lines)


def overlap_table(results):
    lines = []
    for run in ("istore-4", "istore-20"):
        call, loop = results.find(run, "istore"), results.find(run, "istore.loop")
        if call and loop:
            lines.append((f"{loop['compute_factor']:g} ×", with_spread(call["ratio"]),
                          f"{loop['loop_alone_seconds'] * 1e3:.1f} ms", f"{loop['seconds']['median'] * 1e3:.1f} ms",
                          f"{loop['ratio_to_loop_alone']:.3f}",
                          f"{results.find(run, 'istore.wait_commit')['seconds']['median'] * 1e3:.2f} ms"))
    if not lines:
        return "Not measured."
    return table(("loop, in times of the protection", "in the call / memcpy", "loop alone", "loop meanwhile", "ratio",
                  "wait and commit_barrier after it"), lines)


def repairs_table(results):
    lines = [(name, with_spread({"median": median(ratios), "min": min(ratios), "max": max(ratios)})) for name, ratios in results.repairs()]
    return table(("active ranks", "repair / plain steps"), lines) if lines else "Not measured."


def node_loss_table(results):
    lines = []
    for policy, runs in results.node_loss_runs():
        def text(key, runs=runs):
            values = [run[key] * 1e3 for run in runs]
            return with_spread({"median": median(values), "min": min(values), "max": max(values)}, 0)
        lines.append((policy, *map(text, ("sendrecv", "repair", "group", "restore"))))
    return table(("policy", "MPI_Sendrecv, ms", "repair, ms", "group_create, ms", "restore, ms"), lines) if lines else "Not measured."


def memory_table(results):
    lines = [(policy_text(entry.row), str(entry.ranks), size_text(entry.row["bytes"]), str(entry.row["depth"]),
              f"{entry.row['bytes_per_rank'] / MIB:.1f} MiB", f"{entry.row['ratio_to_member']:.2f}",
              *([f"{entry.row['footprint_bytes'] / MIB:.1f} MiB"] if "footprint_bytes" in entry.row else ["–"]))
             for entry in results.rows if entry.row["operation"] == "memory"]
    if not lines:
        return "Not measured."
    return table(("policy", "ranks", "member", "depth", "in use per rank", "times the member", "`member_footprint`"),
                 lines)


def allocations_table(results):
    lines = [(entry.row["policy"], size_text(entry.row["bytes"]), f"{entry.row['allocations_per_operation']:g}",
              f"{entry.row['mappings_per_operation']:g}")
             for entry in results.rows if "allocations_per_operation" in entry.row]
    if not lines:
        return "Not measured."
    return table(("policy", "member", "allocations", "mappings"), lines)


def instructions_table(results):
    counted = results.instructions
    if len(counted) < 2:
        return "Not measured (valgrind is missing)."
    store, commit = counted["store"], counted["commit"]
    return table(("`Fenix_Data_member_store`", "`Fenix_Data_commit`", "both"),
                 [(f"{store:.0f}", f"{commit:.0f}", f"{store + commit:.0f}")])


def kernels_table(results):
    lines = []
    for kernel in results.kernels:
        if kernel.kibibytes in (64, 4096, 65536):
            lines.append((f"`{kernel.name}`", size_text(kernel.kibibytes << 10), f"{kernel.rate / 1e9:.1f} GB/s",
                          "–" if kernel.to_memcpy is None else f"{kernel.to_memcpy:.2f}",
                          "–" if kernel.to_isal is None else f"{kernel.to_isal:.2f}"))
    if not lines:
        return "Not measured."
    return table(("kernel", "size of a source", "of all sources", "time / memcpy", "time / ISA-L"), lines)
