# SPDX-License-Identifier: BSD-3-Clause
"""Cases in which this library does what SCR does, by the rules of its manual, or says that it does not."""
import os
import re
import shutil
import subprocess

from jobs import LIMIT, calls_of, expect, fail, kill_all_at, kill_launcher_once, start_of, steps_of, stop_keeper


def kills(jobs):
    """With default settings no checkpoint is lost when all ranks die (P10)."""
    begun = -1
    for _ in range(3):
        text = jobs.run(3, "--steps", 100000, "--from", begun, "--nap", 20, look=kill_all_at(begun + 5), ends=False)
        newest = max(steps_of(text))
        begun = start_of(jobs.run(3, "--steps", 0))
        if begun < newest:
            fail(f"begun with step {begun}, after a job whose ranks were killed in step {newest}")
        # All files are below the prefix folder.
        for rank in range(3):
            size = (jobs.prefix / f"ckpt.{newest}/rank_{rank}/a/state").stat().st_size
            expect(size, 3000 + rank * 17 + newest * 3, "the size of a file")


def kills_of_languages(jobs):
    """The same in C++ and Fortran."""
    for program in ("scr_job_cpp", "scr_job_fortran"):
        if not (jobs.programs / program).exists():
            continue
        shutil.rmtree(jobs.prefix)
        jobs.prefix.mkdir()
        begun = -1
        for _ in range(3):
            text = jobs.run(3, 100000, program=program, look=kill_all_at(begun + 5), ends=False)
            expect(start_of(text), begun, f"the start of {program}")
            begun = max(steps_of(text))
            # Ranks that die later than others may have gone on for a step that nobody has printed.
            begun = max(begun, start_of(jobs.run(3, 0, program=program)))


def manual(jobs):
    """All functions by the rules of SCR's manual."""
    text = jobs.run(3, program="scr_manual")
    expect("FENIX-TEST-OK" in text, True, "that it ends")


def ranks_differ(jobs):
    """Parameters are those of rank 0, whatever the environments of other ranks say: none waits for another one without end."""
    own = ["sh", "-c", 'SCR_FLUSH=$((2 + OMPI_COMM_WORLD_RANK)) SCR_CACHE_BYPASS=$OMPI_COMM_WORLD_RANK exec "$0" "$@"']
    jobs.run(3, "--steps", 9, wrapper=own)
    expect(jobs.stored(), ["ckpt.1", "ckpt.3", "ckpt.5", "ckpt.7", "ckpt.8"], "what is in the store")
    text = jobs.run(2, "--steps", 9, wrapper=["sh", "-c", 'SCR_FLUSH=x$OMPI_COMM_WORLD_RANK exec "$0" "$@"'], ends=False, told=True)
    expect('SCR_FLUSH is "x0"' in text, True, "that it names the parameter")


def shared_files(jobs):
    """A file that several ranks write is whole in a restart; or its checkpoint is refused, on all ranks, and the file is named."""
    if jobs.is_cached:
        text = jobs.run(3, "--steps", 3, "--shared", 1, "--fails", 1000, "--from", -1)
        expect("several ranks have written the file ckpt.1/all" in text, True, "that it names the file")
        jobs.run(3, "--steps", 3, "--from", -1)
        return
    jobs.run(3, "--steps", 4, "--shared", 1, "--from", -1)
    jobs.run(3, "--steps", 6, "--shared", 1, "--from", 3)
    expect((jobs.prefix / "ckpt.5/all").stat().st_size, 3000, "the size of the file")
    jobs.run(3, "--steps", 0, "--shared", 1, "--from", 5, "--delete", "ckpt.5")
    expect((jobs.prefix / "ckpt.5").exists(), False, "that the deleted file is there")


def damaged_files(jobs):
    """A file that was changed or removed after its checkpoint: the next older one is taken, and the file is named (P10)."""
    jobs.run(3, "--steps", 6, "--from", -1)
    path = jobs.prefix / "ckpt.5/rank_1/a/state"
    path.write_bytes(b"x" + path.read_bytes()[1:])
    text = jobs.run(3, "--steps", 0, "--from", 4)
    expect("ckpt.5/rank_1/a/state is not as it was written" in text, True, "that it names the file")
    (jobs.prefix / "ckpt.4/rank_2/empty").unlink()
    jobs.run(3, "--steps", 0, "--from", 3)


