# SPDX-License-Identifier: BSD-3-Clause
"""scripts/demo and fenix-demo: the heat equation of examples/heat2d, undisturbed and with ranks killed by kill -9. The results must be identical."""
import argparse
import filecmp
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness import environment, nodes, processes, progress
from harness.job import Job, exit_on_signals, mpirun

SPARES = 2
RANKS_PER_NODE = 2
SKIPPED = 77

NAME = "fenix-demo" if environment.IS_INSTALLED else "scripts/demo"
OUT = Path("fenix-demo") if environment.IS_INSTALLED else environment.ROOT / "build/demo"
RUNS = "Runs a heat equation" if environment.IS_INSTALLED else "Builds everything, then runs examples/heat2d"
DESCRIPTION = f"""{RUNS} on 4 ranks and 2 spares: once undisturbed, then with one rank killed
while it computes, and later another one. Ends with "identical" and status 0 if the final fields are the same byte for byte and nothing is
left behind."""


# ---------------------------------------------------------------------------------------------------------------- options


def shown(folder):
    return folder.relative_to(environment.ROOT) if folder.is_absolute() else folder


def parse(arguments):
    parser = argparse.ArgumentParser(prog=NAME, description=DESCRIPTION, allow_abbrev=False)
    if environment.IS_INSTALLED:
        parser.set_defaults(python=False)
    else:
        parser.add_argument("--python", action="store_true", help="as the first argument: a heat equation in Python; --python --help lists its options")
    parser.add_argument("--relaunch", action="store_true", help="as the first argument: mpirun itself is killed; --relaunch --help lists its options")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="decides the victims and the times of the kills (default: "
                        "the time); run number I of --runs has seed SEED + I - 1")
    parser.add_argument("--runs", type=int, default=1, help="disturbed runs in a row (%(default)s)")
    parser.add_argument("--kill1", metavar="RANK@STEP", help="first kill: soon after this step")
    parser.add_argument("--kill2", metavar="RANK@STEP|recovery", help="second kill: soon after this step, but not before all went on "
                        "after the first; recovery: while the first is being repaired (without --kill2, in every fifth run)")
    parser.add_argument("--nodes", type=int, help="on so many nodes from 3 to 9, which are namespaces of this machine: "
                        "2 ranks on each, the last one has the spares. One kill, of a whole node with the launcher's daemon; "
                        "--kill1 RANK@STEP: of the node of this rank")
    parser.add_argument("--silent", action="store_true", help="with --nodes: the node is cut off for good, and not killed; "
                        "FENIX_NODE_TIMEOUT says when it is given up")
    parser.add_argument("--size", metavar="WxH", help="cells (default: those of heat2d)")
    parser.add_argument("--steps", type=int, default=8000, help="time steps (%(default)s)")
    parser.add_argument("--program", metavar="FILE", help="heat2d, built already: nothing is built" if not environment.IS_INSTALLED else argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, metavar="DIR", default=OUT, help=f"where pictures and logs go ({shown(OUT)})")
    options = parser.parse_args(arguments)
    check(parser, options)
    return options


