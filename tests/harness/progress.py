# SPDX-License-Identifier: BSD-3-Clause
"""Tells how far a build is, in place of silence."""
import re
import subprocess
import time

# NINJA_STATUS, so that lines begin with the part that is done.
STATUS = "[%p] "
EVERY = 10  # seconds, where what is said stays on the screen


def build(command, log, environment, folder, screen):
    """Runs a command that builds by ninja, with its output in a log. Returns its status."""
    begin = told = time.monotonic()
    with open(log, "ab") as output, subprocess.Popen(command, cwd=folder, env={**environment, "NINJA_STATUS": STATUS}, stdin=subprocess.DEVNULL,
                                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            output.write(line)
            done = re.match(rb"\[ *(\d+)%\]", line)
            now = time.monotonic()
            if not done or (not screen.is_terminal and now - told < EVERY):
                continue
            told = now
            text = f"building: {how_far(int(done[1]), now - begin)}"
            if screen.is_terminal:
                screen.progress(text)
            else:
                screen.say("  " + text)
    return process.returncode


def how_far(part, seconds):
    """Returns the part in per cent, and about how long the rest will take."""
    if part < 5 or part >= 100:
        return f"{part} %"
    return f"{part} %, about {seconds * (100 - part) / part:.0f} s left"