def clean_up(jobs):
    """Scripts for SCR remove its folder .scr between programs. No program goes on from the data of another one."""
    jobs.run(3, "--steps", 4, "--from", -1)
    shutil.rmtree(jobs.prefix / ".scr")
    jobs.run(3, "--steps", 2, "--unnamed", 1, "--from", -1)
    (jobs.prefix / ".scr-fenix").mkdir()
    text = jobs.run(3, "--steps", 4, ends=False, told=True)
    expect("/.scr-fenix" in text and "SCR_Init" in text, True, "that checkpoints of an earlier version are not passed over in silence")


def chosen_once(jobs):
    """SCR_CURRENT counts once in a job: a program that fenix-run starts again goes on from its own checkpoints."""
    jobs.run(3, "--steps", 4, "--from", -1, variables={"SCR_FLUSH": "1"})
    command = [jobs.tools / "fenix-run", "--store", jobs.store, "--keep", 0, "--"]
    text = jobs.run(3, "--steps", 60, "--nap", 20, look=kill_launcher_once(7), command=command, variables={"SCR_CURRENT": "ckpt.1", "SCR_FLUSH": "1"})
    starts = [int(step) for step in re.findall(r"^from (-?\d+)", text, re.MULTILINE)]
    if len(starts) != 2 or starts[0] != 1 or starts[1] < 6:
        fail(f"begun with {starts}")
    text = jobs.run(3, "--steps", 0, variables={"SCR_CURRENT": "none"})
    expect("SCR_CURRENT: there is no checkpoint none" in text, True, "that it is told")


def store_does_not_answer(jobs):
    """A store that does not answer is not an empty one: the search fails, and finds the checkpoint when the store answers again."""
    variables = {"SCR_FLUSH": "1", "FENIX_FLUSH_TIMEOUT": "2"}
    jobs.run(2, "checkpoint:a", "checkpoint:b", program="scr_calls", variables=variables)
    entry = jobs.prefix / ".scr/datasets/b"
    whole = entry.read_bytes()
    # It is not offered, so that the store has to be asked.
    fields = whole.split(b"\0")
    fields[6] = b"1"
    entry.write_bytes(b"\0".join(fields))
    stopped = ("need", "wait:stopped", "try-have", "try-current:a", "wait:going")
    text = jobs.run(2, *stopped, "try-have", "try-current:b", "have", program="scr_calls", variables=variables, look=stop_keeper(jobs, 2))
    expect(calls_of(text), ["need 1", "have unknown", "failed a", "have a", "chosen b", "have b"], "what is found")
    # A choice of the environment is not forgotten.
    text = jobs.run(2, "need", "wait:stopped", "try-have", "wait:going", "have", program="scr_calls", variables=dict(variables, SCR_CURRENT="a"),
                    look=stop_keeper(jobs, 1))
    expect(calls_of(text), ["need 1", "have unknown", "have a"], "what is found by SCR_CURRENT")


def drop_is_refused(jobs):
    """SCR_Drop does not succeed when the store does not answer. The dataset is as before, and the next call drops it."""
    variables = {"SCR_FLUSH": "1", "FENIX_FLUSH_TIMEOUT": "2"}
    jobs.run(2, "checkpoint:a", "checkpoint:b", program="scr_calls", variables=variables)
    calls = ("need", "wait:stopped", "try-drop:b", "wait:going")
    text = jobs.run(2, *calls, program="scr_calls", variables=variables, look=stop_keeper(jobs, 1))
    expect(calls_of(text), ["need 1", "failed b"], "what is said of the drop")
    text = jobs.run(2, "have", "try-drop:b", "have", program="scr_calls", variables=variables)
    expect(calls_of(text), ["have b", "dropped b", "have a"], "what is found")


def refused_in_memory(jobs):
    """After a checkpoint that cannot be used comes the one before it, also if that is in memory alone. It is the one that is flushed at the end."""
    variables = {"SCR_FLUSH": "0", "SCR_CACHE_SIZE": "2"}
    calls = ("checkpoint:a", "checkpoint:b", "refuse", "restart", "checkpoint:c", "have")
    text = jobs.run(2, *calls, program="scr_calls", variables=variables)
    expect(calls_of(text)[2:], ["have b", "have a", "wrote c", "have c"], "what is found in memory")
    variables["SCR_FLUSH"] = "10"
    text = jobs.run(2, "checkpoint:d", "checkpoint:e", "refuse", program="scr_calls", variables=variables)
    expect(calls_of(text)[2:], ["have e"], "what is refused")
    expect(calls_of(jobs.run(2, "restart", program="scr_calls", variables=variables)), ["have d"], "what the next job finds")
    jobs.run(2, "checkpoint:f", "checkpoint:g", "delete:g", program="scr_calls", variables=variables)
    expect(calls_of(jobs.run(2, "restart", program="scr_calls", variables=variables)), ["have f"], "what is left of a job that deletes its last one")


