# SPDX-License-Identifier: BSD-3-Clause
"""scripts/demo --relaunch and fenix-demo --relaunch: the heat equation of examples/heat2d, whose mpirun is killed by kill -9. tools/fenix-run brings it back."""
import argparse
import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import nodes
from harness.job import Job, exit_on_signals, mpirun
from harness.programs import demo
from harness.programs.demo import Screen, as_seconds

RANKS, KILLS, LIMIT, INTERVAL = 4, 2, 120, 20
NODES = 4
FLUSH_TIMEOUT = 10  # seconds
OTHER_RANKS = (3, 7, 1)

DESCRIPTION = f"""{demo.RUNS} on 4 ranks without spares, with a store: mpirun is killed with kill -9 in mid-computation, twice, and
fenix-run starts it again. Then one more run is killed, and goes on with 3, 7 and 1 ranks. Where the machine allows nodes (namespaces),
all nodes but one are killed as well, with their daemons. Ends with "identical" and status 0 if all final
fields are the same byte for byte as those of an undisturbed run, and nothing is left behind."""


def parse(arguments):
    parser = argparse.ArgumentParser(prog=f"{demo.NAME} --relaunch", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--relaunch", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="decides when mpirun is killed (default: the time)")
    parser.add_argument("--size", metavar="WxH", help="cells (default: those of heat2d)")
    parser.add_argument("--steps", type=int, default=6000, help="time steps (%(default)s)")
    parser.add_argument("--program", metavar="FILE", help=argparse.SUPPRESS if demo.environment.IS_INSTALLED else
                        "heat2d, built already, in build/…/examples: nothing is built")
    parser.add_argument("--out", type=Path, metavar="DIR", default=demo.OUT / "relaunch", help="where pictures, logs and "
                        f"stores go ({demo.shown(demo.OUT)}/relaunch)")
    options = parser.parse_args(arguments)
    options.nodes, options.relaunch = None, True
    return options


class Run:
    """One run: under mpirun, or under fenix-run."""

    def __init__(self, options, screen, name, store=None):
        self.options, self.screen, self.name, self.store = options, screen, name, store
        self.folder = options.out / name
        self.step, self.problems, self.seconds, self.starts = 0, [], 0.0, 1
        self.is_on_nodes = False
        self.job = None
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def program(self):
        size = ["--size", self.options.size] if self.options.size else []
        return [self.options.program, "--spares", 0, "--interval", INTERVAL, "--steps", self.options.steps, *size, "--out", self.folder,
                "--final", self.final(), "--progress", "--no-pictures"]

    def final(self):
        return self.folder / "final.raw"

    def command(self, ranks, under_fenix_run):
        if not under_fenix_run:
            return mpirun(ranks, *self.program())
        return [demo.environment.tool("fenix-run", self.options.program), "--store", self.store, "--flush", "3", "--", "-n", str(ranks), *map(str, self.program())]

    def on_nodes(self, limit, environment):
        """All nodes have room for all ranks, which are on all of them at first."""
        hosts = self.folder / "hosts"
        hosts.write_text("".join(f"node{number} slots={RANKS}\n" for number in range(1, NODES + 1)), encoding="ascii")
        fenix_run, program = demo.environment.tool("fenix-run", self.options.program), [*map(str, self.program())]
        # The policy of scripts/env.sh would be joined with that of the nodes.
        command = ["env", "--unset=PRTE_MCA_rmaps_default_mapping_policy", fenix_run, "--store", self.store, "--hostfile", hosts, "--flush", "3",
                   "--", "--map-by", "node:oversubscribe", "--bind-to", "none", "-n", str(RANKS), *program]
        return nodes.JobOnNodes([RANKS] * NODES, command, self.folder / "job", limit, environment, linger=FLUSH_TIMEOUT + 2, on_head=True)

    def launcher(self):
        for process in self.job.find():
            try:
                if Path(f"/proc/{process.pid}/comm").read_text(encoding="ascii").strip() in ("prterun", "mpirun"):
                    return process.pid
            except OSError:
                continue
        return None

    def look(self, kills):
        for line in self.job.new_lines():
            if line.startswith("step "):
                self.step = int(line.split()[1].split("/")[0])
                self.screen.progress(f"step {self.step} of {self.options.steps}")
            elif line.startswith(("fenix-run:", "heat2d:")):
                self.starts += "start number" in line
                self.screen.say("  " + line)
        if kills and self.step >= kills[0] and self.kill():
            kills.pop(0)
            self.step = 0

    def kill(self):
        """Returns whether there was something to be killed."""
        if self.is_on_nodes:
            self.screen.say(f"  kill -9: nodes 2 to {NODES} of {NODES}, with all that runs there, after step {self.step}")
            return all([self.job.nodes.kill(f"node{number}") for number in range(2, NODES + 1)])
        pid = self.launcher()
        if pid:
            os.kill(pid, signal.SIGKILL)
            self.screen.say(f"  kill -9 {pid}: mpirun, after step {self.step}")
        return bool(pid)

    def run(self, ranks, kills=(), under_fenix_run=False, ends=True, is_on_nodes=False):
        self.is_on_nodes = is_on_nodes
        environment = dict(self.options.environment)
        # Every rank and mpirun want a core; there are few.
        environment["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
        if self.store:
            environment.update(FENIX_STORE=str(self.store), FENIX_FLUSH="3")
        kills = list(kills)
        if is_on_nodes:
            demo.environment.share_cores(environment)
            # A keeper waits so long for the parts that killed nodes have not written.
            environment["FENIX_FLUSH_TIMEOUT"] = str(FLUSH_TIMEOUT)
            job = self.on_nodes(LIMIT, environment)
        else:
            job = Job(self.command(ranks, under_fenix_run), self.folder / "job", LIMIT, environment)
        with job as self.job:
            self.job.follow(lambda: self.look(kills), pause=0.005)
            self.look([])
            hung = self.job.hung
            left = self.job.finish()
        self.seconds = self.job.seconds
        if hung:
            self.problems.append(f"no end within {LIMIT} s")
        if kills:
            self.problems.append(f"{len(kills)} kills did not happen")
        if ends and self.job.status != 0:
            self.problems.append(f"status {self.job.status}")
        if ends:
            # Shared memory of Open MPI stays when mpirun is killed.
            left.memory = [] if under_fenix_run else left.memory
            self.problems += left.complaints()
        return self


def verdict(run, reference):
    if not run.final().exists() or not filecmp.cmp(reference.final(), run.final(), shallow=False):
        run.problems.append("the final field differs")
    run.screen.say(f"  took {as_seconds(run.seconds)}: " + (f"FAILED: {run.problems[0]}" if run.problems else "identical"))
    return not run.problems


def main(arguments=None):
    options, screen = parse(arguments), Screen()
    exit_on_signals()
    status = demo.prepare(options, screen)
    if status is not None:
        return status
    drawn = random.Random(options.seed)
    screen.title(f"reference: {RANKS} ranks, nothing happens to them")
    reference = Run(options, screen, "reference").run(RANKS)
    if reference.problems:
        screen.say(f"FAILED: {reference.problems[0]}")
        return 1
    screen.say(f"  took {as_seconds(reference.seconds)}")

    screen.title(f"mpirun is killed {KILLS} times, seed {options.seed}; fenix-run starts it again")
    store = options.out / "store"
    shutil.rmtree(store, ignore_errors=True)
    steps = [options.steps * drawn.randint(20, 45) // 100, options.steps * drawn.randint(55, 85) // 100]
    relaunched = Run(options, screen, "relaunched", store).run(RANKS, steps, under_fenix_run=True)
    good = [verdict(relaunched, reference)]

    screen.title("one more job is killed, and goes on with other numbers of ranks")
    shutil.rmtree(store, ignore_errors=True)
    store.mkdir(parents=True)
    Run(options, screen, "killed", store).run(RANKS, [options.steps // 2], ends=False)
    for ranks in OTHER_RANKS:
        # Each begins with what the killed job has left.
        own_store = options.out / f"store-{ranks}"
        shutil.rmtree(own_store, ignore_errors=True)
        shutil.copytree(store, own_store)
        screen.say(f"on {ranks} ranks:")
        good.append(verdict(Run(options, screen, f"on-{ranks}", own_store).run(ranks), reference))
        shutil.rmtree(own_store, ignore_errors=True)
    shutil.rmtree(store, ignore_errors=True)

    if nodes.are_possible() and nodes.survive_loss():
        screen.title(f"{NODES} nodes: all but one are killed; fenix-run starts the job again on the last one")
        good.append(verdict(Run(options, screen, "nodes", store).run(RANKS, [options.steps // 2], under_fenix_run=True, is_on_nodes=True), reference))
        shutil.rmtree(store, ignore_errors=True)

    screen.title("summary")
    if not all(good):
        screen.say(f"{screen.colour(31, 'FAILED')}: only {sum(good)} of {len(good)} identical and without problems")
        return 1
    screen.say(f"{screen.colour(32, 'identical')}: {len(good)} of {len(good)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
