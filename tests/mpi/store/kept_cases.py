# SPDX-License-Identifier: BSD-3-Clause
"""Cases: memory of a job that has died is kept for the next one, or written."""
import json
import re
import signal
import sys
from pathlib import Path

from harness import nodes, processes
from harness.job import Job, mpirun
from jobs import expect, fail, fresh_store, kill_launcher, launchers_of, name_of, start_of

# Places at which a rank is killed while the job goes on with the memory of the one before.
TAKING_POINTS = ["rejoin.begin", "rejoin.greeted", "memory.adopted", "rejoin.memory", "rejoin.exposed", "rejoin.voided", "rejoin.rebuilt",
                 "rejoin.resumed", "rejoin.end", "keep.taken_over"]
# Places at which ranks are killed while they write what was in memory.
DRAIN_POINTS = ["init.begin:1:1", "keep.taken_over:1:1", "drain.formed:1:2", "flush.offered:1:1", "flush.waited:1:1", "drain.written:1:2", "finish.begin:1:1"]


def killed_at(jobs, word, *arguments, variables):
    """Runs a job of 3 ranks whose launcher is killed when a word was printed. Returns the last step that it has told."""
    text = jobs.start(3, *arguments, "--says", 1, variables=variables, look=lambda job: word in job.text() and kill_launcher(job))
    return max(int(step) for step in re.findall(r"^step (\d+)$", text, re.MULTILINE))


def emptied(jobs, _):
    """P12: what the keeper has of a store that was removed does not come into the one that has its place."""
    lease = {"FENIX_KEEP": "60"}
    killed_at(jobs, "step 300", "--steps", 10000, "--nap", 2, variables=lease)
    fresh_store(jobs)
    # Ranks go on for a while without mpirun.
    told = killed_at(jobs, "step 2\n", "--steps", 10000, "--nap", 100, "--from", -1, variables=lease)
    text = jobs.run(3, "--steps", 20000, "--from-steps", 3, variables=lease)
    if not told <= start_of(text)[1] < 300:
        fail(f"begun with {start_of(text)}, after a removed store with step 300 and a job killed behind step {told}")
    jobs.await_keepers()