def drop_after_needs_place(jobs):
    """SCR_DROP_AFTER_CURRENT drops nothing if the list does not say which datasets are later."""
    def listed():
        return jobs.stored("[a-d]")

    variables = {"SCR_FLUSH": "1", "SCR_DROP_AFTER_CURRENT": "1"}
    jobs.run(2, *(f"checkpoint:{name}" for name in "abcd"), program="scr_calls", variables=variables)
    entry = jobs.prefix / ".scr/datasets/b"
    whole = entry.read_bytes()
    for spoil in (lambda: entry.write_bytes(whole[:20]), entry.unlink):
        spoil()
        text = jobs.run(2, "current:b", program="scr_calls", variables=variables)
        expect("SCR_DROP_AFTER_CURRENT: nothing is dropped: b has no entry" in text, True, "that it is told")
        expect(listed(), ["a", "b", "c", "d"], "what is in the store")
    entry.write_bytes(whole)
    entry.chmod(0o600)
    jobs.run(2, "current:b", program="scr_calls", variables=variables)
    expect(listed(), ["a", "b"], "what is left in the store")


def forwarded(jobs):
    """fenix-run gives the parameters to all nodes."""
    stub = jobs.work / "mpirun"
    stub.write_text('#!/bin/sh\necho "arguments: $*"\n', encoding="ascii")
    stub.chmod(0o700)
    done = subprocess.run([jobs.tools / "fenix-run", "--store", jobs.store, "--drain", "off", "--", "true"], check=False, text=True, stdout=subprocess.PIPE,
                          env=dict(jobs.variables, PATH=f"{jobs.work}:{jobs.variables['PATH']}", SCR_FLUSH="3"), timeout=LIMIT)
    expect("-x SCR_FLUSH " in done.stdout and "-x SCR_JOB_ID " in done.stdout, True, "that parameters are given to mpirun")


def purge(jobs):
    """SCR_PREFIX_PURGE removes all datasets and their files. SCR_CACHE_PURGE leaves what is in the store."""
    jobs.run(3, "--steps", 4, "--from", -1, variables={"SCR_FLUSH": "1"})
    jobs.run(3, "--steps", 4, "--from", 3, variables={"SCR_CACHE_PURGE": "1"})
    jobs.run(3, "--steps", 0, "--from", -1, variables={"SCR_PREFIX_PURGE": "1"})
    expect(jobs.stored(), [], "what is in the store")
    expect(sorted(path.name for path in jobs.prefix.iterdir()), [".scr"], "what is below the prefix folder")


def purge_refused(jobs):
    """A job that is refused, because another one uses the store, removes nothing, whatever SCR_PREFIX_PURGE says."""
    said = []

    def look(job):
        if "wrote b" in job.text() and not said:
            said.append(jobs.run(2, "have", program="scr_calls", variables={"SCR_PREFIX_PURGE": "1"}, ends=False, told=True))
            (jobs.prefix / "go").touch()
        return False

    text = jobs.run(2, "checkpoint:a", "checkpoint:b", "wait:go", "restart", program="scr_calls", look=look)
    expect("another job uses it" in said[0], True, "that the second job is refused")
    expect(calls_of(text), ["wrote a", "wrote b", "have b"], "what the first job finds")


def purge_reads_only(jobs):
    """The same for a job that only reads, because its keeper can make no file: it may stand beside another one."""
    jobs.run(2, "checkpoint:a", program="scr_calls")
    # As root, it must do without the rights of root.
    keeper = jobs.work / "keeper"
    drop = "setpriv --inh-caps=-all --bounding-set=-all " if os.geteuid() == 0 else ""
    keeper.write_text(f"#!/bin/sh\nexec {drop}{jobs.tools}/fenix-keeper\n", encoding="ascii")
    keeper.chmod(0o700)
    jobs.store.chmod(0o500)
    text = jobs.run(2, "have", program="scr_calls", variables={"SCR_PREFIX_PURGE": "1", "FENIX_KEEPER": str(keeper)}, ends=False, told=True)
    jobs.store.chmod(0o700)
    expect(re.findall("^scr: SCR_PREFIX_PURGE.*$", text, re.MULTILINE),
           [f"scr: SCR_PREFIX_PURGE: nothing is removed: the store {jobs.store} took no new files when the job began"], "what is told")
    expect(calls_of(jobs.run(2, "restart", program="scr_calls")), ["have a"], "what the next job finds")


