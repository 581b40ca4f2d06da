# SPDX-License-Identifier: BSD-3-Clause
"""Cases: jobs go on from the store, and begin and end as they are told."""
import json
import os
import random
import re
import subprocess
import time

from jobs import expect, fail, fresh_store, kill_launcher, start_of

# Places at which a rank is killed, or the keeper that works for it, while the job begins with a dataset.
FETCH_POINTS = ["fetch.begin", "fetch.met", "fetch.resumed", "fetch.member", "fetch.staged", "fetch.committed", "fetch.agreed"]
# It has done some of the work then; its successor comes less far.
READER_FAULTS = ["fetch.rank:0:3", "fetch.read:0:14"]


def fetch_killed(jobs, _):
    """A rank, or the keeper, dies while a job begins with a dataset."""
    jobs.run(3, "--steps", 4, "--sync", 4)
    for point in FETCH_POINTS:
        for rank in range(3):
            text = jobs.run(3, "--steps", 5, "--from", 3, spares=1, killed=1, variables={"FENIX_FAULT": f"{point}:{rank}:1"})
            if "of 3 ranks" not in text:
                fail(f"{point}: {text}")
    for fault in READER_FAULTS:
        jobs.run(3, "--steps", 5, "--from", 3, variables={"FENIX_FAULT": fault})


def kills_after(wait, step_first):
    """Returns a function that looks at a job, and kills its mpirun after so many seconds. They count from the start of the job, or with
    step_first, from the first step of which the job has told."""
    since = None

    def look(job):
        nonlocal since
        if since is None and (not step_first or re.search(r"^step ", job.text(), re.MULTILINE)):
            since = time.monotonic()
        if since is not None and job.process.poll() is None and time.monotonic() > since + wait:
            kill_launcher(job)

    return look


def relaunched(jobs, number):
    """mpirun is killed at random times, again and again: each fourth time while the job begins, else after its first step. Each job begins
    with a step that is not older than the one before it did. If memory was kept, and there are as many ranks again, no step is lost of which
    the job before has told."""
    seed = random.SystemRandom().randrange(1 << 31)
    chance = random.Random(seed)
    print(f"check-jobs: seed {seed}")
    # On a slow machine jobs take longer for everything.
    begun = time.monotonic()
    jobs.run(3, "--steps", 2)
    pace = max(1.0, 1.5 * (time.monotonic() - begun))
    step, progress, in_memory = -1, 0, 0
    kept, ranks = None, 0  # the latest step in memory, and of how many ranks
    for each in range(number):
        before, ranks = ranks, ranks if ranks and chance.random() < 0.7 else chance.choice([2, 3, 4])
        lease = chance.choice([0, 20, 20])
        look = kills_after(pace * chance.uniform(0.2, 1.2), step_first=each % 4 != 3)
        text = jobs.start(ranks, "--steps", 1 << 20, "--nap", 1, "--every", 3, "--elements", 20000, "--says", 1, variables={"FENIX_KEEP": str(lease)}, look=look)
        run, begin = start_of(text)
        if begin is None:
            continue
        if begin < step:
            fail(f"run {run} has begun with step {begin}, and an earlier one with {step}")
        if kept is not None and lease and ranks == before:
            in_memory += 1
            if begin < kept:
                fail(f"run {run} has begun with step {begin}, and {kept} was in memory")
        told = re.findall(r"^step (\d+)$", text, re.MULTILINE)
        kept = int(told[-1]) if lease and told else None
        progress += begin > step
        step = begin
    print(f"check-jobs: {number} jobs killed, {progress} of them have begun with a newer step, {in_memory} with memory; the last one with step {step}")
    if progress < number // 3:
        fail("too few of them have got on")
    jobs.run(3, "--steps", step + 40, "--every", 3, "--elements", 20000, variables={"FENIX_KEEP": "20"})


