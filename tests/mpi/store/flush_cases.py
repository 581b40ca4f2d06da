# SPDX-License-Identifier: BSD-3-Clause
"""Cases: data is written to the store, and what may go wrong with it."""
import re
import shutil
import subprocess
import sys
import time

from harness import nodes
from jobs import expect, fail, fresh_store, start_of

# Places at which the keeper of a node is killed. A file of the dataset is half written, written, or has its name.
KEEPER_POINTS = ["flush.begin", "flush.planned", "flush.piece", "flush.data_synced", "flush.part_renamed", "flush.manifest"]


def other_ranks(jobs, _):
    """The same data on 4, 4, 3, 7 and 1 ranks, and on 4 again."""
    expect(start_of(jobs.run(4, "--steps", 6, "--sync", 2)), (1, -1), "the first start")
    for run, (ranks, steps, begin) in enumerate([(4, 8, 5), (3, 10, 7), (7, 12, 9), (1, 14, 11), (4, 14, 13)], 2):
        expect(start_of(jobs.run(ranks, "--steps", steps, "--sync", 2, "--from", begin)), (run, begin), f"start on {ranks} ranks")
    text = jobs.run(4, "--steps", 6, "--fetch", "step-3", "--from", 3)
    expect(start_of(text), (7, 3), "start with a named dataset")


def policies(jobs, _):
    """All kinds of groups go on as they were."""
    for kind in (["--policy", "imr"], ["--policy", "rs"], ["--policy", "local"], ["--hashing", 0], ["--depth", 0],
                 ["--depth", 0, "--in-place", 1], ["--policy", "rs", "--depth", 0, "--in-place", 1], ["--depth", -1]):
        fresh_store(jobs)
        jobs.run(4, *kind, "--steps", 4, "--sync", 4)
        jobs.run(4, *kind, "--steps", 6, "--async", 1, "--from", 3)
        jobs.run(4, *kind, "--steps", 9, "--every", 2, "--from", 5)
        jobs.run(4, *kind, "--steps", 9, "--from", 7)


def keeper_killed(jobs, _):
    """The keeper dies in the midst of its work: the job goes on, another keeper is started, and no half dataset is taken."""
    step = -1
    for number, point in enumerate(KEEPER_POINTS):
        text = jobs.run(3, "--steps", step + 7, "--every", 1, variables={"FENIX_FAULT": f"{point}:0:{1 + number % 3}"})
        _, begin = start_of(text)
        if begin < step:
            fail(f"{point}: begun with step {begin}, after a job that had ended with {step}")
        step = step + 6
    text = jobs.run(3, "--steps", step + 1)
    if start_of(text)[1] < step - 1:
        fail(f"begun with step {start_of(text)[1]} of {step}")


def flush_killed(jobs, _):
    """A rank dies while a snapshot is flushed."""
    for point in ("flush.offered", "flush.waited"):
        for rank in range(3):
            for way in ("--sync", "--async", "--every"):
                if point == "flush.waited" and way != "--sync":
                    continue
                shutil.rmtree(jobs.store)
                jobs.store.mkdir()
                jobs.run(3, "--steps", 6, way, 2, spares=1, killed=1, variables={"FENIX_FAULT": f"{point}:{rank}:2"})
                jobs.run(3, "--steps", 6, "--from", 5)


def node_lost(jobs, _):
    """A node dies with its daemon, and two ranks that protect each other with it: the job goes on from the store, without a new start."""
    if not nodes.are_possible() or not nodes.survive_loss():
        sys.exit(77)
    jobs.number += 1
    folder = jobs.work / "nodes"
    program = [jobs.program, "--steps", 100000, "--from-steps", 200, "--nap", 10, "--every", 10, "--says", 1]
    lost = []

    def look():
        if not lost and "\nstep 50" in job.text():
            lost.append("node2")
            job.nodes.kill("node2")

    # A keeper waits so long for the parts that the lost node has not written.
    flush_timeout = 10
    variables = dict(jobs.variables, STORE_SPARES="2", FENIX_FLUSH_TIMEOUT=str(flush_timeout))
    with nodes.JobOnNodes([2, 2, 2], program, folder, 100, variables, linger=flush_timeout + 2) as job:
        job.follow(look)
        hung, left, text = job.hung, job.finish(), job.text()
    starts = [int(step) for step in re.findall(r"^run 1 from (-?\d+) of 4 ranks", text, re.MULTILINE)]
    if hung or not lost or len(starts) != 2 or starts[0] != -1 or not 39 <= starts[1] < 200 or text.count("FENIX-TEST-OK") != 4:
        fail(f"hung: {hung}; begun with {starts}\n{text}")
    if left.complaints():
        fail(f"{left.complaints()}")