def purge_again(jobs):
    """A purge removes what was kept in memory as well, for a job that is started again at once."""
    command = [jobs.tools / "fenix-run", "--store", jobs.store, "--"]
    text = jobs.run(2, "have", "checkpoint:a", "checkpoint:b", "die-once:mark", "have", program="scr_calls", command=command,
                    variables={"SCR_PREFIX_PURGE": "1", "SCR_FLUSH": "2"}, told=True)
    expect(calls_of(text), ["have none", "wrote a", "wrote b"] * 2 + ["have b"], "what is found")


def removed(jobs):
    """A checkpoint that was deleted or dropped is not found any more: the next older one is, in the same job and in the next one."""
    flushed = {"SCR_FLUSH": "1"}
    call = "delete" if jobs.is_cached else "drop"
    text = jobs.run(2, "checkpoint:a", "checkpoint:b", "checkpoint:c", f"{call}:c", "have", f"{call}:b", "restart", program="scr_calls", variables=flushed)
    expect(calls_of(text)[3:], ["have b", "have a"], "what is found")
    text = jobs.run(2, "have", "checkpoint:d", f"{call}:d", "restart", "checkpoint:e", f"{call}:a", "restart", program="scr_calls", variables=flushed)
    expect(calls_of(text), ["have a", "wrote d", "have a", "wrote e", "have e"], "what the next job finds")
    # One that was not looked for yet; and one that is in memory beside another one.
    text = jobs.run(2, f"{call}:e", "have", "checkpoint:f", "checkpoint:g", f"{call}:f", "have", f"{call}:g", "have", program="scr_calls",
                    variables=dict(flushed, SCR_CACHE_SIZE="3"))
    expect(calls_of(text), ["have none", "wrote f", "wrote g", "have g", "have none"], "what is found at last")
    expect(jobs.stored(r"[a-g]"), [], "what is in the store")


def removed_for_good(jobs):
    """A checkpoint that was deleted does not come back from memory that was kept for the job that is started again."""
    command = [jobs.tools / "fenix-run", "--store", jobs.store, "--"]
    for call in ("delete", "drop"):
        text = jobs.run(2, "restart", "checkpoint:a", "checkpoint:b", f"{call}:b", f"die-once:{call}", f"{call}:a", "have", program="scr_calls",
                        command=command, variables={"SCR_FLUSH": "1"}, told=True)
        expect(calls_of(text), ["have none", "wrote a", "wrote b", "have a", "wrote a", "wrote b", "have none"], f"what is found after {call}")


def for_the_user_alone(jobs):
    """What the library has below the prefix is for the user alone, whatever the umask is, and what others put there is not used."""
    def modes():
        return {str(path.relative_to(jobs.prefix)): path.stat().st_mode & 0o777 for path in jobs.prefix.rglob("*")}

    # An earlier version has left it so.
    (jobs.prefix / ".scr").mkdir()
    (jobs.prefix / ".scr").chmod(0o775)
    (jobs.prefix / "input").write_text("precious", encoding="ascii")
    jobs.run(2, "have", "both:a", "both:b", program="scr_calls", wrapper=["sh", "-c", 'umask 0; exec "$0" "$@"'], variables={"SCR_CURRENT": "none", "SCR_JOB_ID": "1"})
    found = {name: mode for name, mode in modes().items() if not name.startswith(".scr/fenix/")}
    expect({name: oct(mode) for name, mode in found.items() if name.startswith(".scr") and mode not in (0o700, 0o600)}, {}, "what others may do")
    expect((found[".scr"], found[".scr/datasets"], found[".scr/datasets/a"], found[".scr/current"]), (0o700, 0o700, 0o600, 0o600), "the modes of the library's")
    # Files of the program have what its umask gives.
    expect((found["b"], found["b/file.1"]), (0o777, 0o666), "the modes of the program's")
    # An entry of another user, or behind a link, names a file of this user.
    entry = jobs.prefix / ".scr/datasets/a"
    entry.write_bytes(b"\0".join((b"scr dataset 1", b"1", b"1", b"1", b"1", b"2", b"0", b"a", b"input")) + b"\0")
    if os.geteuid() == 0:
        os.chown(entry, 65534, 65534)
    else:
        entry.symlink_to(entry.rename(jobs.work / "entry"))
    jobs.run(2, "restart", "checkpoint:c", "checkpoint:d", program="scr_calls", variables={"SCR_PREFIX_SIZE": "1"})
    expect((jobs.prefix / "input").exists(), True, "that a file is there which such an entry names")
    (jobs.prefix / ".scr").rename(jobs.prefix / "other")
    (jobs.prefix / ".scr").symlink_to("other")
    text = jobs.run(2, "have", program="scr_calls", ends=False, told=True)
    expect("/.scr cannot be made, or is not a folder of this user" in text, True, "that a link is refused")


