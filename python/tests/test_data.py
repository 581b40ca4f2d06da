# SPDX-License-Identifier: BSD-3-Clause
"""Each method of the data interface, and each wrong use of it. Values are compared, also on ranks that have replaced others."""
import array
import ctypes
import io
import os
import pickle

import numpy as np
import pytest

import fenix
from fenix import Code, Subset
from fenix.testing import kill_here

# NumPy exports arrays that may not be written since it has a mark for them.
DLPACK_MARKS_READ_ONLY = int(np.__version__.split(".")[0]) >= 2 and int(np.__version__.split(".")[1]) >= 1

RANKS = pytest.mark.fenix(ranks=2)
KILLED = pytest.mark.fenix(ranks=3, spares=1)


def raises(code, function, *arguments, **keywords):
    """Checks that a call raises an Error with this code, and returns its text."""
    try:
        function(*arguments, **keywords)
    except fenix.Error as error:
        assert error.code == code, error
        assert isinstance(error.code, Code) and str(error).startswith(error.code.name)
        return error.text
    raise AssertionError(f"no {code!r}")


def rejects(kind, text, function, *arguments, **keywords):
    """Checks that a call raises an exception of this kind, with this text."""
    try:
        function(*arguments, **keywords)
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"no {kind}")


# --------------------------------------------------------------------------------------------------------------- buffers

STRUCTURED = np.dtype([("a", "i1"), ("b", "f8")], align=True)


def kinds_of_memory(rank):
    """Yields (what it is, an object with memory, the same bytes as an array)."""
    for dtype in ("i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 g c8 c16 ? >f8 >i4 S5 U3 M8[s]".split() + [STRUCTURED]):
        made = np.zeros(6, dtype)
        made.view(np.uint8)[:] = (np.arange(made.nbytes) * 7 + rank) % 2
        yield f"dtype {dtype}", made, made
    order = np.asfortranarray(np.arange(12.0).reshape(3, 4) + rank)
    yield "Fortran's order", order, order
    some = np.arange(3.0 if rank == 1 else 0.0)
    yield "no elements on some ranks", some, some
    yield "a number", np.array(3.5 + rank), None
    for name, made in (("bytearray", bytearray(b"abc%d" % rank)), ("array", array.array("d", [1.5, rank])),
                       ("memoryview", memoryview(bytearray(b"xyz%d" % rank)).cast("B")), ("ctypes", (ctypes.c_int * 3)(1, 2, rank)),
                       ("structure", (Point * 2)(Point(1, 2.5), Point(rank, 3.5)))):
        yield name, made, np.frombuffer(made, np.uint8)
    owner = np.arange(5.0) + rank
    # Before NumPy 2.1, its arrays are exporters without versions.
    yield "DLPack", Tensor(owner) if DLPACK_MARKS_READ_ONLY else Shown(owner), owner
    yield "DLPack without versions", Shown(owner), owner


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_double)]


class Tensor:
    """Memory that only DLPack shows. Exporters of before DLPack 1.0 take no arguments but the stream."""

    def __init__(self, owner, device=1, versions=True):
        self.owner, self.device, self.versions = owner, device, versions

    def __dlpack__(self, *, stream=None, **keywords):
        if keywords and not self.versions:
            raise TypeError(f"unexpected {keywords}")
        return self.owner.__dlpack__(**{name: value for name, value in keywords.items() if value is not None})

    def __dlpack_device__(self):
        return self.device, 0


class Shown(Tensor):
    """An exporter of before DLPack 1.0 that shows its memory to NumPy as well."""

    def __init__(self, owner):
        super().__init__(owner, versions=False)

    def __array__(self, dtype=None, copy=None):
        return self.owner


