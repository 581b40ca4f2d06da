# SPDX-License-Identifier: BSD-3-Clause
"""Memory of Python objects: NumPy arrays, objects with the buffer protocol, and objects with DLPack."""
import ctypes
import weakref
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._library import MPI, ffi

_DLPACK_CPU = 1
# Since DLPack 1.0, a capsule has another name, and flags at this offset in bytes: two integers and two pointers before.
_DLPACK_VERSIONED, _DLPACK_FLAGS, _DLPACK_READ_ONLY = b"dltensor_versioned", 24, 1

_DATATYPES: Dict[Tuple[str, int], Any] = {
    ("i", 1): MPI.INT8_T, ("i", 2): MPI.INT16_T, ("i", 4): MPI.INT32_T, ("i", 8): MPI.INT64_T,
    ("u", 1): MPI.UINT8_T, ("u", 2): MPI.UINT16_T, ("u", 4): MPI.UINT32_T, ("u", 8): MPI.UINT64_T,
    ("f", 4): MPI.FLOAT, ("f", 8): MPI.DOUBLE, ("c", 8): MPI.C_FLOAT_COMPLEX, ("c", 16): MPI.C_DOUBLE_COMPLEX,
}  # yapf: disable
# Kinds of elements whose bytes are all there is of them.
_KINDS = "biufcmMSUV"
# Types of other elements are made once for each size.
_made: Dict[int, Any] = {}


def datatype_of(dtype: "np.dtype[Any]") -> Any:
    """Returns the MPI datatype of an element. Elements that MPI does not know are stored as their bytes, the holes included."""
    known = _DATATYPES.get((dtype.kind, dtype.itemsize)) if dtype.isnative else None
    if known is not None:
        return known
    if dtype.hasobject or dtype.kind not in _KINDS:
        raise TypeError(f"arrays of {dtype} hold references to Python objects, which another process cannot use: see store_object")
    if dtype.itemsize == 0:
        raise TypeError(f"elements of {dtype} have no bytes")
    if dtype.itemsize not in _made:
        _made[dtype.itemsize] = MPI.BYTE.Create_contiguous(dtype.itemsize).Commit()
    return _made[dtype.itemsize]


def _is_writable(value: Any, array: npt.NDArray[Any]) -> bool:
    """Tells whether the memory of an exporter of DLPack may be written. array: over that memory."""
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:
        return _shows_writable(value, array)
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    api.PyCapsule_IsValid.argtypes = (ctypes.py_object, ctypes.c_char_p)
    if not api.PyCapsule_IsValid(capsule, _DLPACK_VERSIONED):
        return _shows_writable(value, array)
    address = api.PyCapsule_GetPointer(capsule, _DLPACK_VERSIONED)
    return not ctypes.c_uint64.from_address(address + _DLPACK_FLAGS).value & _DLPACK_READ_ONLY


def _shows_writable(value: Any, array: npt.NDArray[Any]) -> bool:
    """Tells whether an exporter of before DLPack 1.0, which had no mark for memory that may not be written, shows NumPy the same memory as
    writable in another way."""
    if not any(hasattr(value, name) for name in ("__array__", "__array_interface__")):
        return False
    try:
        seen = np.asarray(value)
    except Exception:
        return False
    same = seen.__array_interface__["data"][0] == array.__array_interface__["data"][0]
    return bool(same and seen.nbytes == array.nbytes and seen.flags.writeable)


def _from_dlpack(value: Any) -> npt.NDArray[Any]:
    device, _ = value.__dlpack_device__()
    if int(device) != _DLPACK_CPU:
        raise BufferError(f"the data is on a device (DLPack type {int(device)}): only memory of the CPU can be stored, so copy it there first")
    array = np.from_dlpack(value)
    # NumPy marks arrays as read-only where it does not know.
    if array.flags.writeable or not _is_writable(value, array):
        return array
    # The same memory once more, as an array that may be written. It keeps the first one alive.
    description = dict(array.__array_interface__)
    description["data"] = (description["data"][0], False)
    return np.asarray(_Interface(description, array))


def _is_bytes(dtype: "np.dtype[Any]") -> bool:
    return (dtype.itemsize == 1 and dtype.kind in "iubS") or (dtype.kind in "SV" and dtype.names is None)


