# SPDX-License-Identifier: BSD-3-Clause
"""Who protects whom, and which deaths a policy covers: what docs and headers promise, written down once more."""
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations

# Numbers of <fenix/codes.h>.
RAID, RING, REED_SOLOMON = 13, 14, 15
AUTO = -2  # separation: the library chooses, by where ranks run


@dataclass(frozen=True)
class Policy:
    kind: str  # buddies, ring, xor, rs
    separation: int
    size: int = 0  # of a cohort
    losses: int = 1

    def name(self):
        return {"buddies": RAID, "ring": RING, "xor": RAID, "rs": REED_SOLOMON}[self.kind]

    def values(self):
        return {
            "buddies": [1, self.separation],
            "ring": [self.separation],
            "xor": [5, self.separation, self.size],
            "rs": [self.separation, self.size, self.losses],
        }[self.kind]

    def __str__(self):
        return f"{self.kind} {','.join(str(value) for value in self.values())}"


def order_of(nodes):
    """The order of ranks by which the library chooses: one node after the other. nodes: that of each rank."""
    return tuple(sorted(range(len(nodes)), key=lambda rank: (nodes.index(nodes[rank]), rank)))


def _dealt(order, size):
    count = max(1, len(order) // size)
    return [list(order[first::count]) for first in range(count)]


def holders(policy, ranks, order=None):
    """The rank that has the copy of each rank's data. order: of all ranks, where the library chooses."""
    if policy.separation == AUTO:
        order = order or tuple(range(ranks))
        holder = [0] * ranks
        if policy.kind == "ring":
            for i, rank in enumerate(order):
                holder[rank] = order[(i + max(1, ranks // 2)) % ranks]
        else:
            for cohort in _dealt(order, 2):
                for i, rank in enumerate(cohort):
                    holder[rank] = cohort[(i + 1) % len(cohort)]
        return holder
    separation = max(1, min(policy.separation, ranks - 1))
    if policy.kind == "ring":
        return [(rank + separation) % ranks for rank in range(ranks)]
    holder = list(range(ranks))
    paired = list(range(ranks))
    if ranks % 2 == 1:
        chain = [0, ranks // 2, ranks - 1]
        for i, rank in enumerate(chain):
            holder[rank] = chain[(i + 1) % 3]
        paired = [rank for rank in paired if rank not in chain]
    start = 0
    while start + 1 < len(paired):
        half = min(separation, (len(paired) - start) // 2)
        for i in range(start, start + half):
            holder[paired[i]], holder[paired[i + half]] = paired[i + half], paired[i]
        start += 2 * half
    return holder


def cohorts(policy, ranks, order=None):
    if policy.separation == AUTO:
        return _dealt(order or tuple(range(ranks)), policy.size)
    found, first = [], 0
    while ranks - first >= policy.size:
        apart = min(policy.separation, (ranks - first) // policy.size)
        found += [[start + i * apart for i in range(policy.size)] for start in range(first, first + apart)]
        first += apart * policy.size
    if not found:
        return [list(range(ranks))]
    for back, rank in enumerate(range(first, ranks)):
        found[len(found) - 1 - back % len(found)].append(rank)
    return found


@lru_cache(maxsize=None)
def covers(policy, ranks, dead, order=None):
    """Whether nothing is lost if these ranks (a frozenset) of a communicator of so many are dead at the same time.

    order: a tuple, where the library chooses.
    """
    if not dead:
        return True
    if ranks < 2:
        return False
    if policy.kind in ("buddies", "ring"):
        holder = holders(policy, ranks, order)
        return not any(holder[rank] in dead for rank in dead)
    all_cohorts = cohorts(policy, ranks, order)
    losses = min(policy.losses, min(len(cohort) for cohort in all_cohorts) - 1)
    return all(len(dead.intersection(cohort)) <= losses for cohort in all_cohorts)


def after_repair(active, spares, dead):
    """Processes in their places, and spares, when the dead are gone: spares take the lowest places, the rest closes up."""
    reserve = [process for process in spares if process not in dead]
    places = []
    for process in active:
        if process not in dead:
            places.append(process)
        elif reserve:
            places.append(reserve.pop(0))
    return tuple(places), tuple(reserve)


def covers_in_any_order(policy, ranks, dead):
    """The same, whatever the library chooses."""
    if policy.separation != AUTO:
        return covers(policy, ranks, dead)
    return all(covers(policy, ranks, dead, order) for order in permutations(range(ranks)))


def shares_fate(policy, nodes):
    """Whether the death of one of several nodes loses snapshots. nodes: that of each rank of the communicator, a tuple."""
    whole = [frozenset(rank for rank, node in enumerate(nodes) if node == one) for one in set(nodes)]
    return len(whole) > 1 and not all(covers(policy, len(nodes), dead, order_of(nodes)) for dead in whole)


def covers_always(policies, ranks, spares, victims, nodes=()):
    """Whether nothing is lost, whenever each of the victims (numbers in MPI_COMM_WORLD) dies, alone or with others.

    nodes: that of each process.
    """

    def chosen(active):
        return order_of([nodes[process] if nodes else 0 for process in active])

    @lru_cache(maxsize=None)
    def from_here(active, reserve, left, order):
        for number in range(1, len(left) + 1):
            for dead in combinations(left, number):
                places = frozenset(i for i, process in enumerate(active) if process in dead)
                if not all(covers(policy, len(active), places, order) for policy in policies):
                    return False
                next_active, next_reserve = after_repair(active, reserve, dead)
                if not next_active:
                    return False
                rest = tuple(one for one in left if one not in dead)
                # Data stays where it is as long as all places are filled; but a group may be created only then.
                next_orders = {chosen(next_active)} | ({order} if len(next_active) == len(active) else set())
                if not all(from_here(next_active, next_reserve, rest, one) for one in next_orders):
                    return False
        return True

    active = tuple(range(ranks))
    return from_here(active, tuple(range(ranks, ranks + spares)), tuple(sorted(victims)), chosen(active))


def smallest_size(ranks, spares, victims):
    """Of the communicator, when all victims are dead."""
    return min(ranks, ranks + spares - len(victims))
