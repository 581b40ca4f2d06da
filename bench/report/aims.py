# SPDX-License-Identifier: BSD-3-Clause
"""What has to be reached, what is aimed at, and what was reached."""
from collections import namedtuple
from statistics import median

from results import MIB

SMALL = ((64 << 10, "64 KiB"), (MIB, "1 MiB"), (4 * MIB, "4 MiB"))
SIZES = (16, 64, 256)
USUAL = {"hashes": "on", "mode": "usual"}
# The must-reach line and the aim of a policy's store + commit_barrier, as ratio to memcpy. Charts draw them too.
STORE_LIMITS = {
    "buddy": ("buddies, 2 ranks", "buddy", {"policy": "buddy", **USUAL}, 1.5, 1.2),
    "buddy-off": ("buddies, 2 ranks, hashes off", "buddy", {"policy": "buddy", "hashes": "off", "mode": "usual"}, 1.6, 1.2),
    "xor": ("XOR parity over 4 ranks", "xor", {"policy": "xor:4", **USUAL}, 1.9, 1.3),
    "rs": ("Reed–Solomon over 4 ranks, 2 of which may die", "rs", {"policy": "rs:4+2", **USUAL}, 2.6, 1.9),
}
RESTORE_LIMITS = {
    "buddy": ("buddies, 2 ranks", "restore-buddy", 2.5, 1.5),
    "xor": ("XOR parity over 4 ranks", "restore-xor", 4.0, 2.5),
}
# Memory beside the application's buffer where commits are in place, in times of the data.
MEMORY_LIMITS = (("XOR over 8", "memory-8", 1.35, 1.29), ("XOR over 4", "memory-4", 1.75, 1.67),
                 ("buddies", "memory-2", 3.1, 3.0))
IN_PLACE_LIMIT = (1.3, 1.0)  # times of commits in place, in times of usual ones
MODES = {"in_place": "in place", "allocated": "in place, buffers from the library"}
REPAIR_LIMIT = (2.0, 1.3)
NODE_LOSS_LIMIT = (3.0, 1.5)

Aim = namedtuple("Aim", "what must aim reached text more_is_better")


def with_spread(summary, digits=None):
    """Median (least–most)."""
    if digits is None:
        digits = 2 if summary["median"] >= 0.1 else 4
    return f"{summary['median']:.{digits}f} ({summary['min']:.{digits}f}–{summary['max']:.{digits}f})"


def store_aims(results):
    for what, run, wanted, must, aim in STORE_LIMITS.values():
        rows = [(size, results.find(run, "store_commit_barrier", bytes=size * MIB, **wanted)) for size in SIZES]
        rows = [(size, row) for size, row in rows if row]
        worst = max((row["ratio"]["median"] for _, row in rows), default=None)
        text = "; ".join(f"{size} MiB: {with_spread(row['ratio'])}" for size, row in rows)
        yield Aim(f"store + commit_barrier / memcpy, {what}", must, aim, worst, text, False)


def restore_aims(results):
    for what, run, must, aim in RESTORE_LIMITS.values():
        row = results.find(run, "restore", bytes=64 * MIB)
        yield ratio_aim(f"restore of 64 MiB after a death / memcpy, {what}", must, aim, row)


def ratio_aim(what, must, aim, row):
    return Aim(what, must, aim, row and row["ratio"]["median"], row and with_spread(row["ratio"]), False)


def of_other_aim(what, must, aim, row, other_median):
    """Times of a row in times of another median than that of memcpy."""
    ratio = row and {key: row["seconds"][key] / other_median for key in ("median", "min", "max")}
    return Aim(what, must, aim, ratio and ratio["median"], ratio and with_spread(ratio, 3), False)


def field_aim(what, must, aim, row, field, digits=0):
    value = row.get(field) if row else None
    return Aim(what, must, aim, value, None if value is None else f"{value:.{digits}f}", False)


def latency_aim(results):
    row = results.find("latency", "latency")
    micro = {key: row["seconds"][key] * 1e6 for key in ("median", "min", "max")} if row else None
    return Aim("store + commit_barrier of 8 bytes, 2 ranks, µs", 3.0, 1.5, micro and micro["median"],
               micro and with_spread(micro), False)


