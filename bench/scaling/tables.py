# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the page of scripts/measure scaling."""
import statistics

import fit

PHASES = ("init", "group", "member", "first store", "store", "commit", "commit_barrier", "repair", "group again",
          "group of a replacement", "restore")
COUNTS = {
    "messages": "messages", "message_bytes": "bytes of messages", "puts": "puts", "put_bytes": "bytes of puts",
    "gets": "gets", "get_bytes": "bytes of gets", "allgathers": "MPI_Allgather",
    "allgather_bytes": "bytes of their results", "communicators": "communicators made", "windows": "windows made",
    "agreements": "MPIX_Comm_agree", "shrinks": "MPIX_Comm_shrink",
}


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def number(value):
    return f"{value:,.0f}"


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:,.0f}"


def with_spread(values):
    """Median (least–most), in ms."""
    return f"{milliseconds(statistics.median(values))} ({milliseconds(min(values))}–{milliseconds(max(values))})"


class Small:
    """What was counted in the runs of real ranks."""

    def __init__(self, rows):
        self.rows = rows

    def find(self, phase, ranks, policy="buddy", deaths=1):
        return [row for row in self.rows if row["phase"] == phase and row["ranks"] == ranks and row["deaths"] == deaths
                and row.get("policy", policy) == policy]

    def count(self, phase, what, ranks, policy="buddy", deaths=1):
        """Of all runs: they count the same, unless a repair was disturbed."""
        return statistics.median(row[what] for row in self.find(phase, ranks, policy, deaths))

    def times(self, phase, ranks, what="median", **of):
        return [row[what] for row in self.find(phase, ranks, **of)]


def counts_table(small, ranks, policy, phases):
    rows = []
    ranks = [n for n in ranks if small.find("memory", n, policy)]
    for phase in phases:
        for what, name in COUNTS.items():
            values = [small.count(phase, what, n, policy) for n in ranks]
            if any(values):
                rows.append([phase, name, *map(number, values), fit.formula(list(zip(ranks, values)))])
    return table(["phase", "of one rank, at most", *[f"n = {n}" for n in ranks], "as a function of n"], rows)


def cohorts_table(small, n, policies):
    rows = []
    for policy in policies:
        if not small.find("memory", n, policy):
            continue
        def of(phase, what, policy=policy):
            return number(small.count(phase, what, n, policy))
        memory = small.find("memory", n, policy)[0]
        rows.append([policy, of("store", "put_bytes"), of("commit", "puts"), of("commit", "gets"),
                     of("commit", "get_bytes"), of("group of a replacement", "gets"),
                     of("group of a replacement", "get_bytes"), f"{memory['footprint'] / memory['bytes']:.2f}"])
    return table(["policy", "store: bytes put", "commit: puts", "gets", "bytes got", "replacement: gets", "bytes got",
                  "memory of the member / data"], rows)


def deaths_table(small, n, deaths):
    rows = []
    for dead in deaths:
        if not small.find("memory", n, deaths=dead):
            continue
        def of(phase, what, dead=dead):
            return number(small.count(phase, what, n, deaths=dead))
        rows.append([dead, of("repair", "shrinks"), of("repair", "agreements"), of("group again", "messages"),
                     of("group again", "message_bytes"), of("group of a replacement", "gets"),
                     of("group of a replacement", "get_bytes"), of("group of a replacement", "all_get_bytes"),
                     with_spread(small.times("repair", n, deaths=dead))])
    return table(["deaths", "shrinks", "agreements", "group again: messages", "bytes", "replacement: gets", "bytes got",
                  "bytes got by all", "repair, ms"], rows)


def times_table(small, ranks):
    rows = []
    for phase in ("store", "commit", "commit_barrier", "group again", "restore"):
        rows.append([phase, *[with_spread(small.times(phase, n)) for n in ranks]])
    return table(["ms, the slowest rank: median (least–most)", *[f"n = {n}" for n in ranks]], rows)