def full_disk(jobs, _):
    """The store has no room: flushes fail on all ranks, the job goes on, and what was there stays."""
    jobs.run(3, "--steps", 2, "--sync", 2)
    # No file of the keeper may have more bytes than the data that was there.
    keeper = jobs.work / "keeper"
    keeper.write_text(f"#!/bin/bash\ntrap '' XFSZ\nulimit -f 20\nexec {jobs.tools}/fenix-keeper\n", encoding="ascii")
    keeper.chmod(0o700)
    text = jobs.run(3, "--steps", 6, "--every", 1, "--from", 1, variables={"FENIX_KEEPER": str(keeper)})
    expect(text.count("a snapshot could not be flushed"), 1, f"warnings of flushes of one node\n{text}\n")
    jobs.run(3, "--steps", 6, "--sync", 2, "--full", "too large", variables={"FENIX_KEEPER": str(keeper)})
    expect([path.name for path in jobs.store.glob("5.*/d.*")], ["d.0.0"], "the data files that are left")
    expect(start_of(jobs.run(3, "--steps", 4))[1], 1, "start after a full disk")


def hung_disk(jobs, _):
    """The keeper is stopped, as by a file system that does not answer: commits go on, and so do repairs."""
    begun = time.monotonic()
    jobs.run(3, "--steps", 30, "--every", 1, "--nap", 5, spares=1, killed=1,
             variables={"FENIX_FAULT": "flush.piece:0:4:delay=20000,store.begin:1:40", "FENIX_FLUSH_TIMEOUT": "1"})
    if time.monotonic() - begun > 20:
        fail(f"the job took {time.monotonic() - begun:.0f} s, and none of it is in a file system that hangs for 20 s")