def kept(jobs, _):
    """All ranks and mpirun are killed, and the next job goes on from the latest commit, which was in no file."""
    def kill(job):
        if "step 20" in job.text():
            kill_launcher(job)

    lease = {"FENIX_KEEP": "30"}
    for kind in (["--policy", "imr"], ["--policy", "rs"], ["--depth", 0, "--hashing", 0]):
        # The keeper is not of the job: it has to live on.
        started = jobs.start(4, *kind, "--steps", 1000, "--nap", 5, "--says", 1, variables=lease, look=kill)
        told = max(int(step) for step in re.findall(r"^step (\d+)$", started, re.MULTILINE))
        expect(list(jobs.store.glob("5.*")), [], "the datasets after a kill")
        text = jobs.run(4, *kind, "--steps", 2000, "--from-steps", 3, variables=dict(lease, FENIX_LOG="info"))
        # Ranks go on for a while without mpirun.
        if start_of(text)[1] < told:
            fail(f"{kind}: begun with {start_of(text)}, after a kill behind step {told}")
        # Nothing is copied: the memory is that of the ranks before.
        expect(sorted(re.findall(r"group 5: (took over|made anew) .*; fetched (\d+) bytes", text)), [("took over", "0")] * 4, f"{kind}: memory")
        jobs.await_keepers()
        expect(list(jobs.store.glob("5.*")), [], "the datasets after an end")
    # Nobody starts it again: the keeper writes.
    started = jobs.start(3, "--steps", 1000, "--nap", 5, "--says", 1, variables={"FENIX_KEEP": "1"}, look=kill)
    told = max(int(step) for step in re.findall(r"^step (\d+)$", started, re.MULTILINE))
    jobs.await_keepers()
    text = jobs.run(3, "--steps", 2000, "--from-steps", 3)
    if start_of(text)[1] < told:
        fail(f"begun with {start_of(text)}, after a kill behind step {told} and the end of the lease")
    # Without time for the lease.
    fresh_store(jobs)
    started = jobs.start(3, "--steps", 1000, "--nap", 5, "--says", 1, variables={"FENIX_KEEP": "600"}, look=kill)
    told = max(int(step) for step in re.findall(r"^step (\d+)$", started, re.MULTILINE))
    for pid in jobs.keepers():
        processes.send(pid, signal.SIGTERM)
    jobs.await_keepers()
    text = jobs.run(3, "--steps", 2000, "--from-steps", 3)
    if start_of(text)[1] < told:
        fail(f"begun with {start_of(text)}, after a kill behind step {told}, and SIGTERM to the keeper")
    # The keeper is killed before: the next one is told as well.
    fresh_store(jobs)
    killed = []

    def kill_both(job):
        if not killed and "step 9" in job.text():
            killed.append(True)
            jobs.kill_keepers()
        if "step 30" in job.text():
            kill_launcher(job)

    started = jobs.start(3, "--steps", 1000, "--nap", 5, "--says", 1, variables=lease, look=kill_both)
    told = max(int(step) for step in re.findall(r"^step (\d+)$", started, re.MULTILINE))
    text = jobs.run(3, "--steps", 2000, "--from-steps", 3, variables=lease)
    if start_of(text)[1] < told:
        fail(f"begun with {start_of(text)}, after a kill behind step {told} and the death of a keeper")
    jobs.await_keepers()
    # An older dataset is taken if memory is of no use to the program. Data of a later job in the store counts more than memory.
    fresh_store(jobs)
    jobs.start(3, "--steps", 1000, "--nap", 5, "--says", 1, "--every", 5, variables=lease, look=kill)
    text = jobs.run(3, "--steps", 2000, "--from-steps", 3, "--refuses", 1, variables=lease)
    if start_of(text)[1] < 4 or start_of(text)[1] % 5 != 4:
        fail(f"begun with {start_of(text)}, which is not in the store")
    jobs.await_keepers()
    fresh_store(jobs)
    jobs.start(3, "--steps", 1000, "--nap", 5, "--says", 1, variables=lease, look=kill)
    # A job that keeps nothing has the last commit written, and goes on from it (P10).
    between = start_of(jobs.run(3, "--steps", 1000, "--from-steps", 3, "--sync", 2, variables={}))
    last = start_of(jobs.run(3, "--steps", 2000, "--from-steps", 3, variables=lease))
    if between[1] < 20 or last[1] <= between[1]:
        fail(f"begun with {between}, and then with {last}")
    # With another policy than the group had, the store counts.
    fresh_store(jobs)
    jobs.start(3, "--steps", 1000, "--nap", 5, "--says", 1, variables=lease, look=kill)
    expect(start_of(jobs.run(3, "--steps", 4, "--policy", "rs", variables=lease))[1], -1, "start with another policy")
    # A group that was deleted is not there.
    fresh_store(jobs)
    jobs.start(3, "--steps", 12, "--deletes", 1, variables=lease, look=lambda _: None)
    expect(start_of(jobs.run(3, "--steps", 4, variables=lease))[1], -1, "start after the deletion of the group")
    # The keeper dies with the ranks.
    fresh_store(jobs)
    jobs.start(3, "--steps", 1000, "--nap", 5, "--says", 1, "--every", 5, variables=lease, look=kill)
    jobs.kill_keepers()
    text = jobs.run(3, "--steps", 2000, "--from-steps", 3, variables=lease)
    if start_of(text)[1] < 9 or start_of(text)[1] % 5 != 4:
        fail(f"begun with {start_of(text)} from the store")
    jobs.await_keepers()


