#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The heat equation on a plate, by NumPy and mpi4py, on ranks that may be killed by kill -9 at any time.

    mpirun --with-ft ulfm -n 5 python3 heat2d.py --spares 1 --out pictures

Each rank has some rows of the plate. Every few steps it stores them with fenix. When a rank has died, a spare takes its place, and
all go on from the last snapshot: the result has the same bits as without the death. scripts/demo --python shows that."""
import argparse
import os
import struct
import time
import zlib
from pathlib import Path

import fenix
import numpy as np
from mpi4py import MPI

FIELD, STEP = 0, 1


def parse():
    parser = argparse.ArgumentParser(description="The heat equation on a plate, on ranks that may be killed.")
    parser.add_argument("--size", type=int, default=400, help="cells in each direction (%(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="time steps (%(default)s)")
    parser.add_argument("--interval", type=int, default=10, help="steps between two snapshots (%(default)s)")
    parser.add_argument("--spares", type=int, default=1, help="ranks in reserve: so many may die (%(default)s)")
    parser.add_argument("--out", type=Path, help="folder for final.png, final.raw and the process ids of the ranks")
    parser.add_argument("--live", action="store_true", help="show the plate in a window while it warms up (needs matplotlib)")
    return parser.parse_args()


# --------------------------------------------------------------------------------------------------------------- pictures


def colours(plate):
    """Returns the plate as bytes of red, green and blue: black, red, yellow and white as it gets hotter."""
    heat = np.clip(plate, 0, 1)[..., None] * 3 - np.arange(3)
    return (np.clip(heat, 0, 1) * 255).astype(np.uint8)


def write_png(path, pixels):
    """Writes a picture without a library: a PNG is a header, compressed rows, and an end."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b""))


class Window:
    """The plate on the screen, on rank 0. What is seen there survives as long as rank 0 does."""

    def __init__(self, size):
        import matplotlib.pyplot as plot

        self.plot = plot
        plot.ion()
        self.image = plot.imshow(np.zeros((size, size, 3), np.uint8))

    def show(self, plate, step):
        self.image.set_data(colours(plate))
        self.plot.title(f"step {step}: kill -9 a rank, if you like")
        self.plot.pause(0.001)


# --------------------------------------------------------------------------------------------------------- computation


def rows_of(rank, ranks, size):
    """Returns the first row of a rank, and the one after its last."""
    return rank * size // ranks, (rank + 1) * size // ranks


def begin(field, first, size):
    """Sets the initial state: cold, with two hot discs."""
    y, x = np.ogrid[first - 1:first - 1 + len(field), 0:size]
    field[:] = 0
    for at_y, at_x, radius in ((0.3, 0.3, 0.15), (0.6, 0.7, 0.2)):
        field[(y - at_y * size)**2 + (x - at_x * size)**2 < (radius * size)**2] = 1


def shift(comm, row, to, into, source):
    """Sends a row to one rank, and receives one from another."""
    # MPI_Sendrecv of Open MPI 5.0 crashes after a failure if it has nothing to receive.
    if source == MPI.PROC_NULL:
        comm.Send(row, to)
    else:
        comm.Sendrecv(row, to, 0, into, source, 0)


def exchange(comm, field):
    """Gets the rows of the neighbours into the first and the last row."""
    up = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    down = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
    shift(comm, field[1], up, field[-1], down)
    shift(comm, field[-2], down, field[0], up)


def advance(field):
    """Makes one time step. The left and right edges stay cold."""
    inner = field[1:-1, 1:-1]
    inner += 0.2 * (field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:] - 4 * inner)


def gather(comm, field, size):
    """Returns the whole plate on rank 0."""
    plate = np.zeros((size, size)) if comm.rank == 0 else None
    counts = [size * (last - first) for first, last in (rows_of(rank, comm.size, size) for rank in range(comm.size))]
    comm.Gatherv(field[1:-1], [plate, counts, None, MPI.DOUBLE] if comm.rank == 0 else None)
    return plate


def simulate(session, options, window):
    """Everything from here to the end is done again on all ranks after a failure."""
    comm, size = session.comm, options.size
    if session.error == fenix.Code.WARNING_SPARE_RANKS_DEPLETED:
        raise SystemExit("heat2d: more ranks have died than there were spares")
    if options.out:
        (options.out / f"rank-{comm.rank}").write_text(str(os.getpid()), encoding="utf-8")
    first, last = rows_of(comm.rank, comm.size, size)
    field, step = np.zeros((last - first + 2, size)), np.zeros(1, np.int64)
    with session.group("heat2d", depth=0) as group:
        group.define(FIELD, field)
        group.define(STEP, step)
        if group.restore(STEP, required=False):
            group.restore(FIELD)
            if comm.rank == 0:
                print(f"ranks {session.failed} have died; all go on from step {step[0]}", flush=True)
        else:
            begin(field, first, size)
        while step[0] < options.steps:
            exchange(comm, field)
            advance(field)
            step += 1
            if step[0] % options.interval == 0:
                group.store(FIELD, field[1:-1])
                group.store(STEP)
                group.commit()
                if comm.rank == 0 and step[0] % (10 * options.interval) == 0:
                    print(f"step {step[0]}/{options.steps}", flush=True)
                if options.live and step[0] % (5 * options.interval) == 0:
                    plate = gather(comm, field, size)
                    if comm.rank == 0:
                        if not window:
                            window.append(Window(size))
                        window[0].show(plate, step[0])
        return gather(comm, field, size)


def main():
    options = parse()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    # A window lives longer than one turn of the function.
    plate = fenix.resilient(spares=options.spares)(simulate)(options, [])
    if plate is not None:
        if options.out:
            (options.out / "final.raw").write_bytes(plate.tobytes())
            write_png(options.out / "final.png", colours(plate))
        print(f"heat2d: done in {time.monotonic() - started:.2f} s, mean temperature {plate.mean():.12f}", flush=True)


if __name__ == "__main__":
    main()