@KILLED
def test_memory_of_all_kinds(fenix_session):
    rank = fenix_session.comm.rank
    with fenix_session.group(0) as group:
        kinds = list(kinds_of_memory(rank))
        views = [np.asarray(view if view is not None else thing).reshape(-1).view(np.uint8) if name != "Fortran's order" else thing.T.reshape(-1).view(
            np.uint8) for name, thing, view in kinds]
        wanted = [view.copy() for view in views]
        for member, (_, thing, _) in enumerate(kinds):
            group.define(member, thing)
        if fenix_session.role == fenix.Role.INITIAL_RANK:
            group.store()
            group.commit_barrier()
            kill_here(1)
        # Survivors and the replacement alike: all bytes come from the snapshot.
        for view in views:
            view[:] = 255
        for member, (name, _, _) in enumerate(kinds):
            restored = group.restore(member)
            assert restored and not restored.partial, name
            got = bytes(views[member])
            # Fenix does not store the holes of a structure of MPI; here all bytes are elements.
            assert got == bytes(wanted[member]), (name, got, bytes(wanted[member]))
        assert fenix_session.role != fenix.Role.INITIAL_RANK


@RANKS
def test_memory_that_cannot_be_used(fenix_session):
    with fenix_session.group(0) as group:
        rejects(TypeError, "store_object", group.define, 0, np.array([{}, []], object))
        rejects(TypeError, "neither the buffer protocol nor DLPack", group.define, 0, 3)
        rejects(TypeError, "neither the buffer protocol nor DLPack", group.define, 0, [1.0, 2.0])
        rejects(BufferError, "device", group.define, 0, Tensor(np.zeros(3), device=2))
        rejects(ValueError, "gaps", group.define, 0, np.zeros((4, 4))[:, ::2])
        rejects(TypeError, "datatype and a count", group.define, 0, None)
        rejects(ValueError, "count 5", group.define, 0, np.zeros(4), count=5)
        rejects(ValueError, "gaps", group.define, 0, np.broadcast_to(np.zeros(3), (4, 3)))
        rejects(ValueError, "gaps", group.define, 0, memoryview(bytearray(9))[::2])
        rejects(TypeError, "mask", group.define, 0, np.ma.masked_less(np.arange(4.0), 2))
        rejects(TypeError, "references", group.define, 0, np.zeros(2, [("a", "i4"), ("b", object)]))
        rejects(TypeError, "no bytes", group.define, 0, np.zeros(2, []))
        rejects(TypeError, "integer", group.define, 1.5, np.zeros(4))
        assert group.members() == []
        # Data may be stored from memory that may not be written, and not restored into it.
        frozen = np.arange(4.0) + fenix_session.comm.rank
        frozen.flags.writeable = False
        group.define(0, frozen)
        group.define(1, b"only bytes")
        group.checkpoint()
        rejects(ValueError, "read-only", group.restore, 0)
        rejects(ValueError, "read-only", group.restore, 0, frozen)
        rejects(ValueError, "read-only", group.restore_from_rank, 1, 0, b"0123456789")
        rejects(ValueError, "read-only", group.load, 1)
        rejects(ValueError, "gaps", group.restore, 0, np.zeros((4, 4))[:, 0])
        # An exporter of before DLPack 1.0 cannot say that its memory may not be written, as that of JAX: it can be stored.
        group.define(3, Tensor(np.zeros(3), versions=False))
        group.define(4, Tensor(np.zeros(3), versions=False))
        rejects(ValueError, "read-only", group.restore, 0, Tensor(np.zeros(4), versions=False))
        group.delete_member(3)
        group.delete_member(4)
        if DLPACK_MARKS_READ_ONLY:
            rejects(ValueError, "read-only", group.restore, 0, Tensor(frozen))
        else:
            rejects(BufferError, "readonly", group.restore, 0, Tensor(frozen))
        target, text = np.zeros(4), bytearray(10)
        assert group.restore(0, target) and (target == frozen).all()
        assert group.restore(1, text) and text == b"only bytes"
        # The memory of a member cannot move while the library points to it.
        kept = bytearray(8)
        group.define(2, kept)
        rejects(BufferError, "", kept.extend, b"more")
        assert group.buffer(2) is kept
        group.delete_member(2)
        kept.extend(b"more")
        # An error on one rank is told to the others at once.
        if fenix_session.comm.rank == 0:
            rejects(TypeError, "neither", group.define, 3, None if False else 4)
        else:
            assert "rank 0" in raises(Code.ERROR_INVALID_ARGUMENT, group.define, 3, np.zeros(1))
        if fenix_session.comm.rank == 1:
            rejects(ValueError, "read-only", group.restore, 0, frozen)
        else:
            assert "rank 1" in raises(Code.ERROR_INVALID_ARGUMENT, group.restore, 0, target)


