# SPDX-License-Identifier: BSD-3-Clause
"""Cases that each job of a program for SCR meets: restarts, flushes, outputs, order of calls."""
import re
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import processes  # noqa: E402
from jobs import calls_of, expect, fail, kill_all_at, kill_at, kill_launcher_once, start_of, steps_of  # noqa: E402

def restart(jobs):
    """A job that has ended, and jobs whose mpirun was killed: the next one has the right step and bytes."""
    jobs.run(3, "--steps", 5, "--from", -1)
    jobs.run(3, "--steps", 8, "--from", 4)
    text = jobs.run(3, "--steps", 100000, "--from", 7, "--nap", 20, look=kill_at(13), ends=False, variables={"SCR_FLUSH": "1"} if jobs.is_cached else {})
    # Ranks whose mpirun has died go on for some steps, and nobody reads what they print.
    newest = max(steps_of(text))
    begun = start_of(jobs.run(3, "--steps", 0))
    if begun < newest:
        fail(f"begun with step {begun}, after a job that was killed in step {newest}")
    jobs.run(3, "--steps", begun + 2, "--from", begun)
    jobs.run(3, "--steps", begun + 3, "--from", begun + 1)


def death(jobs):
    """A rank dies: the job ends, because the program does not repair itself, and the next one goes on."""
    for step in (5, 8):
        jobs.run(3, "--steps", 20, "--dies", step, ends=False, told=True, variables={"SCR_FLUSH": "1"} if jobs.is_cached else {})
        jobs.run(3, "--steps", 0, "--from", step - 1)


def relaunched(jobs):
    """fenix-run starts the program again when its mpirun was killed: from memory, which is kept, and so from any checkpoint."""
    command = [jobs.tools / "fenix-run", "--store", jobs.store, "--"]
    text = jobs.run(3, "--steps", 200, "--nap", 10, look=kill_launcher_once(9), command=command, variables={"SCR_FLUSH": "2"})
    starts = [int(step) for step in re.findall(r"^from (-?\d+)", text, re.MULTILINE)]
    if len(starts) != 2 or starts[0] != -1 or starts[1] < 8:
        fail(f"begun with {starts}")


def flush(jobs):
    """Checkpoints are flushed as often as SCR_FLUSH says, and at the end."""
    text = jobs.run(3, "--steps", 100000, "--nap", 20, look=kill_at(7), ends=False, variables={"SCR_FLUSH": "3"})
    newest = max(steps_of(text))
    begun = start_of(jobs.run(3, "--steps", 0))
    if begun % 3 != 2 or begun < newest - 3:
        fail(f"begun with step {begun}, after a job that was killed in step {newest}")
    for name in jobs.stored():
        if int(name[5:]) % 3 != 2:
            fail(f"{name} was flushed")
    shutil.rmtree(jobs.prefix / ".scr")
    jobs.run(3, "--steps", 5, variables={"SCR_FLUSH": "0"})
    jobs.run(3, "--steps", 5, "--from", -1, variables={"SCR_FLUSH": "2", "SCR_FLUSH_ASYNC": "1"})
    expect(jobs.stored(), ["ckpt.1", "ckpt.3", "ckpt.4"], "what is in the store")
    # The place and the rest of the settings are in the user's file.
    (jobs.prefix / ".scrconf").write_text("# a comment\nSCR_FLUSH = 4 # another one\n", encoding="ascii")
    jobs.run(3, "--steps", 12, "--from", 4)
    expect(jobs.stored(), ["ckpt.1", "ckpt.11", "ckpt.3", "ckpt.4", "ckpt.7"], "what is in the store")
    jobs.run(3, "--steps", 13, "--from", -1, variables={"SCR_FETCH": "0"})
    jobs.run(3, "--steps", 13, "--from", 3, variables={"SCR_CURRENT": "ckpt.3"})


