# SPDX-License-Identifier: BSD-3-Clause
"""Subsets: sets of elements of a member."""
import operator
from typing import Any, ClassVar, Iterator, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._library import ffi, lib

# The last element of a subset without an end.
_NO_END = 2**63 - 1
_FULL, _EMPTY, _PRESTAGED, _BLOCKS = range(4)

Int64s = npt.NDArray[np.int64]


def _normal(first: Int64s, last: Int64s) -> Tuple[Int64s, Int64s]:
    """Returns the same elements as blocks that ascend and do not touch."""
    if first.size < 2:
        return first, last
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    # The end of a block without an end has no successor.
    true = np.ones(1, np.bool_)
    gap: npt.NDArray[np.bool_] = first[1:] - 1 > last[:-1]
    return first[np.concatenate((true, gap))], last[np.concatenate((gap, true))]


def _integers(values: npt.ArrayLike) -> Int64s:
    array = np.asarray(values).ravel()
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"elements are counted by integers, not by {array.dtype}")
    return array.astype(np.int64)


class Subset:
    """A set of elements of a member. Immutable.

    Elements count from 0. `|`, `&` and `-` are union, intersection and difference, and `in` tells whether an element belongs to it.
    Subset.FULL, Subset.EMPTY and Subset.PRESTAGED (the elements that were staged) always exist. Only the library knows the elements of
    PRESTAGED: it has no blocks, and nothing can be made of it (ValueError)."""

    __slots__ = ("_kind", "_first", "_last")

    FULL: ClassVar["Subset"]
    EMPTY: ClassVar["Subset"]
    PRESTAGED: ClassVar["Subset"]

    def __init__(self, *ranges: Union[range, slice, Tuple[int, Optional[int]]]) -> None:
        """Makes the union of ranges: Python's range and slice with a step of 1 or more, or pairs (start, stop). A stop of None is the end
        of the member. As always in Python, the stop does not belong to it. Raises ValueError for numbers below 0."""
        first: List[Int64s] = []
        last: List[Int64s] = []
        for each in ranges:
            start, stop, step = (*each, 1) if isinstance(each, tuple) else (each.start, each.stop, each.step)
            start, step = operator.index(start or 0), 1 if step is None else operator.index(step)
            stop = None if stop is None else operator.index(stop)
            if start < 0 or step < 1 or (stop is not None and stop < 0):
                raise ValueError(f"{each!r}: a range of a subset begins at 0 or later and has a step of 1 or more")
            if step == 1:
                if stop is None or stop > start:
                    first.append(np.array([start], np.int64))
                    last.append(np.array([_NO_END if stop is None else stop - 1], np.int64))
            elif stop is None:
                raise ValueError(f"{each!r}: a range with a step needs a stop")
            else:
                elements = np.arange(start, stop, step, dtype=np.int64)
                first.append(elements)
                last.append(elements)
        self._set(*(_normal(np.concatenate(first), np.concatenate(last)) if first else (np.empty(0, np.int64), ) * 2))

    def _set(self, first: Int64s, last: Int64s, kind: Optional[int] = None) -> "Subset":
        self._kind = kind if kind is not None else _BLOCKS if first.size else _EMPTY
        self._first = np.ascontiguousarray(first)
        self._last = np.ascontiguousarray(last)
        return self

    @classmethod
    def _of(cls, first: Int64s, last: Int64s, kind: Optional[int] = None) -> "Subset":
        return cls.__new__(cls)._set(first, last, kind)

    @classmethod
    def from_blocks(cls, first: npt.ArrayLike, last: npt.ArrayLike) -> "Subset":
        """Makes a subset of blocks, each with its first and its last element, in any order. They may overlap. Raises ValueError, and
        TypeError for numbers that are no integers."""
        begin, end = _integers(first), _integers(last)
        if begin.size != end.size or (begin.size and (begin.min() < 0 or (end < begin).any())):
            raise ValueError("blocks need as many last elements as first ones, each from 0 on and not before its first")
        return cls._of(*_normal(begin, end))

    @classmethod
    def from_indices(cls, indices: npt.ArrayLike) -> "Subset":
        """Makes a subset of single elements: numbers from 0 on, or a mask of bools with the shape of a member in C's order. Raises
        ValueError, also for a mask in Fortran's order, and TypeError for numbers that are no integers."""
        array = np.asarray(indices)
        if array.dtype == np.bool_ and array.flags.f_contiguous and not array.flags.c_contiguous:
            raise ValueError("the mask has Fortran's order: its ravel(order=\"K\") has the elements in the order of memory")
        elements = np.flatnonzero(array) if array.dtype == np.bool_ else _integers(array)
        return cls.from_blocks(elements, elements)

    @classmethod
    def from_view(cls, view: npt.NDArray[Any], array: npt.NDArray[Any]) -> "Subset":
        """Makes a subset of the elements of `array` that `view`, a view of it with any strides, shows. They are counted in the order in
        which they lie in memory. Raises ValueError if the view shows anything else."""
        item = array.itemsize
        wrong = ValueError("the array is no view of the member's elements; for indices there is Subset.from_indices")
        if view.itemsize != item:
            raise wrong
        if view.size == 0:
            return cls.EMPTY
        offset = int(view.__array_interface__["data"][0]) - int(array.__array_interface__["data"][0])
        steps: List[Tuple[int, int]] = []
        for step, length in zip(view.strides, view.shape):
            if step < 0:
                offset, step = offset + step * (length - 1), -step
            if length > 1 and step > 0:
                steps.append((step, length))
        if offset % item or any(step % item for step, _ in steps):
            raise wrong
        steps.sort()
        run = 1
        # The innermost dimensions without gaps are one run of elements.
        while steps and steps[0][0] == run * item:
            run *= steps.pop(0)[1]
        first: Int64s = np.array([offset // item], np.int64)
        for step, length in reversed(steps):
            first = np.add.outer(first, np.arange(length, dtype=np.int64) * (step // item)).ravel()
        if first.min() < 0 or int(first.max()) + run > array.size:
            raise wrong
        return cls._of(*_normal(first, first + (run - 1)))

    @property
    def blocks(self) -> List[Tuple[int, Optional[int]]]:
        """The blocks as pairs (start, stop) that ascend and do not touch; a stop of None is the end of the member."""
        self._need_blocks()
        return [(int(a), None if b == _NO_END else int(b) + 1) for a, b in zip(self._first, self._last)]

    @property
    def stop(self) -> Optional[int]:
        """The number after the last element; 0 if it is empty, None if it has no end."""
        blocks = self.blocks
        return blocks[-1][1] if blocks else 0

    def indices(self) -> Int64s:
        """Returns the elements in ascending order. Raises ValueError if it has no end."""
        if self.stop is None:
            raise ValueError("the subset has no end")
        if not self._first.size:
            return np.empty(0, np.int64)
        return np.concatenate([np.arange(a, b + 1, dtype=np.int64) for a, b in zip(self._first, self._last)])

    def _need_blocks(self) -> None:
        if self._kind == _PRESTAGED:
            raise ValueError("only the library knows the elements of Subset.PRESTAGED")

    def __contains__(self, element: int) -> bool:
        self._need_blocks()
        at = int(np.searchsorted(self._first, element, side="right")) - 1
        return at >= 0 and element <= int(self._last[at])

    def __iter__(self) -> Iterator[Tuple[int, Optional[int]]]:
        return iter(self.blocks)

    def __len__(self) -> int:
        if self.stop is None:
            raise ValueError("the subset has no end")
        return int((self._last - self._first + 1).sum())

    def __bool__(self) -> bool:
        return self._kind != _EMPTY

    def __or__(self, other: "Subset") -> "Subset":
        self._need_blocks()
        other._need_blocks()
        return Subset._of(*_normal(np.concatenate((self._first, other._first)), np.concatenate((self._last, other._last))))

    def _complement(self) -> "Subset":
        self._need_blocks()
        last, first = self._last, self._first
        gaps_first = np.concatenate((np.zeros(1, np.int64), last[last != _NO_END] + 1))
        gaps_last = np.concatenate((first - 1, np.full(1 if not (last == _NO_END).any() else 0, _NO_END, np.int64)))
        keep = gaps_last >= gaps_first
        return Subset._of(gaps_first[keep], gaps_last[keep])

    def __and__(self, other: "Subset") -> "Subset":
        return (self._complement() | other._complement())._complement()

    def __sub__(self, other: "Subset") -> "Subset":
        return self & other._complement()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subset):
            return NotImplemented
        if _PRESTAGED in (self._kind, other._kind):
            return self._kind == other._kind
        return np.array_equal(self._first, other._first) and np.array_equal(self._last, other._last)

    def __hash__(self) -> int:
        return hash((self._kind == _PRESTAGED, self._first.tobytes(), self._last.tobytes()))

    def __repr__(self) -> str:
        if self._kind in (_FULL, _EMPTY, _PRESTAGED):
            return "Subset." + ("FULL", "EMPTY", "PRESTAGED")[self._kind]
        return "Subset(" + ", ".join(map(str, self.blocks)) + ")"

    def _lend(self) -> Tuple[Any, Any, Any]:
        """Returns a fenix_py_subset for the C part, and the arrays that it points to: all three have to live as long as the call."""
        first, last = ffi.from_buffer("MPI_Count[]", self._first), ffi.from_buffer("MPI_Count[]", self._last)
        made = ffi.new("fenix_py_subset*", {"kind": self._kind, "number": len(self._first), "first": first, "last": last})
        return made, first, last

    @classmethod
    def _from_found(cls, found: Any) -> "Subset":
        """Returns the subset that a restore has found, and frees what the C part has listed."""
        number = int(found.number)
        if not number:
            lib.fenix_py_free(found.blocks)
            return cls.EMPTY
        pairs = np.frombuffer(ffi.buffer(found.blocks, number * 16), np.int64).reshape(number, 2).copy()
        lib.fenix_py_free(found.blocks)
        return cls._of(pairs[:, 0], pairs[:, 1])


Subset.FULL = Subset._of(np.zeros(1, np.int64), np.full(1, _NO_END, np.int64), _FULL)
Subset.EMPTY = Subset._of(np.empty(0, np.int64), np.empty(0, np.int64), _EMPTY)
Subset.PRESTAGED = Subset._of(np.empty(0, np.int64), np.empty(0, np.int64), _PRESTAGED)