@RANKS
def test_targets_that_are_something_else(fenix_session):
    """Elements must not become others on the way."""
    rank = fenix_session.comm.rank
    grid = np.arange(12.0).reshape(3, 4) + rank
    with fenix_session.group(0) as group:
        group.define(0, grid)
        group.define(1, np.asfortranarray(grid))
        group.define(2, grid.astype(">f8"))
        group.define(3, grid.astype("M8[s]"))
        group.checkpoint()
        for member, target in ((0, np.zeros(12, np.int64)), (0, np.zeros(24, np.float32)), (0, np.zeros(12, ">f8")), (2, np.zeros(12)),
                               (3, np.zeros(12, "M8[D]"))):
            rejects(ValueError, "elements of", group.restore, member, target)
            rejects(ValueError, "elements of", group.load, member, target)
        rejects(ValueError, "order", group.restore, 0, np.zeros((3, 4), order="F"))
        rejects(ValueError, "order", group.restore, 1, np.zeros((3, 4)))
        rejects(ValueError, "elements of", group.stage_inplace, 0, np.zeros(12, np.int64))
        rejects(TypeError, "mask", group.restore, 0, np.ma.zeros((3, 4)))
        # The same elements in the order of memory, and bytes, are possible.
        flat, columns, text = np.zeros(12), np.zeros((3, 4), order="F"), bytearray(96)
        assert group.restore(0, flat) and (flat == grid.ravel()).all()
        assert group.restore(1, columns) and (columns == grid).all()
        assert group.restore(0, text) and bytes(text) == grid.tobytes()
        # Elements of a store: what cannot be told apart is refused.
        for elements in (3, [1, 2], np.ma.masked_less(grid, 3)):
            rejects(TypeError, "elements are", group.store, 0, elements)
        rejects(TypeError, "integers", Subset.from_indices, [0.5])
        rejects(TypeError, "", Subset, (0, 1.5))
        rejects(ValueError, "order", Subset.from_indices, np.asfortranarray(grid > 3))
        assert Subset.from_indices((np.asfortranarray(grid) > 3 + rank).ravel(order="K")).indices().size == 8


@RANKS
def test_datatypes_of_mpi(fenix_session):
    from mpi4py import MPI

    rank = fenix_session.comm.rank
    pair = MPI.DOUBLE.Create_vector(2, 1, 2).Create_resized(0, 32).Commit()
    table = np.arange(16.0) + 100 * rank
    with fenix_session.group("of types") as group:
        group.define("pairs", table, datatype=pair)
        assert (group.count("pairs"), group.count("pairs", 1 - rank), group.nbytes("pairs")) == (4, 4, 128)
        rejects(ValueError, "room for 4", group.define, "more", table, datatype=pair, count=5)
        group.define("fewer", table, datatype=pair, count=2)
        kind = group.datatype("pairs")
        assert (kind.Get_size(), kind.Get_extent()) == (16, (0, 32))
        kind.Free()
        before = table.copy()
        group.checkpoint()
        table[:] = -1
        assert group.restore("fewer").found == Subset(range(2))
        assert group.restore("pairs", count=3)
        wanted = np.full(16, -1.0)
        for first in (0, 4, 8):
            wanted[[first, first + 2]] = before[[first, first + 2]]
        assert (table == wanted).all()
        # Before the first store, count and datatype may be changed.
        group.define(0, table)
        group.set_count(0, 8)
        rejects(ValueError, "room for 16", group.set_count, 0, 17)
        group.set_datatype(0, MPI.INT64_T)
        group.set_buffer(0, table)
        assert (group.count(0), group.nbytes(0)) == (8, 64)
        group.store(0)
        raises(Code.ERROR_INVALID_LOGIC_CALL, group.set_count, 0, 4)
        raises(Code.ERROR_INVALID_LOGIC_CALL, group.set_datatype, 0, MPI.DOUBLE)
        # Without a buffer, until one is set.
        group.define(5, None, datatype=MPI.DOUBLE, count=16)
        raises(Code.ERROR_INVALID_ARGUMENT, group.store, 5)
        group.set_buffer(5, table)
        group.store(5)
        group.set_buffer(5, None)
        assert group.buffer(5) is None
        raises(Code.ERROR_INVALID_ARGUMENT, group.store, 5)


