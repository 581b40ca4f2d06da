# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a campaign: for the terminal, and for docs/reliability.md."""
from .judge import FAILURES, OK, OPEN_MPI

# What a run counts under; with two groups it has two policies.
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


def as_markdown(campaign):
    rows = campaign["runs"]
    failed = [row for row in rows if row["verdict"] != OK]
    lines = [
        f"### Master seed {campaign['seed']}", "",
        f"{len(rows)} runs in {campaign['seconds'] / 60:.0f} minutes, {campaign['jobs']} at a time, on {campaign['cores']} "
        f"cores; fenix {campaign['version']}, {campaign['mpi']}. {sum(row['deaths'] for row in rows)} ranks died, "
        f"{sum(row['repairs'] for row in rows)} repairs were made, {sum(row['restores'] for row in rows)} restored snapshots "
        f"compared, {sum(row['bytes'] for row in rows) / 1e9:.1f} GB of them. In {sum(row['lost'] > 0 for row in rows)} of "
        f"the runs whose deaths were beyond the policy, snapshots were lost and the job went on.", "",
        "| | " + " | ".join(HEAD) + " |", "|---|" + "---|" * len(HEAD)
    ]
    lines += [f"| {title + ': ' + value if value else '**all**'} | " + " | ".join(str(cell) for cell in _cells(some)) + " |"
              for title, value, some in tally(rows)]
    if failed:
        lines += ["", "| run | verdict | what |", "|---|---|---|"]
        lines += [f"| `--only {row['seed']}`: {row['what']} | {row['verdict']} | {row['text']} |" for row in failed]
    return "\n".join(lines)