def worst_aim(what, must, aim, kernels):
    """The worst of several kernels in throughput beside ISA-L's."""
    ratios = sorted((1 / kernel.to_isal, kernel) for kernel in kernels)
    if not ratios:
        return Aim(what, must, aim, None, None, True)
    below = [f"{kernel.name} {kernel.kibibytes} KiB: {ratio:.2f}" for ratio, kernel in ratios if ratio < must]
    middle = ratios[len(ratios) // 2][0]
    text = f"median {middle:.2f}; {len(below)} of {len(ratios)} are below"
    return Aim(what, must, aim, ratios[0][0], text + (": " + "; ".join(below[:3]) if below else ""), True)


def kernel_aims(results):
    yield worst_aim("XOR kernel / ISA-L's xor_gen, throughput, each size and number of sources", 1.0, 1.2, results.xor_kernels())
    decoding = [kernel for kernel in results.kernels if kernel.name.startswith("decode/") and kernel.to_isal]
    yield worst_aim("Reed–Solomon decoding / ISA-L, throughput, each size", 0.95, 1.1, decoding)


def small_aim(results):
    rows = [(text, results.find("small", "store_commit_barrier", bytes=size, **USUAL)) for size, text in SMALL]
    rows = [(text, row) for text, row in rows if row]
    worst = max((row["ratio"]["median"] for _, row in rows), default=None)
    text = "; ".join(f"{size}: {with_spread(row['ratio'])}" for size, row in rows)
    return Aim("store + commit_barrier / memcpy, buddies, 2 ranks, small members", 2.3, 1.9, worst, text, False)


def memory_aims(results):
    for what, run, must, aim in MEMORY_LIMITS:
        row = results.find(run, "memory", mode="in_place")
        yield field_aim(f"memory beside the application's buffer, in times of it, commits in place, {what}", must, aim, row,
                        "ratio_to_member", 2)


def in_place_aims(results):
    for what, runs, modes in (("buddies, 2 ranks", ("small", "buddy"), ("in_place",)),
                              ("XOR over 4 ranks", ("xor",), ("in_place", "allocated")),
                              ("Reed–Solomon over 4 ranks", ("rs",), ("in_place", "allocated"))):
        for mode in modes:
            ratios = results.of_modes(runs, mode)
            text = "; ".join(f"{size}: {ratio:.2f}" for size, ratio in ratios)
            yield Aim(f"store + commit_barrier {MODES[mode]} / the usual one, {what}", *IN_PLACE_LIMIT,
                      max((ratio for _, ratio in ratios), default=None), text, False)


def ratios_aim(what, limits, named):
    """named: pairs of a name and ratios; the worst median counts."""
    summaries = [(name, {"median": median(values), "min": min(values), "max": max(values)}) for name, values in named if values]
    text = "; ".join(f"{name}: {with_spread(summary)}" for name, summary in summaries)
    return Aim(what, *limits, max((summary["median"] for _, summary in summaries), default=None), text or None, False)


def all_aims(results):
    parts = {"bytes": 64 * MIB}
    whole = results.find("parts", "partial.whole", **parts)
    loop = results.find("istore-4", "istore.loop", **parts)
    return [
        *memory_aims(results),
        *in_place_aims(results),
        small_aim(results),
        *store_aims(results),
        ratio_aim("store of all + commit_barrier when nothing has changed, 64 MiB / memcpy", 0.7, 0.4,
                  results.find("unchanged", "unchanged.100")),
        ratios_aim("repair / the steps of ULFM in a plain program", REPAIR_LIMIT, results.repairs()),
        ratios_aim("group_create and restore after the loss of a node, 64 MiB a rank over TCP / MPI_Sendrecv of the same bytes",
                   NODE_LOSS_LIMIT, results.node_losses()),
        *restore_aims(results),
        of_other_aim("store of 1 % + commit_barrier / the same of all, 64 MiB", 0.05, 0.02,
                     results.find("parts", "partial", **parts), whole and whole["seconds"]["median"]),
        ratio_aim("istore of 64 MiB, in the call / memcpy", 1.0, None, results.find("istore-4", "istore", **parts)),
        of_other_aim("loop of 4 × the protection, meanwhile / alone", 1.1, None, loop,
                     loop and loop["loop_alone_seconds"]),
        latency_aim(results),
        *kernel_aims(results),
        field_aim("allocations in each store + commit", 0, None,
                  results.find("parts", "allocations", **parts), "allocations_per_operation"),
    ]


def verdict(aim):
    if aim.reached is None:
        return "not measured"
    better = (lambda limit: aim.reached >= limit) if aim.more_is_better else (lambda limit: aim.reached <= limit)
    if aim.aim is not None and better(aim.aim):
        return "**yes, the aim too**"
    return "**yes**" if better(aim.must) else "no"