class Disk:
    """A file system of its own for the store, of so many bytes: ext4 in a file, by a loop device. Skips the test where that is not possible."""

    def __init__(self, jobs, size):
        self.image, self.folder = jobs.work / "disk", jobs.work / "mounted"
        self.folder.mkdir(exist_ok=True)
        with open(self.image, "wb") as image:
            image.truncate(size)
        for command in (["mkfs.ext4", "-q", "-O", "^has_journal", "-m", "0", self.image], ["mount", "-o", "loop", self.image, self.folder]):
            try:
                done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60, check=False)
            except OSError as error:
                self.skip(command, error)
            if done.returncode != 0:
                self.skip(command, done.stderr)
        self.variables = {"FENIX_STORE": str(self.folder / "store")}
        (self.folder / "store").mkdir()

    @staticmethod
    def skip(command, why):
        print(f"check-jobs: skipped: {command[0]}: {why}")
        sys.exit(77)

    def freeze(self, flag):
        subprocess.run(["fsfreeze", flag, str(self.folder)], timeout=60, check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", str(self.folder)], timeout=60, check=False)


def small_disk(jobs, _):
    """There is room for one dataset and a half."""
    jobs.run(3, "--steps", 2, "--sync", 2, "--elements", 200000)
    size = sum(path.stat().st_size for path in jobs.store.glob("5.*/*"))
    with Disk(jobs, size * 3 // 2 + (1 << 20)) as disk:
        jobs.run(3, "--steps", 2, "--sync", 2, "--elements", 200000, variables=disk.variables)
        names = sorted(path.name for path in (disk.folder / "store").glob("5.*/*"))
        jobs.run(3, "--steps", 6, "--sync", 2, "--elements", 200000, "--full", "No space left", variables=disk.variables)
        # The room is given back, and what was there is whole.
        left = [path for path in (disk.folder / "store").glob("5.*/d.*")]
        expect(sorted(path.name for path in (disk.folder / "store").glob("5.1.*/*") if "tried" not in path.name), names, "the files of the first dataset")
        expect(len(left), 1, f"the data files: {left}")
        # The next one takes the place of the first.
        text = jobs.run(3, "--steps", 8, "--elements", 200000, variables=disk.variables)
        expect(start_of(text)[1], 1, "start after a full disk")


def frozen_disk(jobs, _):
    """The file system is frozen while the job flushes: commits and repairs go on, and the job ends. What had been written stays."""
    with Disk(jobs, 64 << 20) as disk:
        frozen = []

        def freeze(job):
            if not frozen and "step 20" in job.text():
                frozen.append(True)
                disk.freeze("--freeze")

        begun = time.monotonic()
        try:
            text = jobs.run(3, "--steps", 100, "--every", 3, "--nap", 5, "--says", 1, spares=1, killed=1, look=freeze, ends=False,
                            variables=dict(disk.variables, FENIX_FLUSH_TIMEOUT="1", FENIX_FAULT="store.begin:1:250"))
        finally:
            if frozen:
                disk.freeze("--unfreeze")
        if not frozen or text.count("FENIX-TEST-OK") != 3 or time.monotonic() - begun > 30:
            fail(f"frozen: {frozen}, {time.monotonic() - begun:.0f} s\n{text}")
        # Nobody can end a keeper that hangs in the system, before the file system goes on.
        jobs.kill_keepers()
        begin = start_of(jobs.run(3, "--steps", 400, "--from-steps", 3, variables=disk.variables))[1]
        if not 17 <= begin <= 99:
            fail(f"begun with {begin}, after a file system that was frozen behind step 20")


def overtaken(jobs, _):
    """Commits do not overwrite a snapshot that a flush is reading: they wait for it, for a while."""
    text = jobs.run(3, "--steps", 12, "--every", 5, "--depth", 0, "--nap", 1, variables={"FENIX_FAULT": "flush.piece:0:1:delay=500", "FENIX_LOG": "info"})
    expect([path.parent.name for path in jobs.store.glob("5.4.1.*/manifest")], ["5.4.1.1"], f"the datasets of the delayed flush\n{text}")


def keeper_stopped(jobs, number):
    """The keeper is stopped, or is no keeper: no rank waits for ever, and the job goes on."""
    stopped = {"FENIX_FLUSH_TIMEOUT": "1", "FENIX_FAULT": "flush.piece:0:2:stop"}
    ways = (["--sync", 3, "--full", "the store"], ["--every", 1, "--depth", 0, "--in-place", 1], ["--every", 1, "--nap", 20])
    for way in ways[:number]:
        fresh_store(jobs)
        # Nobody can end the keeper but this test.
        text = jobs.run(3, "--steps", 6, *way, variables=stopped, ends=False)
        expect(text.count("FENIX-TEST-OK"), 3, f"the ranks that have ended, {way}")
        jobs.kill_keepers()
    keeper = jobs.work / "keeper"
    keeper.write_text("#!/bin/sh\nexec sleep 1000\n", encoding="ascii")
    keeper.chmod(0o700)
    jobs.run(3, "--unusable", 1, variables={"FENIX_KEEPER": str(keeper)})
    # It begins a run, and then it does not look for datasets: the job must not begin anew.
    text = jobs.run(3, "--unusable", 1, ends=False, variables={"FENIX_FLUSH_TIMEOUT": "1", "FENIX_FAULT": "fetch.found:0:1:delay=3000"})
    expect(text.count("FENIX-TEST-OK"), 3, "the ranks that have ended without a look at the store")
    jobs.kill_keepers()


def mended(jobs, _):
    """A bit has flipped in the memory of a rank: a flush mends it, and does not write it."""
    for policy in ("imr", "rs"):
        fresh_store(jobs)
        text = jobs.run(3, "--policy", policy, "--steps", 4, "--sync", 2,
                        variables={"FENIX_FAULT": "corrupt.own:1:2:flip=3", "FENIX_LOG": "info"})
        if "1 versions mended before a flush, 0 lost" not in text:
            fail(f"nothing was mended: {text}")
        jobs.run(3, "--policy", policy, "--steps", 4, "--fetch", "step-1", "--from", 1)


CASES = (other_ranks, policies, keeper_killed, flush_killed, node_lost, full_disk, hung_disk, small_disk, frozen_disk, overtaken,
         keeper_stopped, mended)
