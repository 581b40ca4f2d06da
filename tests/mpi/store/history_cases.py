# SPDX-License-Identifier: BSD-3-Clause
"""Cases: random histories of jobs on real files, with kills, damage and deletions. A start must find the newest dataset that is whole."""
import random
import re
import shutil
import signal
import sys
import time

from harness import nodes, processes
from jobs import expect, fail, kill_launcher, name_of, start_of

GROUP = 5
SYNC = 2  # each so many-th step is flushed, and waited for
HEAD = 64  # bytes of a file before its body


class Dataset:
    """One that a job has flushed. is_sure: the job has told of its end. state: whole, damaged, or unknown."""

    def __init__(self, run, step, is_sure):
        self.run, self.step, self.is_sure = run, step, is_sure
        self.state = "whole"

    def folder(self, store):
        """Returns where it is; None if there is nothing."""
        found = sorted(store.glob(f"{GROUP}.{self.step}.{self.run}.*"))
        return found[-1] if found else None


class History:
    def __init__(self, jobs, seed, on_nodes):
        """on_nodes: jobs are on two nodes, whose keepers write each dataset together."""
        self.jobs, self.chance, self.on_nodes = jobs, random.Random(seed), on_nodes
        shutil.rmtree(jobs.store, ignore_errors=True)
        jobs.store.mkdir()
        self.elements = self.chance.choice([300, 20000])
        self.datasets = []
        self.told = [f"seed {seed}"]
        self.counts = {}

    def note(self, what):
        self.told.append(what)
        kind = what.split(":")[0]
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def allowed(self):
        """Returns the steps with which a job may begin: that of the newest dataset that is surely whole, and of those that may be whole and are newer."""
        steps = set()
        for each in sorted(self.datasets, key=lambda one: (one.run, one.step), reverse=True):
            if each.state == "damaged":
                continue
            steps.add(each.step)
            if each.is_sure and each.state == "whole":
                return steps
        return steps | {-1}

    def look(self, end, wait):
        """Returns a function that looks at a job, and kills what end names some time after its first commit."""
        since = None
        is_done = False

        def look(job):
            nonlocal since, is_done
            if since is None and re.search(r"^step ", job.text(), re.MULTILINE):
                since = time.monotonic()
            if since is None or is_done or time.monotonic() < since + wait:
                return
            is_done = True
            self.kill(job, end)

        return look

    def kill(self, job, end):
        """Kills what end names, of a job."""
        on_nodes = [pid for _, _, pid in job.nodes.ranks()] if self.on_nodes else []
        ranks = [pid for pid in on_nodes or [one.pid for one in job.find()] if name_of(pid) == "store_job"]
        if end == "all" and self.on_nodes:
            for node in sorted({node for node, _, _ in job.nodes.ranks()}):
                job.nodes.kill(node)
            job.nodes.kill_launcher()
        elif end == "all":
            kill_launcher(job)
            for each in ranks:
                processes.send(each, signal.SIGKILL)
        # One may end at any time.
        keepers = self.jobs.keepers() if end == "keeper" else []
        if keepers:
            # The others go on.
            processes.send(self.chance.choice(keepers), signal.SIGKILL)
        if end == "rank" and ranks:
            processes.send(self.chance.choice(ranks), signal.SIGKILL)

    def run_here(self, ranks, spares, end, arguments, look):
        """Runs a job on this node. Returns what it has printed."""
        if end != "all":
            return self.jobs.run(ranks, *arguments, spares=spares, killed=spares, look=look, ends=end != "rank")
        text = self.jobs.start(ranks, *arguments, variables={}, look=look)
        self.jobs.kill_keepers()
        return text

    def run_on_nodes(self, ranks, spares, end, arguments, look):
        """Runs a job on two nodes, with its spare on a third one. Returns what it has printed."""
        seconds = 10
        layout = [ranks - ranks // 2, ranks // 2] + ([spares] if spares else [])
        folder = self.jobs.work / f"job.{len(self.told)}"
        variables = dict(self.jobs.variables, STORE_SPARES=str(spares), FENIX_FLUSH_TIMEOUT=str(seconds))
        with nodes.JobOnNodes(layout, [self.jobs.program, *arguments], folder, 90, variables, linger=seconds + 2) as job:
            job.follow(lambda: look(job))
            hung, left, text = job.hung, job.finish(), job.text()
        is_short = end in ("end", "keeper") and text.count("FENIX-TEST-OK") < ranks
        if hung or "FENIX-TEST-FAIL" in text or is_short or (end != "all" and left.complaints()):
            fail(f"hung: {hung}; {left.complaints()}\n{text}\n" + "\n".join(self.told))
        shutil.rmtree(folder, ignore_errors=True)
        return text

    def run_job(self):
        end = self.chance.choice(["end", "all", "all", "keeper", "rank"])
        ranks = self.chance.choice([2, 3, 4])
        arguments = ["--elements", self.elements, "--sync", SYNC, "--says", 1, "--policy", self.chance.choice(["imr", "xor", "rs"]), "--cohort", min(ranks, 3)]
        allowed = self.allowed()
        look = self.look(end, self.chance.uniform(0, 0.3))
        # A job that is killed has no end of its own.
        length = ["--steps", 1 << 20, "--nap", 5] if end == "all" else ["--from-steps", self.chance.randrange(3, 8), "--nap", 0 if end == "end" else 60]
        run = self.run_on_nodes if self.on_nodes else self.run_here
        text = run(ranks, 1 if end == "rank" else 0, end, [*length, *arguments], look)
        # One that is killed at its very end is not replaced.
        if end == "rank" and text.count("FENIX-TEST-OK") < ranks - 1:
            fail(f"a rank was killed, and the others have not ended well:\n{text}")
        self.jobs.await_keepers()
        self.note(f"{end}: {ranks} ranks, {' '.join(map(str, arguments))}: {' '.join(re.findall('^(?:run|step|flushed).*$', text, re.MULTILINE))}")
        run, begin = start_of(text)
        if begin is None:
            return
        if begin not in allowed:
            fail(f"a job has begun with step {begin}, not with one of {sorted(allowed)}:\n" + "\n".join(self.told))
        flushed = [int(step) for step in re.findall(r"^flushed (\d+)$", text, re.MULTILINE)]
        self.datasets += [Dataset(run, step, True) for step in dict.fromkeys(flushed)]
        # A flush that was under way may be complete, and the job may have done more than it has told.
        there = {int(folder.name.split(".")[1]) for folder in self.jobs.store.glob(f"{GROUP}.*.{run}.*")}
        self.datasets += [Dataset(run, step, False) for step in there - set(flushed)]
        # Whatever it has begun with was whole.
        for each in self.datasets:
            if each.step == begin and each.run < run and each.state == "unknown":
                each.state = "whole"

    def harm(self):
        """Damages or deletes one of the latest datasets."""
        there = [each for each in self.datasets if each.folder(self.jobs.store)]
        if not there:
            return
        dataset = self.chance.choice(there[-3:])
        folder = dataset.folder(self.jobs.store)
        if self.chance.random() < 0.3:
            self.jobs.tool("fenix-index", "--delete", folder.name)
            self.datasets.remove(dataset)
            return self.note(f"delete: {folder.name}")
        files = sorted(one for one in folder.iterdir() if re.fullmatch(r"plan|manifest|p\.\d+|d\.\d+\.\d+", one.name) and one.stat().st_size > HEAD)
        if not files:
            return
        file = self.chance.choice(files)
        way = self.chance.choice(["flip", "flip", "cut", "remove"])
        content = bytearray(file.read_bytes())
        place = self.chance.randrange(len(content))
        if way == "flip":
            content[place] ^= 1 << self.chance.randrange(8)
            file.write_bytes(content)
        if way == "cut":
            file.write_bytes(content[:place])
        if way == "remove":
            file.unlink()
        self.note(f"{way}: {place} of {len(content)} bytes of {folder.name}/{file.name}")
        # A manifest is only a list. Not every byte of a head counts, nor of the space between members.
        may_not_count = file.name == "manifest" or (way == "flip" and (place < HEAD or file.name.startswith("d.")))
        dataset.state = "unknown" if may_not_count or dataset.state == "unknown" else "damaged"


def histories(jobs, number, on_nodes=False):
    """Random histories: jobs end, or are killed with their keepers, or lose a rank or a keeper; then files are damaged, and datasets deleted."""
    first = random.SystemRandom().randrange(1 << 31)
    print(f"check-jobs: seed {first}", flush=True)
    counts = {}
    for seed in range(first, first + number):
        history = History(jobs, seed, on_nodes)
        for _ in range(history.chance.randrange(2, 6)):
            history.run_job()
            while history.chance.random() < 0.5:
                history.harm()
        for kind, times in history.counts.items():
            counts[kind] = counts.get(kind, 0) + times
    print(f"check-jobs: {number} histories: " + ", ".join(f"{kind} {times}" for kind, times in sorted(counts.items())))
    expect(all(counts.get(kind) for kind in ("end", "all", "keeper", "rank", "flip", "cut", "delete")) or number < 10, True, "each kind of event")


def histories_on_nodes(jobs, number):
    """The same on two nodes, whose keepers write each dataset together."""
    if not nodes.are_possible() or not nodes.survive_loss():
        sys.exit(77)
    histories(jobs, number, on_nodes=True)


CASES = (histories, histories_on_nodes)
