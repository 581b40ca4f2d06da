# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8 of "Data Persistency for Fault-Tolerance Using MPI Semantics" (Gracia et al., 2016): the heat equation, whose processes store
their state by a message to themselves. Only a process that dies goes back.

  FENIX_SPARES=1 LD_PRELOAD=libfenix_mpi.so mpirun --with-ft ulfm -n 4 python3 persist_heat2d.py [options]

Without FENIX_SPARES and LD_PRELOAD, --interval 0 runs the same program without any store.
"""
import argparse
import time

import numpy
from mpi4py import MPI

STATE_TAG = 7


class Heat2D:
    """The heat equation on rows of a square field, with a hot spot that moves along its upper edge."""

    def __init__(self, comm, columns, rows):
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.field = numpy.zeros((rows + 2, columns))
        self.step = 0
        self.restored = False

    def exchange_boundaries(self):
        below, above = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        field = self.field
        self.comm.Sendrecv(field[-2], below, 1, field[0], above, 1)
        self.comm.Sendrecv(field[1], above, 2, field[-1], below, 2)

    def solver(self):
        field = self.field
        if self.rank == 0:
            field[1, self.step % field.shape[1]] = 100.0
        inner = field[1:-1]
        sides = numpy.roll(inner, 1, axis=1) + numpy.roll(inner, -1, axis=1)
        field[1:-1] = inner + 0.2 * (field[:-2] + field[2:] + sides - 4.0 * inner)
        self.step += 1

    def get_average(self):
        return numpy.array([float(self.step), self.field[1:-1].mean()])

    def get_local_state(self):
        return numpy.concatenate(([float(self.step)], self.field[1:-1].ravel()))

    def restore_local_state(self, state):
        self.step = int(state[0])
        self.field[1:-1] = state[1:].reshape(self.field[1:-1].shape)
        self.restored = True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--rows", type=int, default=16, help="of each process")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--interval", type=int, default=1, help="steps from one store to the next; 0 for none")
    parser.add_argument("--time", action="store_true", help="stores an average, as in the paper, and prints only the seconds of the loop")
    options = parser.parse_args()

    comm = MPI.COMM_WORLD
    task = Heat2D(comm, options.columns, options.rows)
    get_state = task.get_average if options.time else task.get_local_state
    if options.interval:
        import fenix
        if options.time:
            # No message is logged then: only stores count.
            fenix.init(transparent=True)
        persist = fenix.comm_persist(comm, "heat2d")
        if fenix.failure() and persist.Iprobe(task.rank, STATE_TAG):
            state = task.get_local_state()
            persist.Recv(state, task.rank, STATE_TAG)
            task.restore_local_state(state)

    begin = time.perf_counter()
    while task.step < options.steps:
        task.exchange_boundaries()
        task.solver()
        if not options.time:
            print(task.rank, task.step, repr(float(task.field[1:-1].sum())), flush=True)
        if options.interval and task.step % options.interval == 0:
            persist.Send(get_state(), task.rank, STATE_TAG)
    if options.time:
        seconds = numpy.array([time.perf_counter() - begin])
        longest = numpy.zeros(1)
        comm.Reduce(seconds, longest, MPI.MAX, 0)
        if task.rank == 0:
            print("seconds", longest[0], "ranks", task.size, flush=True)
    else:
        print("Final:", task.rank, repr(float(task.field[1:-1].sum())), flush=True)


main()
