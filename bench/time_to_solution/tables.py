# SPDX-License-Identifier: BSD-3-Clause
"""Tables and sentences of the page of scripts/measure time-to-solution."""
import statistics

from plan import WAYS

TITLES = {way.name: way.title for way in WAYS}


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def spread(values, digits=1):
    """Median (least–most)."""
    if not values:
        return "–"
    middle, least, most = (f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return middle if least == most else f"{middle} ({least}–{most})"


def mean_text(mean):
    return "no failures" if mean is None else f"{mean:g}"


def variants(results, queue):
    """Yields (title, way, seconds in the queue): a restart is shown twice, without and with the queue."""
    for way in results.ways():
        yield TITLES[way], way, 0
        if way == "restart" and queue:
            yield f"restart, and {queue:g} s in the queue each time", way, queue


def times_text(found):
    """The times of a summary: runs that have not finished count as endless ones."""
    if found.finished == found.runs:
        return spread(found.seconds)
    middle = "never" if found.median == float("inf") else f"{found.median:.1f}"
    return f"{middle} ({min(found.seconds):.1f}–never)" if found.seconds else "never"


def number(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}"


def times_table(results, queue):
    rows = []
    for mean in results.means():
        for title, way, seconds in variants(results, queue):
            if mean is None and seconds:
                continue
            found = results.summary(way, mean, seconds)
            rows.append([mean_text(mean), title, times_text(found), f"{found.finished} of {found.runs}",
                         spread(found.failures, 0), spread(found.starts, 0), spread(found.repeated, 0)])
    return table(["mean time between failures, in times of the computation", "way", "time to solution, s", "finished", "failures met",
                  "starts of the job", "steps done more than once"], rows)


def memory_table(results):
    rows = []
    for title, way, _ in variants(results, 0):
        found = results.summary(way, None)
        rows.append([title, spread(found.rank_pss), spread(found.rank_rss), spread(found.job_pss)])
    return table(["without failures, MiB", "Pss of a rank that computes", "Rss of it", "Pss of all processes"], rows)


def failure_table(results, queue):
    """The cost of a failure over all rates."""
    rows = []
    for title, way, seconds in variants(results, queue):
        found = results.summary_of_all(way, seconds)
        rows.append([title, sum(found.failures), spread(found.down, 2), number(found.repeated_for_a_failure, 0),
                     number(found.extra_for_a_failure), found.without_successor, found.lost])
    return table(["way, all rates", "failures", "interruption: from the kill until all have their data again, s",
                  "steps done once more, for each failure", "time to solution, seconds more for each failure",
                  "deaths without a successor", "failures with which all copies of a checkpoint were lost"], rows)


def problems_text(results):
    notes = [f"- {TITLES[row['way']]}, mean {mean_text(row['mean'])}, seed {row['seed']}: {'; '.join(row['problems'])}, after "
             f"{len(row['failures'])} failures"
             for row in results.rows if row["problems"]]
    if not notes:
        return "All runs ended by themselves, and left nothing behind."
    return "These runs did not end as they should:\n\n" + "\n".join(notes)


def identical_text(results):
    done = [row for row in results.rows if row["seconds"] is not None]
    same = sum(row["identical"] for row in done)
    return f"{same} of {len(done)} finished runs have the same final field, byte for byte."