def prefix_size(jobs):
    """SCR_PREFIX_SIZE leaves so many checkpoints, and those that are outputs as well."""
    jobs.run(3, "--steps", 8, "--output", 4, "--from", -1, variables={"SCR_FLUSH": "1", "SCR_PREFIX_SIZE": "2"})
    expect(jobs.stored(), ["ckpt.3", "ckpt.6", "ckpt.7"], "what is in the store")
    if not jobs.is_cached:
        expect(sorted(path.name for path in jobs.prefix.iterdir()), [".scr", "ckpt.3", "ckpt.6", "ckpt.7"], "what is below the prefix folder")
    jobs.run(3, "--steps", 0, "--from", 7)


def prefix_size_after_choice(jobs):
    """After SCR_Current, the latest ones are those that were written last. They have numbers, and names, that no other one has."""
    jobs.run(2, "checkpoint:a1", "checkpoint:a2", "checkpoint:a3", "checkpoint:", "checkpoint:a5", program="scr_calls")
    text = jobs.run(2, "current:a2", "restart", "checkpoint:", "have", "checkpoint:b1", "checkpoint:b2", program="scr_calls")
    expect(calls_of(text)[2], "have scr.dataset.6", "the number after the choice")
    names = r"[ab]\d|scr.dataset.\d"
    expect(jobs.stored(names), ["a1", "a2", "a3", "a5", "b1", "b2", "scr.dataset.4", "scr.dataset.6"], "what is in the store")
    jobs.run(2, "current:a2", "restart", "checkpoint:c1", "checkpoint:c2", program="scr_calls", variables={"SCR_PREFIX_SIZE": "3"})
    expect(jobs.stored("[c]\\d|" + names), ["b2", "c1", "c2"], "what is left in the store")
    (jobs.prefix / "c2/file.1").write_text("other", encoding="ascii")
    expect(calls_of(jobs.run(2, "restart", program="scr_calls")), ["have c1"], "what is found when the newest one is damaged")


def prefix_size_counts_whole(jobs):
    """A checkpoint whose flush has failed takes the place of no other one, and goes with them."""
    keeper = jobs.work / "keeper"
    keeper.write_text(f"#!/bin/bash\ntrap '' XFSZ\nulimit -f 100\nexec {jobs.tools}/fenix-keeper\n", encoding="ascii")
    keeper.chmod(0o700)
    variables = {"SCR_FLUSH": "1", "SCR_PREFIX_SIZE": "2"}
    text = jobs.run(2, "checkpoint:a", "big:b", "die-once:mark", program="scr_calls", variables=dict(variables, FENIX_KEEPER=str(keeper)), ends=False, told=True)
    expect(calls_of(text), ["wrote a", "failed b"], "what the job says whose flush fails")
    text = jobs.run(2, "have", "checkpoint:c", program="scr_calls", variables=variables)
    expect(calls_of(text), ["have a", "wrote c"], "what the next job says")
    expect(jobs.stored("[a-e]"), ["a", "c"], "what is in the store")
    jobs.run(2, "restart", "checkpoint:d", "checkpoint:e", program="scr_calls", variables=variables)
    expect(jobs.stored("[a-e]"), ["d", "e"], "what is in the store at last")
    expect(sorted(path.name for path in (jobs.prefix / ".scr/datasets").iterdir()), ["d", "e"], "the list of datasets")


def same_name(jobs):
    """A name is that of one dataset: writing it again takes the place of the earlier one."""
    for _ in range(3):
        jobs.run(3, "--steps", 1, "--from", -1, variables={"SCR_FETCH": "0"})
    expect(jobs.stored(), ["ckpt.0"], "what is in the store")


def same_name_other_files(jobs):
    """What a dataset of the same name had goes when the new one is complete, and not before; or when it is deleted."""
    def folders():
        return sorted(path.name for path in jobs.prefix.iterdir() if path.name not in (".scr", "keeper", "mark"))

    keeper = jobs.work / "keeper"
    keeper.write_text(f"#!/bin/bash\ntrap '' XFSZ\nulimit -f 1\nexec {jobs.tools}/fenix-keeper\n", encoding="ascii")
    keeper.chmod(0o700)
    variables = {"SCR_FLUSH": "1"}
    jobs.run(2, "both:a=p", "both:a=q", "output:o=r", "output:o=s", program="scr_calls", variables=variables)
    expect(folders(), ["q", "s"], "what is there of two datasets with one name each")
    # The flush of the new one fails: the one before is whole.
    text = jobs.run(2, "both:a=t", "die-once:mark", program="scr_calls", variables=dict(variables, FENIX_KEEPER=str(keeper)), ends=False, told=True)
    expect((calls_of(text), folders()), (["failed a"], ["q", "s", "t"]), "what is there of a dataset that is not complete")
    jobs.run(2, "restart", "delete:a", "delete:o", program="scr_calls", variables=variables)
    expect(folders(), [], "what is there of deleted datasets")


