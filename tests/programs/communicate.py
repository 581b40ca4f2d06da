# SPDX-License-Identifier: BSD-3-Clause
"""Collectives, derived communicators, objects and requests through mpi4py. Rank 0 prints a line for each; 4 ranks."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def tell(what, value):
    """Prints the values of all ranks."""
    values = world.gather(value)
    if rank == 0:
        print(f"{what}: {values}", flush=True)


tell("allreduce", world.allreduce(rank + 0.5))
tell("scan", world.scan(rank, op=MPI.SUM))
tell("broadcast of an object", world.bcast({"from": rank, "list": list(range(3))} if rank == 1 else None, root=1))
tell("alltoall", world.alltoall([10 * rank + to for to in range(size)]))

numbers = array("d", [rank + i / 8 for i in range(1000)])
world.Allreduce(MPI.IN_PLACE, numbers)
tell("allreduce of a buffer", sum(numbers))

requests = [world.isend((rank, to), dest=to, tag=7) for to in range(size)]
tell("messages from any source", sorted(world.recv(source=MPI.ANY_SOURCE, tag=7) for _ in range(size)))
MPI.Request.waitall(requests)

status = MPI.Status()
request = world.isend("probed", dest=(rank + 1) % size, tag=9)
world.probe(source=MPI.ANY_SOURCE, tag=9, status=status)
tell("probe", (status.Get_source(), world.recv(source=status.Get_source(), tag=9)))
request.wait()

duplicate = world.Dup()
half = duplicate.Split(color=rank % 2, key=-rank)
tell("split", (half.Get_rank(), half.allgather(rank)))
grid = world.Create_cart([2, size // 2], periods=[True, False])
tell("cart", (grid.Get_coords(rank), grid.Shift(0, 1), grid.Sub([False, True]).allreduce(rank)))
some = world.Create_group(world.Get_group().Incl([0, size - 1])) if rank in (0, size - 1) else None
tell("group", some.allgather(rank) if some else None)
graph = world.Create_dist_graph_adjacent([(rank - 1) % size], [(rank + 1) % size])
tell("neighbours", graph.neighbor_allgather(rank))

pending = world.Ibarrier()
pending.Wait()
persistent = world.Send_init(numbers, (rank + 1) % size)
received = array("d", bytes(8 * len(numbers)))
for _ in range(3):
    incoming = world.Irecv(received, (rank - 1) % size)
    persistent.Start()
    MPI.Request.Waitall([persistent, incoming])
tell("persistent request", received == numbers)
window = MPI.Win.Create(numbers, comm=half)
window.Fence()
window.Get(received, 0)
window.Fence()
tell("window", received == numbers)
window.Free()
for comm in (duplicate, half, grid, graph):
    comm.Free()
