# SPDX-License-Identifier: BSD-3-Clause
"""Figure 3 of "Data Persistency for Fault-Tolerance Using MPI Semantics" (Gracia et al., 2016), as examples/persist/exchange.c has it.

  FENIX_SPARES=1 LD_PRELOAD=libfenix_mpi.so mpirun --with-ft ulfm -n 3 python3 persist_exchange.py [ITERATIONS]

Kill one of the two processes that work: a third one takes its place, and only that one goes back.
"""
import sys

import fenix
import numpy
from mpi4py import MPI

SIZE = 1000
SESSION = "1001"
STATETAG, BNDTAG = 0, 1


def init_data(data, seed):
    """The data follows from the seed, except for the boundary."""
    data[:-1] = seed * (1.0 + numpy.arange(SIZE - 1) / SIZE)


def compute(data, step):
    data[:-1] = 0.5 * data[:-1] + 0.25 * data[-1] + step % 13


def main():
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    world = MPI.COMM_WORLD
    rank = world.Get_rank()
    other = 1 - rank
    persistent = fenix.comm_persist(world, SESSION)
    boundaries = fenix.comm_persist(world, SESSION + " boundaries", {"persist_depth": 2})

    state = numpy.array([321.0, 0.0])  # seed and the next iteration
    boundary = numpy.array([0.0, -1.0])  # value and its iteration
    data = numpy.empty(SIZE)
    has_state = fenix.failure() and persistent.Iprobe(rank, STATETAG)
    if has_state:
        persistent.Recv(state, rank, STATETAG)
    init_data(data, state[0])
    data[-1] = 100.0
    if has_state:
        # The other process may have stored one of the next iteration already, or may come to store this one later.
        while boundary[1] != state[1] - 1:
            boundaries.Recv(boundary, other, BNDTAG)
        data[-1] = boundary[0]

    for i in range(int(state[1]), iterations):
        compute(data, i)
        boundary[:] = data[0], i
        world.Sendrecv(boundary[:1], other, BNDTAG, data[-1:], other, BNDTAG)
        boundaries.Send(boundary, other, BNDTAG)
        state[:] = data.sum() / SIZE, i + 1
        init_data(data, state[0])
        print(rank, i, repr(float(state[0])), flush=True)
        persistent.Send(state, rank, STATETAG)
    print("Final:", rank, repr(float(state[0])), flush=True)


main()