def output_takes_the_name(jobs):
    """An output with the name of a checkpoint takes its place: the checkpoint is not offered any more, and its files are gone."""
    variables = {"SCR_FLUSH": "1", "SCR_CACHE_SIZE": "2"}
    text = jobs.run(2, "both:a", "both:b", "output:b=o", "have", program="scr_calls", variables=variables)
    expect(calls_of(text)[3:], ["have a"], "what is found")
    expect(calls_of(jobs.run(2, "have", program="scr_calls", variables=variables)), ["have a"], "what the next job finds")
    expect((jobs.stored("[ab]"), (jobs.prefix / "b").exists(), (jobs.prefix / "o").exists()), (["a"], False, True), "what is there")
    # A new checkpoint of that name counts.
    text = jobs.run(2, "checkpoint:b", "have", program="scr_calls", variables=dict(variables, SCR_FLUSH="0"))
    expect(calls_of(text)[1:], ["have b"], "what is found of a new checkpoint")


def names_like_others(jobs):
    """A dataset does not replace one of another name: neither by its name while it is written, nor by the form that it has in the store."""
    jobs.run(2, "both:x.scr-fenix.tmp", "both:x", "both:a/b", program="scr_calls")
    expect(sorted(path.name for path in (jobs.prefix / ".scr/datasets").iterdir()), ["a_b.e620c3190468cf61", "x", "x.scr-fenix.tmp"], "the list of datasets")
    calls = ("output:a_b.e620c3190468cf61", "delete:a_b.e620c3190468cf61", "restart")
    text = jobs.run(2, *calls, program="scr_calls", told=True)
    expect("the dataset a/b has this name in the store" in text, True, "that it says why the name is refused")
    expect(calls_of(text), ["failed a_b.e620c3190468cf61", "have a/b"], "what is found")


def ranks_elsewhere(jobs):
    """Without SCR_PREFIX, the prefix folder is where rank 0 was started."""
    own = ["sh", "-c", 'if [ $OMPI_COMM_WORLD_RANK != 0 ]; then mkdir -p sub; cd sub; fi; exec "$0" "$@"']
    jobs.run(2, "checkpoint:a", "restart", program="scr_calls", wrapper=own)
    expect((jobs.prefix / "a/file.0").exists() and (jobs.prefix / "sub/a/file.1").exists(), True, "that the files are where they were asked for")
    expect(calls_of(jobs.run(2, "restart", program="scr_calls", wrapper=own)), ["have a"], "what the next job finds")


def flush_fails(jobs):
    """A checkpoint that cannot be flushed is no success, and the reason is told."""
    def look(job):
        if 3 in steps_of(job.text()) and jobs.store.is_dir():
            shutil.rmtree(jobs.store, ignore_errors=True)
            # The keeper may have made a file meanwhile: the next look tries again.
            if not jobs.store.exists():
                jobs.store.write_text("no folder", encoding="ascii")
        return False

    text = jobs.run(3, "--steps", 100000, "--nap", 20, look=look, ends=False, told=True, variables={"SCR_FLUSH": "1"})
    expect("flush of the checkpoint ckpt." in text and "completion" in text, True, "that the flush has failed")


def choice_stays(jobs, variables=None):
    """What SCR_Current has chosen stays, until a newer checkpoint is in the store: one whose flush has failed is not."""
    flushed = dict(variables or {}, SCR_FLUSH="1")
    keeper = jobs.work / "keeper"
    keeper.write_text(f"#!/bin/bash\ntrap '' XFSZ\nulimit -f 100\nexec {jobs.tools}/fenix-keeper\n", encoding="ascii")
    keeper.chmod(0o700)
    jobs.run(2, "checkpoint:a", "checkpoint:b", "checkpoint:c", program="scr_calls", variables=flushed)
    text = jobs.run(2, "current:a", "restart", "big:d", "die-once:first", program="scr_calls", variables=dict(flushed, FENIX_KEEPER=str(keeper)), ends=False,
                    told=True)
    expect(calls_of(text), ["have a", "wrote d" if variables else "failed d"], "what the job says whose flush fails")
    text = jobs.run(2, "restart", "checkpoint:e", "checkpoint:f", "die-once:second", program="scr_calls", variables=flushed, ends=False, told=True)
    expect(calls_of(text), ["have a", "wrote e", "wrote f"], "what the next one finds")
    # A flush in the background that nobody has seen the end of takes no choice back.
    text = jobs.run(2, "have", program="scr_calls", variables=flushed)
    expect(calls_of(text)[0] in ("have e", "have f"), True, "that a newer checkpoint takes the place of the choice")


