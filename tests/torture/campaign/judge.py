# SPDX-License-Identifier: BSD-3-Clause
"""What became of a run: a verdict from the journals of its ranks, their output, and what was seen from outside."""
import re
from dataclasses import dataclass, field

from .placement import covers_in_any_order, shares_fate

OK, LOST, WRONG, HUNG, CRASHED, LEFT, OPEN_MPI = "ok", "lost", "wrong", "hung", "crashed", "left", "Open MPI"
FAILURES = (LOST, WRONG, HUNG, CRASHED, LEFT, OPEN_MPI)

# Flags of Fenix_Data_group_create.
_NO_DATA, _SHARED_FATE, _RESUMED = "-75", "102", "103"

# Crashes inside of Open MPI that tests/open_mpi/README.md has: they cost the job all the same.
_KNOWN_CRASHES = ("ompi_osc_rdma_free", )


@dataclass
class Event:
    time: float
    rank: int  # in MPI_COMM_WORLD
    word: str
    rest: list


@dataclass
class Verdict:
    kind: str
    text: str = ""
    repairs: int = 0
    deaths: int = 0
    restores: int = 0
    bytes: int = 0
    lost: int = 0  # snapshots that could not be restored, where that is right
    notes: list = field(default_factory=list)


def read_journals(folder, ranks):
    events = []
    for rank in range(ranks):
        path = folder / f"journal.{rank}"
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            events.append(Event(float(words[0]), rank, words[1], words[2:]))
    return sorted(events, key=lambda event: event.time)


def judge(run, outcome):
    events = read_journals(outcome.folder, run.processes())
    output = (outcome.folder / "output.txt").read_text(encoding="utf-8", errors="replace")
    verdict = Verdict(OK)
    _count(verdict, events, output)
    kind, text = _first_complaint(run, outcome, events, output)
    verdict.kind, verdict.text = kind, text
    if outcome.launcher_left:
        verdict.notes.append("Open MPI's launcher did not end")
    return verdict


def _first_complaint(run, outcome, events, output):
    if outcome.cut_at_end:
        return (LEFT, ", ".join(outcome.left)) if outcome.left else (OK, "")
    for event in events:
        if event.word == "fail":
            return event.rest[0].rstrip(":"), f"rank {event.rank}: {' '.join(event.rest[1:])}"
    # The launcher has ended it, and nobody has crashed.
    if run.kind == "node at start" and outcome.status != 0 and not outcome.hung and "Signal: " not in output:
        return (LEFT, ", ".join(outcome.left)) if outcome.left else (OK, "")
    ended = {event.rank for event in events if event.word == "exit"}
    broken = [rank for rank in range(run.processes()) if rank not in ended and rank not in run.victims]
    if any(name in output for name in _KNOWN_CRASHES) and broken:
        return OPEN_MPI, "a crash in " + ", ".join(name for name in _KNOWN_CRASHES if name in output)
    # MPI_Abort, and an error handler of MPI that aborts, print a message. This is ompi_rte_abort, from inside of Open MPI.
    if broken and re.search(r'calling\s+"abort"', output) and not re.search(r"MPI_ABORT was invoked|\*\*\* MPI_ERR", output):
        return OPEN_MPI, "Open MPI has ended the job without a word"
    signals = re.findall(r"Signal: (.*)", output)
    if signals:
        return CRASHED, f"{signals[0]}; ranks {broken} did not end"
    if outcome.hung and _all_are_in(outcome, "MPIX_Comm_agree", "MPIX_Comm_shrink"):
        return OPEN_MPI, "all living ranks are in an agreement of Open MPI, which does not end"
    # The compiler may leave out the outer frame.
    if outcome.hung and _all_are_in(outcome, "MPI_Finalize", "ompi_mpi_finalize"):
        return OPEN_MPI, "all that is left is in MPI_Finalize, which does not end"
    if outcome.hung:
        return HUNG, f"ranks that did not end: {broken}"
    silent = re.search(r"process \d+ has been silent.*", output)
    if broken and silent:
        return CRASHED, f"{silent.group(0)}; ranks {broken} were no victims"
    if broken:
        return CRASHED, f"ranks {broken} did not end, and were no victims; mpirun's status is {outcome.status}"
    for check in (_check_refusal, _check_ages, _check_losses, _check_warnings):
        complaint = check(run, events)
        if complaint:
            return complaint
    if outcome.left:
        return LEFT, ", ".join(outcome.left)
    if outcome.damaged:
        return WRONG, f"the store: {outcome.damaged}"
    return OK, ""