# ------------------------------------------------------------------------------------------------------- stores, commits


@RANKS
def test_groups_and_members(fenix_session):
    from mpi4py import MPI

    comm = fenix_session.comm
    assert not fenix.group_exists(3)
    group = fenix_session.group(3, start=5, depth=2, policy=fenix.Buddies(1), hashing=False)
    assert fenix.group_exists(3) and group.created and not group.data_lost and not group.shared_fate
    assert group.policy == fenix.Buddies(1) and not group.hashing and not group.in_place
    for policy, wanted in ((fenix.Parity(2, 1), fenix.Parity(2, 1)), (fenix.Ring(1), fenix.Ring(1)), (fenix.Local(), fenix.Local()),
                           (fenix.ReedSolomon(2, 1, 1), fenix.ReedSolomon(2, 1, 1)), (fenix.Ring(), fenix.Ring())):
        group.policy = policy
        assert group.policy == wanted or (wanted == fenix.Ring() and isinstance(group.policy, fenix.Ring))
    raises(Code.ERROR_INVALID_POLICY_VALUE, setattr, group, "policy", fenix.Ring(7))
    group.policy = fenix.Buddies()
    cohort = group.cohort()
    assert cohort.Get_size() == 2
    cohort.Free()
    data = np.zeros(4)
    group.create(7, data)
    raises(Code.ERROR_MEMBER_EXISTS, group.create, 7, data)
    group.define("seven", data)
    assert group.members()[0] == 7 and len(group.members()) == 2 and group.members()[1] < -2
    assert group.has(7) and group.has("seven") and not group.has(8)
    assert group.footprint(7) >= 4 * 32
    assert group.snapshots() == []
    for step in range(4):
        data[:] = step
        group.store()
        assert [group.commit, group.commit_barrier, group.commit_cleanup, group.commit_barrier][step]() == 5 + step
    group.cleanup()
    assert group.snapshots() == [8, 7, 6]
    target = np.zeros(4)
    assert group.restore(7, target, snapshot=7) and (target == 2).all()
    assert group.load(7, target, snapshot=6) and (target == 1).all()
    assert group.restore(7, target, snapshot=fenix.TIME_STAMP_MAX) and (target == 3).all()
    assert not group.restore(7, target, snapshot=5, required=False)
    raises(Code.ERROR_INVALID_TIMESTAMP, group.restore, 7, target, snapshot=-7)
    # The barrier deletes on all ranks what one has deleted.
    if comm.rank == 0:
        group.delete_snapshot(7)
        raises(Code.ERROR_INVALID_TIMESTAMP, group.delete_snapshot, 7)
    group.barrier()
    assert group.snapshots() == [8, 6]
    assert group.verify() == (0, 0)
    raises(Code.ERROR_INVALID_LOGIC_CALL, setattr, group, "policy", fenix.Ring())
    group.delete_snapshot(fenix.ALL_SNAPSHOTS)
    group.barrier()
    assert group.snapshots() == []
    try:
        group.restore(7)
        raise AssertionError("no NoDataError")
    except fenix.NoDataError as error:
        assert error.code == Code.ERROR_NODATA_FOUND
    group.delete_member(7)
    group.barrier()
    assert group.members()[0] < -2
    comm.barrier()
    group.delete()
    raises(Code.ERROR_INVALID_GROUPID, group.store)
    raises(Code.ERROR_INVALID_GROUPID, group.commit)
    # Programs see no snapshot older than depth, with or without a cleanup.
    raises(Code.ERROR_INVALID_GROUPID, group.cleanup)
    raises(Code.ERROR_INVALID_GROUPID, group.members)
    raises(Code.ERROR_INVALID_DEPTH, fenix_session.group, 4, depth=-2)
    raises(Code.ERROR_INVALID_TIMESTART, fenix_session.group, 4, start=-2)
    raises(Code.ERROR_INVALID_ARGUMENT, fenix_session.group, 4, comm=MPI.COMM_NULL)
    assert "group_create" in raises(Code.ERROR_MISMATCH, fenix_session.group, 4, start=comm.rank)
    # The block ends, and the group with it, when the attempt has ended; the same group may be made anew before.
    for _ in range(2):
        with fenix_session.group("block") as block:
            assert block.members() == []
            block.define(0, data)
    block = fenix_session.group(fenix.WORLD)
    with block:
        block.define(0, data)
        block.checkpoint()
    assert block.created and block.snapshots() == [0]
    in_place = fenix_session.group(5, in_place=True)
    assert in_place.in_place and in_place.hashing
    raises(Code.ERROR_INVALID_DEPTH, fenix_session.group, 6, depth=1, in_place=True)


