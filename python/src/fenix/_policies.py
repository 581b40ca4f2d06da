# SPDX-License-Identifier: BSD-3-Clause
"""Redundancy policies: which ranks protect each other's data, and how."""
from dataclasses import dataclass
from typing import List, Optional, Tuple, Union

from ._codes import _POLICY_LOCAL, _POLICY_RAID, _POLICY_REED_SOLOMON, _POLICY_RING, _SEPARATION_AUTO


def _auto(separation: Optional[int]) -> int:
    return _SEPARATION_AUTO if separation is None else separation


@dataclass(frozen=True)
class Buddies:
    """Pairs of ranks keep copies of each other's data. Each pair may lose one rank.

    `separation`: the distance between the two, in ranks; None: the library chooses ranks on different nodes."""

    separation: Optional[int] = None

    def _arguments(self) -> Tuple[int, List[int]]:
        return _POLICY_RAID, [1, _auto(self.separation)]


@dataclass(frozen=True)
class Parity:
    """Cohorts of `size` ranks, 2 to 128, keep XOR parity. Each cohort may lose one rank. A commit waits for the cohort.

    `separation`: the distance between two ranks of a cohort; None: the library chooses ranks on different nodes."""

    size: int = 8
    separation: Optional[int] = None

    def _arguments(self) -> Tuple[int, List[int]]:
        return _POLICY_RAID, [5, _auto(self.separation), self.size]


@dataclass(frozen=True)
class Ring:
    """The rank at the distance `separation` keeps a copy; None: the library chooses ranks on different nodes."""

    separation: Optional[int] = None

    def _arguments(self) -> Tuple[int, List[int]]:
        return _POLICY_RING, [_auto(self.separation)]


@dataclass(frozen=True)
class ReedSolomon:
    """Cohorts of `size` ranks keep Reed-Solomon codes. Each cohort may lose any `losses` ranks, 1 to 4. A commit waits for the cohort.

    `separation`: the distance between two ranks of a cohort; None: the library chooses ranks on different nodes."""

    size: int = 4
    losses: int = 2
    separation: Optional[int] = None

    def _arguments(self) -> Tuple[int, List[int]]:
        return _POLICY_REED_SOLOMON, [_auto(self.separation), self.size, self.losses]


@dataclass(frozen=True)
class Local:
    """No redundancy: survivors keep their snapshots, and the data of a dead rank is lost."""

    def _arguments(self) -> Tuple[int, List[int]]:
        return _POLICY_LOCAL, [0]


#: Any of the policies.
Policy = Union[Buddies, Parity, Ring, ReedSolomon, Local]


def policy_from(name: int, values: List[int]) -> Policy:
    """Returns the policy with these arguments of the C interface."""

    def separation(value: int) -> Optional[int]:
        return None if value == _SEPARATION_AUTO else value

    if name == _POLICY_LOCAL:
        return Local()
    if name == _POLICY_RING:
        return Ring(separation(values[0]))
    if name == _POLICY_REED_SOLOMON:
        return ReedSolomon(values[1], values[2], separation(values[0]))
    if values[0] == 1:
        return Buddies(separation(values[1]))
    return Parity(values[2], separation(values[1]))
