# SPDX-License-Identifier: BSD-3-Clause
"""scripts/demo --python: the heat equation of examples/python, undisturbed and with a rank killed by kill -9. The results must be identical."""
import argparse
import filecmp
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import environment
from harness.job import Job, exit_on_signals, mpirun
from harness.programs.demo import Screen, as_seconds

RANKS, SPARES, LIMIT, INTERVAL = 4, 1, 60, 10
PROGRAM = environment.ROOT / "examples/python/heat2d.py"
BUILD = environment.ROOT / "build/release"

DESCRIPTION = """Prepares the machine, builds the library and its Python package, then runs examples/python/heat2d.py on 4 ranks and 1 spare:
once undisturbed, then with one rank killed at a random moment. Ends with "identical" and status 0 if the final fields are the same byte for byte
and nothing is left behind."""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/demo --python", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="decides the victim and the time of the kill (default: the "
                        "time); run number I of --runs has seed SEED + I - 1")
    parser.add_argument("--runs", type=int, default=1, help="disturbed runs in a row (%(default)s)")
    parser.add_argument("--kill", metavar="RANK@STEP", help="the kill: soon after this step")
    parser.add_argument("--live", action="store_true", help="also shows the plate in a window, which needs python3-matplotlib and a display")
    parser.add_argument("--size", type=int, default=400, help="cells in each direction (%(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="time steps (%(default)s)")
    parser.add_argument("--package", type=Path, metavar="DIR", help="a package made by scripts/build-python: nothing is built")
    parser.add_argument("--out", type=Path, metavar="DIR", default=environment.ROOT / "build/demo/python", help="where pictures and logs go "
                        "(build/demo/python)")
    options = parser.parse_args(arguments)
    for name, least in (("seed", 0), ("runs", 1), ("steps", 10 * INTERVAL), ("size", 2 * RANKS)):
        if getattr(options, name) < least:
            parser.error(f"--{name} wants a number from {least}")
    if options.kill and not re.fullmatch(rf"[0-{RANKS - 1}]@[0-9]+", options.kill):
        parser.error(f"--kill wants RANK@STEP, with ranks from 0 to {RANKS - 1}")
    return options


class Kill:
    """The kill of one run: victim, step, and the delay after this step."""

    def __init__(self, options, seed):
        drawn = random.Random(seed)
        self.victim, self.step = drawn.randrange(RANKS), options.steps * drawn.randint(5, 85) // 100
        self.milliseconds = drawn.randrange(100)
        if options.kill:
            self.victim, self.step = map(int, options.kill.split("@"))


class Run:
    """One run of heat2d.py, undisturbed or with a kill."""

    def __init__(self, options, screen, name, kill=None):
        self.options, self.screen, self.kill = options, screen, kill
        self.folder = options.out / name
        self.killed = self.recovered = self.finished = False
        self.problems = []
        self.job = None

    def problem(self, text):
        self.problems.append(text)
        self.screen.say("        " + self.screen.colour(31, f"problem: {text}"))

    def on_line(self, line):
        """Shows a line of heat2d.py, and does what is due."""
        if line.startswith("step "):
            self.screen.progress(line)
            if self.kill and not self.killed and int(re.split("[ /]", line)[1]) >= self.kill.step:
                self.kill_rank()
            return
        self.recovered |= "all go on from step" in line
        self.finished |= line.startswith("heat2d: done")
        if line and not line.startswith("NBC_Progress:"):  # Open MPI about a collective that a death has cut short
            self.screen.say("  " + line)

    def kill_rank(self):
        kill, self.killed = self.kill, True
        time.sleep(kill.milliseconds / 1000)
        pid = int((self.folder / f"files/rank-{kill.victim}").read_text(encoding="utf-8"))
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            self.problem(f"rank {kill.victim} (process {pid}) was gone before it could be killed")
            return
        self.screen.say(f"  kill -9 {pid}: rank {kill.victim}, {kill.milliseconds} ms after step {kill.step}")

    def run(self):
        """Returns itself when the run is over."""
        options = self.options
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        program = [options.python, PROGRAM, "--spares", SPARES, "--size", options.size, "--steps", options.steps, "--interval", INTERVAL,
                   "--out", self.folder / "files", *(["--live"] if options.live else [])]

        def look():
            for line in self.job.new_lines():
                self.on_line(line)

        with Job(mpirun(RANKS + SPARES, *program), self.folder / "job", LIMIT * (10 if options.live else 1), options.environment) as self.job:
            self.job.follow(look, pause=0.005)
            look()
            left = self.job.finish()
        if self.job.hung:
            self.problem(f"mpirun did not end within {self.job.limit} s")
        if not self.finished:
            self.problem(f"heat2d.py did not get to its end (status {self.job.status}): {self.job.output}")
        if self.kill and not self.recovered and not self.problems:
            self.problem("the kill came too late to be noticed")
        for complaint in left.complaints():
            self.problem(complaint)
        return self

    @property
    def final(self):
        return self.folder / "files/final.raw"


def call(screen, text, log, *command):
    """Runs a command with its output in a log. Returns whether it went well."""
    begin = time.monotonic()
    screen.say(f"{text} (log: {log})")
    with open(log, "wb") as output:
        status = subprocess.run(command, cwd=environment.ROOT, check=False, stdin=subprocess.DEVNULL, stdout=output,
                                stderr=subprocess.STDOUT).returncode
    if status:
        print(*log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:], f"demo: failed: {text}", sep="\n", file=sys.stderr)
    else:
        screen.say(f"  done in {as_seconds(time.monotonic() - begin)}")
    return not status


