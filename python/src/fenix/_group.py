# SPDX-License-Identifier: BSD-3-Clause
"""Groups of members: stores, commits and restores."""
import pickle
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type, Union

import numpy as np
import numpy.typing as npt

from . import _errors, _session
from ._buffers import Allocated, Memory, check_allocated, datatype_of
from ._codes import _ATTRIBUTE_COUNT, _ATTRIBUTE_SIZE, ALL, LATEST, RESIZEABLE, WORLD, Code
from ._errors import check
from ._files import MemberFile
from ._library import MPI, ffi, lib
from ._parts import CalledSerializer, Elements, Id, Request, Restored, Serializer, number_of
from ._policies import Buddies, Policy, policy_from
from ._session import Session, current
from ._store import _call_with
from ._subset import Subset

_FULL_COUNT = -1
# A count that no call accepts: it makes the library tell all ranks of an error that was found here.
_REFUSED_COUNT = -3
_MISSING: Any = object()


# ----------------------------------------------------------------------------------------------------------------- groups


class Group:
    """A data group: members whose data is stored, committed and restored together.

    Making one creates the group, or takes it up again after a failure: on all ranks of its communicator, with the same arguments, before
    anything else is done with the group. Replacements learn the members and snapshots here, and lost copies are made again.

    As a context manager it deletes the group after the block, unless an exception leaves the block: after a failure the stored data is
    needed. It belongs inside of the function that is repeated. The group goes away when that function has ended on all ranks, because a
    failure before that needs the data, too.

    Members are numbers from 0 on, or names. Sizes, offsets and counts are in elements: those of the array, or of the datatype that was
    given. Every method may raise Error, and CommException where it waits for others; the codes are those of the C function in the table
    above. Methods that are not said to be local are collective: all ranks of the group call them in the same order."""

    def __init__(self, id: Id, session: Optional[Session] = None, *, comm: Optional[Any] = None, start: int = 0, depth: int = 0,
                 policy: Optional[Policy] = None, hashing: Optional[bool] = None, in_place: Optional[bool] = None) -> None:
        """Creates the group `id` over `comm`, by default the resilient communicator. WORLD exists already.

        `start`: time stamp of the first commit. `depth`: snapshots kept in addition to the newest, or -1 for all. `policy`: Buddies,
        Parity, Ring, ReedSolomon or Local; by default Buddies. `hashing`: False stores faster, and notices no damage. `in_place`: True
        takes one copy less; buffers must then stay as they are from the store to the end of the commit. If the group exists already, its
        own arguments hold. Collective, synchronising. Raises Error: ERROR_INVALID_DEPTH, _TIMESTART, _POLICY_VALUE, _ARGUMENT,
        ERROR_MISMATCH, ERROR_NO_MEMORY. Raises CommException as well in an attempt that has met a failure and hidden it."""
        self._session = current() if session is None else session
        self._session._check_attempt()
        self.id = number_of(id)
        self._flag = Code.SUCCESS
        self._objects: "set[int]" = set()
        self._staging: Dict[int, int] = {}  # addresses that stage_memory gave
        kept = self._session._kept.setdefault(self.id, {})
        self._kept: Dict[int, List[Any]] = kept
        for ended in [each for each in self._session._ended if each.id == self.id]:
            self._session._ended.remove(ended)
            ended.delete()
        if self.id != WORLD:
            name, values = (Buddies() if policy is None else policy)._arguments()
            flag = ffi.new("int*")
            handle = (self._session.comm if comm is None else comm).py2f()
            check(lib.fenix_py_group_create(self.id, handle, start, depth, name, ffi.new("int[]", values), flag))
            self._flag = Code(flag[0])
        if hashing is not None:
            self._set_early(lib.Fenix_Data_group_set_hashing, lib.Fenix_Data_group_get_hashing, hashing)
        if in_place is not None:
            self._set_early(lib.Fenix_Data_group_set_in_place, lib.Fenix_Data_group_get_in_place, in_place)

    def _set_early(self, setter: Any, getter: Any, value: bool) -> None:
        """Sets what can be set before the first store only. A group that was taken up again has it already."""
        code = setter(self.id, int(value))
        if code == Code.ERROR_INVALID_LOGIC_CALL and self._flag_of(getter) == value:
            return
        check(code)

    def _flag_of(self, getter: Any) -> bool:
        flag = ffi.new("int*")
        check(getter(self.id, flag))
        return bool(flag[0])

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError("a group belongs to its process: it cannot be pickled or copied")

    def __enter__(self) -> "Group":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if kind is not None or self.id == WORLD or not self._session.active:
            return
        if self._session._attempt is not None:
            self._session._ended.append(self)
        else:
            self.delete()

    # ------------------------------------------------------------------------------------------------------ about it

    @property
    def data_lost(self) -> bool:
        """Whether snapshots existed when the group was created here, and were lost."""
        return self._flag == Code.ERROR_NODATA_FOUND

    @property
    def resumed(self) -> bool:
        """Whether the group goes on from a dataset of the store since it was created here."""
        return self._flag == Code.WARNING_RESUMED

    @property
    def shared_fate(self) -> bool:
        """Whether the death of one node or failure domain would lose snapshots."""
        return self._flag == Code.WARNING_SHARED_FATE

    @property
    def created(self) -> bool:
        """Whether the group exists on this rank. Local."""
        return bool(check(lib.Fenix_Data_group_created(self.id)))

    @property
    def policy(self) -> Policy:
        """The redundancy policy, with its defaults filled in. Local. Setting it is collective, and allowed before the first store."""
        name, values = ffi.new("int*"), ffi.new("int[3]")
        check(lib.Fenix_Data_group_get_redundancy_policy(self.id, name, values, ffi.NULL))
        return policy_from(name[0], list(values))

    @policy.setter
    def policy(self, policy: Policy) -> None:
        name, values = policy._arguments()
        check(lib.Fenix_Data_group_set_redundancy_policy(self.id, name, ffi.new("int[]", values), ffi.NULL))

    @property
    def hashing(self) -> bool:
        """Whether stored data is hashed. Local."""
        return self._flag_of(lib.Fenix_Data_group_get_hashing)

    @property
    def in_place(self) -> bool:
        """Whether commits are in place. Local."""
        return self._flag_of(lib.Fenix_Data_group_get_in_place)

    def cohort(self) -> Any:
        """Returns an mpi4py.MPI.Group of the ranks that protect each other with this one. Local. The caller frees it."""
        group = ffi.new("int*")
        check(lib.fenix_py_group_cohort(self.id, group))
        return MPI.Group.f2py(group[0])

    def members(self) -> List[int]:
        """Returns the numbers of the members on this rank, in the order of their creation. Local."""
        number = ffi.new("int*")
        check(lib.Fenix_Data_group_get_number_of_members(self.id, number))
        member, result = ffi.new("int*"), []
        for position in range(number[0]):
            check(lib.Fenix_Data_group_get_member_at_position(self.id, member, position))
            result.append(int(member[0]))
        return result

    def snapshots(self) -> List[int]:
        """Returns the time stamps of the snapshots of this rank, the newest first. Local."""
        number = ffi.new("int*")
        check(lib.Fenix_Data_group_get_number_of_snapshots(self.id, number))
        stamp, result = ffi.new("int*"), []
        for position in range(number[0]):
            check(lib.Fenix_Data_group_get_snapshot_at_position(self.id, position, stamp))
            result.append(int(stamp[0]))
        return result

    def delete(self) -> None:
        """Deletes the group on this rank, with all members and snapshots. Local. Raises BufferError if an array of allocate is in use."""
        check_allocated(self._kept)
        check(lib.Fenix_Data_group_delete(self.id))
        self._kept.clear()

    # ------------------------------------------------------------------------------------------------------- members

    def _keep_while(self, member: int, thing: Any, code: Callable[[], int]) -> None:
        """Keeps an object alive while the library points to it. A call that a failure or a signal's handler cuts short may
        have noted the address or not."""
        before = self._kept.get(member, [])
        self._kept[member] = [*before, thing]
        try:
            check(code())
        except _errors.CommException:
            raise
        except _errors.Error:
            self._kept[member] = before
            raise
        self._kept[member] = [thing]

    def _make(self, create: bool, member: Id, buffer: Any, datatype: Optional[Any], count: Optional[int],
              serializer: Optional[Serializer]) -> None:
        number = number_of(member)
        try:
            if buffer is None:
                if datatype is None or count is None:
                    raise TypeError("a member without a buffer needs a datatype and a count")
                thing = None
                pointer, elements, kind = ffi.NULL, count, datatype
            else:
                thing = Memory(buffer, datatype, None if count == RESIZEABLE else count)
                pointer, elements, kind = thing.pointer, thing.count if count is None else count, thing.datatype
        except Exception:
            # The other ranks are told.
            lib.fenix_py_member_make(create, self.id, number, ffi.NULL, _REFUSED_COUNT, MPI.BYTE.py2f(), ffi.NULL)
            raise
        wrapped = None if serializer is None else CalledSerializer(serializer)
        handle = ffi.NULL if wrapped is None else wrapped.handle
        self._keep_while(number, (thing, wrapped),
                         lambda: int(lib.fenix_py_member_make(create, self.id, number, pointer, elements, kind.py2f(), handle)))

    def define(self, member: Id, buffer: Any, *, datatype: Optional[Any] = None, count: Optional[int] = None,
               serializer: Optional[Serializer] = None) -> None:
        """Creates the member, or gives it this buffer: a program calls it at its start and after each failure, on all ranks.

        `buffer`: a NumPy array, or an object with the buffer protocol or DLPack in memory of the CPU; without gaps. Stores read it, restores
        write it. The library keeps it alive. None: there is no buffer, and datatype and count are needed. `datatype`: an mpi4py.MPI.Datatype;
        an element is then one of it. `count`: elements of the datatype, or RESIZEABLE on all ranks: each snapshot then has its own size.
        `serializer`: called as serializer(file, stores, first, number) to write elements to a MemberFile, or to read them.

        Raises TypeError, ValueError and BufferError for a buffer that cannot be used; ERROR_INVALID_MEMBERID, ERROR_MISMATCH,
        ERROR_NO_MEMORY, and ERROR_INVALID_LOGIC_CALL if the member has been stored with another count or datatype. Synchronising at the
        start, local after a failure."""
        self._make(False, member, buffer, datatype, count, serializer)

    def create(self, member: Id, buffer: Any, *, datatype: Optional[Any] = None, count: Optional[int] = None,
               serializer: Optional[Serializer] = None) -> None:
        """Creates the member as define does. Raises ERROR_MEMBER_EXISTS if the group has it; on replacements it sets the buffer, once."""
        self._make(True, member, buffer, datatype, count, serializer)

    def allocate(self, member: Id, shape: Union[int, Sequence[int]], dtype: npt.DTypeLike = float) -> npt.NDArray[Any]:
        """Creates the member as define does, with an array in memory of the library: zeros at first, undefined on replacements.

        Commits in place with parity save a copy for such members. On survivors the contents stay. The memory goes away with the member,
        the group and the session: these calls raise BufferError as long as the array or a view of it is in use."""
        number = number_of(member)
        kind = np.dtype(dtype)
        dimensions = (shape, ) if isinstance(shape, int) else tuple(shape)
        elements = int(np.prod(dimensions, dtype=np.int64))
        base = ffi.new("void**")
        try:
            for each in self._kept.get(number, []):
                if isinstance(each, Allocated) and elements * kind.itemsize > each.nbytes:
                    each.check_unused()
        except BufferError:
            # The others get an error, too, and do not wait.
            lib.fenix_py_member_allocate(self.id, number, _REFUSED_COUNT, datatype_of(kind).py2f(), base)
            raise
        check(lib.fenix_py_member_allocate(self.id, number, elements, datatype_of(kind).py2f(), base))
        size = max(elements * kind.itemsize, 1)
        array = np.frombuffer(ffi.buffer(base[0], size), np.uint8)[:elements * kind.itemsize].view(kind).reshape(dimensions)
        # An array that an earlier call gave shows the same memory.
        shown = [each for each in self._kept.get(number, []) if isinstance(each, Allocated) and each.is_used()]
        self._kept[number] = [*shown, Allocated(array)]
        return array

    def has(self, member: Id) -> bool:
        """Tells whether the member exists on this rank. Local."""
        return bool(check(lib.Fenix_Data_member_created(self.id, number_of(member))))

    def delete_member(self, member: Id) -> None:
        """Deletes the member on this rank, with its data in all snapshots. Local. Raises BufferError if its array of allocate is in use."""
        number = number_of(member)
        check_allocated(self._kept, number)
        check(lib.Fenix_Data_member_delete(self.id, number))
        self._kept.pop(number, None)
        self._objects.discard(number)

    def buffer(self, member: Id) -> Any:
        """Returns the object that define, create or set_buffer was given; None without one. Local."""
        memory = self._memory_of(number_of(member))
        return None if memory is None else memory.value

    def _memory_of(self, number: int) -> Optional[Memory]:
        kept = self._kept.get(number)
        thing = kept[-1] if kept else None
        if isinstance(thing, Allocated):
            return next((each.memory() for each in reversed(kept or []) if each.is_used()), None)
        memory = thing[0] if isinstance(thing, tuple) else None
        return memory if isinstance(memory, Memory) else None

    def set_buffer(self, member: Id, buffer: Any) -> None:
        """Gives the member another buffer, as define does, with the same elements; None: none. Local. Raises as define does."""
        number = number_of(member)
        memory = None if buffer is None else Memory(buffer)
        pointer = ffi.NULL if memory is None else memory.pointer
        serializer = self._kept[number][-1][1] if isinstance((self._kept.get(number) or [None])[-1], tuple) else None
        self._keep_while(number, (memory, serializer), lambda: int(lib.fenix_py_member_set_buffer(self.id, number, pointer)))

    def count(self, member: Id, rank: Optional[int] = None) -> int:
        """Returns the number of elements on a rank, by default this one. For a resizeable member: in the latest snapshot. Synchronising."""
        return self._attribute(member, _ATTRIBUTE_COUNT, rank)

    def nbytes(self, member: Id, rank: Optional[int] = None) -> int:
        """Returns the bytes of the elements in the buffer of a rank, by default this one, with their holes. Synchronising."""
        return self._attribute(member, _ATTRIBUTE_SIZE, rank)

    def _own_rank(self) -> int:
        return int(self._session.comm.Get_rank())

    def _attribute(self, member: Id, attribute: int, rank: Optional[int]) -> int:
        value = ffi.new("MPI_Count*")
        check(lib.fenix_py_member_number(self.id, number_of(member), attribute, self._own_rank() if rank is None else rank, value))
        return int(value[0])

    def datatype(self, member: Id) -> Any:
        """Returns a duplicate of the member's mpi4py.MPI.Datatype, which the caller frees. Synchronising."""
        kind = ffi.new("int*")
        check(lib.fenix_py_member_datatype(self.id, number_of(member), self._own_rank(), kind))
        return MPI.Datatype.f2py(kind[0])

    def set_count(self, member: Id, count: int) -> None:
        """Sets the number of elements, before the first store. Local. The buffer must have room for them."""
        number = number_of(member)
        memory = self._memory_of(number)
        if memory is not None and count * memory.datatype.Get_extent()[1] > memory.array.nbytes:
            raise ValueError(f"the buffer of the member has room for {memory.elements_for(memory.datatype.Get_extent()[1])} elements")
        check(lib.fenix_py_member_set_count(self.id, number, count))

    def set_datatype(self, member: Id, datatype: Any) -> None:
        """Sets the datatype of the elements, before the first store. Local. The same on all ranks; the buffer must have room for them."""
        check(lib.fenix_py_member_set_datatype(self.id, number_of(member), datatype.py2f()))

    def footprint(self, member: Id) -> int:
        """Returns the bytes of shared memory that the member uses on this rank. Local."""
        size = ffi.new("MPI_Count*")
        check(lib.Fenix_Data_member_footprint(self.id, number_of(member), size))
        return int(size[0])

    # ------------------------------------------------------------------------------------------------------- storing

    def _subset(self, number: int, elements: Elements) -> Subset:
        """Returns the subset that the argument of a store means."""
        if isinstance(elements, Subset):
            return elements
        if isinstance(elements, range):
            return Subset(elements if elements.step > 0 else elements[::-1])
        memory = self._memory_of(number)
        if elements is None:
            # Without elements on all ranks, it is resizeable.
            return Subset.EMPTY if memory is not None and memory.count == 0 else Subset.FULL
        if isinstance(elements, slice):
            if memory is None:
                return Subset(elements)
            return self._subset(number, range(*elements.indices(memory.count)))
        if memory is None:
            raise ValueError("the member has no buffer that the array could be a view of")
        if not isinstance(elements, np.ndarray) or isinstance(elements, np.ma.MaskedArray):
            raise TypeError(f"elements are a Subset, a range, a slice or a view of the member's array, and no {type(elements).__name__}; for "
                            "indices and masks there is Subset.from_indices")
        return Subset.from_view(elements, memory.array)

    def store(self, member: Id = ALL, elements: Elements = None) -> None:
        """Stores elements of a member, or of ALL members: here, and on the rank that protects this one. The buffer may be changed then.

        `elements`: a Subset, a range or slice of elements, a view of the member's array with any strides, or None for all. They may
        differ from rank to rank. The first store of a member synchronises, and each one of a resizeable member. Raises ValueError for
        an array that is no such view; ERROR_SUBSET_END_OFFSET beyond the member; ERROR_INVALID_ARGUMENT without a buffer."""
        number = number_of(member)
        held = self._subset(number, elements)._lend()
        check(lib.fenix_py_store(self.id, number, held[0]))

    def istore(self, member: Id = ALL, elements: Elements = None) -> Request:
        """Stores as store does, but returns when the data is copied: the rest is done while the program computes. Wait for the request
        before the next commit."""
        number = number_of(member)
        request = ffi.new("uint64_t*")
        held = self._subset(number, elements)._lend()
        check(lib.fenix_py_istore(self.id, number, held[0], request))
        return Request(int(request[0]))

    def wait(self, *requests: Request) -> None:
        """Waits for requests. Local. Raises Error, and CommException if a failure has cancelled one."""
        for request in requests:
            request.wait()

    def test(self, *requests: Request) -> bool:
        """Tells whether all requests are complete, without waiting. Local. Raises as wait does."""
        return all([request.test() for request in requests])

    def stage(self, member: Id, elements: Elements = None) -> None:
        """Copies elements into the snapshot under construction, and not yet to others. A store of Subset.PRESTAGED has to follow. Local."""
        number = number_of(member)
        held = self._subset(number, elements)._lend()
        check(lib.fenix_py_stage(self.id, number, held[0]))

    def stage_memory(self, member: Id) -> npt.NDArray[Any]:
        """Returns the memory of the member in the snapshot under construction, to compute straight into it. Local.

        Its elements are a part of the snapshot after stage_inplace with this array, and a store of Subset.PRESTAGED. It is valid until the
        commit, and in the first store of a member until that store. Do not use it afterwards."""
        number = number_of(member)
        address = ffi.new("void**")
        check(lib.Fenix_Data_member_stage_memory(self.id, number, address))
        memory = self._memory_of(number)
        if memory is None:
            raise ValueError("the member has no buffer, whose shape and type the array would have")
        self._staging[number] = int(ffi.cast("uintptr_t", address[0]))
        size = memory.count * memory.datatype.Get_size()
        array = np.frombuffer(ffi.buffer(address[0], size), np.uint8)
        plain = memory.datatype == datatype_of(memory.array.dtype)
        return array.view(memory.array.dtype).reshape(memory.array.shape) if plain else array

    def stage_inplace(self, member: Id, array: Any, elements: Elements = None) -> None:
        """Stages elements as stage does, from another array: that of stage_memory without a copy, any other with one. Local.

        The array has the elements from 0 to the last one of `elements`, packed. Raises ValueError if it is too small."""
        number = number_of(member)
        subset = self._subset(number, elements)
        given, memory = Memory(array), self._memory_of(number)
        if memory is not None:
            memory.check_like(given)
        own = int(ffi.cast("uintptr_t", given.pointer)) == self._staging.get(number)
        size = given.array.itemsize if memory is None else memory.datatype.Get_size()
        stop = subset.stop if subset.stop is not None else (given.count if memory is None else memory.count)
        if given.array.nbytes < stop * size:
            raise ValueError(f"the array has {given.array.nbytes} bytes, and the elements up to {stop} take {stop * size}")
        held = subset._lend()
        check(lib.fenix_py_stage_inplace(self.id, number, given.pointer, 0 if own else max(given.array.nbytes, 1), held[0]))

    def stage_file(self, member: Id) -> MemberFile:
        """Opens a file whose bytes are the elements of the member in the snapshot under construction. Closing it stages what was written.
        Until then no other call may name the member. Local."""
        number = number_of(member)
        file = ffi.new("void**")
        check(lib.fenix_py_stage_begin(self.id, number, file))
        return MemberFile(file[0], "w", lambda: (check(lib.Fenix_Data_member_stage_end(self.id, number)), None)[1])

    # ---------------------------------------------------------------------------------------------------- committing

    def _commit(self, function: Any) -> int:
        stamp = ffi.new("int*")
        check(function(self.id, stamp))
        return int(stamp[0])

    def commit(self) -> int:
        """Makes what was stored a snapshot, and returns its time stamp. It survives failures when all ranks have returned."""
        return self._commit(lib.Fenix_Data_commit)

    def commit_barrier(self) -> int:
        """Commits as commit does, and returns when all ranks have committed. Synchronising."""
        return self._commit(lib.Fenix_Data_commit_barrier)

    def commit_cleanup(self) -> int:
        """Calls commit and then cleanup. Returns the time stamp."""
        return self._commit(lib.Fenix_Data_commit_cleanup)

    def checkpoint(self, elements: Elements = None, varying: Optional[Sequence[Id]] = None) -> int:
        """Stores all members and commits. Returns the time stamp. `varying`: members whose elements may differ from rank to rank; None:
        all. As for the library all may, it serves portability."""
        stamp = ffi.new("int*")
        held = self._subset(ALL, elements)._lend()
        ids = ffi.NULL if not varying else ffi.new("int[]", [number_of(each) for each in varying])
        check(lib.fenix_py_checkpoint(self.id, held[0], -1 if varying is None else len(varying), ids, stamp))
        return int(stamp[0])

    def cleanup(self) -> None:
        """Recycles snapshots older than depth. Commits do it as well."""
        check(lib.Fenix_Data_cleanup(self.id))

    def barrier(self) -> None:
        """Makes the group the same on all ranks: what some ranks have deleted is deleted on all. Synchronising."""
        check(lib.Fenix_Data_barrier(self.id))

    def delete_snapshot(self, time_stamp: int) -> None:
        """Deletes a snapshot on this rank, or ALL_SNAPSHOTS. Local. Raises ERROR_INVALID_TIMESTAMP, and NoDataError if there is none."""
        check(lib.Fenix_Data_snapshot_delete(self.id, time_stamp))

    # ----------------------------------------------------------------------------------------------------- restoring

    def _target(self, number: int, target: Any, count: Optional[int], collective: Callable[[], int]) -> Tuple[int, Any, int, Any]:
        """Returns what C needs for a target: whether it is in place, the address, the number of elements, and what has to stay alive."""
        try:
            if target is None:
                memory = self._memory_of(number)
                if memory is not None and memory.read_only:
                    raise ValueError("the buffer of the member is read-only: give a target")
                return 1, ffi.NULL, _FULL_COUNT if count is None else count, memory
            memory = Memory(target)
            if memory.read_only:
                raise ValueError("the target is read-only")
            own = self._memory_of(number)
            if own is not None:
                own.check_like(memory)
            room = self._room_in(number, memory)
            if count is not None and not 0 <= count <= room:
                raise ValueError(f"the target has room for {room} elements, not for {count}")
            return 0, memory.pointer, room if count is None else count, memory
        except Exception:
            # The other ranks are told.
            collective()
            raise

    def _room_in(self, number: int, memory: Memory) -> int:
        """Returns the number of the member's elements for which a target has room."""
        own = self._memory_of(number)
        if own is not None and own.datatype != datatype_of(own.array.dtype):
            return own.elements_for(own.datatype.Get_extent()[1])
        if own is not None:
            return memory.elements_for(own.array.itemsize)
        return memory.count

    def _restored(self, code: int, found: Any, required: bool) -> Restored:
        if code == Code.ERROR_NODATA_FOUND and not required:
            _errors.raise_kept()
            return Restored(Code.ERROR_NODATA_FOUND, Subset.EMPTY)
        check(code)
        return Restored(Code(code), Subset._from_found(found))

    def restore(self, member: Id, target: Any = None, *, snapshot: int = LATEST, count: Optional[int] = None,
                required: bool = True) -> Restored:
        """Restores a member from the newest snapshot that all ranks have, up to the time stamp `snapshot`. Synchronising.

        `target`: an array or object as for define, which may be written and has no gaps; None: the member's buffer. `count`: the first
        elements only. `required`: False returns a false result if there is no data, in the place of NoDataError. Elements that were not
        found stay as they are: see Restored. Raises ValueError for a target that cannot be used; ERROR_BUFFER_TOO_SMALL,
        ERROR_INVALID_TIMESTAMP, ERROR_MISMATCH; NoDataError if nothing was committed, or it is lost."""
        number = number_of(member)
        found = ffi.new("fenix_py_found*")
        in_place, pointer, elements, _held = self._target(
            number, target, count, lambda: int(lib.fenix_py_restore(self.id, number, 0, ffi.NULL, _REFUSED_COUNT, snapshot, found)))
        code = lib.fenix_py_restore(self.id, number, in_place, pointer, elements, snapshot, found)
        return self._restored(code, found, required)

    def restore_from_rank(self, member: Id, source_rank: int, target: Any = None, *, snapshot: int = LATEST, count: Optional[int] = None,
                          required: bool = True) -> Restored:
        """Restores a member as restore does, with the data that another rank has stored. Each rank may name another one. After the
        communicator has shrunk, these are the ranks before. Synchronising. Raises as restore does; ERROR_INVALID_ARGUMENT (rank)."""
        number = number_of(member)
        found = ffi.new("fenix_py_found*")
        in_place, pointer, elements, _held = self._target(
            number, target, count,
            lambda: int(lib.fenix_py_restore_from(self.id, number, 0, ffi.NULL, _REFUSED_COUNT, snapshot, source_rank, found)))
        code = lib.fenix_py_restore_from(self.id, number, in_place, pointer, elements, snapshot, source_rank, found)
        return self._restored(code, found, required)

    def load(self, member: Id, target: Any = None, *, snapshot: int = LATEST, count: Optional[int] = None, required: bool = True) -> Restored:
        """Restores a member as restore does, from this rank's own copy. Local: other ranks may not have the snapshot."""
        number = number_of(member)
        found = ffi.new("fenix_py_found*")
        in_place, pointer, elements, _held = self._target(number, target, count, lambda: 0)
        code = lib.fenix_py_load(self.id, number, in_place, pointer, elements, snapshot, found)
        return self._restored(code, found, required)

    def found(self, member: Id, *, snapshot: int = LATEST, required: bool = True) -> Restored:
        """Tells which elements of the member a restore would find, and restores nothing. Synchronising, together with restores of others."""
        number = number_of(member)
        found = ffi.new("fenix_py_found*")
        code = lib.fenix_py_restore(self.id, number, 0, ffi.NULL, 0, snapshot, found)
        return self._restored(code, found, required)

    def load_file(self, member: Id, *, snapshot: int = LATEST) -> MemberFile:
        """Opens a file whose bytes are the elements of the member in a snapshot of this rank. Local. Until it is closed no other call may
        name the member. Its attribute `found` has the elements that are there. Raises NoDataError."""
        number = number_of(member)
        file, found = ffi.new("void**"), ffi.new("fenix_py_found*")
        check(lib.fenix_py_load_begin(self.id, number, snapshot, file, found))
        opened = MemberFile(file[0], "r", lambda: (check(lib.Fenix_Data_member_load_end(self.id, number)), None)[1])
        opened.found = Subset._from_found(found)
        return opened

    def repair(self, member: Id) -> None:
        """Verifies all copies of a member, and repairs damaged ones. Synchronising, together with restores of others. Raises NoDataError."""
        check(lib.Fenix_Data_member_repair(self.id, number_of(member)))

    def verify(self) -> Tuple[int, int]:
        """Verifies all members. Returns how many versions were damaged and are good now, and how many are lost. Synchronising."""
        mended, lost = ffi.new("int*"), ffi.new("int*")
        code = lib.Fenix_Data_verify(self.id, mended, lost)
        if code != Code.ERROR_NODATA_FOUND:
            check(code)
        return int(mended[0]), int(lost[0])

    # --------------------------------------------------------------------------------------------------------- store

    def flush(self, time_stamp: int = LATEST, name: Optional[str] = None) -> None:
        """Writes a snapshot to the store, and returns when all ranks have it there. Synchronising.

        `time_stamp`: of a snapshot that all ranks have, or LATEST. `name`: name by which it can be fetched, of letters, digits, ".", "_"
        and "-"; such a dataset is kept until it is deleted. Raises ERROR_STORE if there is no store, or some node could not write;
        NoDataError, ERROR_INVALID_TIMESTAMP; ERROR_INVALID_ARGUMENT for a name that cannot be one; ERROR_MISMATCH, and TypeError."""
        _call_with("name", name, lambda text: int(lib.Fenix_Data_flush(self.id, time_stamp, text)))

    def iflush(self, time_stamp: int = LATEST, name: Optional[str] = None) -> Request:
        """Begins to write a snapshot to the store, as flush does. Synchronising.

        The request ends when the part of this node is written; waiting for it raises ERROR_STORE if that failed, and NoDataError if the
        snapshot was gone before. It need not be complete before the next commit. Raises as flush does."""
        request = ffi.new("uint64_t*")
        _call_with("name", name, lambda text: int(lib.fenix_py_iflush(self.id, time_stamp, text, request)))
        return Request(int(request[0]))

    def flush_state(self, time_stamp: int) -> Tuple[int, int]:
        """Returns how far a flush of this job is: one of FLUSH_NONE, FLUSH_WRITING, FLUSH_WRITTEN, FLUSH_COMPLETE and FLUSH_FAILED, and the
        bytes that this node has written while it is FLUSH_WRITING. Local. Raises ERROR_STORE."""
        state, size = ffi.new("int*"), ffi.new("MPI_Count*")
        check(lib.Fenix_Data_flush_state(self.id, time_stamp, state, size))
        return int(state[0]), int(size[0])

    def set_flush(self, every: int) -> None:
        """Has each so many-th commit flushed by itself, in the background; 0: none. Local; the same on all ranks, between the same commits.
        Raises ERROR_STORE; ERROR_INVALID_ARGUMENT for a negative number."""
        check(lib.Fenix_Data_group_set_flush(self.id, every))

    def fetch(self, name: Optional[str] = None) -> int:
        """Takes a dataset from the store in place of all snapshots of the group, and returns its time stamp. Synchronising.

        `name`: that flush was given, or that of a Dataset; None: the current one, or the newest complete one. A new group does so by itself;
        see resumed. With another number of ranks than the dataset has, restore_from_rank restores from it. Raises NoDataError if there is
        none whose data is whole: then the group may have no snapshot any more; ERROR_STORE; ERROR_INVALID_ARGUMENT for a name that cannot
        be one; ERROR_MISMATCH, and TypeError."""
        stamp = ffi.new("int*")
        _call_with("name", name, lambda text: int(lib.Fenix_Data_fetch(self.id, text, stamp)))
        return int(stamp[0])

    def restart_done(self, good: bool = True) -> bool:
        """Tells whether this rank can go on from the dataset that the group has. Returns True if all ranks can. Synchronising.

        Otherwise the group takes the next older complete one, and returns False: all ranks have to restore again. Raises NoDataError if
        there is none; ERROR_INVALID_LOGIC_CALL if the group does not go on from a dataset, or has committed since; ERROR_STORE."""
        return check(lib.Fenix_Data_restart_done(self.id, int(bool(good)))) != Code.WARNING_RESUMED

    def need_commit(self) -> bool:
        """Tells whether the group should commit now: the same on all ranks. The environment says how often: FENIX_COMMIT_EVERY,
        FENIX_COMMIT_SECONDS, FENIX_COMMIT_OVERHEAD, FENIX_COMMIT_MTBF. Most calls do not communicate."""
        flag = ffi.new("int*")
        check(lib.Fenix_Data_need_commit(self.id, flag))
        return bool(flag[0])

    # ------------------------------------------------------------------------------------------------------- objects

    def _object_member(self, member: Id) -> int:
        """Makes the member for objects known, on all ranks, once for each Group."""
        number = number_of(member)
        if number not in self._objects:
            check(lib.fenix_py_member_make(0, self.id, number, ffi.NULL, RESIZEABLE, MPI.BYTE.py2f(), ffi.NULL))
            self._objects.add(number)
            self._kept.pop(number, None)
        return number

    def store_object(self, member: Id, obj: Any) -> None:
        """Stores a pickled object, as the methods of mpi4py with small letters do. A commit has to follow. Synchronising.

        The member is one for objects from then on. Sizes may differ from rank to rank, and from snapshot to snapshot. Raises what pickle
        raises, which the other ranks are not told."""
        data = pickle.dumps(obj, protocol=pickle.HIGHEST_PROTOCOL)
        number = self._object_member(member)
        memory = Memory(data)
        self._keep_while(number, (memory, None), lambda: int(lib.fenix_py_member_set_buffer(self.id, number, memory.pointer)))
        held = Subset(range(len(data)))._lend()
        check(lib.fenix_py_store(self.id, number, held[0]))

    def restore_object(self, member: Id, default: Any = _MISSING, *, snapshot: int = LATEST) -> Any:
        """Returns the object of a member from a snapshot, as restore finds it. Synchronising. `default` is returned if there is none;
        without it NoDataError is raised."""
        number = self._object_member(member)
        there = self.found(number, snapshot=snapshot, required=default is _MISSING)
        if not there:
            return default
        data = np.empty(there.found.stop or 0, np.uint8)
        self.restore(number, data, snapshot=snapshot, required=True)
        return pickle.loads(data.data)


def group_exists(id: Id) -> bool:
    """Tells whether a group exists on this rank. Local."""
    return bool(check(lib.Fenix_Data_group_created(number_of(id))))


_session.make_group = Group