def output(jobs):
    """Outputs have the bytes that plain fwrite gives. They can be deleted and dropped."""
    for only in (0, 1):
        jobs.run(3, "--steps", 6, "--output", 2, "--only-output", only, "--plain", 1, "--kilobytes", 1500, "--idle", 2,
                 variables={"SCR_FETCH": "0", "SCR_FLUSH": "0"})
        for step in (1, 3, 5):
            files = sorted(path.relative_to(jobs.prefix / f"plain.{step}") for path in (jobs.prefix / f"plain.{step}").rglob("*") if path.is_file())
            expect(len(files), 6, "number of plain files")
            found = sorted(path.relative_to(jobs.prefix / f"ckpt.{step}") for path in (jobs.prefix / f"ckpt.{step}").rglob("*") if path.is_file())
            expect(found, files, "files of an output")
            for name in files:
                if (jobs.prefix / f"plain.{step}" / name).read_bytes() != (jobs.prefix / f"ckpt.{step}" / name).read_bytes():
                    fail(f"{name} of step {step} differs")
        if (jobs.prefix / "ckpt.0").exists():
            fail("a checkpoint that is no output has files in its folder")
        expect(jobs.stored(), [] if only else ["ckpt.1", "ckpt.3", "ckpt.5"], "what is in the store")
        jobs.run(3, "--steps", 0, "--delete", "ckpt.3", "--drop", "ckpt.5", variables={"SCR_FETCH": "0"})
        expect(jobs.stored(), [] if only else ["ckpt.1"], "what is left in the store")
        expect([(jobs.prefix / f"ckpt.{step}").exists() for step in (1, 3, 5)], [True, False, True], "the folders that are left")
        for folder in jobs.prefix.iterdir():
            shutil.rmtree(folder)


def idle_rank(jobs):
    """A rank has no files."""
    jobs.run(3, "--steps", 4, "--idle", 1, "--from", -1)
    jobs.run(3, "--steps", 6, "--idle", 1, "--from", 3)
    jobs.run(1, "--steps", 6, "--idle", 0, "--from", -1, variables={"FENIX_STORE": str(jobs.work / "other")})
    jobs.run(1, "--steps", 6, "--idle", 0, "--from", 5, variables={"FENIX_STORE": str(jobs.work / "other")})


def unnamed(jobs):
    """Checkpoints without names."""
    jobs.run(3, "--steps", 4, "--unnamed", 1, "--from", -1)
    expect(jobs.stored(), [f"scr.dataset.{number}" for number in ([4] if jobs.is_cached else [1, 2, 3, 4])], "what is in the store")
    jobs.run(3, "--steps", 6, "--unnamed", 1, "--from", 3)
    # A job that does not go on from what is there has other names.
    jobs.run(3, "--steps", 2, "--unnamed", 1, "--from", -1, variables={"SCR_FETCH": "0"})
    expect(jobs.stored()[-1], "scr.dataset.8", "the newest name")


def refused(jobs):
    """A rank cannot use a checkpoint, or cannot write one: all ranks are told, and the older one is taken."""
    jobs.run(3, "--steps", 6, variables={"SCR_FLUSH": "2"})
    older = 3 if jobs.is_cached else 4
    jobs.run(3, "--steps", 0, "--from", older, "--refuses", 1)
    # It is not offered any more, to no later job.
    jobs.run(3, "--steps", 0, "--from", older)
    jobs.run(3, "--steps", 0, "--from", -1, "--refuses", 9)
    jobs.run(3, "--steps", 8, "--from", -1, "--invalid", 7)
    jobs.run(3, "--steps", 8, "--from", 6)


def other_ranks(jobs):
    """A checkpoint of another number of ranks is passed over: the newest one of as many ranks is taken, if there is one."""
    jobs.run(3, "--steps", 4)
    jobs.run(2, "--steps", 0, "--from", -1)
    jobs.run(4, "--steps", 0, "--from", -1)
    jobs.run(3, "--steps", 4, "--from", 3)
    jobs.run(2, "--steps", 2, "--from", -1, "--unnamed", 1)
    jobs.run(3, "--steps", 4, "--from", 3)


