#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time to solution of heat2d with failures, finished in several ways, and makes build/docs/results/time-to-solution.md of it."""
import argparse
import dataclasses
import datetime
import json
import os
import resource
import sys
import time
from pathlib import Path

from harness import environment
from harness.job import exit_on_signals

import plan
import run

QUICK = {"ranks": 4, "spares": 2, "width": 800, "height": 600, "steps": 400, "interval": 40}
# One failure in each way, after some checkpoints.
CHECK = {"ranks": 4, "spares": 1, "width": 401, "height": 301, "steps": 300, "interval": 20}
CHECK_FAILURE = plan.Failure(0.0, 0.6, steps=70)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/measure time-to-solution", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    names = [way.name for way in plan.WAYS]
    parser.add_argument("--quick", action="store_true", help="small runs, in two minutes; the page goes into the folder of the results")
    parser.add_argument("--check", action="store_true", help="one run in each way with one failure: status 1 if a result differs")
    parser.add_argument("--report", action="store_true", help="measures nothing, and makes the page of the results that are there")
    parser.add_argument("--ways", default=",".join(names), help="ways to go on after a failure")
    parser.add_argument("--means", default="1,0.5,0.25", help="mean times between failures, in times of the computation")
    parser.add_argument("--seeds", default="1,2,3,4,5", help="seeds of the failures")
    parser.add_argument("--queue", type=float, default=30, help="seconds that a restarted job waits in a queue, in additional lines of "
                        "the page")
    parser.add_argument("--program", help="heat2d, built already")
    parser.add_argument("--output", type=Path, default=environment.ROOT / "build/time-to-solution", help="where results go")
    for field in dataclasses.fields(plan.Setup):
        if field.name != "program":
            parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), help=f"{field.default}: see plan.Setup",
                                default=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.ways = [way for way in plan.WAYS if way.name in options.ways.split(",")]
    options.means = [float(text) for text in options.means.split(",") if text]
    options.seeds = [int(text) for text in options.seeds.split(",")]
    return options


def setup_of(options):
    values = dict(CHECK if options.check else QUICK if options.quick else {})
    values.update((field.name, getattr(options, field.name)) for field in dataclasses.fields(plan.Setup) if hasattr(options, field.name))
    return plan.Setup(**values)


def busy_and_own():
    """Returns the seconds that all cores were busy, and those of them that were this program's and its ended children's."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    own = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return ((user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK"), sum(each.ru_utime + each.ru_stime for each in own))


class Load:
    """What other work took of the machine meanwhile."""

    def __init__(self):
        self.before, self.begin = busy_and_own(), time.monotonic()
        self.averages = []

    def sample(self):
        self.averages.append(os.getloadavg()[0])

    def others(self):
        busy, own = (now - then for now, then in zip(busy_and_own(), self.before))
        return f"{max(0.0, (busy - own) / (time.monotonic() - self.begin)):.2f} of {os.cpu_count()} cores"

    def text(self):
        return f"{min(self.averages):.1f} to {max(self.averages):.1f}"


class Campaign:
    def __init__(self, options, setup):
        self.options, self.setup = options, setup
        self.reference = options.output / "reference.raw"
        self.rows = []
        self.limit = 60 + 12 * setup.compute_time

    def run_one(self, way, failures, **what):
        """Makes a run, and adds what distinguishes it to its figures."""
        name = "-".join([way.name, *(f"{value}" for value in what.values())])
        folder = self.options.output / "runs" / name
        row = run.Run(self.setup, way, failures, folder, self.limit).run()
        if not self.reference.exists():
            (folder / "final.raw").rename(self.reference)
            row["identical"] = True
        else:
            row["identical"] = run.is_identical(folder, self.reference)
        run.remove_large_files(folder)
        row.update(what)
        self.rows.append(row)
        self.tell(row, name)
        return row

    def tell(self, row, name):
        seconds = "not finished" if row["seconds"] is None else f"{row['seconds']:.2f} s"
        same = "identical" if row["identical"] else "DIFFERENT"
        print(f"time-to-solution: {name}: {seconds}, {len(row['failures'])} failures, {row['starts']} starts, "
              f"{row['steps']:.1f} steps, {same}", *row["problems"], sep="; " if row["problems"] else "", flush=True)


def measure(options, setup):
    campaign, load = Campaign(options, setup), Load()
    for seed in options.seeds:
        for mean in [None, *options.means]:
            for way in options.ways:
                load.sample()
                failures = plan.failures(seed, mean * setup.compute_time) if mean else ()
                campaign.run_one(way, failures, mean=mean, seed=seed)
    return {"setup": dataclasses.asdict(setup), "seeds": len(options.seeds), "date": datetime.date.today().isoformat(),
            "cores": os.cpu_count(), "load": load.text(), "others": load.others(), "runs": campaign.rows}


def check(options, setup):
    """Returns what is wrong with one run in each way that meets one failure, beside an undisturbed one."""
    campaign, wrong = Campaign(options, setup), []
    campaign.run_one(options.ways[0], (), failures_due=0)
    for way in options.ways:
        row = campaign.run_one(way, [CHECK_FAILURE], failures_due=1)
        starts = 1 if way.with_recovery else 2
        found = {"solution": row["seconds"] is not None, "the same field": row["identical"], "one failure": len(row["failures"]) == 1,
                 f"starts: {starts}": row["starts"] == starts, "data from a checkpoint": row["no_checkpoint"] + row["lost"] == 0,
                 "heat2d knows of the death": row["deaths"] == (1 if way.with_recovery else 0),
                 "work done twice, but less than one interval and a step of each rank":
                 0 <= row["steps"] - setup.steps < setup.interval + setup.ranks, "one interruption": len(row["down"]) == 1, "nothing left": not row["problems"]}
        wrong += [f"{way.name}: not true: {what}" for what, holds in found.items() if not holds]
    return wrong


def prepare(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reference.raw").unlink(missing_ok=True)


def report(options, found):
    import page  # matplotlib is not needed for anything else

    to_docs = not options.quick
    folder = environment.ROOT / "build/docs/results" if to_docs else options.output
    images = environment.ROOT / "docs/images" if to_docs else options.output
    written = page.write(found, options.queue, str(folder / "time-to-solution.md"), str(images))
    print("time-to-solution:", ", ".join(written))


def main(arguments):
    options = parse(arguments)
    options.output = options.output.resolve()
    results = options.output / "results.json"
    exit_on_signals()
    setup = setup_of(options)
    setup.program = str(Path(options.program or environment.ROOT / "build/release/examples/heat2d").resolve())
    if not options.report:
        prepare(options.output)
    if options.check:
        wrong = check(options, setup)
        for text in wrong:
            print(f"time-to-solution: FAILED: {text}")
        return 1 if wrong else 0
    if not options.report:
        results.write_text(json.dumps(measure(options, setup), indent=1), encoding="utf-8")
    report(options, json.loads(results.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
