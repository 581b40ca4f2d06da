# SPDX-License-Identifier: BSD-3-Clause
"""What has to be reached, what is aimed at, and what was reached."""
from collections import namedtuple

from results import MIB

SIZES = (16, 64, 256)
# The must-reach line and the aim of a policy's store + commit_barrier, as ratio to memcpy. Charts draw them too.
STORE_LIMITS = {
    "buddy": ("buddies, 2 ranks", "buddy", {"policy": "buddy", "hashes": "on"}, 2.2, 1.5),
    "buddy-off": ("buddies, 2 ranks, hashes off", "buddy", {"policy": "buddy", "hashes": "off"}, 1.6, 1.2),
    "xor": ("XOR parity over 4 ranks", "xor", {"policy": "xor:4", "hashes": "on"}, 2.6, 1.8),
    "rs": ("Reed–Solomon over 4 ranks, 2 of which may die", "rs", {"policy": "rs:4+2", "hashes": "on"}, 3.5, 2.2),
}
RESTORE_LIMITS = {
    "buddy": ("buddies, 2 ranks", "restore-buddy", 2.5, 1.5),
    "xor": ("XOR parity over 4 ranks", "restore-xor", 4.0, 2.5),
}

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


def kernel_aim(results):
    ratios = sorted(1 / kernel.to_isal for kernel in results.xor_kernels())
    if not ratios:
        return Aim("XOR kernel / ISA-L's xor_gen, throughput, median of all sizes and numbers of sources (worst to best)", 1.0, 1.2, None, None, True)
    middle = ratios[len(ratios) // 2]
    text = with_spread({"median": middle, "min": ratios[0], "max": ratios[-1]})
    return Aim("XOR kernel / ISA-L's xor_gen, throughput, median of all sizes and numbers of sources (worst to best)", 1.0, 1.2, middle, text, True)


def all_aims(results):
    parts = {"bytes": 64 * MIB}
    whole = results.find("parts", "partial.whole", **parts)
    loop = results.find("istore-4", "istore.loop", **parts)
    return [
        *store_aims(results),
        *restore_aims(results),
        of_other_aim("store of 1 % + commit_barrier / the same of all, 64 MiB", 0.05, 0.02,
                     results.find("parts", "partial", **parts), whole and whole["seconds"]["median"]),
        ratio_aim("istore of 64 MiB, in the call / memcpy", 1.0, None, results.find("istore-4", "istore", **parts)),
        of_other_aim("loop of 4 × the protection, meanwhile / alone", 1.1, None, loop,
                     loop and loop["loop_alone_seconds"]),
        latency_aim(results),
        kernel_aim(results),
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
