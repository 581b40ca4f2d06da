#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program with mpi4py: objects, arrays, a server, communicators. It knows nothing of Fenix."""
import array
import os
import signal
import threading

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.Get_rank(), WORLD.Get_size()
RIGHT, LEFT = (RANK + 1) % SIZE, (RANK - 1) % SIZE
steps = 0
timers = []


def check(holds, what):
    if not holds:
        print(f"FENIX-TEST-FAIL rank {RANK}, step {steps}: {what}", flush=True)
        WORLD.Abort(3)


def step():
    """Dies as step() of plain.c does."""
    global steps
    steps += 1
    for entry, text in enumerate(filter(None, os.environ.get("PLAIN_DIES", "").split(","))):
        victim, at, after = (*map(int, text.split(":")), 0)[:3]
        if victim != RANK or at != steps:
            continue
        try:
            os.close(os.open(f"{os.environ['PLAIN_MARKS']}/died.{entry}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        if after:
            timers.append(threading.Timer(after * 1e-6, os.kill, (os.getpid(), signal.SIGKILL)))
            timers[-1].start()
        else:
            os.kill(os.getpid(), signal.SIGKILL)


def objects(number):
    """Pickled objects, whose length the receiver asks for."""
    step()
    request = WORLD.isend({"rank": RANK, "numbers": list(range(number * 50))}, dest=RIGHT, tag=number)
    got = WORLD.recv(source=MPI.ANY_SOURCE, tag=number)
    request.wait()
    check(got == {"rank": LEFT, "numbers": list(range(number * 50))}, "objects")
    step()
    check(WORLD.allgather((RANK, number)) == [(rank, number) for rank in range(SIZE)], "allgather of objects")
    check(WORLD.bcast([number] * 3 if RANK == 0 else None, root=0) == [number] * 3, "bcast of objects")


def arrays(number):
    """Buffers."""
    sent, got = array.array("d", [RANK + number / 4] * 1000), array.array("d", bytes(8000))
    step()
    WORLD.Sendrecv(sent, dest=RIGHT, recvbuf=got, source=LEFT)
    check(got == array.array("d", [LEFT + number / 4] * 1000), "arrays")
    step()
    WORLD.Allreduce(MPI.IN_PLACE, sent, op=MPI.SUM)
    check(sent[999] == SIZE * (SIZE - 1) / 2 + SIZE * number / 4, "sum")
    requests = [WORLD.Irecv(got, source=LEFT), WORLD.Isend(sent, dest=RIGHT)]
    MPI.Request.Waitall(requests)
    check(got == sent, "requests")


def serve(number):
    """Rank 0 answers whoever asks."""
    if RANK == 0:
        status = MPI.Status()
        for i in range(2 * (SIZE - 1)):
            question = WORLD.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
            if i % 2:
                step()
            WORLD.send(question * 2, dest=status.Get_source(), tag=status.Get_tag())
    else:
        for i in range(2):
            step()
            check(WORLD.sendrecv(f"{RANK} {i} {number};", dest=0, sendtag=i, source=0, recvtag=i) == 2 * f"{RANK} {i} {number};", "answer")
    WORLD.Barrier()


def communicators(number):
    step()
    half = WORLD.Split(RANK % 2, RANK)
    check(half.allreduce(number) == number * half.Get_size(), "half")
    step()
    ring = WORLD.Create_cart([SIZE], periods=[True])
    below, above = ring.Shift(0, 1)
    check(ring.sendrecv(RANK, dest=above, source=below) == below, "ring")
    ring.Free()
    half.Free()


for turn in range(1, 4):
    objects(turn)
    arrays(turn)
    serve(turn)
    communicators(turn)
step()
for timer in timers:
    timer.cancel()
print(f"FENIX-TEST-OK rank {RANK} of {SIZE}, {steps} steps, process {os.environ['PMIX_RANK']}", flush=True)