def prepare(options, screen):
    """Makes the machine ready, and the package. Returns the status with which the program is to end, or nothing."""
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    build_python = environment.SCRIPTS / "build-python"
    if not options.package:
        status = subprocess.run([environment.SCRIPTS / "bootstrap"], check=False).returncode
        if status:
            return status
    found = subprocess.run([build_python, "--which"], check=False, stdout=subprocess.PIPE, text=True)
    if found.returncode:
        screen.say(f"demo: {found.stdout.strip()}")
        return found.returncode
    options.python = found.stdout.strip()
    if not options.package:
        options.package = options.out / "package"
        configure = ["cmake", "--preset", "release", "-DFENIX_BUILD_EXAMPLES=ON", "-DFENIX_BUILD_TESTS=OFF"]
        loaded = ["env", *(f"{name}={value}" for name, value in environment.load().items())]
        if not (call(screen, "configuring the library", options.out / "configure.txt", *loaded, *configure)
                and call(screen, "building the library", options.out / "build.txt", *loaded, "cmake", "--build", "--preset", "release")
                and call(screen, "making the Python package", options.out / "package.txt", build_python, BUILD, options.package)):
            return 2
    options.environment = dict(environment.load(), PYTHONPATH=str(options.package.resolve() / "site"), PYTHONDONTWRITEBYTECODE="1")
    return None


def disturb(options, screen, reference, number):
    """Makes one run with a kill. Returns the line of the summary, and whether all was well."""
    seed = options.seed + number - 1
    screen.title(f"run {number} of {options.runs}, seed {seed}")
    run = Run(options, screen, f"run-{number}", Kill(options, seed)).run()
    if not run.final.exists() or not filecmp.cmp(reference.final, run.final, shallow=False):
        run.problem("the final field differs")
    verdict = f"FAILED: {run.problems[0]}" if run.problems else "identical"
    took = as_seconds(run.job.seconds)
    screen.say(f"  took {took}: {verdict}")
    return f"run {number}, seed {seed}: {took}, {verdict}", not run.problems


def main(arguments=None):
    options, screen = parse(arguments), Screen()
    exit_on_signals()
    status = prepare(options, screen)
    if status is not None:
        return status
    screen.title(f"reference: {RANKS} ranks and {SPARES} spare of {PROGRAM.relative_to(environment.ROOT)}, nothing happens to them")
    reference = Run(options, screen, "reference").run()
    if reference.problems:
        return 1
    screen.say(f"  took {as_seconds(reference.job.seconds)}")
    results = [disturb(options, screen, reference, number) for number in range(1, options.runs + 1)]
    screen.title("summary")
    screen.say(f"undisturbed: {as_seconds(reference.job.seconds)}")
    for line, _ in results:
        screen.say(line)
    screen.say(f"pictures: {options.out}/run-*/files/final.png")
    good = sum(is_good for _, is_good in results)
    if good < options.runs:
        screen.say(f"{screen.colour(31, 'FAILED')}: only {good} of {options.runs} identical and without problems")
        return 1
    screen.say(f"{screen.colour(32, 'identical')}: {good} of {options.runs}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