def _all_are_in(outcome, *calls):
    """Whether the stacks of all ranks are in calls of MPI that have to end when all living ranks are in them."""
    stacks = outcome.folder / "stacks.txt"
    if not stacks.exists():
        return False
    processes = stacks.read_text(encoding="utf-8", errors="replace").split("--- process")[1:]
    return bool(processes) and all(any(call in each for call in calls) for each in processes)


def _check_refusal(run, events):
    """A death in Fenix_Init is told to all who return from it, and to nobody if nobody died."""
    refused = {event.rank: event.rest[0] for event in events if event.word == "refused"}
    if not refused:
        return None
    resumed = {event.rank for event in events if event.word in ("resume", "released")}
    if resumed or set(refused.values()) != {"-99"}:
        return WRONG, f"Fenix_Init failed on {refused}, and not on {sorted(resumed)}"
    if len(refused) == run.processes():
        return WRONG, "Fenix_Init failed though nobody died"
    return None


def _check_ages(run, events):
    """Nothing restored is older than what any process, be it dead since, had noted as committed."""
    if not run.tolerated:
        return None
    committed = {}
    for event in events:
        if event.word == "committed":
            group, step = map(int, event.rest)
            committed[group] = max(step, committed.get(group, -1))
        elif event.word == "restored":
            group, step = map(int, event.rest)
            if step < committed.get(group, -1):
                return LOST, f"rank {event.rank} restored step {step} of group {group}: {committed[group]} was committed"
    return None


def _check_losses(run, events):
    """Snapshots may be lost only if more places of a cohort died, before they were rebuilt, than the policy covers.

    The journal of a rank that was active from the start has the places that each repair found dead, and when what it got back had
    been rebuilt. After the communicator has shrunk the places are not those of the snapshots any more: not judged.
    """
    if run.launches:  # all were dead
        return None
    for rank in {event.rank for event in events if event.word == "resume" and event.rest[1] == "0"}:
        dead, ranks = [set() for _ in run.groups], run.ranks
        for event in (event for event in events if event.rank == rank):
            if event.word == "resume":
                size = int(event.rest[event.rest.index("of") + 1])
                failed = {int(place) for place in event.rest[event.rest.index("failed") + 1:]}
                dead = [places | {place for place in failed if place < ranks} for places in dead]
                if size != ranks:
                    break
            elif event.word == "restored":
                dead[int(event.rest[0])] = set()
            elif event.word == "lost" or (event.word == "created" and event.rest[1] in (_NO_DATA, _RESUMED)):
                group = int(event.rest[0])
                if covers_in_any_order(run.groups[group].policy, ranks, frozenset(dead[group])):
                    return LOST, f"rank {rank}: group {group} was lost, though only {sorted(dead[group])} of {ranks} were dead"
    return None


def _check_warnings(run, events):
    """As long as nobody has died, each group says whether it survives the death of a node."""
    if run.kind == "node at start":  # if it is lost early enough, mpirun puts all ranks on the others
        return None
    begun = [event for event in events if event.word == "resume" and event.rest[1] == "0"]
    if any(int(event.rest[event.rest.index("of") + 1]) != run.ranks for event in begun):
        return None  # a rank died in Fenix_Init, and no spare was left: the others have other numbers
    nodes = run.nodes[:run.ranks]
    if any(event.rank >= run.ranks for event in begun):
        # A spare has the place of a rank that died in Fenix_Init, and may be on another node.
        places = {int(event.rest[event.rest.index("rank") + 1]): event.rank for event in begun}
        if len(places) < run.ranks:
            return None  # who has which place is not known
        nodes = tuple(run.nodes[places[place]] for place in range(run.ranks)) if run.nodes else ()
    repaired = set()
    for event in events:
        if event.word == "resume" and event.rest[1] != "0":
            repaired.add(event.rank)
        elif event.word == "created" and event.rank not in repaired:
            expected = shares_fate(run.groups[int(event.rest[0])].policy, nodes)
            if (event.rest[1] == _SHARED_FATE) != expected:
                return WRONG, f"rank {event.rank}: the flag of group {event.rest[0]} is {event.rest[1]}"
    return None


def _count(verdict, events, output):
    ranks = {event.rank for event in events}
    verdict.deaths = len(ranks - {event.rank for event in events if event.word == "exit"})
    verdict.lost = len({(event.rest[0], event.rest[1]) for event in events if event.word == "lost"})
    for repairs, restores, compared in re.findall(r"(\d+) repairs, (\d+) snapshots restored, (\d+) bytes", output):
        verdict.repairs = max(verdict.repairs, int(repairs))
        verdict.restores += int(restores)
        verdict.bytes += int(compared)
