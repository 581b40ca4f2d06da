# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the harness. In the folder tests: python3 -B -m unittest harness.test_harness"""
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from . import environment, nodes, processes, shared_memory
from .job import Job, Leftovers, mpirun

RUN_MPI = environment.ROOT / "tests/run-mpi"
# A process that ignores what can be ignored, and so do its children.
STUBBORN = "trap '' INT TERM HUP; sleep 1000"


class Case(unittest.TestCase):
    """Has a folder, and a token that no process may have in the end."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="harness."))
        self.addCleanup(shutil.rmtree, self.folder)
        self.token = f"HARNESS_TEST={secrets.token_hex(8)}"
        self.addCleanup(processes.kill, self.token)

    def variables(self, **more):
        name, value = self.token.split("=")
        return dict(os.environ, **{name: value}, **more)

    def job(self, script, limit=20, name="job", **options):
        """A job of a shell script. Its processes count as ranks."""
        return Job(["sh", "-c", script], self.folder / name, limit, self.variables(PMIX_RANK="0"), **options)

    def start(self, script, **variables):
        """Starts a shell script that is no job."""
        process = subprocess.Popen(["sh", "-c", script], env=self.variables(**variables), start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def assert_none_lives(self):
        self.assertEqual([processes.describe(process.pid) for process in processes.find(self.token)], [])


class Processes(Case):
    def test_a_token_finds_all_descendants(self):
        # The middle shell ends, so that its child belongs to process 1.
        self.start("sh -c 'sleep 1000 &'; sleep 1000")
        self.assertTrue(processes.wait_until(lambda: [one.name for one in processes.find(self.token)].count("sleep") == 2, 10))
        self.assertEqual(processes.find(self.token[:-1]), [], "the whole of the token counts")
        self.assertEqual(processes.kill(self.token), [])
        self.assert_none_lives()

    def test_ranks_are_told_from_launchers(self):
        tool = self.folder / "prterun"
        tool.symlink_to(shutil.which("sleep"))
        rank, other = self.start("exec sleep 1000", PMIX_RANK="3"), self.start("exec sleep 1000")
        launcher = self.start(f"exec {tool} 1000", PMIX_RANK="3")
        self.assertTrue(processes.wait_until(lambda: "prterun" in [one.name for one in processes.find(self.token)], 10))
        self.assertEqual(processes.ranks(self.token), [rank.pid])
        self.assertEqual({one.pid for one in processes.find(self.token)}, {rank.pid, other.pid, launcher.pid})

    def test_zombies_are_not_alive(self):
        process = self.start("exit 0")
        self.assertTrue(processes.wait_until(lambda: not processes.is_alive(process.pid), 10))
        self.assert_none_lives()
        self.assertTrue(processes.is_alive(os.getpid()))

    def test_what_ignores_sigterm_dies(self):
        process = self.start(STUBBORN)
        self.assertTrue(processes.wait_until(lambda: len(processes.find(self.token)) == 2, 10))
        process.terminate()
        time.sleep(0.1)
        self.assertTrue(processes.is_alive(process.pid), "the test itself: it is to ignore SIGTERM")
        self.assertEqual(processes.kill(self.token), [])
        self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assert_none_lives()

    def test_children_of_a_process_that_dies_die_too(self):
        # A child is started every 2 ms, so that the first look misses the newest. All end by themselves, in case the test fails.
        parent = "import os, time\nfor _ in range(5000):\n    time.sleep(0.002)\n    if not os.fork(): time.sleep(30); os._exit(0)"
        process = subprocess.Popen(["python3", "-c", parent], env=self.variables(), start_new_session=True)
        self.addCleanup(process.wait)
        self.assertTrue(processes.wait_until(lambda: len(processes.find(self.token)) > 20, 10))
        self.assertEqual(processes.kill(self.token), [])
        time.sleep(0.05)
        self.assert_none_lives()

    def test_stacks_are_taken(self):
        if not shutil.which("gdb"):
            self.skipTest("no gdb")
        process = self.start("exec sleep 1000")
        self.assertTrue(processes.wait_until(lambda: processes.command_line(process.pid) == "sleep 1000", 10))
        process.send_signal(signal.SIGSTOP)
        text = processes.stacks([process.pid])
        self.assertIn(f"--- process {process.pid}: sleep 1000", text)
        self.assertRegex(text, r"(?m)^#\d+ .*(nanosleep|sleep)")

    def test_wait_until(self):
        turns = iter([False, False, True])
        self.assertTrue(processes.wait_until(lambda: next(turns), 10, pause=0.001))
        begin = time.monotonic()
        self.assertFalse(processes.wait_until(lambda: False, 0.1, pause=0.01))
        self.assertTrue(0.1 <= time.monotonic() - begin < 5)


class SharedMemory(Case):
    def test_a_file_that_is_left_is_reported(self):
        name = f"harness-{secrets.token_hex(4)}"
        for is_own in (True, False):
            if is_own and not shared_memory.can_be_own():
                continue
            with self.subTest(own=is_own), mock.patch.object(shared_memory, "can_be_own", lambda value=is_own: value):
                with self.job(f"touch /dev/shm/{name}", name=f"left-{is_own}") as job:
                    job.follow()
                    self.assertEqual((Path("/dev/shm") / name).exists(), not is_own)
                    self.assertEqual([path.name for path in job.finish().memory], [name])
                self.assertFalse((Path("/dev/shm") / name).exists(), "it is removed")
                with self.job(f"touch /dev/shm/{name}; rm /dev/shm/{name}", name=f"clean-{is_own}") as job:
                    job.follow()
                    self.assertEqual(job.finish().memory, [])

    def test_files_of_others_do_not_count(self):
        path = Path("/dev/shm") / f"harness-{secrets.token_hex(4)}"
        self.addCleanup(path.unlink)
        with mock.patch.object(shared_memory, "can_be_own", lambda: False), self.job("sleep 0.2") as job:
            # A file that a living process maps.
            path.write_bytes(bytes(4096))
            mapper = f"import mmap, time; f = open('{path}', 'r+b'); m = mmap.mmap(f.fileno(), 4096); time.sleep(1000)"
            process = subprocess.Popen(["python3", "-c", mapper], env=self.variables())
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            maps = Path(f"/proc/{process.pid}/maps")
            self.assertTrue(processes.wait_until(lambda: str(path) in maps.read_text(encoding="utf-8"), 10))
            job.follow()
            self.assertEqual(job.finish().memory, [])
        self.assertTrue(path.exists())


class Jobs(Case):
    def test_a_good_job(self):
        with self.job("echo one; echo two >&2; exit 3") as job:
            job.follow()
            self.assertEqual((job.status, job.hung, job.text()), (3, False, "one\ntwo\n"))
            self.assertEqual(job.finish(), Leftovers())
            self.assertFalse(job.temporary.exists())

    def test_the_status_of_a_killed_command_is_that_of_a_shell(self):
        for own_memory in (True, False):
            with self.job("kill -KILL $$", own_memory=own_memory, name=f"job-{own_memory}") as job:
                job.follow()
                self.assertEqual(job.status, 128 + signal.SIGKILL)

    def test_a_hung_job_is_killed_at_its_limit(self):
        begin = time.monotonic()
        with self.job(STUBBORN, limit=1) as job:
            job.follow()
            self.assertTrue(1 <= time.monotonic() - begin < 60)
            self.assertEqual((job.hung, job.status), (True, 128 + signal.SIGKILL))
            self.assertIn("sleep 1000", job.stacks.read_text(encoding="utf-8"))
            self.assert_none_lives()
            self.assertEqual(job.finish().complaints(), [], "a killed job could not clean up")

    def test_a_process_that_is_left_is_reported_and_killed(self):
        # In a session of its own, and its parent is gone.
        with self.job("setsid sleep 1000 >/dev/null 2>&1 &") as job:
            job.follow()
            self.assertFalse(job.hung)
            left = job.finish()
            self.assertEqual(len(left.ranks), 1)
            self.assertRegex(left.complaints()[0], r"^left running: \d+ S sleep 1000$")
            self.assertTrue(job.stacks.exists())
            self.assert_none_lives()

    def test_a_rank_may_exit_a_moment_after_mpirun(self):
        with self.job("sleep 0.5 &") as job:
            job.follow()
            self.assertEqual(job.finish(), Leftovers())

    def test_a_launcher_that_is_left_is_told_apart(self):
        with Job(["sh", "-c", "sleep 1000 &"], self.folder / "job", 20, self.variables()) as job:
            job.follow()
            left = job.finish()
            self.assertEqual((left.ranks, len(left.launchers), left.complaints()), ([], 1, []))
            self.assert_none_lives()

    def test_files_that_are_left_in_tmp_are_reported(self):
        outside = self.folder / "outside"
        (outside / "fenix-nodes.1").mkdir(parents=True)
        (outside / "fenix-old").touch()
        time.sleep(0.05)
        with mock.patch.object(tempfile, "gettempdir", lambda: str(outside)):
            with self.job(f'touch "$TMPDIR/Fenix.x" "$TMPDIR/other" {outside}/fenix-new {outside}/fenix-nodes.1/x') as job:
                job.follow()
                self.assertEqual(job.finish().temporary, [job.temporary / "Fenix.x", outside / "fenix-new"])

    def test_the_end_of_a_with_statement_ends_the_job(self):
        with self.assertRaises(KeyError), self.job(STUBBORN) as job:
            self.assertTrue(job.is_running())
            raise KeyError
        self.assertFalse(job.is_running())
        self.assert_none_lives()

    def test_a_job_ends_when_its_supervisor_is_killed(self):
        with mock.patch("harness.job._LAST_RESORT", 1), self.job(STUBBORN, limit=0) as job:
            # Nobody follows it: timeout alone ends it.
            self.assertTrue(processes.wait_until(lambda: not job.is_running(), 10))
            self.assertEqual(job.status, 128 + signal.SIGKILL)

    def test_a_rank_is_killed(self):
        with self.job("PMIX_RANK=1 sleep 1000; echo status $?") as job:
            self.assertTrue(processes.wait_until(lambda: job.kill_rank(1), 10))
            self.assertFalse(job.kill_rank(2))
            job.follow()
            self.assertIn("status 137", job.text())
            self.assertEqual(job.status, 0)

    def test_a_look_ends_the_wait(self):
        with self.job(STUBBORN) as job:
            job.follow(lambda: (job.folder / "tmp").exists())
            self.assertTrue(job.is_running())
            self.assertFalse(job.hung)
            self.assertEqual(job.finish().launchers, [])
            self.assert_none_lives()

    def test_lines_come_while_it_runs(self):
        seen = []
        with self.job("echo one; printf tw; sleep 0.3; echo o; printf end") as job:
            job.follow(lambda: seen.append(job.new_lines()))
            seen.append(job.new_lines())
        self.assertEqual([line for lines in seen for line in lines], ["one", "two", "end"])
        self.assertGreater(sum(map(bool, seen)), 1)


class Environment(Case):
    def test_it_is_that_of_env_sh(self):
        variables = environment.load(dict(os.environ, OMPI_MCA_coll="mine", LINES="a\nb"))
        self.assertEqual(variables["OMPI_MCA_async_mpi_finalize"], "1")
        self.assertEqual((variables["OMPI_MCA_coll"], variables["LINES"]), ("mine", "a\nb"))
        environment.share_cores(variables)
        self.assertEqual(variables["OMPI_MCA_mpi_yield_when_idle"], "1")


class OnNodes(Case):
    def test_what_the_state_says(self):
        state = nodes.Nodes(self.folder / "nodes")
        self.assertFalse(state.are_ready())
        self.assertEqual(state.processes(), {})
        state.state.mkdir()
        lines = f"head 10.0.0.254 net:[1] pid:[2]\nnode1 10.0.0.1 net:[3] {os.readlink('/proc/self/ns/pid')}\n"
        (state.state / "nodes").write_text(lines, encoding="utf-8")
        self.assertTrue(state.are_ready())
        inner = int(Path("/proc/self/status").read_text(encoding="utf-8").split("NSpid:")[1].split("\n")[0].split()[-1])
        self.assertEqual(state.processes()["node1", inner], os.getpid())
        self.assertFalse(state.kill("node7"))

    def test_what_is_left_on_nodes_is_reported(self):
        job = nodes.JobOnNodes([2, 1], ["true"], self.folder, 5, self.variables())
        (self.folder / "left").write_text("node1 /dev/shm/x\n", encoding="utf-8")
        self.assertEqual(job._left_on_nodes(), ["node1 /dev/shm/x"])
        self.assertEqual(Leftovers(nodes=job._left_on_nodes()).complaints(), ["left on a node: node1 /dev/shm/x"])


class RunMpi(Case):
    """The command line and the exit codes of tests/run-mpi, with programs that are no MPI programs."""

    def setUp(self):
        super().setUp()
        if not shutil.which("mpirun", path=environment.load()["PATH"]):
            self.skipTest("no mpirun")
        self.work = self.folder / "work"

    def run_mpi(self, script, *options, ok=2, ranks=2):
        command = [RUN_MPI, "--ranks", str(ranks), "--ok", str(ok), "--name", "test", "--work", self.work, *options]
        # mpirun may wait for ever for a program that ends within milliseconds.
        done = subprocess.run([*command, "--", "sh", "-c", f"sleep 0.2; {script}"], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, env=self.variables())
        self.assert_none_lives()
        return done.returncode, done.stdout

    def assert_fails(self, complaint, script, *options, **more):
        status, text = self.run_mpi(script, *options, **more)
        self.assertEqual(status, 1, text)
        self.assertIn(f"run-mpi: FAILED: {complaint}", text)
        self.assertEqual(len(list(self.work.glob("test.*/output.txt"))), 1, "its folder is kept")
        shutil.rmtree(self.work)

    def test_a_good_run(self):
        status, text = self.run_mpi("echo FENIX-TEST-OK; echo bytes 17", "--status", "0", "--says", "^bytes [0-9]+$")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"^run-mpi: test: passed, 2 ranks, mpirun status 0, [0-9.]+ s\n$")
        self.assertEqual(list(self.work.iterdir()), [])

    def test_what_is_wrong(self):
        self.assert_fails("1 ranks ended well, not 2", '[ "$PMIX_RANK" = 1 ] || echo FENIX-TEST-OK')
        self.assert_fails("a rank reported a failure", "echo FENIX-TEST-OK; echo FENIX-TEST-FAIL")
        self.assert_fails("no line matches: ^x$", "echo FENIX-TEST-OK; echo xx", "--says", "^x$")
        self.assert_fails("mpirun ended with status 0, not 3", "echo FENIX-TEST-OK", "--status", "3")

    def test_a_program_that_skips(self):
        status, text = self.run_mpi('echo FENIX-TEST-OK; [ "$PMIX_RANK" = 1 ] || echo FENIX-TEST-SKIPPED no memory')
        self.assertEqual((status, text), (77, "run-mpi: test: skipped: no memory\n"))
        self.assert_fails("a rank reported a failure", "echo FENIX-TEST-SKIPPED why; echo FENIX-TEST-OK; echo FENIX-TEST-FAIL")

    def test_what_is_left(self):
        good = "echo FENIX-TEST-OK"
        self.assert_fails("left running: ", f"{good}; setsid sleep 1000 >/dev/null 2>&1 &")
        name = f"harness-{secrets.token_hex(4)}"
        self.assert_fails(f"left in /dev/shm: /dev/shm/{name}", f"{good}; touch /dev/shm/{name}")
        self.assert_fails("left in /tmp: ", f'{good}; touch "$TMPDIR/fenix-x"')

    def test_a_hung_run(self):
        status, text = self.run_mpi("trap '' TERM; sleep 1000", "--timeout", "3", ok=0)
        self.assertEqual(status, 1, text)
        self.assertIn("run-mpi: FAILED: HUNG: not done after 3 s, killed", text)
        self.assertRegex(text, r"\| --- process \d+: sleep 1000")

    def test_wrong_arguments(self):
        for arguments in ([], ["--ranks", "2", "--", "true"], ["--ranks", "2", "--ok", "2"], ["--what", "--", "true"]):
            done = subprocess.run([RUN_MPI, *arguments], check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage: run-mpi", done.stderr)
        self.assertEqual(subprocess.run([RUN_MPI, "--help"], check=False, stdout=subprocess.DEVNULL).returncode, 0)

    def test_a_signal_ends_the_run(self):
        command = [RUN_MPI, "--ranks", "2", "--ok", "2", "--work", self.work, "--", "sh", "-c", STUBBORN]
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(command, env=self.variables())
            self.assertTrue(processes.wait_until(lambda: len(processes.ranks(self.token)) >= 2, 30))
            process.send_signal(number)
            self.assertEqual(process.wait(30), 128 + number)
            self.assert_none_lives()

    def test_on_nodes(self):
        if not nodes.are_possible():
            self.skipTest("no nodes")
        beside = 'until grep -q ready "$FENIX_TEST_OUTPUT"; do sleep 0.05; done; test -r "$FENIX_NODES_STATE/nodes" && exit '
        script = "echo ready; sleep 1; echo FENIX-TEST-OK"
        status, text = self.run_mpi(script, "--nodes", "1,2", "--beside", beside + "0", ok=3)
        self.assertEqual(status, 0, text)
        status, text = self.run_mpi(script, "--nodes", "1,1", "--beside", f"echo why; {beside} 77")
        self.assertEqual((status, text), (77, "run-mpi: test: skipped: why\n"))
        self.assert_fails("what ran beside failed: why", script, "--nodes", "1,1", "--beside", f"echo why; {beside} 5")
        self.assert_fails("left on a node: node1 /dev/shm/x", "echo FENIX-TEST-OK; touch /dev/shm/x", "--nodes", "1", ok=1)


class Commands(Case):
    def test_mpirun(self):
        self.assertEqual(mpirun(3, Path("/x"), 7), ["mpirun", "--with-ft", "ulfm", "-n", "3", "/x", "7"])
