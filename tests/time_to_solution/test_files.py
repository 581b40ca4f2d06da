# SPDX-License-Identifier: BSD-3-Clause
"""Tests of heat2d --files: only complete checkpoints are taken. HEAT2D is the program; tests is in PYTHONPATH."""
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from harness.job import Job

import plan
import run

WAY = plan.WAYS[0]
RANKS = 3


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="heat2d-files."))
        self.addCleanup(shutil.rmtree, self.folder)
        self.checkpoints = self.folder / "checkpoints"
        self.runs = 0
        self.variables = run.variables_of(WAY)

    def compute(self, steps, ranks=RANKS, checkpoints=None):
        """Runs heat2d. Returns the step from which it went on, and the final field."""
        self.runs += 1
        final = self.folder / f"final-{self.runs}"
        program = [os.environ["HEAT2D"], "--size", "61x47", "--steps", steps, "--interval", 20, "--no-pictures", "--final", final,
                   "--out", self.folder / "out", "--files", checkpoints or self.checkpoints]
        with Job(run.plain_mpirun(ranks, *program), self.folder / f"run-{self.runs}", 60, self.variables) as job:
            job.follow()
            self.assertEqual(job.finish().complaints(), [])
        self.assertIn(f"heat2d: done: {steps} steps", job.text())
        found = re.search(r"goes on from the files of step (\d+)", job.text())
        return int(found[1]) if found else 0, final.read_bytes()

    def names(self):
        return sorted(path.name for path in self.checkpoints.iterdir())

    def expect(self, step):
        """Computes to step 60: from the given step, and with the field of an undisturbed run."""
        undisturbed = self.compute(60, checkpoints=self.folder / f"undisturbed-{self.runs}")
        self.assertEqual(undisturbed[0], 0)
        found = self.compute(60)
        self.assertEqual(found[0], step)
        self.assertTrue(found[1] == undisturbed[1], "another field")

    def test_goes_on_from_the_newest(self):
        self.compute(50)
        self.assertEqual(self.names(), [f"rank-{rank}.step-40" for rank in range(RANKS)])
        self.expect(40)
        self.assertEqual(self.names(), [f"rank-{rank}.step-60" for rank in range(RANKS)])

    def test_damage_is_noticed(self):
        self.compute(50)
        path = self.checkpoints / "rank-1.step-40"
        damaged = bytearray(path.read_bytes())
        damaged[1000] ^= 1
        path.write_bytes(damaged)
        self.expect(0)

    def test_a_file_of_another_length_is_not_taken(self):
        for change in (lambda content: content[:-1], lambda content: content + b"x"):
            shutil.rmtree(self.checkpoints, ignore_errors=True)
            self.compute(50)
            path = self.checkpoints / "rank-2.step-40"
            path.write_bytes(change(path.read_bytes()))
            self.expect(0)

    def test_the_newest_of_all_ranks_is_taken(self):
        # As after a death between the files of step 40: rank 1 has not written its own.
        self.compute(30)
        kept = {name: (self.checkpoints / name).read_bytes() for name in self.names()}
        self.compute(50)
        (self.checkpoints / "rank-1.step-40").rename(self.checkpoints / "rank-1.step-40.999")
        for name, content in kept.items():
            (self.checkpoints / name).write_bytes(content)
        self.expect(20)
        self.assertEqual(self.names(), [f"rank-{rank}.step-60" for rank in range(RANKS)])

    def test_all_ranks_go_on_from_the_same_step(self):
        self.compute(30)
        kept = {name: (self.checkpoints / name).read_bytes() for name in self.names()}
        self.compute(50)
        # Ranks 0 and 1 have no step in common; rank 2 has both.
        (self.checkpoints / "rank-1.step-40").unlink()
        for rank in (1, 2):
            (self.checkpoints / f"rank-{rank}.step-20").write_bytes(kept[f"rank-{rank}.step-20"])
        self.expect(0)

    def test_files_of_more_ranks_are_not_taken(self):
        self.compute(50, ranks=4)
        self.expect(0)


if __name__ == "__main__":
    unittest.main()
