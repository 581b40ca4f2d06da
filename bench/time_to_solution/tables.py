# SPDX-License-Identifier: BSD-3-Clause
"""Tables and sentences of docs/time-to-solution.md."""
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


def times_table(results, queue):
    rows = []
    for mean in results.means():
        for title, way, seconds in variants(results, queue):
            found = results.summary(way, mean, seconds)
            rows.append([mean_text(mean), title, spread(found.seconds), f"{found.finished} of {found.runs}",
                         spread(found.failures, 0), spread(found.starts, 0), spread(found.repeated, 0),
                         spread(found.extra, 2)])
    return table(["mean time between failures, in times of the computation", "way", "time to solution, s", "finished", "failures met",
                  "starts of the job", "steps done more than once", "seconds for each failure"], rows)


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
        extra = [one for mean in results.means() if mean is not None for one in results.summary(way, mean, seconds).extra]
        summaries = [results.summary(way, mean) for mean in results.means()]
        rows.append([title, spread(extra, 2), sum(map(sum, (one.failures for one in summaries))),
                     sum(one.without_successor for one in summaries), sum(one.lost for one in summaries)])
    return table(["way, all rates", "seconds for each failure", "failures", "deaths without a successor",
                  "failures with which all copies of a checkpoint were lost"], rows)


def problems_text(results):
    notes = [f"- {TITLES[row['way']]}, mean {mean_text(row['mean'])}, seed {row['seed']}: {'; '.join(row['problems'])}"
             for row in results.rows if row["problems"]]
    if not notes:
        return "All runs ended by themselves, and left nothing behind."
    return "These runs did not end as they should:\n\n" + "\n".join(notes)


def identical_text(results):
    done = [row for row in results.rows if row["seconds"] is not None]
    same = sum(row["identical"] for row in done)
    return f"{same} of {len(done)} finished runs have the same final field, byte for byte."