def repair_table(small, ranks):
    steps = ("revoke", "agree", "shrink", "dup", "split", "agree_again")
    rows = [[f"plain program: {step.replace('_', ' ')}", *[with_spread(small.times("ulfm", n, step)) for n in ranks]]
            for step in steps]

    def plain(n):
        return [row["revoke"] + row["agree"] + row["shrink"] + 2 * row["split"] + row["agree_again"]
                for row in small.find("ulfm", n)]
    rows.append(["**the steps of a repair, plain** (two splits, no dup)", *[with_spread(plain(n)) for n in ranks]])
    rows.append(["**repair by the library**", *[with_spread(small.times("repair", n)) for n in ranks]])
    rows.append(["library / plain, medians", *[f"{statistics.median(small.times('repair', n)) / statistics.median(plain(n)):.1f}"
                                              for n in ranks]])
    return table(["ms, median (least–most)", *[f"n = {n}" for n in ranks]], rows)


def memory_table(small, ranks):
    rows = [[name, *[number(small.find("memory", n)[0][what]) for n in ranks]]
            for what, name in (("footprint", "`Fenix_Data_member_footprint`"), ("shared", "all shared memory that the rank has made"))]
    return table(["bytes", *[f"n = {n}" for n in ranks]], rows)


def large_table(large, what, text, phases=PHASES):
    sizes = sorted({row["ranks"] for row in large})
    rows = []
    for phase in phases:
        found = {row["ranks"]: row[what] for row in large if row["phase"] == phase}
        if any(found.values()):
            rows.append([phase, *[text(found[n]) for n in sizes], fit.formula([(n, found[n]) for n in sizes])])
    return table(["phase", *[f"n = {n:,}" for n in sizes], "as a function of n"], rows)


def large_times(large):
    sizes = sorted({row["ranks"] for row in large})
    rows = []
    for phase in dict.fromkeys(row["phase"] for row in large):
        found = {row["ranks"]: row["median"] for row in large if row["phase"] == phase}
        slope = fit.exponent([(n, found[n]) for n in sizes[-2:]])
        rows.append([phase, *[milliseconds(found[n]) for n in sizes], f"n^{slope:.1f}"])
    return table(["ms, median", *[f"n = {n:,}" for n in sizes], "grows as"], rows)


def nodes_table(nodes):
    """What one rank takes, by the ranks on its node and in all."""
    sizes = list(dict.fromkeys((row["ranks"], row["on_node"]) for row in nodes))
    rows = []
    for phase in dict.fromkeys(row["phase"] for row in nodes):
        for what in ("mappings", "descriptors", "messages", "bytes"):
            found = {(row["ranks"], row["on_node"]): row[what] for row in nodes if row["phase"] == phase}
            rows.append([phase, "bytes of messages" if what == "bytes" else what, *[number(found[size]) for size in sizes]])
    return table(["phase", "of one rank", *[f"{ranks:,} ranks, {on_node} on the node" for ranks, on_node in sizes]], rows)


def all_tables(found, ranks, fewer):
    small, large = Small(found["small"]), found["large"]
    return {
        "date": found["date"],
        "cores": str(found["cores"]),
        "counts": counts_table(small, ranks, "buddy", PHASES),
        "counts_fabric": counts_table(Small(found["fabric"]), ranks, "buddy",
                                      ("group", "member", "group again", "group of a replacement")),
        "counts_xor": counts_table(small, ranks[1:], "xor:4", ("store", "commit", "group of a replacement")),
        "cohorts": cohorts_table(small, fewer, ["buddy", "xor:2", "xor:4", "xor:8", "rs:8+2"]),
        "deaths": deaths_table(small, fewer, (1, 2, 4)),
        "times": times_table(small, ranks),
        "repair": repair_table(small, ranks),
        "memory": memory_table(small, ranks),
        "nodes": nodes_table(found["nodes"]),
        "large_bytes": large_table(large, "bytes", number),
        "large_words": large_table(large, "words", number),
        "large_heap": large_table(large, "heap", number, ("group", "member")),
        "large_times": large_times(large),
    }
