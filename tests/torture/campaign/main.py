# SPDX-License-Identifier: BSD-3-Clause
"""scripts/torture: see tests/torture/README.md."""
import argparse
import itertools
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from harness import nodes

from . import summary
from .draw import Drawer, seed_of
from .judge import OK, OPEN_MPI, judge
from .points import Points
from .supervise import supervise

ROOT = Path(__file__).resolve().parents[3]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/torture", description=__doc__.split(":")[0] + """: runs an application
        again and again, with other policies, sizes and ways of storing, kills and stops its ranks, and looks at every byte
        that it gets back. All of a run follows from its seed, but for what time decides. Exit status 1 if a run failed.""")
    parser.add_argument("--runs", type=int, help="so many runs (default 100, or as many as the minutes allow)")
    parser.add_argument("--minutes", type=float, help="start no run after this time")
    parser.add_argument("--seed", type=int, help="master seed, of which the seeds of the runs follow (default: random)")
    parser.add_argument("--run", type=int, help="only this run of the master seed")
    parser.add_argument("--only", type=int, metavar="SEED", help="only the run with this seed of its own")
    parser.add_argument("--faults", metavar="CLASS,…", help="of the runs, only those with faults of these classes")
    parser.add_argument("--path", choices=["auto", "map", "window", "fabric"], help="all runs by this path")
    parser.add_argument("--nodes", type=int, choices=[2, 3, 4], default=0, help="each run on so many nodes, made by scripts/nodes; "
                        "also kills all ranks of a node at once, and nodes with the launcher's daemon")
    parser.add_argument("--stored", action="store_true", help="all runs have a store, not some")
    parser.add_argument("--interposed", action="store_true", help="libfenix_mpi is preloaded in all runs, not in some")
    parser.add_argument("--repeat", type=int, default=1, help="make each run so many times")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (%(default)s)")
    parser.add_argument("--strict", action="store_true", help="a run that a known crash of Open MPI has ended has failed; "
                        "else it is made once more, and named")
    parser.add_argument("--limit", type=float, help="seconds after which a run hangs (30; over nodes 75)")
    parser.add_argument("--slow", type=int, default=1, metavar="N", help="FENIX_TIMEOUT and the limit N times as long: on a machine that "
                        "others keep busy")
    parser.add_argument("--build", type=Path, default=ROOT / "build/ci", help="build folder (build/ci)")
    parser.add_argument("--work", type=Path, help="where folders of runs go; kept if a run fails (BUILD/torture)")
    parser.add_argument("--json", type=Path, help="write all results")
    parser.add_argument("--markdown", type=Path, help="write a page of this campaign, or of those of --of; "
                        "scripts/docs takes build/docs/results/reliability.md into the site")
    parser.add_argument("--of", type=Path, nargs="+", metavar="JSON", help="make no runs: take results from files")
    parser.add_argument("--tests", type=Path, metavar="XML", help="results of the other tests for that page, as scripts/test leaves them: "
                        "build/ci/test-results.xml")
    parser.add_argument("--list", action="store_true", help="only print what the runs would do")
    parser.add_argument("--keep", action="store_true", help="keep the folders of all runs")
    options = parser.parse_args(arguments)
    options.faults = options.faults and options.faults.split(",")
    options.limit = options.limit or (75 if options.nodes else 30) * options.slow
    return options


def has_fabric(build):
    """Whether the library there was built with libfabric, which it loads by name."""
    library = build / "src/libfenix.so"
    return library.exists() and b"libfabric.so" in library.read_bytes()


class Campaign:
    def __init__(self, options):
        self.options = options
        self.master = secrets.randbelow(10**9) if options.seed is None else options.seed
        self.drawer = Drawer(Points(ROOT / "src"), has_fabric(options.build), options.path, options.nodes,
                             bool(options.nodes) and nodes.survive_loss(), **({"interposed": 1} if options.interposed else {}), **({"stored": 1} if options.stored else {}))
        self.work = options.work or options.build / "torture"
        self.program = options.build / "tests/torture/torture"
        self.library = options.build / "src/mpi/libfenix_mpi.so"
        self.rows = []
        self.lock = threading.Lock()
        self.start = time.monotonic()
        self.interrupted = False

    def seeds(self):
        options = self.options
        if options.only is not None:
            yield from [options.only] * options.repeat
            return
        if options.run is not None:
            yield from [seed_of(self.master, options.run)] * options.repeat
            return
        total = options.runs or (10**9 if options.minutes else 100)
        all_seeds = (seed_of(self.master, number) for number in itertools.count())
        wanted = (seed for seed in all_seeds if not options.faults or self.drawer.draw(seed).kind in options.faults)
        for seed in itertools.islice(wanted, total):
            yield from [seed] * options.repeat

    def goes_on(self):
        if self.interrupted:
            return False
        return self.options.minutes is None or time.monotonic() - self.start < 60 * self.options.minutes

    def attempt(self, run):
        run = replace(run, timeout=run.timeout * self.options.slow)
        outcome = supervise(run, self.command(run), self.work, self.options.limit)
        return outcome, judge(run, outcome)

    def command(self, run):
        preload = ["env", f"LD_PRELOAD={self.library.resolve()}"] if run.interposed != "no" else []
        return [*preload, self.program]

    def repeat(self, seed):
        """The arguments that make this run once more."""
        given = [("path", self.options.path), ("nodes", self.options.nodes)]
        forced = [f"--{name}" for name in ("interposed", "stored") if getattr(self.options, name)]
        return " ".join([f"--only {seed}"] + [f"--{name} {value}" for name, value in given if value] + forced)

    def one(self, seed):
        run = self.drawer.draw(seed)
        outcome, verdict = self.attempt(run)
        crashed = verdict.kind == OPEN_MPI
        if crashed and not self.options.strict:
            first = verdict.text
            self.say(f"made once more after {first}: {self.repeat(seed)}, {run.describe()}")
            shutil.rmtree(outcome.folder, ignore_errors=True)
            outcome, verdict = self.attempt(run)
            verdict.notes.append(f"the first time {first}")
        row = {
            "seed": seed, "class": run.kind, "policy": run.policy_text(), "path": run.path, "what": run.describe(),
            "seconds": round(outcome.seconds, 2), "hits": len(outcome.done), "verdict": verdict.kind,
            "text": verdict.text, "repairs": verdict.repairs, "deaths": verdict.deaths, "restores": verdict.restores,
            "bytes": verdict.bytes, "crashed": crashed, "lost": verdict.lost, "notes": verdict.notes,
            "repeat": self.repeat(seed)
        }
        with self.lock:
            self.rows.append(row)
            if verdict.kind != OK:
                self.say(f"{verdict.kind.upper()}: {verdict.text}\n  {run.describe()}\n"
                         f"  again: scripts/torture {self.repeat(seed)}    output: {outcome.folder}")
            self.progress()
        if verdict.kind == OK and not self.options.keep:
            shutil.rmtree(outcome.folder, ignore_errors=True)

    def all(self):
        """As many runs at a time as there are jobs; a new one is begun when one ends."""
        self.work.mkdir(parents=True, exist_ok=True)
        self.work = self.work.resolve()
        seeds, lock = self.seeds(), threading.Lock()

        def worker():
            while self.goes_on():
                with lock:
                    seed = next(seeds, None)
                if seed is None:
                    return
                self.one(seed)

        with ThreadPoolExecutor(self.options.jobs) as pool:
            running = [pool.submit(worker) for _ in range(self.options.jobs)]
            try:
                for one in running:
                    one.result()
            except KeyboardInterrupt:
                # The runs that are under way come to their end, and clean up.
                self.interrupted = True

    def say(self, text):
        print(("\r\033[K" if sys.stdout.isatty() else "") + text, flush=True)

    def progress(self):
        failed = sum(row["verdict"] != OK for row in self.rows)
        seconds = time.monotonic() - self.start
        line = f"torture: {len(self.rows)} runs, {failed} failed, {seconds:.0f} s, {seconds / len(self.rows):.2f} s a run"
        if sys.stdout.isatty():
            print("\r\033[K" + line, end="", flush=True)
        elif len(self.rows) % 50 == 0:
            print(line, flush=True)

    def results(self):
        version = re.search(r"project\(.*?VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.S)
        mpi = subprocess.run(["mpirun", "--version"], check=False, capture_output=True, text=True).stdout.split("\n")[0]
        return {
            "seed": self.master, "seconds": round(time.monotonic() - self.start), "jobs": self.options.jobs,
            "cores": os.cpu_count(), "nodes": self.options.nodes, "stored": self.options.stored,
            "version": version.group(1) if version else "",
            "mpi": mpi.replace("mpirun (", "").replace(")", ""),
            "runs": self.rows
        }


def write_page(path, campaigns, tests):
    page = (Path(__file__).parent / "reliability.md").read_text(encoding="utf-8")
    page = page.replace("{{campaigns}}", "\n\n".join(summary.as_markdown(one) for one in campaigns))
    page = page.replace("{{promises}}", summary.promises(campaigns, tests))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    print(f"torture: {path}")


def main(arguments=None):
    options = parse(arguments)
    if options.of:
        campaigns = [json.loads(path.read_text(encoding="utf-8")) for path in options.of]
        write_page(options.markdown, campaigns, options.tests)
        return 0
    campaign = Campaign(options)
    unknown = set(options.faults or ()) - set(campaign.drawer.classes()) - {"relaunch"}
    if unknown:
        print(f"torture: no such faults here: {', '.join(sorted(unknown))}; there are {', '.join(campaign.drawer.classes())}",
              file=sys.stderr)
        return 2
    if options.list:
        for seed in campaign.seeds():
            print(seed, campaign.drawer.draw(seed).describe())
        return 0
    if not campaign.program.exists():
        print(f"torture: no {campaign.program}: build it first (scripts/build ci)", file=sys.stderr)
        return 2
    if options.nodes and not nodes.are_possible():
        return 77
    if options.nodes and not options.path and not campaign.drawer.has_fabric:
        print("torture: this build has no libfabric, so runs on several nodes would be by windows: say --path window for that",
              file=sys.stderr)
        return 2
    campaign.say(f"torture: master seed {campaign.master}, {options.jobs} at a time")
    campaign.all()
    results = campaign.results()
    campaign.say(summary.as_text(campaign.rows))
    failed = sum(row["verdict"] != OK for row in campaign.rows)
    campaign.say(f"torture: master seed {campaign.master}: {len(campaign.rows) - failed} passed, {failed} failed")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if options.markdown:
        write_page(options.markdown, [results], options.tests)
    return 1 if failed else 0
