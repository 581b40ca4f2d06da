# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic on the results of runs."""
import statistics

MIB = 1 << 20


def finished(rows):
    return [row for row in rows if row["seconds"] is not None]


def time_to_solution(row, queue):
    """Seconds until the solution. queue: seconds that a job that is started again waits for its nodes."""
    return row["seconds"] + queue * (row["starts"] - 1)


def repeated(row, steps):
    """Steps of the whole plate that were computed more than once."""
    return max(0.0, row["steps"] - steps)


def for_each_failure(amounts, rows):
    """Returns an amount for each failure: the mean over all failures of the runs; nothing if they met none."""
    number = sum(len(row["failures"]) for row in rows)
    return sum(amounts) / number if number else None


class Summary:
    """The runs of one way at one rate of failures."""

    def __init__(self, rows, steps, queue=0, undisturbed=None):
        """undisturbed: median of the seconds of this way without failures."""
        good = finished(rows)
        self.runs, self.finished = len(rows), len(good)
        self.seconds = [time_to_solution(row, queue) for row in good]
        # A run that has not finished would take for ever: it counts in the median.
        self.median = statistics.median([*self.seconds, *[float("inf")] * (self.runs - self.finished)]) if rows else None
        self.failures = [len(row["failures"]) for row in rows]
        self.starts = [row["starts"] for row in rows]
        self.repeated = [repeated(row, steps) for row in good]
        self.without_successor, self.lost = (sum(row[what] for row in rows) for what in ("without_successor", "lost"))
        self.extra = [seconds - undisturbed for seconds in self.seconds] if undisturbed is not None else []
        self.extra_for_a_failure = for_each_failure(self.extra, good) if self.extra else None
        self.repeated_for_a_failure = for_each_failure(self.repeated, good)
        self.down = [seconds + queue for row in rows for seconds in row["down"]]
        self.different = sum(not row["identical"] for row in good)
        self.job_pss, self.rank_pss, self.rank_rss = ([row[what] / MIB for row in rows]
                                                     for what in ("job_pss", "rank_pss", "rank_rss"))


class Results:
    """All runs, as main has written them."""

    def __init__(self, found):
        self.found, self.rows = found, found["runs"]
        self.setup = found["setup"]
        self.steps = self.setup["steps"]

    def means(self):
        """Mean times between failures, in times of the computation; None: no failures. The rarest come first."""
        return sorted({row["mean"] for row in self.rows}, key=lambda mean: float("inf") if mean is None else mean, reverse=True)

    def ways(self):
        return list(dict.fromkeys(row["way"] for row in self.rows))

    def rows_of(self, way, mean):
        return [row for row in self.rows if row["way"] == way and row["mean"] == mean]

    def undisturbed(self, way):
        """Median seconds of the way without failures; None if none has finished."""
        seconds = [row["seconds"] for row in finished(self.rows_of(way, None))]
        return statistics.median(seconds) if seconds else None

    def summary(self, way, mean, queue=0):
        return Summary(self.rows_of(way, mean), self.steps, queue, self.undisturbed(way))

    def summary_of_all(self, way, queue=0):
        """All runs with failures, at any rate."""
        rows = [row for row in self.rows if row["way"] == way and row["mean"] is not None]
        return Summary(rows, self.steps, queue, self.undisturbed(way))
