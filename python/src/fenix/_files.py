# SPDX-License-Identifier: BSD-3-Clause
"""Files over the elements of a member."""
import io
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, Type

from ._library import ffi, lib

if TYPE_CHECKING:
    from ._subset import Subset


class MemberFile(io.RawIOBase):
    """A binary file whose bytes are the elements of a member: element i is at byte i × (bytes of an element).

    It can be used wherever Python wants a binary file: numpy.save, pickle.dump, io.TextIOWrapper. It is the file of Group.stage_file,
    Group.load_file, and of serializers. Where a failure has ended it, reads and writes raise OSError. A write beyond a member
    of fixed size raises OSError with ENOSPC."""

    #: Elements that a load has found; None for other files.
    found: "Optional[Subset]" = None

    def __init__(self, file: Any, mode: str, end: Optional[Callable[[], None]] = None) -> None:
        """Programs get these files from Group.stage_file, Group.load_file and in serializers."""
        super().__init__()
        self._file, self._mode, self._end = file, mode, end

    def _check(self, result: int) -> int:
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result

    def _open(self) -> Any:
        if self.closed:
            raise ValueError("the file is closed")
        return self._file

    def readable(self) -> bool:
        """Tells whether it can be read: always."""
        return True

    def writable(self) -> bool:
        """Tells whether it can be written: not in loads."""
        return self._mode != "r"

    def seekable(self) -> bool:
        """Tells whether it can seek: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Reads up to len(buffer) bytes into it. Returns their number, 0 at the end."""
        view = memoryview(buffer).cast("B")
        return self._check(lib.fenix_py_file_read(self._open(), ffi.from_buffer(view, require_writable=True), len(view)))

    def write(self, buffer: Any) -> int:
        """Writes all bytes of a buffer. Returns their number. Raises OSError."""
        if not self.writable():
            raise io.UnsupportedOperation("a file of a load cannot be written")
        view = memoryview(buffer).cast("B")
        done = self._check(lib.fenix_py_file_write(self._open(), ffi.from_buffer(view), len(view)))
        if done < len(view):
            raise OSError(28, os.strerror(28))
        return done

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Goes to a byte, and returns its number. Raises OSError."""
        return self._check(lib.fenix_py_file_seek(self._open(), offset, whence))

    def tell(self) -> int:
        """Returns the number of the byte that is read or written next."""
        return self.seek(0, os.SEEK_CUR)

    def close(self) -> None:
        """Ends the file. For Group.stage_file, stages what was written. Raises Error."""
        if self.closed:
            return
        super().close()
        end, self._end = self._end, None
        if end is not None:
            end()

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        try:
            self.close()
        except Exception:
            # The first exception says more. A failure has ended the file as well.
            if value is None:
                raise

    def __del__(self) -> None:
        # A file that was forgotten must not stage anything when the garbage is collected.
        self._end = None
