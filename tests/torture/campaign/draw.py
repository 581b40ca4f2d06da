# SPDX-License-Identifier: BSD-3-Clause
"""What a run does: drawn from its seed."""
import hashlib
import random
from dataclasses import dataclass, field, replace

from .placement import AUTO, Policy, after_repair, covers_always, smallest_size

# Classes of faults, and how often each is drawn.
CLASSES = {
    "none": 3,
    "kill": 18,
    "kill point": 16,
    "two at once": 12,
    "in recovery": 18,
    "again": 9,
    "rebuilt": 12,
    "series": 8,
    "spares": 5,
    "shrink": 10,
    "beyond": 8,
    "stop": 8,
    "flip": 4,  # only if there are fault points with bytes
    "silent": 4,
    "start and end": 5,
}
CLASSES_OVER_NODES = {"node": 20, "node beyond": 8}
# With the launcher's daemon: only where the launcher survives that.
CLASSES_OF_WHOLE_NODES = {"whole node": 30, "silent node": 8, "node of spares": 6, "node at start": 6}

# What some classes need: so many spares to choose from, so many active ranks.
SPARES = {
    "again": [2, 2, 3],
    "rebuilt": [1, 1, 2, 2, 3],
    "series": [2, 2, 3],
    "shrink": [0, 0, 0, 1],
    "spares": [1, 2, 2, 3],
    "two at once": [1, 1, 2, 2, 3],
    "node": [0, 1, 2, 2, 3],
    "whole node": [0, 1, 2, 2, 3],
    "silent node": [0, 1, 2, 2, 3],
    "node of spares": [1, 2, 2, 3],
}
MIN_RANKS = {"shrink": 3, "beyond": 3, "in recovery": 3, "two at once": 3, "node": 3, "node beyond": 3, "whole node": 3,
             "silent node": 3}

TIMEOUT, TIMEOUT_OVER_NODES = 12, 25  # FENIX_TIMEOUT; over tcp, ranks of many nodes on few cores wait longer for each other
INTERPOSED = 0.25  # the share of runs with libfenix_mpi
PERSISTENT = 0.6  # of these, the share that stores messages on persistent communicators
STORED = 0.2  # the share of runs with a store, of which half have a keeper that is killed
RELAUNCHED = 0.2  # of these, the share whose launcher is killed, and which are started again: class "relaunch"
TAKING = ["rejoin.begin", "rejoin.greeted", "memory.adopted", "rejoin.memory", "rejoin.exposed", "rejoin.voided", "rejoin.rebuilt", "rejoin.resumed",
          "rejoin.end", "keep.taken_over"]  # points in a rank that takes over the memory of an earlier run
NODE_TIMEOUT = 6  # FENIX_NODE_TIMEOUT, where a node falls silent


