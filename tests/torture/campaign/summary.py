# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a campaign: for the terminal, and for a page."""
import re
import xml.etree.ElementTree as xml
from .judge import CRASHED, FAILURES, HUNG, LEFT, LOST, OK, OPEN_MPI, WRONG

# The tables in which a run counts; with two groups it has two policies.
BY = (
    ("faults", lambda row: {row["class"]}),
    ("policy", lambda row: set(row["policy"].split("+"))),
    ("path", lambda row: {row["path"]}),
)


def tally(rows):
    """One line for each value of each column of BY: runs, repairs, and runs of each kind of failure."""
    lines = []
    for title, key in BY:
        values = sorted(set().union(*(key(row) for row in rows)))
        lines += [(title, value, [row for row in rows if value in key(row)]) for value in values]
    lines.append(("all", "", rows))
    return lines


def _cells(rows):
    # A known crash of Open MPI counts as one also if the run was made once more, and passed.
    kinds = [OPEN_MPI if row["crashed"] else row["verdict"] for row in rows]
    return [len(rows), sum(row["repairs"] for row in rows), *[kinds.count(kind) for kind in FAILURES]]


HEAD = ("runs", "repairs", *FAILURES)


def as_text(rows):
    lines = [f"{'':32}" + "".join(f"{head:>10}" for head in HEAD)]
    before = None
    for title, value, some in tally(rows):
        if title != before and before is not None:
            lines.append("")
        before = title
        lines.append(f"{title + ' ' + value if value else title:32}" + "".join(f"{cell:>10}" for cell in _cells(some)))
    return "\n".join(lines)


def common_to_all(campaign):
    nodes = f" on {campaign['nodes']} nodes each" if campaign.get("nodes") else ""
    return nodes + (" with a store each" if campaign.get("stored") else "")


def as_markdown(campaign):
    rows = campaign["runs"]
    failed = [row for row in rows if row["verdict"] != OK]
    lines = [
        f"### Master seed {campaign['seed']}", "",
        f"{len(rows)} runs{common_to_all(campaign)} in {campaign['seconds'] / 60:.0f} minutes, {campaign['jobs']} at a time, on "
        f"{campaign['cores']} cores; fenix {campaign['version']}, {campaign['mpi']}. {sum(row['deaths'] for row in rows)} ranks died, "
        f"{sum(row['repairs'] for row in rows)} repairs were made, {sum(row['restores'] for row in rows)} restored snapshots "
        f"compared, {sum(row['bytes'] for row in rows) / 1e9:.1f} GB of them. In {sum(row['lost'] > 0 for row in rows)} of "
        f"the runs whose deaths were beyond the policy, snapshots were lost and the job went on.", "",
        "| | " + " | ".join(HEAD) + " |", "|---|" + "---|" * len(HEAD)
    ]
    lines += [f"| {title + ': ' + value if value else '**all**'} | " + " | ".join(str(cell) for cell in _cells(some)) + " |"
              for title, value, some in tally(rows)]
    if failed:
        lines += ["", "| run | verdict | what |", "|---|---|---|"]
        lines += [f"| `{row.get('repeat', '--only ' + str(row['seed']))}`: `{row['what']}` | {row['verdict']} | {row['text']} |"
                  for row in failed]
    return "\n".join(lines)


# Promise, what of the campaigns tests it (classes of faults, all if none; verdicts that break it), other tests (by name).
PROMISES = (
    ("P1 committed is recoverable", {}, (LOST, ), "the model; deaths at each step of simulated ranks; each fault point",
     r"^model$|unit\.AnyStep|unit\.AnyStepParity|^mpi\.kill\."),
    ("P2 never a mixture", {}, (WRONG, ), "the model; random work against a plain copy of it",
     r"^model$|unit\.RandomWork|unit\.Epochs|^mpi\.kill\."),
    ("P3 any instruction", {"kill", "kill point", "two at once", "series", "node", "whole node", "silent node", "node of spares", "start and end"}, (LOST, WRONG, CRASHED),
     "each fault point, on several ranks and paths", r"^mpi\.kill\.|^mpi\.spawn\."),
    ("P4 nothing hangs", {}, (HUNG, ), "ranks that are stopped; time-outs; silent processes",
     r"^mpi\.silence\.|^mpi\.bad_input_timeouts$|unit\.SilenceWatch"),
    ("P5 silent corruption is noticed", {"flip"}, (LOST, WRONG), "bits flipped everywhere; parsers that are fuzzed",
     r"unit\..*[Cc]orruption|unit\.Verify|^mpi\.corrupt\.|^fuzz\."),
    ("P6 failures during recovery", {"in recovery", "again", "rebuilt", "series"}, (LOST, WRONG, HUNG),
     "each fault point of repair, rebuild and restore, after a first death",
     r"^mpi\.kill\.(in_|rs_in|buddy_in)|unit\.Rejoin"),
    ("P7 bad input", None, (), "each argument of each function", r"^mpi\.bad_input"),
    ("P8 memory is bounded and told", None, (), "each allocation and each request to the system fails once; memory in use",
     r"unit\..*NoMemory|^mpi\.memory$|^mpi\.resources"),
    ("P9 nothing is left behind", {}, (LEFT, ), "looked for after each run; another user of the node", r"^mpi\."),
)


def _tests(path):
    """Names and results of the tests of a file that ctest has written."""
    cases = xml.parse(path).getroot().iter("testcase")
    return [(case.get("name"), case.get("status") == "run") for case in cases if case.get("status") in ("run", "fail")]


def promises(campaigns, results):
    rows = [row for campaign in campaigns for row in campaign["runs"]]
    tests = _tests(results) if results else []
    lines = ["| promise | campaign: runs | failures | other tests | runs | failures |", "|---|---|---|---|---|---|"]
    for name, classes, verdicts, what, pattern in PROMISES:
        runs, broken = "–", "–"
        if classes is not None:
            some = [row for row in rows if not classes or row["class"] in classes]
            runs, broken = len(some), sum(row["verdict"] in verdicts for row in some)
        others = [passed for test, passed in tests if re.search(pattern, test)]
        lines.append(f"| {name} | {runs} | {broken} | {what} | {len(others) or '–'} | {others.count(False) if others else '–'} |")
    return "\n".join(lines)
