# SPDX-License-Identifier: BSD-3-Clause
"""Cases: fenix-run, and what a user is told of the store and the keeper."""
import os
import re
import signal
import subprocess
import time

from harness import processes
from jobs import expect, fail, fresh_store, kill_launcher, start_of


def run_end(jobs, _):
    """A program that has ended is not started again, also if the store has no mark of it; a wish that the job ends holds for its next start."""
    never = jobs.work / "halt"
    never.write_text(f'#!/bin/bash\n[[ $2 == --check ]] && exit 2\nexec {jobs.tools}/fenix-halt "$@"\n', encoding="ascii")
    never.chmod(0o700)
    run = [jobs.tools / "fenix-run", "--runs", "3", "--store", jobs.store, "--"]
    text = jobs.run(3, "--steps", 4, command=run, variables={"FENIX_HALT": str(never)})
    expect((text.count("of 3 ranks"), "no mark of its end" in text), (1, True), f"starts of a program that has ended\n{text}")

    # The same with a store that is removed meanwhile, and one with what a launcher has left that had no room.
    fresh_store(jobs)
    (jobs.store / "launcher").write_text("", encoding="ascii")
    removes = ["--", "-n", "1", "rm", "-r", jobs.store]
    done = subprocess.run([*run[:-1], *removes], env=jobs.variables, capture_output=True, text=True, timeout=60, check=False)
    expect((done.returncode, jobs.store.exists()), (0, False), f"a program that ends without a store\n{done.stderr}")
    jobs.store.mkdir()

    fresh_store(jobs)
    wished = []

    def wish(job):
        if not wished and "of 3 ranks" in job.text():
            wished.append(True)
            jobs.tool("fenix-halt", "--after", 4)
            kill_launcher(job)

    text = jobs.run(3, "--steps", 100000, "--nap", 1, "--asks", 1, look=wish, command=run, variables={"FENIX_COMMIT_EVERY": "10"})
    expect((text.count("of 3 ranks"), "told to end" in text), (2, True), f"starts of a job that is told to end\n{text}")


def run_settings(jobs, _):
    """fenix-run reads all lines of its settings, makes what only its user can use, and takes no program of the current folder."""
    new = jobs.work / "new"
    conf = jobs.work / "conf"
    conf.write_text(f"# settings\nFENIX_FLUSH=2\nFENIX_STORE={new}", encoding="ascii")
    here = jobs.work / "here"
    here.mkdir()
    for name in ("fenix-keeper", "fenix-halt"):
        (here / name).write_text(f"#!/bin/sh\ntouch {here}/taken\n", encoding="ascii")
        (here / name).chmod(0o755)
    command = ["env", "--unset=FENIX_STORE", "--chdir", here, f"PATH=.:{jobs.variables['PATH']}", "bash", "-c", 'umask 0; exec "$@"', "run",
               jobs.tools / "fenix-run", "--conf", conf, "--"]
    variables = dict(jobs.variables)
    del variables["FENIX_STORE"]
    text = jobs.run(3, "--steps", 4, command=command, variables={"PATH": f".:{jobs.variables['PATH']}"})
    expect(text.count("of 3 ranks"), 1, f"starts\n{text}")
    expect((here / "taken").exists(), False, "a program of the current folder was run")
    modes = {str(path.relative_to(jobs.work)): oct(path.lstat().st_mode & 0o777) for path in [new, *new.rglob("*")] if path.lstat().st_mode & 0o077}
    expect(modes, {}, "what other users may do")
    names = {path.name.split(".")[0] for path in new.iterdir()}
    expect("5" in names, True, f"a dataset in {names}")

    # fenix-run has settings of its own.
    conf.write_text("FENIX_RUNS=2\nFENIX_RUN_DRAIN=off\n", encoding="ascii")
    done = subprocess.run([jobs.tools / "fenix-run", "--conf", conf, "--store", new, "--", "-n", "1", "false"], env=variables, capture_output=True, text=True,
                          timeout=60, check=False)
    expect((done.returncode, "is written to the store" in done.stderr), (1, False), f"settings of fenix-run in a file\n{done.stderr}")

    # A copy of fenix-run alone, with nothing beside it.
    alone = jobs.work / "alone"
    alone.mkdir()
    (alone / "fenix-run").write_bytes((jobs.tools / "fenix-run").read_bytes())
    (alone / "fenix-run").chmod(0o700)
    done = subprocess.run([alone / "fenix-run", "--store", new, "--", "-n", "1", "true"], cwd=here, env=dict(variables, PATH=f".:{jobs.variables['PATH']}"),
                          capture_output=True, text=True, timeout=60, check=False)
    expect((done.returncode, "fenix-halt is not beside this script" in done.stderr, (here / "taken").exists()), (2, True, False),
           f"fenix-run without its tools: {done.stderr}")


