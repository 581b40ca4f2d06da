# SPDX-License-Identifier: BSD-3-Clause
"""How something grows with n: the simplest of some sums of terms that says what was measured."""
import math

import numpy

TERMS = {"1": lambda n: 1.0, "log n": lambda n: math.ceil(math.log2(n)), "n": float}
# The simplest first.
SUMS = (("1",), ("1", "log n"), ("1", "n"), ("1", "log n", "n"))
EXACT = 0.005


def coefficients(terms, points):
    matrix = numpy.array([[TERMS[term](n) for term in terms] for n, _ in points])
    values = numpy.array([value for _, value in points])
    found, *_ = numpy.linalg.lstsq(matrix, values, rcond=None)
    worst = numpy.max(numpy.abs(matrix @ found - values)) / max(1e-30, numpy.max(numpy.abs(values)))
    return found, worst


def rounded(value):
    return f"{value:.0f}" if abs(value - round(value)) < 0.02 * max(1, abs(value)) else f"{value:.1f}"


def formula(points):
    """points: (n, value), at least two. The text of the formula, and "?" in front of it if none fits to half a percent."""
    for terms in SUMS:
        if len(terms) >= len(points):
            break
        found, worst = coefficients(terms, points)
        if worst <= EXACT:
            break
    text = ""
    for term, value in zip(terms, found):
        if abs(value) * max(TERMS[term](n) for n, _ in points) < 2 * EXACT * max(abs(value) for _, value in points):
            continue
        number = rounded(abs(value))
        sign = "−" if value < 0 else "+" if text else ""
        text += f" {sign} " if text else sign
        text += number if term == "1" else term if number == "1" else f"{number} {term}"
    return ("" if worst <= EXACT else "? ") + (text or "0")


def exponent(points):
    """The least-squares slope of log value over log n."""
    x = numpy.log([n for n, _ in points])
    y = numpy.log([value for _, value in points])
    return float(numpy.polyfit(x, y, 1)[0])