def datasets(jobs):
    """SCR_Current, SCR_Delete and SCR_Drop, and the policies."""
    jobs.run(3, "--steps", 4, "--current", "ckpt.1", variables={"SCR_FLUSH": "1", "SCR_COPY_TYPE": "xor"})
    jobs.run(3, "--steps", 2, "--from", 1, "--delete", "ckpt.3", "--drop", "ckpt.2", variables={"SCR_COPY_TYPE": "Partner"})
    expect(jobs.stored(), ["ckpt.0", "ckpt.1"], "what is in the store")
    # Files that are in their own places stay when a dataset is dropped.
    expect([(jobs.prefix / f"ckpt.{step}").exists() for step in (1, 2, 3)], [not jobs.is_cached, not jobs.is_cached, False], "which folders there are")
    jobs.run(3, "--steps", 4, "--from", 1, variables={"SCR_COPY_TYPE": "RS", "SCR_SET_FAILURES": "1", "SCR_CACHE_SIZE": "2"})
    # A newer one was flushed: the choice does not hold any more.
    jobs.run(3, "--steps", 4, "--from", 3, variables={"SCR_COPY_TYPE": "SINGLE"})
    # SCR_Current before SCR_Have_restart chooses what this job begins with, and later ones.
    jobs.run(3, "--steps", 0, "--first", "ckpt.1", "--from", 1)
    jobs.run(3, "--steps", 0, "--from", 1)
    jobs.run(3, "--steps", 0, "--first", "ckpt.77", "--from", 1)
    jobs.run(3, "--steps", 3, "--first", "ckpt.3", "--from", 3, variables={"SCR_DROP_AFTER_CURRENT": "1"})
    jobs.run(3, "--steps", 0, "--first", "ckpt.1", "--from", 1, variables={"SCR_DROP_AFTER_CURRENT": "1"})
    expect(jobs.stored(), ["ckpt.0", "ckpt.1"], "what is left in the store")


def need_and_halt(jobs):
    """SCR_Need_checkpoint by calls, by time and by cost; SCR_Should_exit by fenix-halt."""
    for name, value in (("INTERVAL", "4"), ("SECONDS", "1"), ("OVERHEAD", "0.5")):
        text = jobs.run(3, "--steps", 40, "--nap", 30, "--from", -1, variables={f"SCR_CHECKPOINT_{name}": value, "SCR_FETCH": "0"})
        number = int(re.search(r"^(\d+) checkpoints", text, re.MULTILINE)[1])
        if not 1 <= number <= 39 or (name == "INTERVAL" and number != 10):
            fail(f"{name}: {number} checkpoints")

    # 0 is no limit, and without a limit each step is to write one.
    for name in ("EVERY", "SECONDS", "OVERHEAD", "MTBF"):
        text = jobs.run(1, "need", "need", program="scr_calls", variables={f"FENIX_COMMIT_{name}": "0"})
        expect(calls_of(text), ["need 1", "need 1"], f"the answers with FENIX_COMMIT_{name}=0")

    def halt(job):
        if len(steps_of(job.text())) > 3:
            jobs.tool("fenix-halt", "--reason", "enough")
            return True
        return False

    def follow(job):
        if not halt.is_done:
            halt.is_done = halt(job)
        return False

    halt.is_done = False
    # SCR_Need_checkpoint says 1 when the job is to end, whatever else.
    text = jobs.run(3, "--steps", 100000, "--nap", 20, "--always", 9, look=follow, variables={"SCR_CHECKPOINT_INTERVAL": "1000000", "SCR_FETCH": "0"})
    if "told to end" not in text:
        fail(f"not told to end: {text}")
    jobs.tool("fenix-halt", "--remove")
    halt.is_done = False
    text = jobs.run(3, "--steps", 100000, "--nap", 20, "--asks", 0, look=follow, ends=False, variables={"SCR_HALT_EXIT": "1"})
    if "SCR_HALT_EXIT is set: it ends now" not in text or "FENIX-TEST" in text:
        fail(f"not ended: {text}")
    newest = max(steps_of(text))
    if start_of(jobs.run(3, "--steps", 0)) < newest:
        fail("a checkpoint is lost")