class _Interface:
    """Something that NumPy makes an array of without a copy."""

    def __init__(self, description: Dict[str, Any], owner: object) -> None:
        self.__array_interface__ = description
        self.owner = owner


def array_of(value: Any) -> npt.NDArray[Any]:
    """Returns an array over the memory of an object, without a copy. Raises TypeError if it has none that can be seen from here."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("a masked array has a mask beside its data, which would be lost: give .data and np.ma.getmaskarray as two members")
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _from_dlpack(value)
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(f"{type(value).__name__} has neither the buffer protocol nor DLPack: give a NumPy array") from None
    try:
        return np.asarray(view)
    except (ValueError, TypeError, RuntimeError, NotImplementedError):
        # The format is none that NumPy knows.
        return np.frombuffer(view.cast("B"), np.uint8)


class Memory:
    """The memory of an object, as members and restores use it. As long as it lives, the object cannot move its memory."""

    __slots__ = ("value", "array", "datatype", "count", "pointer", "_export")

    def __init__(self, value: Any, datatype: Optional[Any] = None, count: Optional[int] = None) -> None:
        array = array_of(value)
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            raise ValueError("the array is a view with gaps: define the array that it is a view of, and give the view as the subset of a "
                             "store; or copy it")
        self.value, self.array = value, array
        self.datatype = datatype_of(array.dtype) if datatype is None else datatype
        self.count = array.size if datatype is None else self._count_of(datatype, count)
        if datatype is None and count is not None and count != array.size:
            raise ValueError(f"count {count} is not the size of the array, {array.size}: give another array, or a datatype too")
        # An exported buffer keeps bytearray, array.array and NumPy's resize from moving the memory.
        self._export = memoryview(value) if not isinstance(value, np.ndarray) and not hasattr(value, "__dlpack__") else None
        self.pointer = ffi.cast("void*", array.__array_interface__["data"][0])

    def _count_of(self, datatype: Any, count: Optional[int]) -> int:
        low, extent = datatype.Get_extent()
        true_low, true_extent = datatype.Get_true_extent()
        if low < 0 or true_low < 0 or extent <= 0:
            raise ValueError("elements of this datatype begin before the buffer, or have no bytes")
        fits = 0 if self.array.nbytes < true_low + true_extent else (self.array.nbytes - true_low - true_extent) // extent + 1
        if count is None:
            return int(fits)
        if not 0 <= count <= fits:
            raise ValueError(f"the buffer has room for {fits} elements of this datatype, not for {count}")
        return count

    def check_like(self, given: "Memory") -> None:
        """Raises ValueError if elements of this memory would be something else in another one: of another type, or in another order. Bytes
        may be anything."""
        own, other = self.array, given.array
        if self.datatype != datatype_of(own.dtype) or _is_bytes(own.dtype) or _is_bytes(other.dtype):
            return
        if own.dtype != other.dtype:
            raise ValueError(f"the array has elements of {other.dtype}, and the member of {own.dtype}: give an array of that type, or a view")
        if own.shape == other.shape and own.flags.c_contiguous != other.flags.c_contiguous:
            raise ValueError("one of the array and the member's has C's order, and the other one Fortran's: elements would change their places")

    @property
    def read_only(self) -> bool:
        return not self.array.flags.writeable

    def elements_for(self, extent: int) -> int:
        """Returns how many elements of this extent in bytes have room."""
        return self.array.nbytes // extent if extent > 0 else 0


class Allocated:
    """Memory of the library that an array shows."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        # Each view of the array keeps its root alive.
        self._root = weakref.ref(root)
        self._dtype, self._shape = array.dtype, array.shape
        self.nbytes = array.nbytes

    def memory(self) -> Optional[Memory]:
        root = self._root()
        return None if root is None else Memory(root[:self.nbytes].view(self._dtype).reshape(self._shape))

    def is_used(self) -> bool:
        return self._root() is not None

    def check_unused(self) -> None:
        if self.is_used():
            raise BufferError("an array of Group.allocate, or a view of it, is still in use: its memory would go away")


def check_allocated(kept: Dict[int, List[Any]], member: Optional[int] = None) -> None:
    """Raises BufferError if arrays of allocate are in use whose memory is about to go away. kept: what a group keeps, by member."""
    for number, things in kept.items():
        if member is None or number == member:
            for each in things:
                if isinstance(each, Allocated):
                    each.check_unused()