@RANKS
def test_damage(fenix_session):
    """A write to the memory of a snapshot damages it. The copy on the other rank is good."""
    rank = fenix_session.comm.rank
    data = np.arange(500.0) + rank
    with fenix_session.group(0) as group:
        group.define(0, data)
        group.checkpoint()
        for mend in (group.verify, lambda: group.repair(0)):
            memory = group.stage_memory(0)
            memory[:] = data
            group.stage_inplace(0, memory)
            group.store(0, Subset.PRESTAGED)
            group.commit_barrier()
            if rank == 0:
                memory[7] = -1
            mended = mend()
            assert mended is None or mended == (1, 0), mended
            assert group.verify() == (0, 0)
            target = np.zeros(500)
            assert group.load(0, target) and (target == data).all()
        raises(Code.ERROR_INVALID_MEMBERID, group.repair, 99)


def in_domains():
    """Ranks 0 and 1 have one failure domain, rank 2 has another one."""
    from mpi4py import MPI

    os.environ["FENIX_FAILURE_DOMAIN"] = "a" if MPI.COMM_WORLD.rank < 2 else "b"
    session = fenix.init()
    fates = [session.group(number, policy=fenix.Ring(separation)).shared_fate for number, separation in enumerate((1, None))]
    session.finalize()
    return fates


def test_shared_fate(fenix_run):
    outcome = fenix_run(in_domains, ranks=3, resilient=False)
    assert outcome.results == [[True, outcome.results[0][1]]] * 3, outcome.report()


@RANKS
def test_subsets_and_strided_views(fenix_session):
    rank = fenix_session.comm.rank
    grid = np.zeros((6, 8))
    with fenix_session.group(0) as group:
        group.define(0, grid)

        def stored(elements):
            """Stores elements of a grid of ones, and returns where ones are restored."""
            grid[:] = 0
            group.store(0)
            group.commit_barrier()
            grid[:] = 1
            group.store(0, elements)
            group.commit_barrier()
            grid[:] = 7
            assert group.restore(0)
            return grid.copy()

        for index in (np.s_[1:-1, 1:-1], np.s_[::2, ::3], np.s_[:, 3], np.s_[::-1, 7], np.s_[2 + rank], np.s_[4, 4:5]):
            wanted = np.zeros_like(grid)
            wanted[index] = 1
            assert (stored(grid[index]) == wanted).all(), index
        flat = np.zeros(48)
        for elements, where in ((range(5, 40, 4), np.s_[5:40:4]), (slice(-3, None), np.s_[-3:]), (Subset((10, None)), np.s_[10:]),
                                (range(9, 3, -1), np.s_[4:10]), (Subset.EMPTY, np.s_[0:0]), (Subset.from_indices([3, 1]), [1, 3])):
            flat[:] = 0
            flat[where] = 1
            assert (stored(elements).ravel() == flat).all(), elements
        rejects(ValueError, "no view", group.store, 0, np.zeros(3))
        assert "element 48" in raises(Code.ERROR_SUBSET_END_OFFSET, group.store, 0, range(49))
        # A member of which only a part was ever stored.
        group.define(1, np.full(10, float(rank)))
        group.store(1, range(2, 5) if rank == 0 else range(6))
        group.commit_barrier()
        target = np.full(10, 9.0)
        there = group.restore(1, target)
        assert there.partial and there.found == (Subset(range(2, 5)) if rank == 0 else Subset(range(6)))
        assert group.found(1).found == there.found
        assert target.tolist() == ([9] * 2 + [0] * 3 + [9] * 5 if rank == 0 else [1] * 6 + [9] * 4)
        target[:] = 9
        other = group.restore_from_rank(1, 1 - rank, target, count=3)
        assert other.code in (Code.SUCCESS, Code.WARNING_PARTIAL_RESTORE)
        assert target.tolist() == ([1, 1, 1] + [9] * 7 if rank == 0 else [9, 9, 0] + [9] * 7)
        raises(Code.ERROR_INVALID_ARGUMENT, group.restore_from_rank, 1, 2, target)
        rejects(ValueError, "room for 10", group.restore, 1, target, count=11)


