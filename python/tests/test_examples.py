# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the documentation do what it says of them."""
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAT = ROOT / "examples/python/heat2d.py"
PAGE = ROOT / "docs/python.md"
MPIRUN = ["timeout", "-s", "KILL", "60", "mpirun", "--with-ft", "ulfm"]


def run(*arguments, ranks):
    return subprocess.run([*MPIRUN, "-n", str(ranks), sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False)


def heat(folder, kill_after=None):
    """Runs heat2d on 3 ranks and a spare; kills rank 1 when it has said "step" so often. Returns the plate and the output."""
    command = [*MPIRUN, "-n", "4", sys.executable, str(HEAT), "--size", "150", "--steps", "4000", "--interval", "4", "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        lines, steps = [], 0
        for line in process.stdout:
            lines.append(line)
            steps += line.startswith("step ")
            if kill_after is not None and steps == kill_after:
                kill_after = None
                os.kill(int((folder / "rank-1").read_text(encoding="utf-8")), signal.SIGKILL)
    assert (folder / "final.png").read_bytes().startswith(b"\x89PNG"), "".join(lines)
    return (folder / "final.raw").read_bytes(), "".join(lines)


def test_heat2d(tmp_path):
    wanted, output = heat(tmp_path / "undisturbed")
    assert "have died" not in output and "done" in output
    assert 0.01 < np.frombuffer(wanted).mean() < 0.5
    plate, output = heat(tmp_path / "disturbed", kill_after=3)
    assert "ranks [1] have died" in output and plate == wanted, output


def examples():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_five_lines(tmp_path):
    """The program at the top of the page, with a death in its middle."""
    text = examples()[0]
    program = text.replace("state += 1 ", "state += 1; fenix.testing.kill_here(1, state[0] == 50) #") + "\nprint('the end')\n"
    assert program != text and text.count("\n") == 12
    file = tmp_path / "five_lines.py"
    file.write_text("import fenix.testing\n" + program, encoding="utf-8")
    begin = time.monotonic()
    done = run(file, ranks=5)
    assert done.stdout.count("the end") == 4 and time.monotonic() - begin < 50, done


def test_example_of_a_test(pytester):
    text = next(example for example in examples() if "pytest.mark" in example)
    pytester.makepyfile(text)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


PARTS = """
import fenix, numpy as np

@fenix.resilient
def main(session):
    grid, changed = np.arange(1000.0).reshape(20, 50), [5, 900]
    with session.group(0) as group:
        group.define(0, grid)
{body}
        group.commit_barrier()
        there = group.restore(0, np.zeros(1000))
        assert there.partial and there.found == fenix.Subset((0, 9), (50, 1000)), there
        print("fine")
main()
"""


def test_example_of_parts(tmp_path):
    text = next(example for example in examples() if "from_indices" in example)
    body = "".join(f"        {line}\n" for line in text.splitlines() if "restore" not in line)
    file = tmp_path / "parts.py"
    file.write_text(PARTS.format(body=body), encoding="utf-8")
    done = run(file, ranks=2)
    assert done.stdout.count("fine") == 2, done


pytest_plugins = ["pytester"]