def keep_refused(jobs, _):
    """P10: a keeper that cannot keep memory says so, once, and in the log of the run for each rank. The job goes on."""
    keeper = jobs.work / "keeper"
    keeper.write_text(f"#!/bin/bash\nulimit -n 24\nexec {jobs.tools}/fenix-keeper\n", encoding="ascii")
    keeper.chmod(0o700)
    text = jobs.run(3, "--steps", 60, "--nap", 20, variables={"FENIX_KEEP": "2", "FENIX_KEEPER": str(keeper)})
    # A warning that several processes of a node have is written once.
    if not 1 <= text.count("memory of this rank is not kept") <= 3 or "no descriptors left" not in text:
        fail(f"warnings\n{text}")
    told = jobs.tool("fenix-index", "--log", 1)
    for rank in range(3):
        expect(told.count(f"the memory of group 5 on rank {rank} is not kept"), 1, f"lines in the log of the run\n{told}")
    jobs.await_keepers()


def others_may_write(jobs, _):
    """A folder to which others may write is told of, and nothing that they have put there is followed."""
    dear = jobs.work / "dear"
    dear.write_text("dear", encoding="ascii")
    jobs.store.chmod(0o777)
    (jobs.store / "log.1").symlink_to(dear)
    text = jobs.run(3, "--steps", 4, "--every", 1)
    expect(text.count("other users may write to it"), 1, f"warnings\n{text}")
    expect(dear.read_text(encoding="ascii"), "dear", "a file behind a link")
    (jobs.store / "log.1").unlink()
    jobs.store.chmod(0o755)
    text = jobs.run(3, "--steps", 4)
    expect(text.count("other users"), 0, f"warnings of a folder of this user\n{text}")


def two_jobs(jobs, _):
    """P11: a second job on the store is refused as long as the first one lives, which does not notice it. Its memory stays that of the first."""
    lease = {"FENIX_KEEP": "60"}
    second = []

    def look(job):
        if not second and "step 9\n" in job.text():
            second.append(True)
            text = jobs.run(2, "--steps", 4, "--unusable", 1, variables=lease)
            expect("another job uses it on this node" in text, True, f"the second job is refused\n{text}")
            second.append(text)
        if len(second) == 2:
            kill_launcher(job)

    started = jobs.start(3, "--steps", 100000, "--nap", 5, "--every", 20, "--says", 1, variables=lease, look=look)
    told = max(int(step) for step in re.findall(r"^step (\d+)$", started, re.MULTILINE))
    run, begin = start_of(jobs.run(3, "--steps", 200000, "--from-steps", 3, variables=lease))
    expect((run, begin >= told), (2, True), f"run of the next job, and whether it begins behind step {told}: {begin}")
    jobs.await_keepers()


def one_keeper(jobs, _):
    """A keeper that is started before the job is that of its store, in whichever way its folder is written."""
    link = jobs.work / "link"
    link.symlink_to(jobs.store, target_is_directory=True)
    keeper = [jobs.tools / "fenix-keeper", "--store"]
    with subprocess.Popen([*keeper, link], env=jobs.variables, stdout=subprocess.PIPE, text=True) as first:
        expect(first.stdout.readline().strip(), "ready", "the first keeper")
        for way in (jobs.store, f"{jobs.work}//./store/", link):
            told = subprocess.run([*keeper, way], env=jobs.variables, stdout=subprocess.PIPE, text=True, timeout=20, check=False).stdout
            expect(told.strip(), "taken", f"a second keeper of {way}")
        jobs.run(3, "--steps", 4, "--sync", 2, ends=False)
        expect(first.wait(20), 0, "status of the keeper after the job")
    jobs.await_keepers()


def foreign_runs(jobs, _):
    """A file with the number of no run keeps fenix-run from no start."""
    (jobs.store / "run.5000000000").write_text("", encoding="ascii")
    (jobs.store / "run.99999999999999999999999").write_text("", encoding="ascii")
    text = jobs.run(3, "--steps", 9, "--nap", 20, command=[jobs.tools / "fenix-run", "--runs", "2", "--store", jobs.store, "--"], ends=False,
                    variables={"FENIX_FAULT": "store.begin:0:4,store.begin:1:4,store.begin:2:4"})
    expect(text.count("start number 2"), 1, f"second starts\n{text}")


def unanswered(jobs, _):
    """P11: a keeper that does not answer takes little of the job's time, and Fenix_Finalize waits for it once."""
    stopped, ended = [], []

    def stop(job):
        if not ended and job.text().count("FENIX-TEST-OK") == 2:
            ended.append(time.monotonic())
        # Some of its steps commit.
        if not stopped and job.text().count("\nstep ") > 2:
            stopped.extend(jobs.keepers())
            for pid in stopped:
                processes.send(pid, signal.SIGSTOP)
            stopped.append(time.monotonic())

    seconds = 6
    text = jobs.run(2, "--steps", 400, "--nap", 20, "--asks", 1, "--says", 1, "--every", 20, look=stop, ends=False,
                    variables={"FENIX_FLUSH_TIMEOUT": str(seconds), "FENIX_COMMIT_EVERY": "5"})
    took = (ended or [time.monotonic()])[0] - stopped[-1]
    jobs.kill_keepers()
    expect((text.count("FENIX-TEST-OK"), text.count("whether the job should end")), (2, 1), f"ends, and warnings\n{text}")
    # Its steps take 8 s. A question waits for 5 s, a flush and the end for FENIX_FLUSH_TIMEOUT.
    if took > 8 + 5 + 2 * seconds + 10:
        fail(f"the job took {took:.0f} s\n{text}")


CASES = (one_keeper, foreign_runs, unanswered, two_jobs, run_end, run_settings, keep_refused, others_may_write)
