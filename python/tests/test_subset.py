# SPDX-License-Identifier: BSD-3-Clause
"""Subsets are values: their arithmetic against that of Python's sets, and views against NumPy's own indices."""
import itertools
import random

import numpy as np
import pytest

from fenix import Subset

SIZE = 40


def elements(subset):
    return {i for i in range(SIZE) if i in subset}


def test_ranges():
    assert elements(Subset(range(3, 7), (9, 11), slice(20, 30, 3))) == {3, 4, 5, 6, 9, 10, 20, 23, 26, 29}
    assert Subset(range(3, 7), (7, 9)).blocks == [(3, 9)]
    assert Subset((5, 5), range(0)) == Subset.EMPTY and not Subset((5, 5))
    assert Subset((5, None)).blocks == [(5, None)] and Subset((5, None)).stop is None
    assert Subset((0, None)) == Subset.FULL and hash(Subset((0, None))) == hash(Subset.FULL)
    assert Subset.FULL != Subset.PRESTAGED and Subset.EMPTY != 0
    assert repr(Subset(range(1, 3))) == "Subset((1, 3))" and repr(Subset.PRESTAGED) == "Subset.PRESTAGED"
    assert len(Subset(range(0, 10, 2))) == 5 and list(Subset(range(2))) == [(0, 2)]
    assert Subset.from_indices([9, 3, 4, 3]).blocks == [(3, 5), (9, 10)]
    assert Subset.from_indices(np.array([[True, False], [True, True]])).blocks == [(0, 1), (2, 4)]
    assert Subset.from_indices([]) == Subset.EMPTY
    assert Subset.from_indices([5, 7]).indices().tolist() == [5, 7] and Subset.EMPTY.indices().size == 0


@pytest.mark.parametrize("wrong", [(-1, 3), range(5, 1, -1), slice(0, None, 2), (3, -1)])
def test_wrong_ranges(wrong):
    with pytest.raises(ValueError):
        Subset(wrong)


def test_what_has_no_answer():
    for question in (lambda: Subset.PRESTAGED.blocks, lambda: Subset.PRESTAGED | Subset.EMPTY, lambda: 1 in Subset.PRESTAGED,
                     lambda: len(Subset.FULL), lambda: Subset.FULL.indices(), lambda: Subset.from_blocks([3], [1]),
                     lambda: Subset.from_blocks([1, 2], [3]), lambda: Subset.from_indices([-1])):
        with pytest.raises(ValueError):
            question()


def test_arithmetic():
    drawn = random.Random(7)
    for _ in range(300):
        sets = [{i for i in range(SIZE) if drawn.random() < density} for density in (drawn.random(), drawn.random())]
        a, b = (Subset.from_indices(sorted(each)) for each in sets)
        assert elements(a | b) == sets[0] | sets[1]
        assert elements(a & b) == sets[0] & sets[1]
        assert elements(a - b) == sets[0] - sets[1]
        assert elements(Subset.FULL - a) == set(range(SIZE)) - sets[0]
        assert (a & Subset.FULL) == a and (a | a) == a and (a - a) == Subset.EMPTY
        starts = [start for start, _ in a]
        assert starts == sorted(starts) and len(a) == len(sets[0])


@pytest.mark.parametrize("order", ["C", "F"])
def test_views(order):
    array = np.empty((4, 5, 6), order=order)
    places = np.arange(120).reshape((4, 5, 6), order=order)
    slices = [slice(None), slice(1, -1), slice(None, None, 2), slice(None, None, -1), slice(3, 0, -2), 1, slice(2, 2)]
    for index in itertools.product(slices, repeat=3):
        view, wanted = array[index], np.unique(places[index])
        if isinstance(view, np.ndarray):
            assert Subset.from_view(view, array).indices().tolist() == wanted.tolist(), index
    assert Subset.from_view(array.T, array).blocks == [(0, 120)]
    assert Subset.from_view(np.broadcast_to(array[:1], (4, 5, 6)), array).indices().tolist() == np.unique(places[0]).tolist()
    assert Subset.from_view(array[1, 2, 3:4].reshape(()), array).indices().tolist() == [places[1, 2, 3]]


def test_no_views():
    array = np.zeros(10)
    bigger = np.zeros(12)
    for wrong in (np.zeros(3), array.view(np.int32), bigger, array.view(np.uint8)[4:12].view(np.float64), np.arange(3)):
        with pytest.raises(ValueError, match="no view"):
            Subset.from_view(wrong, array)
    with pytest.raises(ValueError, match="no view"):
        Subset.from_view(bigger, bigger[1:-1])
