# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the arithmetic of scripts/measure time-to-solution. With tests and bench/time_to_solution in PYTHONPATH: python3 -B -m unittest"""
import itertools
import os
import struct
import tempfile
import unittest
from pathlib import Path

import figures
import memory
import plan
import run
import tables

MIB = 1 << 20


def row(way="spares", mean=1.0, seconds=20.0, failures=2, **more):
    """A result, as Run.result has it."""
    known = {"seed": 1, "starts": 1, "steps": 110.0, "without_successor": 1, "lost": 0, "down": [0.25], "problems": [], "identical": True, "job_pss": 8 * MIB,
             "rank_pss": 2 * MIB, "rank_rss": 3 * MIB}
    return {"way": way, "mean": mean, "seconds": seconds, "failures": [{}] * failures, **known, **more}


def results(*rows):
    return figures.Results({"setup": {"steps": 100}, "runs": list(rows)})


class Plan(unittest.TestCase):
    def first(self, seed, mean, number=1000):
        return list(itertools.islice(plan.failures(seed, mean), number))

    def test_a_seed_gives_the_same_failures_again(self):
        self.assertEqual(self.first(7, 3.0), self.first(7, 3.0))
        self.assertNotEqual(self.first(7, 3.0), self.first(8, 3.0))

    def test_times_between_failures_are_exponential(self):
        due = [failure.due for failure in self.first(1, 5.0, 20000)]
        between = sorted(after - before for before, after in zip([0.0, *due], due))
        self.assertAlmostEqual(sum(between) / len(between), 5.0, delta=0.2)
        # The median of an exponential distribution is ln 2 times its mean.
        self.assertAlmostEqual(between[len(between) // 2], 5.0 * 0.693, delta=0.15)

    def test_another_mean_stretches_the_same_failures(self):
        for short, long in zip(self.first(3, 1.0), self.first(3, 4.0)):
            self.assertAlmostEqual(4 * short.due, long.due)
            self.assertEqual(short.draw, long.draw)

    def test_each_process_may_be_the_victim(self):
        processes = [10, 20, 30]
        chosen = [plan.Failure(0.0, draw).victim(processes, 3) for draw in (0.0, 0.33, 0.34, 0.67, 0.999999)]
        self.assertEqual(chosen, [10, 10, 20, 30, 30])
        self.assertEqual({failure.victim(processes, 3) for failure in self.first(1, 1.0)}, set(processes))

    def test_a_smaller_job_is_hit_less_often(self):
        hits = [failure.victim([10, 20], 8) for failure in self.first(1, 1.0)]
        self.assertAlmostEqual(hits.count(None) / len(hits), 6 / 8, delta=0.05)
        self.assertEqual(set(hits), {10, 20, None})

    def test_a_step_of_all_ranks_takes_its_time(self):
        setup = plan.Setup(ranks=4, width=100, height=50, steps=300, step_time=0.01)
        self.assertEqual(setup.pace * 100 * 50 / 4, 0.01 * 1e9)
        self.assertAlmostEqual(setup.compute_time, 3.0)

    def test_each_way_has_its_options(self):
        setup = plan.Setup(spares=3)
        found = {way.name: (way.spares(setup), way.arguments(setup, "F")) for way in plan.WAYS}
        self.assertEqual(found, {
            "restart": (0, ["--files", "F"]),
            "spares": (3, ["--spares", 3, "--then", "shrink"]),
            "shrink": (0, ["--spares", 0, "--then", "shrink"]),
            "spawn": (0, ["--spares", 0, "--then", "spawn"]),
        })


class Figures(unittest.TestCase):
    def test_the_queue_counts_for_each_start_but_the_first(self):
        self.assertEqual(figures.time_to_solution(row(seconds=20.0, starts=1), 30), 20.0)
        self.assertEqual(figures.time_to_solution(row(seconds=20.0, starts=3), 30), 80.0)

    def test_repeated_steps(self):
        self.assertEqual(figures.repeated(row(steps=112.5), 100), 12.5)
        self.assertEqual(figures.repeated(row(steps=100.0), 100), 0.0)

    def test_the_cost_of_a_failure(self):
        found = figures.Summary([row(seconds=20.0, failures=4), row(seconds=14.0, failures=1), row(seconds=12.0, failures=0)], 100, 0, 12.0)
        self.assertEqual(found.extra_for_a_failure, (8.0 + 2.0 + 0.0) / 5)
        self.assertEqual(found.repeated_for_a_failure, 30.0 / 5)
        found = figures.Summary([row(seconds=20.0, failures=2, starts=3)], 100, 5, 10.0)
        self.assertEqual((found.extra_for_a_failure, found.down), (10.0, [5.25]))
        found = figures.Summary([row(failures=0)], 100, 0, 12.0)
        self.assertEqual((found.extra_for_a_failure, found.repeated_for_a_failure), (None, None))

    def test_a_summary_tells_runs_that_have_not_finished(self):
        found = figures.Summary([row(seconds=None, failures=9), row(seconds=14.0), row(seconds=16.0, identical=False)], 100, 0, 12.0)
        self.assertEqual((found.runs, found.finished, found.different), (3, 2, 1))
        self.assertEqual(found.seconds, [14.0, 16.0])
        self.assertEqual(found.failures, [9, 2, 2])
        self.assertEqual(found.repeated, [10.0, 10.0])
        self.assertEqual(found.extra, [2.0, 4.0])
        self.assertEqual(found.job_pss, [8.0, 8.0, 8.0])

    def test_the_undisturbed_time_is_that_of_the_same_way(self):
        found = results(row(mean=None, seconds=10.0, failures=0), row(mean=None, seconds=12.0, failures=0),
                        row(mean=None, seconds=11.0, failures=0), row("restart", mean=None, seconds=99.0, failures=0))
        self.assertEqual(found.undisturbed("spares"), 11.0)
        self.assertIsNone(found.undisturbed("spawn"))

    def test_rates_begin_with_the_rarest(self):
        found = results(row(mean=0.5), row(mean=None), row(mean=2.0))
        self.assertEqual(found.means(), [None, 2.0, 0.5])


class Tables(unittest.TestCase):
    def test_spread(self):
        self.assertEqual(tables.spread([3.0, 1.0, 2.04]), "2.0 (1.0–3.0)")
        self.assertEqual(tables.spread([4, 4], 0), "4")
        self.assertEqual(tables.spread([]), "–")

    def test_a_restart_has_a_line_with_the_queue(self):
        found = results(row("restart", None, 10.0, 0), row("restart", 1.0, 20.0, 2, starts=3))
        lines = tables.times_table(found, 30).splitlines()
        self.assertEqual(len(lines), 2 + 1 + 2)
        self.assertEqual([cell.strip() for cell in lines[-1].split("|")[1:-1]],
                         ["1", "restart, and 30 s in the queue each time", "80.0", "1 of 1", "2", "3", "10"])
        self.assertEqual(len(tables.times_table(found, 0).splitlines()), 2 + 2)

    def test_runs_that_have_not_finished_count_as_endless(self):
        def text(*seconds):
            return tables.times_text(figures.Summary([row(seconds=one) for one in seconds], 100))
        self.assertEqual(text(None, 14.0, None), "never (14.0–never)")
        self.assertEqual(text(None, None), "never")
        self.assertEqual(text(None, 14.0, 16.0), "16.0 (14.0–never)")
        self.assertEqual(text(12.0, 14.0, 16.0), "14.0 (12.0–16.0)")

    def test_the_cost_of_a_failure_is_that_of_all_rates(self):
        found = results(row(mean=None, seconds=10.0, failures=0, without_successor=0), row(mean=2.0, seconds=14.0, lost=1), row(mean=1.0, seconds=20.0))
        line = tables.failure_table(found, 0).splitlines()[-1]
        self.assertEqual([cell.strip() for cell in line.split("|")[1:-1]], ["spares", "4", "0.25", "5", "3.50", "2", "1"])

    def test_problems_and_differences_are_told(self):
        found = results(row(), row(identical=False, seed=3, problems=["given up at its limit"]), row(seconds=None, identical=False))
        self.assertIn("spares, mean 1, seed 3: given up at its limit, after 2 failures", tables.problems_text(found))
        self.assertTrue(tables.identical_text(found).startswith("1 of 2 finished runs"))
        self.assertTrue(tables.problems_text(results(row())).startswith("All runs ended"))


class Measuring(unittest.TestCase):
    def test_cells_of_all_processes_are_added(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, cells in (("n1.net-12", 5), ("n2.net-12", 1 << 40), ("n2.net-14.99", 7)):  # the last one is not renamed yet
                (Path(folder) / name).write_bytes(struct.pack("=q", cells))
            self.assertEqual(run.count_cells(folder), 5 + (1 << 40))

    def test_peaks(self):
        peaks = memory.Peaks()
        peaks.add({1: (10, 30), 2: (20, 50), 3: (4, 9)}, active={1, 2})
        peaks.add({1: (8, 60)}, active=set())
        self.assertEqual(peaks.figures(), {"job_pss": 34, "rank_pss": 15, "rank_rss": 40})

    def test_memory_of_a_process(self):
        pss, rss = memory.of_process(os.getpid())
        self.assertTrue(1 * MIB < pss <= rss, f"{pss}, {rss}")
        self.assertIsNone(memory.of_process(2 ** 30))

    def test_a_job_without_recovery_ends_with_its_first_rank(self):
        variables = {way.name: run.variables_of(way) for way in plan.WAYS}
        for name in ("PRTE_MCA_state_base_recoverable", "PRTE_MCA_state_base_notify_errors"):
            self.assertIn(name, variables["spares"])
            self.assertNotIn(name, variables["restart"])


if __name__ == "__main__":
    unittest.main()
