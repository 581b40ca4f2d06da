# SPDX-License-Identifier: BSD-3-Clause
"""The program of bench/python/measure, on 2 ranks that keep copies of each other's data."""
import argparse
import statistics
import sys

import fenix
import numpy as np
from fenix._library import lib
from mpi4py import MPI


def from_python(group):
    begin = MPI.Wtime()
    group.store(0)
    group.commit_barrier()
    return MPI.Wtime() - begin


def from_c(group):
    seconds = lib.fenix_py_time_checkpoint(group.id, 0)
    assert seconds > 0, seconds
    return seconds


def quartiles(values, unit=""):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.4g}{unit} ({low:.4g} to {high:.4g})"


@fenix.resilient
def main(session, options):
    comm, array = session.comm, np.zeros(options.mib << 17)
    times = {from_python: [], from_c: []}
    with session.group(0) as group:
        group.define(0, array)
        for turn in range(options.rounds + 2):
            # Which one comes first changes from round to round.
            for measure in sorted(times, key=lambda function: (function is from_c) ^ turn % 2):
                # Unchanged data would not be stored again.
                array += 1
                comm.Barrier()
                seconds = measure(group)
                if turn >= 2:
                    times[measure].append(seconds)
    ratios = [a / b for a, b in zip(times[from_python], times[from_c])]
    if comm.rank == 0:
        print(f"store and commit of {options.mib} MiB on each of 2 ranks, {options.rounds} rounds: median (quartiles)")
        print(f"  Python: {quartiles([1000 * each for each in times[from_python]], ' ms')}")
        print(f"  C:      {quartiles([1000 * each for each in times[from_c]], ' ms')}")
        print(f"  ratio:  {quartiles(ratios)}")
    return comm.bcast(statistics.median(ratios))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--most", type=float)
    given = parser.parse_args()
    ratio = main(given)
    sys.exit(given.most is not None and ratio > given.most)