@RANKS
def test_stage_and_istore(fenix_session):
    rank = fenix_session.comm.rank
    data = np.arange(6.0) + rank
    with fenix_session.group(0, depth=1) as group:
        group.define(0, data)
        group.stage(0, data[:3])
        data[:3] = -1
        group.stage(0, range(3, 6))
        raises(Code.ERROR_INVALID_LOGIC_CALL, group.commit)
        group.store(0, Subset.PRESTAGED)
        group.commit_barrier()
        assert group.restore(0) and data.tolist() == [rank + i for i in range(6)]
        memory = group.stage_memory(0)
        assert memory.shape == (6, ) and memory.dtype == np.float64
        memory[:] = 10 + rank
        group.stage_inplace(0, memory)
        group.store(0, Subset.PRESTAGED)
        group.commit_barrier()
        assert group.restore(0) and (data == 10 + rank).all()
        other = np.full(4, 20.0 + rank)
        group.stage_inplace(0, other, range(4))
        other[:] = 0
        rejects(ValueError, "elements up to 6", group.stage_inplace, 0, other)
        group.store(0, Subset.PRESTAGED)
        group.commit_barrier()
        assert group.restore(0) and data.tolist() == [20 + rank] * 4 + [10 + rank] * 2
        request = group.istore(0, data[::2])
        data[:] = 0
        while not request.test():
            pass
        request.wait()
        second = group.istore(0, range(1, 2))
        group.wait(request, second)
        assert group.test(request, second)
        group.commit_barrier()
        assert group.restore(0) and data.tolist() == [20 + rank, 0, 20 + rank, 20 + rank, 10 + rank, 10 + rank]
        raises(Code.ERROR_DATA_WAIT, fenix.Request(12345).wait)
        data[:] = 5
        assert group.checkpoint(varying=[0]) == group.snapshots()[0]
        assert group.checkpoint(Subset.FULL, varying=[]) == group.snapshots()[0]
        raises(Code.ERROR_INVALID_MEMBERID, group.checkpoint, varying=[77])


@KILLED
def test_files_and_serializers(fenix_session):
    rank = fenix_session.comm.rank
    from mpi4py import MPI

    calls = []

    def scaled(file, stores, first, number):
        """Stores halves of what is in the buffer."""
        calls.append((stores, first, number))
        if stores:
            file.write((values[first:first + number] / 2).tobytes())
        else:
            values[first:first + number] = 2 * np.frombuffer(file.read(8 * number))

    values = np.arange(8.0) + rank
    with fenix_session.group(0) as group:
        group.define("table", None, datatype=MPI.BYTE, count=fenix.RESIZEABLE)
        group.define("text", np.zeros(40, np.uint8))
        group.define("scaled", values, serializer=scaled)
        if fenix_session.role == fenix.Role.INITIAL_RANK:
            with group.stage_file("table") as file:
                np.save(file, np.arange(10 + rank))
                assert file.tell() > 80 and file.writable() and file.readable() and file.seekable()
                assert file.seek(1) == 1 and file.read(5) == b"NUMPY"
            with group.stage_file("text") as file, io.TextIOWrapper(file, "ascii", write_through=True) as text:
                text.write(f"rank {rank}".ljust(40))
            rejects(OSError, "space", _write_too_much, group)
            group.store("table", Subset.PRESTAGED)
            group.store("text", Subset.PRESTAGED)
            group.store("scaled")
            group.commit_barrier()
            assert calls == [(True, 0, 8)]
            kill_here(2)
        with group.load_file("table") as file:
            assert file.found.stop == 128 + 8 * (10 + rank)
            assert np.load(file).tolist() == list(range(10 + rank))
            rejects(io.UnsupportedOperation, "cannot be written", file.write, b"x")
        rejects(ValueError, "closed", file.read, 1)
        with group.load_file("text") as file:
            assert file.read(6) == b"rank %d" % rank
        values[:] = 0
        assert group.restore("scaled") and (values == np.arange(8.0) + rank).all()
        assert calls[-1] == (False, 0, 8)
        # The exception of a serializer is raised by the call, which stores nothing then.
        group.define("scaled", values, serializer=_fails)
        rejects(ZeroDivisionError, "", group.store, "scaled")
        rejects(ZeroDivisionError, "", group.load, "scaled")
        group.define("scaled", values, serializer=scaled)
        group.store("scaled")
        group.commit_barrier()
        values[:] = 0
        assert group.restore("scaled") and values[1] == 1 + rank