def choice_stays_in_background(jobs):
    """The same with flushes in the background."""
    choice_stays(jobs, {"SCR_FLUSH_ASYNC": "1"})


def ignored(jobs):
    """Parameters without effect are named once."""
    text = jobs.run(3, "--steps", 1, variables={"SCR_FLUSH_TYPE": "BBAPI", "SCR_LOG_ENABLE": "1", "SCR_FLUSH": "1"})
    expect(re.findall("^scr: .*without effect.*$", text, re.MULTILINE),
           ["scr: parameters without effect in this library: SCR_FLUSH_TYPE, SCR_LOG_ENABLE"], "what is told")
    expect("without effect" in jobs.run(3, "--steps", 1), False, "that something is told without a reason")


def disabled(jobs):
    """SCR_ENABLE=0: calls fail, and nothing is told."""
    text = jobs.run(2, "--steps", 1, ends=False, told=True, variables={"SCR_ENABLE": "0"})
    expect("SCR_Init" in text and "scr:" not in text, True, "that SCR_Init alone fails")


def front(jobs, name, *arguments, status=0, variables=None, folder=None):
    """Returns what a command of SCR has said."""
    done = subprocess.run([jobs.tools / name, *map(str, arguments)], check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT,
                          cwd=folder or jobs.prefix, env=dict(jobs.variables, **(variables or {})))
    expect(done.returncode, status, f"the status of {name} {arguments}, which says {done.stdout}")
    return done.stdout


def index_command(jobs):
    """scr_index lists, chooses and drops, and says what it cannot do."""
    front(jobs, "scr_index", status=1)
    jobs.run(3, "--steps", 5, "--output", 2, "--only-output", 1, "--from", -1)
    jobs.run(3, "--steps", 0, "--from", 2, "--refuses", 1)
    lines = front(jobs, "scr_index", "--prefix", jobs.prefix, folder="/").splitlines()
    expect(lines[0], "DSET VALID FLUSHED             CUR NAME", "the first line")
    # Pure outputs are not listed.
    expect([re.sub(r"20\S+", "time", line).split() for line in lines[1:]],
           [["5", "NO", "time", "ckpt.4"], ["3", "YES", "time", "ckpt.2"], ["1", "YES", "time", "ckpt.0"]], "the list")
    front(jobs, "scr_index", "--current=ckpt.0")
    expect(re.search(r"\* +ckpt.0$", front(jobs, "scr_index", "-l"), re.MULTILINE) is not None, True, "that the current one is marked")
    jobs.run(3, "--steps", 0, "--from", 0)
    front(jobs, "scr_index", "-c", "ckpt.4")
    jobs.run(3, "--steps", 0, "--from", 4)
    front(jobs, "scr_index", "--drop", "ckpt.4")
    jobs.run(3, "--steps", 0, "--from", 2)
    front(jobs, "scr_index", "--drop-after=ckpt.0")
    expect((jobs.stored(), (jobs.prefix / "ckpt.2").exists()), (["ckpt.0"], True), "what is left")
    for arguments, status in ((["--current", "none"], 1), (["--drop=none"], 1), (["--add", "ckpt.2"], 2), (["--build=3"], 2), (["--other"], 2),
                              (["--drop"], 2), (["--drop=a", "--current=b"], 2), (["--prefix", "/none"], 1)):
        said = front(jobs, "scr_index", *arguments, status=status)
        expect(said.startswith("scr_index: "), True, f"that it says why {arguments} is refused")