def tools(jobs, _):
    """fenix-index and fenix-halt tell what is there, and change it."""
    jobs.run(3, "--steps", 6, "--sync", 2)
    listed = json.loads(jobs.tool("fenix-index", "--json"))
    expect([each["dataset"] for each in listed], ["5.5.1.1", "5.3.1.1", "5.1.1.1"], "the list")
    expect({each["state"] for each in listed}, {"complete"}, "the states")
    lines = re.findall(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (.*)$", jobs.tool("fenix-index", "--log", 0), re.MULTILINE)
    expect((lines[0], sorted(lines[1:-1]), lines[-1]),
           ("run 1 begins", [f"dataset 5.{step}.1.1 is complete" for step in (1, 3, 5)], "the program has come to its end"), "the log")
    jobs.tool("fenix-index", "--log", 2, status=2)
    expect(jobs.tool("fenix-index", "--latest", 5).strip(), "5.5.1.1", "the latest one")
    jobs.tool("fenix-index", "--current", "5.1.1.1")
    expect(start_of(jobs.run(3, "--steps", 3))[1], 1, "start with the current one")
    jobs.tool("fenix-index", "--current", "newest")
    # A file that is cut short, and a bit that has flipped.
    part = jobs.store / "5.5.1.1/p.0"
    part.write_bytes(part.read_bytes()[:-1])
    (jobs.store / "5.5.1.1/manifest").unlink()
    data = jobs.store / "5.3.1.1/d.0.0"
    flipped = bytearray(data.read_bytes())
    flipped[8195] ^= 4
    data.write_bytes(flipped)
    told = jobs.tool("fenix-index", "--verify", "all", status=1)
    expect(("5.3.1.1 is damaged" in told, "5.1.1.1 is whole" in told, "5.5.1.1 is damaged" in told), (True, True, True), "what verify tells")
    for what in ("--verify", "--dump", "--delete", "--current"):
        jobs.tool("fenix-index", what, "5.99.1.1", status=2)
    # What cannot be read hides no other one.
    (jobs.store / "5.9.1.1").write_bytes(b"no folder")
    part, kept = jobs.store / "5.3.1.1/p.0", jobs.work / "p.0"
    part.rename(kept)
    part.mkdir()
    told = jobs.tool("fenix-index", "--verify", "all", status=1)
    expect([text in told for text in ("5.9.1.1 is unreadable: ", "5.3.1.1 is unreadable: ", "5.1.1.1 is whole\n")], [True] * 3,
           f"what verify tells\n{told}")
    # Its path may have any bytes.
    odd = jobs.work / os.fsdecode(b"st\xe9")
    odd.mkdir()
    (odd / "5.9.1.1").write_bytes(b"no folder")
    told = subprocess.run([jobs.tools / "fenix-index", odd, "--json"], env=jobs.variables, stdout=subprocess.PIPE, timeout=60, check=True).stdout
    expect(json.loads(told)[0]["state"], "unreadable", "the state in a folder of any bytes")
    part.rmdir()
    kept.rename(part)
    (jobs.store / "5.9.1.1").unlink()
    expect([each["state"] for each in json.loads(jobs.tool("fenix-index", "--json"))], ["damaged", "complete", "complete"], "the states")
    # Damage is found by the job as well, which takes the next older one.
    expect(start_of(jobs.run(3, "--steps", 3))[1], 1, "start beside damage")
    (jobs.store / "5.1.1.1/manifest").unlink()
    expect(jobs.tool("fenix-index", "--build").strip(), "2 manifests", "what build tells")
    jobs.tool("fenix-index", "--delete", "5.3.1.1")
    jobs.tool("fenix-index", "--delete", "5.3.1.1", status=2)
    jobs.tool("fenix-index", "--latest", 6, status=2)
    expect(jobs.tool("fenix-halt", "--check"), "", "the end of a job that has ended")
    jobs.tool("fenix-halt", "--commits", 3, "--reason", "enough")
    expect(jobs.tool("fenix-halt", "--show"), "run 3\ncommits 3\nreason enough\nend\n", "what halt shows")
    jobs.tool("fenix-halt", "--remove")
    expect(jobs.tool("fenix-halt", "--show"), "", "what halt shows")


def damaged(jobs, _):
    """A flipped bit in any file of the newest dataset: the older one is taken, and if all are damaged, the program is told."""
    jobs.run(3, "--steps", 4, "--sync", 2)
    # Members begin at multiples of 4096 bytes.
    for name, place in (("d.0.0", 0), ("d.0.0", 8195), ("p.0", 70), ("p.0", 10), ("plan", 100), ("manifest", 3)):
        file = jobs.store / "5.3.1.1" / name
        kept = file.read_bytes()
        broken = bytearray(kept)
        broken[place] ^= 1
        file.write_bytes(broken)
        # A manifest is only a list: without it, the parts are looked at.
        expect(start_of(jobs.run(3, "--steps", 2))[1], 3 if name == "manifest" else 1, f"start with a flipped bit in {name}")
        file.write_bytes(kept)
    for stamp in (1, 3):
        (jobs.store / f"5.{stamp}.1.1/d.0.0").write_bytes(b"")
        (jobs.store / f"5.{stamp}.1.1/manifest").unlink()
    expect(start_of(jobs.run(3, "--steps", 2))[1], -1, "start without a whole dataset")


def damaged_other_ranks(jobs, _):
    """P10: data of the newest dataset is damaged, and the next job has another number of ranks. It goes on from the older one."""
    jobs.run(2, "--steps", 4, "--sync", 2)
    file = jobs.store / "5.3.1.1/d.0.0"
    kept = file.read_bytes()
    # Behind the last member, the file is filled up.
    for place in (0, 8195, len(kept.rstrip(b"\0")) - 1):
        broken = bytearray(kept)
        broken[place] ^= 1
        file.write_bytes(broken)
        for ranks in (1, 3):
            text = jobs.run(ranks, "--steps", 2)
            expect(start_of(text)[1], 1, f"start of {ranks} ranks with a flipped bit at {place} in the data of 2 ranks")
    file.write_bytes(kept)
    jobs.run(3, "--steps", 4, "--from", 3)


def fetched_in_vain(jobs, _):
    """P1, P7: a name that no dataset has, or one whose data is damaged, does not take the place of what is in memory."""
    jobs.run(3, "--steps", 4, "--sync", 2)
    jobs.run(3, "--steps", 8, "--from", 3, "--missing", "nowhere")
    # Something that a start cannot use is in the store as well.
    left = jobs.store / "5.99.1.1"
    left.mkdir()
    (left / "d.0.0").write_bytes(b"some bytes")
    jobs.run(3, "--steps", 8, "--from", 3, "--missing", "nowhere")
    (jobs.store / "5.1.1.1/p.0").write_bytes(b"")
    for ranks in (3, 2):
        jobs.run(ranks, "--steps", 8, "--from", 3, "--missing", "step-1")


def beyond_policy(jobs, _):
    """Two ranks that protect each other die at once: the job goes on from the store, without a new start."""
    text = jobs.run(4, "--steps", 12, "--every", 3, spares=2, killed=2,
                    variables={"FENIX_FAULT": "store.begin:0:24,store.begin:1:24"})
    starts = [int(step) for step in re.findall(r"^run 1 from (-?\d+) of", text, re.MULTILINE)]
    if len(starts) < 2 or starts[-1] < 2:
        fail(f"begun with {starts}: {text}")


def need_commit(jobs, _):
    """All ranks are told the same, by calls, by time, and after a death."""
    for variables in ({"FENIX_COMMIT_EVERY": "4"}, {"FENIX_COMMIT_SECONDS": "0.05"}, {"FENIX_COMMIT_OVERHEAD": "5"}, {"FENIX_COMMIT_MTBF": "60"}):
        text = jobs.run(3, "--steps", 200, "--nap", 1, "--asks", 1, variables=variables)
        commits = int(re.search(r"^(\d+) commits", text, re.MULTILINE)[1])
        if not 2 <= commits <= 180 or ("EVERY" in str(variables) and commits != 50):
            fail(f"{variables}: {commits} commits")
        jobs.run(3, "--steps", 200, "--nap", 1, "--asks", 1, spares=1, killed=1,
                 variables=dict(variables, FENIX_FAULT="commit.begin:1:2"))
        fresh_store(jobs)


def halt(jobs, _):
    """The job ends when it is told to, on all ranks after the same step."""
    now = int(time.time())
    text = jobs.run(3, "--steps", 100000, "--nap", 1, "--asks", 1,
                    variables={"FENIX_COMMIT_EVERY": "10", "FENIX_END_TIME": str(now + 8), "FENIX_HALT_SECONDS": "6"})
    if "told to end" not in text:
        fail(f"not told of the end of the allocation: {text}")
    text = jobs.run(3, "--steps", 100000, "--nap", 1, "--asks", 1, "--halt", 50, variables={"FENIX_COMMIT_EVERY": "10"})
    if "told to end" not in text:
        fail(f"not told of its own wish: {text}")

    def tell(job):
        # After the death of a rank.
        if job.text().count("of 3 ranks") == 2 and not (jobs.store / "halt").exists():
            # With the form that fenix-halt writes.
            (jobs.store / "halt.new").write_text("run 3\ncommits 2\nreason a test\nend\n", encoding="ascii")
            (jobs.store / "halt.new").rename(jobs.store / "halt")

    (jobs.store / "halt").unlink()
    # A rank that takes the place of a dead one begins to count its calls anew.
    text = jobs.run(3, "--steps", 100000, "--nap", 1, "--asks", 1, spares=1, killed=1, look=tell,
                    variables={"FENIX_COMMIT_EVERY": "10", "FENIX_FAULT": "store.begin:1:5"})
    if "told to end" not in text:
        fail(f"not told of fenix-halt: {text}")
    # The keeper looks for datasets of the job's group, and does not answer when the first question looks for those of all ranks.
    text = jobs.run(3, "--steps", 60, "--nap", 100, "--asks", 1, ends=False,
                    variables={"FENIX_COMMIT_EVERY": "10", "FENIX_FLUSH_TIMEOUT": "1", "FENIX_FAULT": "fetch.found:0:2:delay=3000"})
    expect((text.count("FENIX-TEST-OK"), "told to end" in text, "nobody knows" in text), (3, False, True),
           f"the end of a job whose store does not answer\n{text}")
    jobs.await_keepers()


def datasets(jobs, _):
    """The functions for datasets, and what a program says of one that it cannot use."""
    jobs.run(3, "--steps", 8, "--sync", 2)
    text = jobs.run(3, "--steps", 8, "--lists", 1)
    expect(re.findall(r"^dataset (\S+) (\S+) (\d)$", text, re.MULTILINE),
           [("5.7.1.1", "step-7", "1"), ("5.5.1.1", "step-5", "1"), ("5.3.1.1", "step-3", "1"), ("5.1.1.1", "step-1", "1")], "the list")
    expect(sorted(path.name for path in jobs.store.glob("5.*")), ["5.1.1.1", "5.3.1.1", "5.7.1.1"], "what is left after a deletion")
    expect(start_of(jobs.run(3, "--steps", 8, "--refuses", 1))[1], 3, "start after a refusal")
    # Three jobs begin with the newest one, and die before they commit.
    for _ in range(3):
        jobs.run(3, "--steps", 20, variables={"FENIX_FAULT": "store.begin:0:1,store.begin:1:1,store.begin:2:1"}, ends=False)
    expect(start_of(jobs.run(3, "--steps", 8))[1], 3, "start after three jobs that died with the newest one")
    expect(start_of(jobs.run(3, "--steps", 8, variables={"FENIX_FETCH": "off"}))[1], -1, "start without a look at the store")
    # A job must not begin anew because its store is away.
    jobs.run(3, "--unusable", 1, variables={"FENIX_STORE": str(jobs.store / "away/store")})
    jobs.run(3, "--unusable", 1, variables={"FENIX_KEEPER": "/nonexistent"})


def fenix_run(jobs, _):
    """fenix-run starts a job again until it has ended, and not for ever."""
    run = [jobs.tools / "fenix-run", "--store", jobs.store, "--"]

    killed = []

    def kill(job):
        # Once: the next mpirun may be there before the output tells of it.
        if not killed and "of 3 ranks" in job.text() and (jobs.store / "5.9.1.1/manifest").exists():
            killed.append(True)
            kill_launcher(job)

    text = jobs.run(3, "--steps", 300, "--nap", 5, look=kill, command=run)
    expect([int(step) >= 9 for step in re.findall(r"^run 2 from (\d+) of", text, re.MULTILINE)], [True], "the second start")
    fresh_store(jobs)
    text = jobs.run(3, "--steps", 9, command=[jobs.tools / "fenix-run", "--runs", "3", "--store", jobs.store, "--"], ends=False,
                    variables={"FENIX_FAULT": "store.begin:0:4,store.begin:1:4,store.begin:2:4"})
    if "the program was started 3 times" not in text or text.count("start number") != 2:
        fail(f"too many starts: {text}")
    # A job that does not move.
    text = jobs.run(3, "--steps", 9, command=[jobs.tools / "fenix-run", "--runs", "2", "--hang", "2", "--store", jobs.store, "--"], ends=False,
                    variables={"FENIX_FAULT": "store.begin:0:7:stop"})
    if "mpirun is killed" not in text:
        fail(f"a job that hangs: {text}")
    (jobs.store / "launcher").write_text("elsewhere 1\n", encoding="ascii")
    text = jobs.run(3, "--steps", 9, command=run, ends=False)
    if "fenix-run uses" not in text:
        fail(f"two on one store: {text}")


CASES = (damaged_other_ranks, fetched_in_vain, fetch_killed, relaunched, tools, damaged, beyond_policy, need_commit, halt, datasets, fenix_run)