def _write_too_much(group):
    with group.stage_file("text") as file:
        file.seek(39)
        file.write(b"12")


def _fails(*_):
    raise ZeroDivisionError


@RANKS
def test_allocated_memory(fenix_session):
    with fenix_session.group(0, policy=fenix.Parity(2), in_place=True) as group:
        field = group.allocate(0, (3, 4))
        assert field.shape == (3, 4) and field.flags.writeable and (field == 0).all()
        field[:] = np.arange(12).reshape(3, 4)
        group.store(0)
        group.commit_barrier()
        group.store(0, field[1:, ::2])
        group.commit_barrier()
        field[:] = 0
        assert group.restore(0) and field[2, 3] == 11
        assert group.allocate(0, 12, "f8")[11] == 11
        part = field[1:]
        del field
        rejects(BufferError, "in use", group.delete_member, 0)
        rejects(BufferError, "in use", group.delete)
        rejects(BufferError, "in use", fenix_session.finalize)
        del part
        assert group.allocate(1, 2 * fenix_session.comm.rank).size == 2 * fenix_session.comm.rank
        group.delete_member(0)
        raises(Code.ERROR_MEMBER_EXISTS, _allocate_other, group)


def _allocate_other(group):
    group.define(2, np.zeros(3))
    group.allocate(2, 3)


# --------------------------------------------------------------------------------------------------------------- objects


@KILLED
def test_objects(fenix_session):
    rank = fenix_session.comm.rank
    with fenix_session.group("objects", depth=1) as group:
        assert group.restore_object("nothing", "default") == "default"
        if fenix_session.role == fenix.Role.INITIAL_RANK:
            rejects(fenix.NoDataError, "", group.restore_object, "state")
            for step in range(3):
                group.store_object("state", {"step": step, "list": list(range(step * 100 * (rank + 1)))})
                group.store_object(4, ("other", rank, np.arange(step + 1)))
                group.commit_barrier()
            rejects((pickle.PicklingError, AttributeError), "", group.store_object, 4, lambda: 0)
            kill_here(0)
        state = group.restore_object("state")
        assert state == {"step": 2, "list": list(range(200 * (rank + 1)))}
        older = group.restore_object("state", snapshot=1)
        assert older == {"step": 1, "list": list(range(100 * (rank + 1)))}
        name, number, counted = group.restore_object(4, None)
        assert (name, number, counted.tolist()) == ("other", rank, [0, 1, 2])
        group.store_object("state", "short")
        group.commit_barrier()
        assert group.restore_object("state") == "short"


def test_codes_are_those_of_the_library():
    from fenix._library import lib  # The header that the extension was compiled with.

    assert lib.Fenix_get_error() == Code.ERROR_UNINITIALIZED
    assert len({code.value for code in Code}) == len(Code) and Code.SUCCESS == 0
    with pytest.raises(fenix.Error) as caught:
        fenix.current()
    assert caught.value.code == Code.ERROR_UNINITIALIZED
    with pytest.raises(fenix.Error, match="ERROR_INVALID_SETTING_OPTION"):
        fenix.set_option(fenix.Setting.UNHANDLED_MODE, 99)
    fenix.set_option(fenix.Setting.SPARE_WAIT_MODE, fenix.SpareWaitMode.YIELD)
    assert fenix.get_option(fenix.Setting.SPARE_WAIT_MODE) == fenix.SpareWaitMode.YIELD
    assert not fenix.initialized() and not fenix.finalized() and isinstance(fenix.error_message(), str)
    with pytest.raises(fenix.Error, match="ERROR_UNINITIALIZED"):
        fenix.group_exists(0)
    assert fenix.versions()["MPI"].startswith("Open MPI")
