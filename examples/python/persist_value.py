# SPDX-License-Identifier: BSD-3-Clause
"""Figure 2 of "Data Persistency for Fault-Tolerance Using MPI Semantics" (Gracia et al., 2016), as examples/persist/value.c has it: a
value outlives the process that has stored it.

  FENIX_SPARES=1 LD_PRELOAD=libfenix_mpi.so mpirun --with-ft ulfm -n 3 python3 persist_value.py

Rank 0 dies after its send. The spare takes its place, runs the program from the start, and receives the value.
"""
import os
import signal

import fenix
import numpy
from mpi4py import MPI

KEY = "Run_A, June_6_2015"
VALUE_TAG = 1


def main():
    rank = MPI.COMM_WORLD.Get_rank()
    persistent = fenix.comm_persist(MPI.COMM_SELF, KEY)
    value = numpy.zeros(1, dtype="i")

    # A communicator of one process has rank 0 only.
    if fenix.failure():
        persistent.Recv(value, 0, VALUE_TAG)
    else:
        value[0] = 3 + rank
        persistent.Send(value, 0, VALUE_TAG)
        if rank == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    print(f"rank {rank} has the value {value[0]}", flush=True)
    persistent.Free()


main()