def index_of_others(jobs):
    """scr_index uses nothing in an entry before it knows that it is one, and no entry or folder of another user."""
    name = "a] $(touch by-name) ["
    jobs.run(1, f"checkpoint:{name}", "checkpoint:b", program="scr_calls")
    index = jobs.prefix / ".scr/datasets"
    command = b"UID[$(touch by-number)]"
    good = [b"scr dataset 1", b"1", b"1", b"1", b"1", b"2", b"0"]
    for field in range(1, 7):
        for number, value in enumerate((command, b"08", b"-1", b"", b"1" * 30)):
            label = f"bad.{field}.{number}"
            (index / label).write_bytes(b"\0".join([*good[:field], value, *good[field + 1:], label.encode()]) + b"\0")
    said = front(jobs, "scr_index")
    expect(said.count("is no entry of a dataset"), 30, "how many entries are passed over")
    expect([line.split(maxsplit=3)[3] for line in said.splitlines()[-2:]], ["b", name], "the list")
    for path in index.glob("bad.*"):
        path.unlink()
    entry = b"\0".join([*good, b"other"]) + b"\0"
    (jobs.work / "other").write_bytes(entry)
    (index / "other").symlink_to(jobs.work / "other")
    expect("other is a link, or belongs to another user" in front(jobs, "scr_index", "--drop-after", name), True, "that a link is told")
    expect(jobs.stored(".*b"), [], "what is in the store after it")
    (index / "other").unlink()
    if os.geteuid() == 0:
        (index / "other").write_bytes(entry)
        os.chown(index / "other", 65534, 65534)
        expect("other is a link, or belongs to another user" in front(jobs, "scr_index", "--current", name), True, "that an entry of another user is told")
        os.chown(index, 65534, 65534)
        expect("datasets is a link, or belongs to another user" in front(jobs, "scr_index", status=1), True, "that a folder of another user is told")
    expect(list(jobs.prefix.glob("by-*")), [], "what commands in entries have made")


def halt_command(jobs):
    """scr_halt has a job end, and says what it cannot do."""
    front(jobs, "scr_halt", status=1)
    text = jobs.run(3, "--steps", 100000, "--nap", 20, look=lambda job: halt_once(jobs, job))
    expect("told to end" in text, True, "that the job was told to end")
    front(jobs, "scr_halt", "--remove")
    expect(front(jobs, "scr_halt", "--list"), "", "what is asked for")
    front(jobs, "scr_halt", "-c", 3, "--before=2040-01-01T00:00:00", jobs.prefix, folder="/")
    expect("3" in front(jobs, "scr_halt", "-l"), True, "that the wish is listed")
    front(jobs, "scr_halt", "--after", "2040-01-01T00:00:00")
    for arguments in (["--seconds=3"], ["--unset-before"], ["-c", "x"], ["--before", "noon"], ["--after=2040-13-01T00:00:00"], ["--other"]):
        said = front(jobs, "scr_halt", *arguments, status=2)
        expect(said.startswith("scr_halt: "), True, f"that it says why {arguments} is refused")


def halt_once(jobs, job):
    if len(steps_of(job.text())) == 4:
        front(jobs, "scr_halt", "--immediate")
    return False


def run_command(jobs):
    """scr_run starts the program again, with the store where the program looks for it."""
    text = jobs.run(3, "--steps", 60, "--nap", 20, look=kill_launcher_once(6), command=[jobs.tools / "scr_run", "mpirun"], variables={"SCR_RUNS": "3"})
    expect(len(re.findall(r"^from (-?\d+)", text, re.MULTILINE)), 2, "the number of starts")
    expect(max(jobs.stored(), key=lambda name: int(name[5:])), "ckpt.59", "the newest checkpoint")
    jobs.run(3, "--steps", 61, "--from", 59, command=[jobs.tools / "scr_srun"])
    for name, arguments in (("scr_run", []), ("scr_run", ["jsrun", "a"]), ("scr_srun", ["-N", "2", "a"]), ("scr_srun", ["-n", "2"]), ("scr_srun", ["-n", "x", "a"]),
                            ("scr_run", ["mpirun", "-n", "2", "--run-cmd", "a"]), ("scr_mpirun", [])):
        said = front(jobs, name, *arguments, status=2)
        expect(said.startswith(f"{name}: "), True, f"that it says why {arguments} is refused")
    for variables in ({"SCR_RUNS": "x"}, {"SCR_EXCLUDE_NODES": "n[1-2]"}, {"SCR_WATCHDOG": "1"}):
        said = front(jobs, "scr_run", "mpirun", "-n", 1, "true", status=2, variables=variables)
        expect(next(iter(variables)) in said, True, f"that it names {variables}")


CASES = {each.__name__: each for each in (kills, ranks_differ, shared_files, damaged_files, clean_up, chosen_once, refused_in_memory, same_name_other_files,
                                          output_takes_the_name, names_like_others, ranks_elsewhere, drop_after_needs_place, store_does_not_answer,
                                          drop_is_refused, forwarded, purge, prefix_size, same_name, flush_fails, ignored, disabled, index_command,
                                          halt_command, run_command, manual, kills_of_languages, purge_refused, purge_reads_only, purge_again, removed,
                                          removed_for_good, choice_stays, choice_stays_in_background, for_the_user_alone, index_of_others,
                                          prefix_size_after_choice, prefix_size_counts_whole)}