def order(jobs):
    """Calls in the wrong order. Each is told."""
    (jobs.prefix / ".scrconf").write_text("SCR_FLUSH_ASYNC=1\n", encoding="ascii")
    text = jobs.run(2, program="scr_order", variables={"SCR_CACHE_SIZE": "2"})
    for said in ("SCR_Complete_output was called outside of a dataset", "SCR_Init was called before MPI_Init",
                 "SCR_Start_output was called within a checkpoint", "missing is not there", "/outside is not below", "is in the folder .scr"):
        expect(said in text, True, f"that it says {said}")


def private_folder(jobs):
    """Files are in a folder that only the user can read. A job removes the one of a job that was killed."""
    cache = jobs.work / "cache"
    cache.mkdir()
    variables = {"SCR_CACHE_BASE": str(cache)}

    def look(job):
        if job.text().count("hangs") < 2:
            return False
        for process in job.find():
            processes.send(process.pid, signal.SIGKILL)
        return True

    jobs.run(2, "--steps", 4, "--hangs", 2, look=look, ends=False, variables=variables)
    left = list(cache.iterdir())
    expect(len(left), 2, "the number of folders that the job has left")
    expect({folder.stat().st_mode & 0o777 for folder in left}, {0o700}, "their mode")
    jobs.run(2, "--steps", 3, variables=variables)
    expect(list(cache.iterdir()), [], "what is left")


def elsewhere(jobs):
    """The prefix is not the working folder, and is reached by a link."""
    real = jobs.work / "real"
    (jobs.work / "link").symlink_to(real)
    real.mkdir()
    there = jobs.work / "link/there"
    variables = {"SCR_PREFIX": str(there)}
    there.mkdir()
    jobs.run(2, "--steps", 3, "--output", 1, folder=there, variables=variables)
    expect((real / "there/ckpt.2/rank_1/a/state").is_file(), True, "that there is a file")
    jobs.run(2, "--steps", 3, "--output", 1, "--from", 2, folder=there, variables=variables)
    jobs.run(2, "--steps", 0, folder=jobs.prefix, variables=dict(variables, SCR_FETCH="0"))
    expect(sorted(path.name for path in jobs.prefix.iterdir()), [], "what is in the working folder")


def online(jobs):
    """A rank dies, and a spare takes its place: all go on from the checkpoint in memory."""
    for kind in ("XOR", "PARTNER", "RS"):
        text = jobs.run(5, program="scr_online", killed=1, variables={"FENIX_SPARES": "1", "SCR_FLUSH": "0", "SCR_COPY_TYPE": kind, "SCR_FETCH": "0"})
        expect(re.findall(r"^from (-?\d+)$", text, re.MULTILINE), ["-1", "4"], f"the starts with {kind}")


def fortran(jobs):
    """The same in Fortran."""
    text = jobs.run(2, 3, program="scr_job_fortran")
    expect(start_of(text), -1, "the first start")
    expect((jobs.prefix / "step.2/value.1").read_text(encoding="ascii"), "2 1\n", "a file of an output")
    expect((jobs.prefix / "step.0").exists(), False, "that a deleted output is there")
    expect(start_of(jobs.run(2, 5, program="scr_job_fortran")), 3, "the second start")



CASES = {each.__name__: each for each in (restart, death, relaunched, flush, output, idle_rank, unnamed, refused, other_ranks, datasets, need_and_halt, order,
                                          private_folder, elsewhere, online, fortran)}
