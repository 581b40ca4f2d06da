# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs of others: how they are run, and which part of their output does not depend on time."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from harness import environment  # noqa: E402
from harness.job import Job  # noqa: E402

LIMIT = 300  # seconds for each run
RANKS = 4


class Program:
    """A program of a package: how it is run, and which part of its output does not depend on time."""
    name = ""
    ranks = RANKS
    last_words = ""  # it goes on to MPI_Finalize when it has said so

    def __init__(self, root):
        self.root = root

    def preloads(self, folder):
        """Returns libraries that the program needs where its ranks are killed, beside libfenix_mpi."""
        return []

    def last_output(self, folder, text):
        """Returns the output of the process that was rank 0 at last: one that was killed has printed the begin of it before."""
        return text

    def command(self, folder):
        raise NotImplementedError

    def results(self, folder, text):
        """Returns the lines that have to be the same in each run."""
        raise NotImplementedError

    def complaints(self, results):
        """Returns what is wrong with results, by the program's own judgement."""
        raise NotImplementedError


class Hpcc(Program):
    """HPC Challenge: solves, transposes, transforms and updates at random, and checks each result.

    steady: with small sizes, and a clock that goes on by the calls of the program: then all that it measures is a result.
    """
    name = "hpcc"
    last_words = "End of HPC Challenge tests"
    keys = re.compile(r"(Success|HPL_(Rnorm|Anorm|Xnorm|Bnorm)\w+|HPL_N|PTRANS_(residual|n)|\w*_Errors|MPIFFT_(N|maxErr))=")

    def __init__(self, root, steady=False):
        super().__init__(root)
        self.steady = steady
        self.size, self.block = (100, 16) if steady else (200, 80)

    def command(self, folder):
        text = (self.root / "usr/share/doc/hpcc/examples/_hpccinf.txt").read_text(encoding="utf-8")
        text = re.sub(r"^1000(?= +Ns)", str(self.size), text, flags=re.MULTILINE)
        text = re.sub(r"^80(?= +NBs)", str(self.block), text, flags=re.MULTILINE)
        (folder / "hpccinf.txt").write_text(text, encoding="utf-8")
        return [self.root / "usr/bin/hpcc"]

    def preloads(self, folder):
        if not self.steady:
            return []
        library = folder / "steady_clock.so"
        compiler = Path(environment.load()["FENIX_MPI_HOME"]) / "bin/mpicc"
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, HERE / "steady_clock.c"], check=True)
        return [library]

    def last_output(self, folder, text):
        try:
            text = (folder / "hpccoutf.txt").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        return text[max(text.rfind("This is the DARPA/DOE HPC Challenge"), 0):]

    def results(self, folder, text):
        lines = self.last_output(folder, text).splitlines()
        counts = [f"{word}: {sum(word in line for line in lines)}" for word in ("PASSED", "FAILED")]
        wanted = re.compile(r"\w+=") if self.steady else self.keys
        return [*filter(wanted.match, lines), *counts]

    def complaints(self, results):
        wanted = {"Success=1", "FAILED: 0", "PTRANS_residual=0", "MPIRandomAccess_Errors=0"}
        return [f"hpcc does not say {line}" for line in sorted(wanted.difference(results))]


class Lammps(Program):
    """LAMMPS: positions, velocities and energies of atoms, in all digits."""
    name = "lammps"
    last_words = "Total wall time"

    def __init__(self, root, steps=250):
        super().__init__(root)
        self.steps = steps

    def command(self, folder):
        return [self.root / "usr/bin/lmp", "-in", HERE / "melt.in", "-log", "none", "-var", "steps", self.steps]

    def last_output(self, folder, text):
        return text[max(text.rfind("LAMMPS ("), 0):]

    def results(self, folder, text):
        return [*re.findall(r"^ *\d+(?: +-?[\d.e+-]+){4} *$", self.last_output(folder, text), re.MULTILINE),
                *(folder / "positions.txt").read_text(encoding="utf-8").splitlines()]

    def complaints(self, results):
        # Lines of energies, 9 of a head, and one for each of 4 * 8^3 atoms.
        wanted = self.steps // 25 + 1 + 9 + 2048
        return [] if len(results) == wanted else [f"LAMMPS has printed {len(results)} lines of results, not {wanted}"]


class Netpipe(Program):
    """NetPIPE: looks at the bytes of messages of many sizes."""
    name = "netpipe"
    ranks = 2

    def command(self, folder):
        return [self.root / "usr/bin/NPopenmpi", "-i", "-u", "1000000"]

    def results(self, folder, text):
        return [f"{size} bytes: {said}" for size, said in re.findall(r"(\d+) bytes +\d+ times --> +(.*)", text)]

    def complaints(self, results):
        failed = [line for line in results if not line.endswith("Integrity check passed")]
        return failed if len(results) > 30 else [f"NetPIPE has printed {len(results)} results"]


class Mpi4py(Program):
    """mpi4py: communicators, objects, requests and a window."""
    name = "mpi4py"

    def command(self, folder):
        return ["env", f"PYTHONPATH={self.root}/usr/lib/python3/dist-packages", "/usr/bin/python3", "-B", HERE / "communicate.py"]

    def results(self, folder, text):
        return [line for line in text.splitlines() if ": [" in line]

    def complaints(self, results):
        return [] if len(results) == 13 else [f"{len(results)} lines of results"]


PROGRAMS = (Hpcc, Lammps, Netpipe, Mpi4py)


def prepare(program, folder, options, preloads=(), *, libraries=(), variables=None, more_ranks=0, limit=LIMIT):
    """Returns the job that runs the program in a new folder.

    options: of mpirun. libraries: folders in which the program finds more than our MPI and what the packages bring. variables: of the ranks.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    base = environment.load()
    environment.share_cores(base)
    system = program.root / "usr/lib/x86_64-linux-gnu"
    paths = {"LD_LIBRARY_PATH": [Path(base["FENIX_MPI_HOME"]) / "lib", system, system / "blas", *libraries], "LD_PRELOAD": preloads}
    values = dict(variables or {}, **{name: ":".join(map(str, some)) for name, some in paths.items() if some})
    exports = [word for name, value in values.items() for word in ("-x", f"{name}={value}")]
    command = ["mpirun", *options, "-n", program.ranks + more_ranks, *exports, "--wdir", folder, *program.command(folder)]
    return Job(map(str, command), folder / "job", limit, base)


def judge(program, folder, job, left):
    """Returns the results, and what is wrong with the run."""
    wrong = [f"not done after {job.limit} s"] if job.hung else [f"status {job.status}"] if job.status else []
    try:
        results = program.results(folder, job.text())
    except OSError as error:
        return [], [*wrong, str(error)]
    return results, wrong + left.complaints() + program.complaints(results)


def compare(results, others):
    """Returns how many results differ."""
    return sum(a != b for a, b in zip(results, others)) + abs(len(results) - len(others))