def seed_of(master, number):
    digest = hashlib.sha256(f"{master}:{number}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


@dataclass
class Fault:
    """A signal from outside: so many seconds after the start of all ranks, another fault, a rebuild, or a commit."""
    ranks: tuple  # in MPI_COMM_WORLD; several at the same instant
    at: float
    after: int = -1  # number of the other fault
    rebuilt: int = 0  # when all groups are whole again after so many repairs
    step: int = -1  # when a rank has committed this step
    stop: float = 0.0  # SIGSTOP for so many seconds, instead of SIGKILL
    node: int = 0  # all of this node, the launcher's daemon included, instead of the ranks alone
    silent: bool = False  # the node is cut off for good, and not killed

    def __str__(self):
        who = " and ".join(map(str, self.ranks)) + (f" with node{self.node}" if self.node else "")
        what = f"stop {who} for {self.stop:.2f} s" if self.stop else f"cut off {who}" if self.silent else f"kill {who}"
        since = (f" after fault {self.after}" if self.after >= 0 else f" after rebuild {self.rebuilt}" if self.rebuilt else
                 f" after step {self.step}" if self.step >= 0 else "")
        return f"{what} at {self.at * 1000:.0f} ms{since}"


@dataclass
class Member:
    type: str
    count: int
    spread: int = 0
    empty_rank: int = -1
    resizeable: bool = False
    allocated: bool = False


@dataclass
class Group:
    policy: Policy
    depth: int
    hashing: bool
    barrier: bool
    members: list
    in_place: bool = False


@dataclass
class Run:
    seed: int
    kind: str = ""  # of CLASSES
    path: str = "map"
    ranks: int = 4
    spares: int = 1
    nodes: tuple = ()  # that of each process, from 1, if there are several
    timeout: int = TIMEOUT
    damage: bool = False
    resume: str = "jump"
    steps: int = 10
    pause_us: int = 0
    release: bool = True
    threads: bool = False
    interposed: str = "no"  # else libfenix_mpi is preloaded, and newcomm is "null" or "given"
    flush: int = 0  # each so many-th commit is flushed to a store; 0: there is none
    keep: int = 0  # FENIX_KEEP
    launches: list = field(default_factory=list)  # when the launcher is killed, in seconds from the start of all ranks; then the job is started again
    persist_copies: int = 0  # of messages on persistent communicators, if there are any
    groups: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    points: list = field(default_factory=list)  # entries of FENIX_FAULT
    victims: set = field(default_factory=set)  # who may die, in MPI_COMM_WORLD
    tolerated: bool = True

    def processes(self):
        return self.ranks + self.spares

    def persist_is_covered(self):
        """Whether no message can be lost: each sender has as many copies as ranks can die, or they are made anew before the next death."""
        return self.kind == "rebuilt" or len(self.victims) <= min(self.persist_copies, smallest_size(self.ranks, self.spares, self.victims) - 1)

    def policy_text(self):
        return "+".join(group.policy.kind for group in self.groups)

    def describe(self):
        groups = "; ".join(f"{group.policy} " + ("in place" if group.in_place else f"depth {group.depth}")
                           for group in self.groups)
        launches = [f"kill the launcher at {at * 1000:.0f} ms" for at in self.launches]
        faults = ", ".join([str(fault) for fault in self.faults] + launches + self.points)
        where = f" on nodes {self.ranks_per_node()}" if self.nodes else ""
        where += f", newcomm {self.interposed} with libfenix_mpi" if self.interposed != "no" else ""
        where += f", a store with FENIX_FLUSH={self.flush} and FENIX_KEEP={self.keep}" if self.flush else ""
        where += f", messages with {self.persist_copies} copies" if self.persist_copies else ""
        return f"{self.kind}, {self.path}, {self.ranks}+{self.spares} ranks{where}, {groups}: {faults or 'no faults'}"

    def ranks_per_node(self):
        return ",".join(str(self.nodes.count(node)) for node in sorted(set(self.nodes)))

    def plan_text(self):
        lines = [
            f"seed {self.seed}", f"spares {self.spares}", f"steps {self.steps}", f"pause_us {self.pause_us}",
            f"threads {int(self.threads)}", f"tolerated {int(self.tolerated)}", f"damage {int(self.damage)}",
            f"release {int(self.release)}", f"resume {self.resume}", f"relaunched {int(bool(self.launches))}",
            f"interposed {self.interposed}", f"persist {self.persist_copies} {int(self.persist_is_covered())}"
        ]
        for number, group in enumerate(self.groups):
            values = " ".join(str(value) for value in group.policy.values())
            lines.append(f"group {7 + number} {group.depth} {int(group.hashing)} {int(group.barrier)} "
                         f"{int(group.in_place)} {group.policy.name()} {values}")
            lines += [
                f"member {i} {member.type} {member.count} {member.spread} {member.empty_rank} {int(member.resizeable)} "
                f"{int(member.allocated)}"
                for i, member in enumerate(group.members)
            ]
        return "\n".join(lines) + "\n"


class Drawer:
    def __init__(self, points, has_fabric=False, path=None, nodes=0, whole_nodes=False, interposed=INTERPOSED, stored=STORED):
        """has_fabric: the build has that path. path: which all runs take, instead of the drawn one. nodes: 0, or 2 to 4.
        whole_nodes: the launcher survives the loss of a node. interposed: the share of runs with libfenix_mpi.
        stored: the share of runs with a store."""
        self.points = points
        self.has_fabric = has_fabric
        self.path = path
        self.nodes = nodes
        self.whole_nodes = whole_nodes
        self.interposed = interposed
        self.stored = stored

    def classes(self):
        """What can be drawn here, and how often."""
        classes = {kind: weight for kind, weight in CLASSES.items() if kind != "flip" or self.points.with_bytes}
        if self.nodes:
            classes.update(CLASSES_OVER_NODES)
        if self.whole_nodes:
            classes.update(CLASSES_OF_WHOLE_NODES)
        return classes

    def draw(self, seed):
        dice = random.Random(seed)
        classes = self.classes()
        kind = dice.choices(list(classes), classes.values())[0]
        # Without this, policies that cover more would be drawn most.
        first_policy = dice.choice(["buddies", "ring", "xor", "rs"]) if kind in ("node", "whole node", "silent node") else None
        while True:
            run = Run(seed=seed, kind=kind)
            self._shape(run, dice)
            getattr(self, "_faults_" + kind.replace(" ", "_"))(run, dice)
            # Rebuilt data is protected again: one death after each rebuild is always covered.
            tolerated = run.kind == "rebuilt" or covers_always([group.policy for group in run.groups], run.ranks,
                                                               run.spares, run.victims, run.nodes)
            if tolerated == run.tolerated and first_policy in (None, run.groups[0].policy.kind) and self._can_be_placed(run):
                break
        if smallest_size(run.ranks, run.spares, run.victims) < run.ranks:
            # Members keep the counts of the survivors when the communicator shrinks.
            for group in run.groups:
                for member in group.members:
                    member.spread, member.empty_rank = 0, -1
        # Drawn apart: all else of a seed is the same without it.
        others = random.Random(f"{seed} interposed")
        if others.random() < self.interposed:
            run.interposed = others.choice(["null", "given"])
        # Where ranks die in a send of that kind, there has to be one.
        if self.interposed and any(point.startswith(("persist.", "journal.")) for point in run.points):
            run.interposed = others.choice(["null", "given"]) if run.interposed == "no" else run.interposed
            run.persist_copies = others.randint(1, 3)
        elif run.interposed != "no" and others.random() < PERSISTENT:
            run.persist_copies = others.randint(1, 3)
        self._store(run, random.Random(f"{seed} store"))
        return run

    def _store(self, run, dice):
        if dice.random() >= self.stored:
            return
        run.flush, run.keep = dice.randint(1, 3), dice.choice([0, 0, 5])
        if dice.random() < 0.5:
            run.points.append(f"{dice.choice(self.points.of_keepers)}:0:{dice.randint(1, 4)}")
        if dice.random() < RELAUNCHED and not self.nodes and not run.damage:
            self._relaunch(run, dice)

    def _relaunch(self, run, dice):
        """All die with the launcher, up to three times. What is told must be there: the memory of all ranks is. A commit in place has none
        while it overwrites, and messages are not kept."""
        run.kind, run.faults, run.points, run.victims, run.tolerated, run.persist_copies = "relaunch", [], [], set(), True, 0
        run.keep, run.steps, run.pause_us = 20, dice.randint(60, 120), dice.choice([2000, 5000, 10000])
        for group in run.groups:
            group.in_place = False
            group.depth = max(group.depth, 0)  # to look at all of so many snapshots takes long
        # Later launches have less to do.
        run.launches = [self._instant(run, dice) / (1 + number) for number in range(dice.randint(1, 3))]
        if run.spares and dice.random() < 0.5:
            self._point(run, dice, dice.randrange(run.ranks), TAKING)

    # ------------------------------------------------------------------------------------------- what is stored, and how

    def _shape(self, run, dice):
        run.path = self._path(dice.random())
        run.spares = dice.choice(SPARES.get(run.kind, [0, 1, 1, 1, 2, 2, 3]))
        run.ranks = dice.randint(max(MIN_RANKS.get(run.kind, 2), max(3, self.nodes) - run.spares), min(5, 7 - run.spares))
        run.resume = dice.choice(["jump", "jump", "return", "throw"])
        run.release = dice.random() < 0.6
        run.threads = dice.random() < 0.2
        run.steps = dice.randint(8, 30)
        run.pause_us = dice.choice([0, 0, 2000, 5000, 10000])
        if run.kind in CLASSES_OF_WHOLE_NODES:
            # Half of them come after the loss of a node.
            run.steps, run.pause_us = dice.randint(25, 60), dice.choice([5000, 10000, 20000])
        for _ in range(2 if dice.random() < 0.2 else 1):
            run.groups.append(self._group(run, dice))
        if self.nodes:
            self._place(run, dice)

    def _place(self, run, dice):
        """One node is filled after the other, with at least one process each."""
        first = [0] + sorted(dice.sample(range(1, run.processes()), self.nodes - 1))
        run.timeout = TIMEOUT_OVER_NODES
        run.nodes = tuple(sum(begin <= process for begin in first) for process in range(run.processes()))
        for group in run.groups:
            if dice.random() < 0.5:
                group.policy = replace(group.policy, separation=AUTO)

    @staticmethod
    def _can_be_placed(run):
        """Who is silent in a repair is killed by others of its node only: one has to be left there."""
        if not run.nodes or run.kind != "silent":
            return True
        silent = int(run.points[-1].split(":")[1])
        return any(rank not in run.victims and run.nodes[rank] == run.nodes[silent] for rank in range(run.ranks))

    # The same for every build, except the runs over fabric: without it they are over map.
    def _path(self, chance):
        if self.path:
            return self.path
        if self.nodes:
            return "fabric" if chance > 0.75 else "auto"
        if chance < 0.12:
            return "window"
        return "fabric" if chance > 0.88 and self.has_fabric else "map"

    def _group(self, run, dice):
        kinds = ["buddies", "ring", "xor"] + (["rs", "rs"] if run.ranks >= 3 else [])
        kind = dice.choice(kinds)
        separation = dice.randint(1, run.ranks - 1)
        size = 0
        if kind == "xor":
            size = dice.randint(2, run.ranks)
        if kind == "rs":
            size = dice.randint(3, run.ranks)
        policy = Policy(kind, separation, size, 2 if kind == "rs" else 1)
        members = [self._member(run, dice) for _ in range(dice.choice([1, 1, 2, 2, 3, 4]))]
        in_place = dice.random() < 0.5
        depth = 0 if in_place else dice.choice([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, -1])
        return Group(policy, depth, dice.random() < 0.85, dice.random() < 0.6, members, in_place)

    @staticmethod
    def _member(run, dice):
        kind = dice.choice(["bytes", "words", "words", "holes"])
        size = {"bytes": 1, "words": 8, "holes": 12}[kind]
        bytes_wanted = dice.choice([
            dice.randint(1, 64),
            dice.randint(65, 20000),
            4096 * dice.randint(1, 3) + dice.randint(-8, 8),
            131072 * dice.randint(1, 3) + dice.choice([-1, 0, 1, 8]),
            dice.randint(100000, 600000),
            int(2**dice.uniform(18, 21.5)),
        ])
        count = max(1, bytes_wanted // size)
        spread = dice.choice([0, 0, 1, 13, count // 3])
        empty = dice.randrange(run.ranks) if dice.random() < 0.15 else -1
        resizeable = dice.random() < 0.1
        return Member(kind, count, spread, empty, resizeable, not resizeable and dice.random() < 0.5)

    # ------------------------------------------------------------------------------------------------------------- faults

    @staticmethod
    def _duration(run):
        """About how long the steps take, in seconds."""
        data = sum(member.count * {"bytes": 1, "words": 8, "holes": 12}[member.type]
                   for group in run.groups for member in group.members)
        seconds = run.steps * (run.pause_us / 1e6 + 0.002 * run.ranks + run.ranks * data / 5e8) + 0.05
        return 2 * seconds + 0.3 if run.nodes else seconds

    def _instant(self, run, dice):
        return dice.uniform(0, 1) * self._duration(run)

    @staticmethod
    def _kill(run, rank, at, after=-1):
        run.faults.append(Fault((rank, ), at, after))
        run.victims.add(rank)
        return len(run.faults) - 1

    def _point(self, run, dice, rank, names, most=1):
        run.points.append(f"{dice.choice(names)}:{rank}:{dice.randint(1, most)}")
        run.victims.add(rank)

    @staticmethod
    def _some(run, dice, number):
        return dice.sample(range(run.ranks), min(number, run.ranks))

    def _faults_none(self, run, dice):
        pass

    def _faults_kill(self, run, dice):
        self._kill(run, dice.randrange(run.ranks), self._instant(run, dice))

    def _faults_kill_point(self, run, dice):
        self._point(run, dice, dice.randrange(run.ranks), self.points.steady, dice.choice([2, 10, run.steps]))

    def _faults_two_at_once(self, run, dice):
        victims = self._some(run, dice, 2)
        if dice.random() < 0.5:
            at = self._instant(run, dice)
            for rank in victims:
                self._kill(run, rank, at)
            return
        name, count = dice.choice(self.points.steady), dice.randint(1, run.steps)
        for rank in victims:
            run.points.append(f"{name}:{rank}:{count}")
            run.victims.add(rank)

    def _first_death(self, run, dice, rank):
        """Returns what a second death may come after: a fault from outside, or nothing."""
        if dice.random() < 0.5:
            return self._kill(run, rank, self._instant(run, dice))
        self._point(run, dice, rank, self.points.steady, run.steps)
        return -1

    def _faults_in_recovery(self, run, dice):
        victims = self._some(run, dice, dice.choice([2, 2, 2, 3]))
        first = self._first_death(run, dice, victims[0])
        for rank in victims[1:]:
            if first >= 0 and dice.random() < 0.4:
                self._kill(run, rank, dice.uniform(0, 0.12), first)
            else:
                self._recovery_point(run, dice, rank)

    def _recovery_point(self, run, dice, rank, names=None):
        """Creating groups and looking for snapshots pass some of the points at the start as well: not then."""
        name, groups = dice.choice(names or self.points.recovery), len(run.groups)
        before = 0 if name.startswith(("repair.", "verify.")) else groups
        run.points.append(f"{name}:{rank}:{before + dice.randint(1, groups + (2 if name.startswith('restore.') else 0))}")
        run.victims.add(rank)

    def _faults_again(self, run, dice):
        """Who has taken a dead one's place dies as well."""
        first = self._first_death(run, dice, dice.randrange(run.ranks))
        spare = run.ranks
        if first >= 0 and dice.random() < 0.4:
            self._kill(run, spare, dice.uniform(0, 0.4), first)
        else:
            self._point(run, dice, spare, self.points.recovery + self.points.steady, dice.choice([1, 1, 3]))

    def _faults_rebuilt(self, run, dice):
        """One dies, and as soon as its data and what it kept are there again another one, which may be its holder."""
        active, spares = tuple(range(run.ranks)), tuple(range(run.ranks, run.processes()))
        # The last may leave no spare, so that the communicator shrinks.
        for number in range(dice.randint(2, run.spares + 1)):
            victim = dice.choice(active)
            if number == 0:
                self._kill(run, victim, self._instant(run, dice))
            else:
                run.faults.append(Fault((victim, ), dice.choice([0, 0, dice.uniform(0, 0.05)]), rebuilt=number))
                run.victims.add(victim)
            active, spares = after_repair(active, spares, {victim})

    def _faults_series(self, run, dice):
        """One after the other, whoever it is by then."""
        for rank in dice.sample(range(run.processes()), min(3, run.spares + 1)):
            self._first_death(run, dice, rank)

    def _faults_spares(self, run, dice):
        spare = run.ranks + dice.randrange(run.spares)
        if dice.random() < 0.7:
            self._kill(run, spare, self._instant(run, dice))
        else:
            self._point(run, dice, spare, self.points.of_spares, 5)
        if dice.random() < 0.6:
            self._first_death(run, dice, dice.randrange(run.ranks))

    def _faults_shrink(self, run, dice):
        victims = self._some(run, dice, run.spares + dice.choice([1, 1, 2]))
        for rank in victims:
            self._first_death(run, dice, rank)
        if len(victims) < run.ranks - 1 and dice.random() < 0.3:
            rank = dice.choice([one for one in range(run.ranks) if one not in victims])
            self._recovery_point(run, dice, rank)

    def _faults_beyond(self, run, dice):
        run.tolerated = False
        victims = self._some(run, dice, min(dice.choice([2, 2, 3]), run.ranks - 1))
        at = self._instant(run, dice)
        if dice.random() < 0.4:
            for rank in victims:
                self._kill(run, rank, at)
            return
        first = self._first_death(run, dice, victims[0])
        for rank in victims[1:]:
            if first >= 0:
                self._kill(run, rank, dice.uniform(0, 0.03), first)
            else:
                self._recovery_point(run, dice, rank, [name for name in self.points.recovery if name < "restore"])

    def _kill_node(self, run, dice):
        """Returns active ranks that are left: none if that cannot be; the run is drawn once more then."""
        whole = run.kind in CLASSES_OF_WHOLE_NODES
        nodes = [node for node in set(run.nodes[:run.ranks]) if whole or run.nodes.count(node) > 1]
        if not nodes or len(set(run.nodes[:run.ranks])) < 2:
            run.tolerated = None
            return []
        node = dice.choice(sorted(nodes))
        if whole:
            self._lose_node(run, node, **self._step(run, dice))
        else:
            self._lose_node(run, node, self._instant(run, dice), whole=False)
        return [rank for rank in range(run.ranks) if rank not in run.victims]

    @staticmethod
    def _step(run, dice):
        """In the first half of the steps, so that the run goes on for some time."""
        return {"step": dice.randrange(run.steps // 2), "at": dice.uniform(0, 0.03)}

    @staticmethod
    def _lose_node(run, node, at, whole=True, after=-1, step=-1):
        ranks = tuple(process for process in range(run.processes()) if run.nodes[process] == node)
        run.faults.append(Fault(ranks, at, after, step=step, node=node if whole else 0, silent=run.kind == "silent node"))
        run.victims.update(ranks)

    def _faults_node(self, run, dice):
        """All of a node at once, perhaps with another rank while that is repaired."""
        others = self._kill_node(run, dice)
        if len(others) > 1 and dice.random() < 0.25:
            self._kill(run, dice.choice(others), dice.uniform(0, 0.12), 0)

    def _faults_whole_node(self, run, dice):
        """A node and its daemon; perhaps with another node, or rank, at the same instant or while that is repaired."""
        others = self._kill_node(run, dice)
        chance = dice.random()
        if len(others) > 1 and chance < 0.15:
            self._kill(run, dice.choice(others), dice.uniform(0, 0.12), 0)
        elif len(others) > 1 and chance < 0.45:
            at = dice.choice([0, dice.uniform(0, 0.12), dice.uniform(0.3, 1)])
            self._lose_node(run, run.nodes[dice.choice(others)], at, after=0)

    def _faults_silent_node(self, run, dice):
        self._kill_node(run, dice)

    def _faults_node_of_spares(self, run, dice):
        """A node that has spares only, if there is one; then perhaps a rank that they would have replaced."""
        node = run.nodes[-1]
        if node in run.nodes[:run.ranks]:
            run.tolerated = None
            return
        self._lose_node(run, node, **self._step(run, dice))
        if dice.random() < 0.5:
            self._kill(run, dice.randrange(run.ranks), dice.uniform(0, 0.5), 0)

    def _faults_node_at_start(self, run, dice):
        """While the launcher starts its daemons, or ranks are in MPI_Init: the job may end with an error."""
        self._lose_node(run, dice.choice(run.nodes), dice.uniform(0, 1.2))

    def _faults_node_beyond(self, run, dice):
        if self._kill_node(run, dice):
            run.tolerated = False

    def _faults_stop(self, run, dice):
        ranks = self._some(run, dice, 2)
        run.faults.append(Fault((ranks[0], ), self._instant(run, dice), stop=dice.uniform(0.05, 1.0)))
        if dice.random() < 0.6:
            self._kill(run, ranks[1], dice.uniform(-0.05, 0.3), 0)

    def _faults_silent(self, run, dice):
        """Stopped for longer than FENIX_TIMEOUT while others repair: killed by them, and replaced."""
        run.timeout //= 3
        ranks = self._some(run, dice, 2)
        self._kill(run, ranks[0], self._instant(run, dice))
        name = dice.choice([name for name in self.points.recovery if name.startswith("repair.") and name != "repair.done"])
        run.points.append(f"{name}:{ranks[1]}:1:stop")
        run.victims.add(ranks[1])

    def _faults_flip(self, run, dice):
        """One bit of what a rank stores, keeps for another one, or is told: it has to be noticed, and made good."""
        run.damage = True
        for group in run.groups:
            group.hashing = True
        rank, count = dice.randrange(run.ranks), dice.randint(1, run.steps)
        run.points.append(f"{dice.choice(self.points.with_bytes)}:{rank}:{count}:flip={dice.randrange(2**32)}")

    def _faults_start_and_end(self, run, dice):
        rank = dice.randrange(run.processes())
        turn = dice.random()
        if turn < 0.3:
            self._kill(run, rank, dice.uniform(0, 0.02))
        elif turn < 0.5:
            self._point(run, dice, rank, self.points.init)
        elif turn < 0.8:
            self._point(run, dice, rank, self.points.finish)
        else:
            self._kill(run, rank, self._duration(run) * dice.uniform(0.9, 1.3))