def check(parser, options):
    """Ends the program with status 2 if options do not fit, and adds those that follow from others."""
    if options.python or options.relaunch:
        parser.error("--python and --relaunch have to be the first argument")
    for name, least in (("seed", 0), ("runs", 1), ("steps", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name} wants a number from {least}")
    if options.nodes is not None and not 3 <= options.nodes <= 9:
        parser.error("--nodes wants a number from 3 to 9")
    if options.nodes and options.kill2:
        parser.error("--kill2 is not for --nodes")
    if options.silent and not options.nodes:
        parser.error("--silent is for --nodes")
    options.ranks = RANKS_PER_NODE * (options.nodes - 1) if options.nodes else 4
    # All nodes share the cores of this machine, and a network that is no faster than they are.
    options.interval, options.limit = (50, 180) if options.nodes else (20, 60)
    place = re.compile(rf"[0-{options.ranks - 1}]@[0-9]+")
    if options.kill1 and not place.fullmatch(options.kill1):
        parser.error(f"--kill1 wants RANK@STEP, with ranks from 0 to {options.ranks - 1}")
    if options.kill2 and options.kill2 != "recovery" and not place.fullmatch(options.kill2):
        parser.error("--kill2 wants RANK@STEP or recovery")


# ----------------------------------------------------------------------------------------------------------------- screen


class Screen:
    """Standard output; on a terminal with colours, and with a line of progress that the next line overwrites."""

    def __init__(self):
        self.is_terminal = sys.stdout.isatty()

    def colour(self, number, text):
        return f"\033[{number}m{text}\033[0m" if self.is_terminal else text

    def say(self, text=""):
        print(("\r\033[K" if self.is_terminal else "") + text, flush=True)

    def title(self, text):
        self.say()
        self.say(self.colour(1, text))

    def progress(self, text):
        if self.is_terminal:
            print("\r\033[K  " + text, end="", flush=True)


def as_seconds(seconds):
    return f"{seconds:.2f} s"


# ------------------------------------------------------------------------------------------------------------------ kills


class Plan:
    """The kills of one run: victims, steps, and delays after these steps."""

    def __init__(self, options, seed, number):
        drawn = random.Random(seed)
        steps = options.steps
        self.victims = [drawn.randrange(options.ranks) for _ in range(2)]
        self.steps = [steps * drawn.randint(15, 45) // 100, steps * drawn.randint(55, 85) // 100]
        self.milliseconds = [drawn.randrange(100) for _ in range(2)]
        self.during_recovery = options.kill2 == "recovery" or (not options.kill2 and number % 5 == 0)
        for i, given in enumerate((options.kill1, options.kill2)):
            if given and given != "recovery":
                self.victims[i], self.steps[i] = map(int, given.split("@"))
        if self.during_recovery:
            # Not the buddy of the first: with both gone, the checkpoint would rightly be lost.
            self.victims[1] = (self.victims[0] + drawn.choice((1, 3))) % options.ranks


class Run:
    """One run of heat2d, undisturbed or with kills."""

    def __init__(self, options, screen, name, plan=None):
        self.options, self.screen, self.plan = options, screen, plan
        self.folder = options.out / name
        self.step = self.kills = 0
        self.recovered = self.finished = False
        self.problems, self.timings = [], []
        self.seconds = 0.0
        self.job = self.watcher = None

    def problem(self, text):
        self.problems.append(text)
        self.screen.say("        " + self.screen.colour(31, f"problem: {text}"))

    # ------------------------------------------------------------------------------------------------- what it prints

    def on_line(self, line):
        """Shows a line of heat2d, and does what is due."""
        if not line or line.startswith("NBC_Progress:"):
            return  # Open MPI about a collective that a death has cut short
        if line.startswith("step "):
            self.step = int(line.split()[1].split("/")[0])
            self.screen.progress(f"step {self.step} of {self.options.steps}")
            if self.plan:
                self.kill_when_due()
            return
        if "all went on from" in line:
            self.recovered = True
        elif "started again from step 0" in line and self.step > self.options.interval:
            self.problem("a checkpoint was lost")
        elif "repaired in" in line:
            self.timings.append(line.strip())
        elif line.startswith("heat2d: done:"):
            self.finished = True
        self.screen.say("  " + line)

    # --------------------------------------------------------------------------------------------------------- kills

    def kill_when_due(self):
        plan = self.plan
        if self.options.nodes:
            if self.kills == 0 and not self.problems and self.step >= plan.steps[0]:
                self.lose_node(plan.victims[0], plan.milliseconds[0])
        elif self.kills == 0 and self.step >= plan.steps[0]:
            self.kill_rank(plan.victims[0], plan.milliseconds[0])
            if plan.during_recovery:
                self.kill_rank(plan.victims[1], plan.milliseconds[1] // 2)
        elif self.kills == 1 and self.recovered and self.step >= plan.steps[1]:
            self.kill_rank(plan.victims[1], plan.milliseconds[1])

    def note_kill(self, rank):
        """Tells heat2d when a rank was killed. Returns its process id, as the rank itself has it."""
        pid = int((self.folder / f"pids/rank-{rank}").read_text(encoding="utf-8"))
        (self.folder / f"kills/{pid}").write_text(f"{time.time():.6f}\n", encoding="utf-8")
        return pid

    def kill_rank(self, rank, milliseconds):
        time.sleep(milliseconds / 1000)
        pid = self.note_kill(rank)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            self.problem(f"rank {rank} (process {pid}) was gone before it could be killed")
            return
        self.screen.say(f"  kill -9 {pid}: rank {rank}, {milliseconds} ms after step {self.step}")
        self.kills += 1

    def lose_node(self, rank, milliseconds):
        """Kills the node of this rank, or cuts it off for good."""
        first, node = rank // RANKS_PER_NODE * RANKS_PER_NODE, f"node{rank // RANKS_PER_NODE + 1}"
        time.sleep(milliseconds / 1000)
        for one in range(first, first + RANKS_PER_NODE):
            self.note_kill(one)
        silent = self.options.silent
        pids = [pid for _, _, pid in self.job.nodes.ranks(node)] if silent else []
        if not (self.job.nodes.silence(node) if silent else self.job.nodes.kill(node)):
            self.problem(f"{node} could not be killed")
            return
        if silent:
            self.watcher = threading.Thread(target=self.watch_end, args=(pids, time.monotonic()), daemon=True)
            self.watcher.start()
        what = "cut off for good:" if silent else "kill -9 of all of"
        self.screen.say(f"  {what} {node}, ranks {first} and {first + 1}, {milliseconds} ms after step {self.step}")
        self.kills = 1

    def watch_end(self, pids, cut):
        """Notes when the ranks of a node that is cut off have ended."""
        if processes.wait_until(lambda: not any(map(processes.is_alive, pids)), self.options.limit, pause=0.05):
            took = as_seconds(time.monotonic() - cut)
            self.timings.append(f"on the other side of the cut all ranks had ended after {took}")

    # ------------------------------------------------------------------------------------------------------------ all

    def make_job(self):
        options = self.options
        size = ["--size", options.size] if options.size else []
        program = [
            options.program, "--spares", SPARES, "--interval", options.interval, "--steps", options.steps, *size, "--out", self.folder,
            "--final", self.folder / "final.raw", "--progress"
        ]
        if options.nodes:
            return nodes.JobOnNodes([RANKS_PER_NODE] * options.nodes, program, self.folder, options.limit, options.environment)
        return Job(mpirun(options.ranks + SPARES, *program), self.folder, options.limit, options.environment)

    def run(self):
        """Returns itself when the run is over."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "kills").mkdir(parents=True)

        def look():
            for line in self.job.new_lines():
                self.on_line(line)

        with self.make_job() as self.job:
            self.job.follow(look, pause=0.005)
            look()
            self.check_end(self.job.finish())
        self.seconds = self.job.seconds
        if self.watcher:
            self.watcher.join()
        return self

    def check_end(self, left):
        # The status of mpirun says little after a kill: it may report the killed rank.
        if self.job.hung:
            self.problem(f"mpirun did not end within {self.options.limit} s")
        if not self.finished:
            self.problem(f"heat2d did not get to its end (status {self.job.status})")
        wanted = 0 if not self.plan else 1 if self.options.nodes else 2
        if self.kills < wanted:
            self.problem(f"only {self.kills} of {wanted} kills happened while heat2d was running")
        for complaint in left.complaints():
            self.problem(complaint)
        if left.launchers:
            self.problem(f"processes are left: {' '.join(map(str, left.launchers))}")


# ------------------------------------------------------------------------------------------------------------- main part


def can_stand_alone(options):
    """Tells if heat2d is all that is shown: without tools, and with any Open MPI that survives the death of a rank."""
    return not options.nodes and not options.relaunch


def build(options, screen):
    """Returns heat2d, or nothing if the build failed."""
    log, start = options.out / "build.txt", time.monotonic()
    screen.say(f"building (log: {log})")
    targets = ["heat2d"] if can_stand_alone(options) else ["heat2d", "tools/all"]
    log.unlink(missing_ok=True)
    if progress.build([environment.SCRIPTS / "build", "demo", *targets], log, options.environment, environment.ROOT, screen):
        print(*log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:], sep="\n", file=sys.stderr)
        print(f"demo: the build failed, see {log}", file=sys.stderr)
        return None
    screen.say(f"built in {as_seconds(time.monotonic() - start)}")
    return environment.ROOT / "build/demo-program/examples/heat2d"


def prepare(options, screen):
    """Makes the machine ready. Returns the status with which the program is to end, or nothing."""
    if options.nodes and not nodes.are_possible():
        return SKIPPED
    options.out.mkdir(parents=True, exist_ok=True)
    options.out = options.out.resolve()
    if not options.program:
        # Only the loss of a node takes an Open MPI of our own.
        status = subprocess.run([environment.SCRIPTS / "bootstrap", *(["--minimal"] if can_stand_alone(options) else [])], check=False).returncode
        if status:
            return status
    options.environment = environment.load()
    options.program = options.program or build(options, screen)
    if not options.program:
        return 2
    if options.nodes and not nodes.survive_loss():
        screen.say("demo: so no node can be lost here")
        return SKIPPED
    return None


def disturb(options, screen, reference, number):
    """Makes one run with kills. Returns the lines of the summary, and whether all was well."""
    seed = options.seed + number - 1
    screen.title(f"run {number} of {options.runs}, seed {seed}")
    run = Run(options, screen, f"run-{number}", Plan(options, seed, number)).run()
    final = run.folder / "final.raw"
    if not final.exists() or not filecmp.cmp(reference.folder / "final.raw", final, shallow=False):
        run.problem("the final field differs")
    verdict = f"FAILED: {run.problems[0]}" if run.problems else "identical"
    if not run.problems:
        final.unlink()
    screen.say(f"  took {as_seconds(run.seconds)}: {verdict}")
    lines = [f"run {number}, seed {seed}: {run.kills} kills, {as_seconds(run.seconds)}, {verdict}"]
    return lines + [f"    {timing}" for timing in run.timings], not run.problems


def main(arguments=None):
    options, screen = parse(arguments), Screen()
    exit_on_signals()
    status = prepare(options, screen)
    if status is not None:
        return status
    where = f" on {options.nodes} nodes" if options.nodes else ""
    screen.title(f"reference: {options.ranks} ranks and {SPARES} spares{where}, nothing happens to them")
    reference = Run(options, screen, "reference").run()
    if reference.problems:
        return 1
    screen.say(f"  took {as_seconds(reference.seconds)}")
    results = [disturb(options, screen, reference, number) for number in range(1, options.runs + 1)]
    screen.title("summary")
    screen.say(f"undisturbed: {as_seconds(reference.seconds)}")
    for lines, _ in results:
        for line in lines:
            screen.say(line)
    screen.say(f"pictures: {options.out}/run-*/death-*.png, final.png")
    good = sum(is_good for _, is_good in results)
    if good < options.runs:
        screen.say(f"{screen.colour(31, 'FAILED')}: only {good} of {options.runs} identical and without problems")
        return 1
    screen.say(f"{screen.colour(32, 'identical')}: {good} of {options.runs}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
