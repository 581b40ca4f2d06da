#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves A x = b by conjugate gradients. A is sparse, and each rank has some of its rows.
plain.py and protected.py are the same program, without Fenix and with it: diff plain.py protected.py

    mpirun --with-ft ulfm -n 5 python3 protected.py [CELLS [ITERATIONS]]

With 1000 cells there is time to kill a rank.

A belongs to one implicit time step of a heat equation, on a square of CELLS x CELLS cells with periodic
edges. A rank has some lines of cells. Its vectors have two more lines if they are multiplied by A: those
of its neighbours."""
import sys

import fenix
import numpy as np

INTERVAL = 10


def conductivity(cells, i, j, direction):
    """Gives the conductivity between a cell and the next one in its line (0), or in its column (1)."""
    return 1 + 0.5 * np.sin(12.9898 * (i % cells) + 78.233 * (j % cells) + direction)


class Matrix:
    """Rows of A on this rank, 5 entries each. Columns count own rows, then the line before them, then the one after."""

    def __init__(self, comm, cells):
        first, end = (cells * rank // comm.size for rank in (comm.rank, comm.rank + 1))
        self.comm, self.cells, self.rows = comm, cells, (end - first) * cells
        i, j = (index.ravel() for index in np.mgrid[first:end, 0:cells])
        row = np.arange(self.rows)
        before, after = 50 * conductivity(cells, i - 1, j, 1), 50 * conductivity(cells, i, j, 1)
        left, right = 50 * conductivity(cells, i, j - 1, 0), 50 * conductivity(cells, i, j, 0)
        self.value = np.stack([1 + before + after + left + right, -before, -after, -left, -right])
        self.column = np.stack([
            row,
            np.where(row < cells, self.rows + j, row - cells),
            np.where(row + cells < self.rows, row + cells, self.rows + cells + j),
            row - j + (j - 1) % cells,
            row - j + (j + 1) % cells,
        ])
        self.b = np.where((i > cells // 4) & (i < cells // 2) & (j > cells // 3), 1.0, 0.0)

    def exchange(self, v):
        """Gets the lines of the neighbours."""
        comm, cells, rows = self.comm, self.cells, self.rows
        before, after = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        comm.Sendrecv(v[:cells], before, 0, v[rows + cells:], after, 0)
        comm.Sendrecv(v[rows - cells:rows], after, 1, v[rows:rows + cells], before, 1)

    def times(self, v):
        self.exchange(v)
        return (self.value * v[self.column]).sum(axis=0)


def dot(comm, u, v):
    # Not np.dot: BLAS may add in another order in another process.
    mine, total = np.array([(u * v).sum()]), np.zeros(1)
    comm.Allreduce(mine, total)
    return total[0]


@fenix.resilient(spares=1)
def main(session, cells=96, iterations=1000):
    comm = session.comm
    if session.error == fenix.Code.WARNING_SPARE_RANKS_DEPLETED:
        raise SystemExit("more ranks have died than there were spares")
    matrix = Matrix(comm, cells)
    rows = matrix.rows
    x, r, p = np.zeros(rows), np.zeros(rows), np.zeros(rows + 2 * cells)
    rho, iteration = np.zeros(1), np.zeros(1, int)

    # The matrix is not protected, because each rank can make it again.
    group = session.group("cg")
    protected = {"x": x, "r": r, "p": p[:rows], "rho": rho, "iteration": iteration}
    for name, array in protected.items():
        group.define(name, array)
    if group.found("iteration", required=False):
        for name in protected:
            group.restore(name)
    else:
        r[:] = p[:rows] = matrix.b
        rho[0] = dot(comm, r, r)
    if comm.rank == 0 and session.role != fenix.Role.INITIAL_RANK:
        print(f"a rank has died: on from iteration {iteration[0]}", flush=True)

    while iteration[0] < iterations and rho[0] > 1e-20:
        q = matrix.times(p)
        alpha = rho[0] / dot(comm, p[:rows], q)
        x += alpha * p[:rows]
        r -= alpha * q
        last = rho[0]
        rho[0] = dot(comm, r, r)
        p[:rows] = r + rho[0] / last * p[:rows]
        iteration += 1
        if comm.rank == 0 and iteration[0] % 10 == 0:
            print(f"iteration {iteration[0]} residual {np.sqrt(rho[0]):.16e}", flush=True)
        if iteration[0] % INTERVAL == 0:
            group.store()
            group.commit_barrier()

    # b - A x as it really is, and the length of x
    p[:rows] = x
    r = matrix.b - matrix.times(p)
    residual, length = np.sqrt(dot(comm, r, r)), np.sqrt(dot(comm, x, x))
    if comm.rank == 0:
        print(f"end {iteration[0]} residual {residual:.16e} length {length:.16e}", flush=True)


main(*map(int, sys.argv[1:]))