def stopped_ranks(jobs, _):
    """Ranks of a job live on when the next one begins, stopped, and go on while it runs. It does not get their memory, and nothing that they
    write counts."""
    lease = {"FENIX_KEEP": "30"}
    stopped = []

    def state_of(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return "X"

    def stop(job):
        if not stopped and "step 20" in job.text():
            # In this order: the end of mpirun would let stopped ranks go on, since they have no parent then. At once: they end when they
            # notice it.
            launchers = launchers_of(job)
            stopped.extend(process.pid for process in job.find() if name_of(process.pid) == "store_job")
            for pid in launchers:
                processes.send(pid, signal.SIGKILL)
            while any(state_of(pid) not in "ZX" for pid in launchers):
                continue
            for pid in stopped:
                processes.send(pid, signal.SIGSTOP)

    def go_on(job):
        if "\nstep " in job.text():
            for pid in stopped:
                processes.send(pid, signal.SIGCONT)

    for attempt in range(30):
        fresh_store(jobs)
        stopped.clear()
        with Job(mpirun(3, jobs.program, "--steps", 1000, "--nap", 5, "--says", 1, "--every", 3), jobs.work / f"job.stopped.{attempt}", 60,
                 dict(jobs.variables, **lease)) as first:
            first.follow(lambda: stop(first))
            # Some may have noticed the end of mpirun before.
            if len(stopped) < 3 or any(state_of(pid) != "T" for pid in stopped):
                continue
            text = jobs.start(3, "--steps", 400, "--from-steps", 40, "--nap", 10, "--every", 3, "--says", 1, variables=lease, look=go_on)
            run, begin = start_of(text)
            if run != 2 or begin % 3 != 2 or begin < 17 or text.count("FENIX-TEST-OK") != 3:
                fail(f"run {run} has begun with {begin}, beside ranks that are stopped\n{text}")
            processes.wait_until(lambda: not [one for one in first.find() if name_of(one.pid) == "store_job"], 10)
        break
    else:
        fail("no ranks could be stopped in time")
    jobs.await_keepers()
    last = max(int(step) for step in re.findall(r"^step (\d+)$", text, re.MULTILINE))
    got = start_of(jobs.run(3, "--steps", 2000, "--from-steps", 3))
    if not last - 2 <= got[1] <= last:
        fail(f"run {got[0]} has begun with {got[1]}, and run 2 has ended with {last}")


def kept_killed(jobs, number):
    """Ranks are killed while a job goes on with the memory of the one before: one of them, with a spare for it, and all."""
    lease = {"FENIX_KEEP": "30"}

    def begin():
        def kill(job):
            if "step 9" in job.text():
                kill_launcher(job)

        started = jobs.start(4, "--steps", 1000, "--nap", 5, "--says", 1, variables=lease, look=kill)
        return max(int(step) for step in re.findall(r"^step (\d+)$", started, re.MULTILINE))

    def check(text, told, what):
        starts = [int(step) for step in re.findall(r"^run \d+ from (-?\d+) of 4 ranks", text, re.MULTILINE)]
        # It may have begun before the death as well.
        if not starts or starts[-1] < told:
            fail(f"{what}: begun with {starts}, after a kill behind step {told}\n{text}")
        expect(list(jobs.store.glob("5.*")), [], f"{what}: the datasets")
        jobs.await_keepers()

    for point in TAKING_POINTS[:: len(TAKING_POINTS) // number]:
        # Windows cannot be freed: the regions of the attempt that was cut short stay mapped, and the next one needs them.
        for path in ("map", "window"):
            told = begin()
            faults = dict(lease, FENIX_FAULT=f"{point}:1:1", FENIX_LOG="info", FENIX_PATH=path)
            text = jobs.run(4, "--steps", 2000, "--from-steps", 3, spares=1, killed=1, variables=faults)
            check(text, told, f"{point}, {path}")
            expect("repaired: 4 active ranks" in text, True, f"{point}, {path}: a death")
        # Once more, after a start that came to nothing.
        told = begin()
        faults = ",".join(f"{point}:{rank}:1" for rank in range(4))
        text = jobs.start(4, "--steps", 2000, "--from-steps", 3, variables=dict(lease, FENIX_FAULT=faults), look=lambda _: None)
        expect(text.count("FENIX-TEST-OK"), 0, f"{point}: ranks that have lived")
        check(jobs.run(4, "--steps", 2000, "--from-steps", 3, variables=lease), told, f"{point}, all ranks")


def kept_forced(jobs, _):
    """Moments that random deaths seldom meet. A commit of which the program was told is not lost, whatever its members needed for it; ranks
    that have already gone on with their memory do not lose it when another one dies."""
    lease = {"FENIX_KEEP": "30"}
    for step in range(6):
        # The others have committed, and have not yet told the keeper which regions they have now.
        late = ",".join(f"keep.offered:{rank}:{step + 1}:delay=1500" for rank in (1, 2, 3))

        def kill(job, step=step):
            if f"step {step}\n" in job.text():
                kill_launcher(job)
                # They would go on for a while.
                for process in job.find():
                    if name_of(process.pid) == "store_job":
                        processes.send(process.pid, signal.SIGKILL)

        jobs.start(4, "--steps", 1000, "--says", 1, "--depth", 0, "--list", 3000, variables=dict(lease, FENIX_FAULT=late), look=kill)
        text = jobs.run(4, "--depth", 0, "--list", 3000, "--steps", 2000, "--from-steps", 3, variables=lease)
        expect(start_of(text)[1], step, f"the start after a kill in commit {step + 1}")
        jobs.await_keepers()
        fresh_store(jobs)

    # A program that cannot use what is in memory does not get the same data from the store.
    def kill_when_written(job):
        if (jobs.store / "5.2.1.1/manifest").exists():
            kill_launcher(job)

    jobs.start(3, "--steps", 4, "--nap", 2000, "--every", 1, variables=lease, look=kill_when_written)
    text = jobs.run(3, "--steps", 2000, "--from-steps", 3, "--refuses", 1, variables=lease)
    expect(start_of(text)[1], 1, "the start of a program that has refused its memory")
    jobs.await_keepers()
    fresh_store(jobs)

    def kill_later(job):
        if "step 9\n" in job.text():
            kill_launcher(job)

    for point in ("rejoin.resumed", "rejoin.voided"):
        started = jobs.start(4, "--policy", "local", "--steps", 1000, "--nap", 5, "--says", 1, variables=lease, look=kill_later)
        told = max(int(step) for step in re.findall(r"^step (\d+)$", started, re.MULTILINE))
        text = jobs.run(4, "--policy", "local", "--steps", 2000, "--from-steps", 3, spares=1, killed=1,
                        variables=dict(lease, FENIX_FAULT=f"{point}:1:1", FENIX_WARM_REPLACEMENT="off"))
        starts = [int(step) for step in re.findall(r"^run \d+ from (-?\d+) of 4 ranks", text, re.MULTILINE)]
        if not starts or starts[-1] < told:
            fail(f"{point}: begun with {starts}, after a kill behind step {told}\n{text}")
        jobs.await_keepers()
        fresh_store(jobs)


def drained(jobs, number):
    """A job that has died is not started again: its last commits, which are in memory, go to the store at once. Also if ranks die in that."""
    lease = {"FENIX_KEEP": "60"}
    drain = dict(lease, FENIX_DRAIN="1", FENIX_LOG="info")

    def kill(job):
        if "step 9" in job.text():
            kill_launcher(job)

    def kill_at_start(job):
        if "run 1 from" in job.text():
            kill_launcher(job)

    def begin(*arguments):
        started = jobs.start(4, *arguments, "--other", 1, "--steps", 1000, "--nap", 5, "--says", 1, variables=lease, look=kill)
        return max(int(step) for step in re.findall(r"^step (\d+)$", started, re.MULTILINE))

    def check(told, what, *arguments):
        # Nothing is left in memory, and the run counts as one that has died.
        jobs.await_keepers()
        jobs.tool("fenix-halt", "--check", status=2)
        complete = {each["dataset"].split(".")[0] for each in json.loads(jobs.tool("fenix-index", "--json")) if each["state"] == "complete"}
        expect(complete, {"5", "9"}, f"{what}: groups with a dataset")
        text = jobs.run(4, *arguments, "--other", 1, "--steps", 2000, "--from-steps", 3)
        if start_of(text)[1] < told:
            fail(f"{what}: begun with {start_of(text)}, after a kill behind step {told}")
        fresh_store(jobs)

    for kind in (["--policy", "imr"], ["--policy", "rs", "--in-place", 1, "--depth", 0], ["--policy", "local", "--depth", 0, "--hashing", 0]):
        told = begin(*kind)
        text = jobs.run(4, *kind, spares=1, variables=drain, ends=False)
        expect((text.count("of 4 ranks"), text.count("is in the store")), (0, 8), f"{kind}: what is said")
        check(told, kind, *kind)
    for point in DRAIN_POINTS[:number]:
        for faults in (point, ",".join(point.replace(":1:", f":{rank}:") for rank in range(4))):
            for spares in (0, 1):
                told = begin()
                text = jobs.start(4 + spares, variables=dict(drain, FENIX_FAULT=faults, STORE_SPARES=str(spares)), look=lambda _: None)
                # Nobody goes on into the program. In the end, all data has been written.
                expect(("FENIX-TEST-OK" in text, "of 4 ranks" in text), (False, False), f"{faults}: lines of the program")
                has_written = text.count("the commit that was in memory is in the store") == 8
                expect(bool(jobs.keepers()) or has_written, True, f"{faults}: a keeper lives")
                if jobs.keepers():
                    jobs.run(4, variables=drain, ends=False)
                check(told, faults)
    # Nothing is forgotten if nothing can be written: there are too few ranks, or memory has another size.
    told = begin()
    for ranks in (3, 5):
        text = jobs.run(ranks, variables=drain, ends=False)
        expect(("it had another number of ranks" in text, bool(jobs.keepers())), (True, True), f"drain with {ranks} ranks")
    jobs.run(4, variables=drain, ends=False)
    check(told, "after drains that could not be")
    # A group without a commit is no reason to fail.
    late = ",".join(f"store.begin:{rank}:1:delay=5000" for rank in range(4))
    jobs.start(4, "--other", 1, variables=dict(lease, FENIX_FAULT=late), look=kill_at_start)
    text = jobs.run(4, variables=drain, ends=False)
    expect("no memory with commits is kept" in text, True, "a job without a commit")
    jobs.kill_keepers()
    fresh_store(jobs)

    def kill_when_written(job):
        if (jobs.store / "5.2.1.1/manifest").exists():
            kill_launcher(job)

    # A commit that is in the store is not written once more.
    jobs.start(3, "--steps", 4, "--nap", 3000, "--every", 1, variables=lease, look=kill_when_written)
    before = jobs.tool("fenix-index", "--json")
    text = jobs.run(3, variables=drain, ends=False)
    expect((text.count("the store has the commit"), jobs.tool("fenix-index", "--json")), (3, before), "what is said, and the datasets")
    jobs.await_keepers()
    # Without a store, nothing runs.
    text = jobs.run(3, variables={"FENIX_STORE": "", "FENIX_DRAIN": "1"}, ends=False)
    expect(("FENIX_DRAIN: " in text, text.count("FENIX-TEST-OK")), (True, 0), "a job without a store")
    # By itself, when there is no other start.
    fresh_store(jobs)
    killed = []

    def kill_once(job):
        if not killed and "step 9" in job.text():
            killed.append(True)
            kill_launcher(job)

    text = jobs.run(4, "--other", 1, "--steps", 1000, "--nap", 5, "--says", 1, look=kill_once, ends=False,
                    command=[jobs.tools / "fenix-run", "--runs", "1", "--flush", "0", "--keep", "60", "--store", jobs.store, "--"])
    expect(("is written to the store" in text, "has failed" in text), (True, False), "what fenix-run says")
    check(max(int(step) for step in re.findall(r"^step (\d+)$", text, re.MULTILINE)), "fenix-run")


def drained_node_lost(jobs, number):
    """mpirun and a node are killed, and there is no node for its ranks. What they had is rebuilt on the others, and goes to the store."""
    if not nodes.are_possible() or not nodes.survive_loss():
        sys.exit(77)
    hosts = jobs.work / "hosts"
    hosts.write_text("".join(f"node{number} slots=2\n" for number in range(1, 4)), encoding="ascii")
    kinds = (("node3", ["--policy", "rs", "--cohort", 6, "--losses", 2, "--hashing", 0]), ("node1", ["--policy", "imr", "--separation", 3]),
             ("node2", ["--policy", "xor", "--separation", 2]))
    for lost_node, kind in kinds[:number]:
        lost, hung, left, text = lose_node_and_launcher(jobs, lost_node, 3, kind, "--hostfile", hosts, "--flush", 0, "--keep", 60, "--least", 3)
        told = max((int(step) for step in re.findall(r"^step (\d+)$", text, re.MULTILINE)), default=-1)
        is_good = "too few nodes are left" in text and "has failed" not in text
        if hung or not lost or not is_good or told < 30:
            fail(f"{kind}: hung: {hung}, step {told}\n{text}")
        left.memory = []
        if left.complaints():
            fail(f"{left.complaints()}")
        jobs.await_keepers()
        text = jobs.run(6, *kind, "--steps", 2000, "--from-steps", 3)
        if start_of(text)[1] < told:
            fail(f"{kind}: begun with {start_of(text)}, after a kill behind step {told}")
        fresh_store(jobs)


def lose_node_and_launcher(jobs, node, number, kind, *options):
    """Runs a job of 6 ranks under fenix-run, on so many nodes, and kills mpirun and a node. Returns whether that was done, whether the job
    hung, what is left of it, and what it has printed."""
    jobs.number += 1
    folder = jobs.work / f"job.{jobs.number}"
    # On a slow machine all steps may be done before the first look.
    is_lost = jobs.work / f"lost.{jobs.number}"
    program = ["env", "--unset=PRTE_MCA_rmaps_default_mapping_policy", jobs.tools / "fenix-run", "--store", jobs.store, *options, "--", "--map-by",
               "slot:oversubscribe", "--bind-to", "none", "-n", 6, jobs.program, *kind, "--steps", 200, "--nap", 10, "--says", 1, "--until", is_lost]
    lost = []

    def look():
        if not lost and "\nstep 30\n" in job.text():
            lost.append(node)
            ranks = [pid for _, _, pid in job.nodes.ranks() if name_of(pid) == "store_job"]
            # Stopped first: otherwise the others go on without the lost ones for a while.
            for pid in ranks:
                processes.send(pid, signal.SIGSTOP)
            job.nodes.kill(node)
            job.nodes.kill_launcher()
            for pid in ranks:
                processes.send(pid, signal.SIGKILL)
            is_lost.touch()

    with nodes.JobOnNodes([2] * number, program, folder, 200, dict(jobs.variables, FENIX_LOG="info"), on_head=True) as job:
        job.follow(look)
        return bool(lost), job.hung, job.finish(), job.text()


def kept_node_lost(jobs, number):
    """mpirun is killed, and a node with all that runs there. fenix-run starts the job again, with a spare node in its place: the other ranks
    go on with their memory, and what the lost ones had is rebuilt from that. Nothing is in any file."""
    if not nodes.are_possible() or not nodes.survive_loss():
        sys.exit(77)
    hosts = jobs.work / "hosts"
    hosts.write_text("".join(f"node{number} slots=2\n" for number in range(1, 5)), encoding="ascii")
    kinds = (["--policy", "local"], ["--policy", "imr", "--separation", 3], ["--policy", "xor"], ["--policy", "rs", "--hashing", 0])
    for kind in kinds[:number]:
        lost, hung, left, text = lose_node_and_launcher(jobs, "node2", 4, kind, "--hostfile", hosts, "--flush", 0, "--keep", 60)
        starts = [(int(run), int(step)) for run, step in re.findall(r"^run (\d+) from (-?\d+) of 6 ranks", text, re.MULTILINE)]
        memory = sorted(re.findall(r"group 5: (took over|made anew)", text))
        # Without redundancy it is of no use that some have their memory.
        is_covered = "local" not in kind
        wanted = ["made anew"] * 2 + ["took over"] * 4 if is_covered else []
        is_good = len(starts) == 2 and starts[1][0] == starts[0][0] + 1 and (starts[1][1] >= 29 if is_covered else starts[1][1] == -1)
        if hung or not lost or not is_good or memory != wanted or text.count("FENIX-TEST-OK") != 6:
            fail(f"{kind}: hung: {hung}; begun with {starts}, memory {memory}\n{text}")
        expect(list(jobs.store.glob("5.*")), [], "the datasets")
        left.memory = []
        if left.complaints():
            fail(f"{left.complaints()}")
        jobs.await_keepers()


CASES = (emptied, kept, stopped_ranks, kept_killed, kept_forced, drained, drained_node_lost, kept_node_lost)
