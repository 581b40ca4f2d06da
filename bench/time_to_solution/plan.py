# SPDX-License-Identifier: BSD-3-Clause
"""What is run: ways to go on after a failure, and the failures, drawn from a seed."""
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """A way to finish a job in spite of failures."""
    name: str
    title: str
    with_recovery: bool = True  # False: plain MPI. A death ends the job, and the next one reads files
    with_spares: bool = False
    then: str = "end"  # what heat2d does without spares: its option --then

    def spares(self, setup):
        return setup.spares if self.with_spares else 0

    def arguments(self, setup, files):
        """Returns the options of heat2d. files: folder for checkpoint files."""
        if not self.with_recovery:
            return ["--files", files]
        return ["--spares", self.spares(setup), "--then", self.then]


WAYS = (
    Way("restart", "restart from files", with_recovery=False),
    Way("spares", "spares", with_spares=True, then="shrink"),
    Way("shrink", "shrinking", then="shrink"),
    Way("spawn", "spawning", then="spawn"),
)


@dataclass
class Setup:
    """What is the same in all runs."""
    program: str = ""
    ranks: int = 8
    spares: int = 4
    width: int = 1600
    height: int = 1200
    steps: int = 1200
    interval: int = 60  # steps from one checkpoint to the next
    step_time: float = 0.01  # seconds that a step takes, as long as all ranks share the plate

    @property
    def compute_time(self):
        """Seconds of all steps: the unit of the mean time between failures."""
        return self.steps * self.step_time

    @property
    def pace(self):
        """Nanoseconds for each cell of a rank."""
        return round(self.step_time * 1e9 * self.ranks / (self.width * self.height))

    def arguments(self):
        return ["--size", f"{self.width}x{self.height}", "--steps", self.steps, "--interval", self.interval, "--pace", self.pace,
                "--no-pictures"]


@dataclass(frozen=True)
class Failure:
    """A failure: when it is due, in seconds after the first start, and a number in [0, 1) that chooses the victim."""
    due: float
    draw: float
    steps: float = 0.0  # it waits besides until the job has computed so many steps

    def victim(self, processes, places):
        """Returns the process that the failure hits, or nothing. processes: those that compute. places: ranks at the start.

        Each place fails as often as any other one. When fewer processes are left, a failure may hit an empty place.
        """
        place = int(self.draw * places)
        return processes[place] if place < len(processes) else None


def failures(seed, mean):
    """Yields failures without end: the times between them are distributed exponentially. mean: seconds.

    They depend on the seed and the mean alone, so that all ways meet the same ones. Means of one seed differ by a factor only.
    """
    drawn, due = random.Random(seed), 0.0
    while True:
        due += mean * drawn.expovariate(1.0)
        yield Failure(due, drawn.random())
