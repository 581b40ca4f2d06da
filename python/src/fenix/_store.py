# SPDX-License-Identifier: BSD-3-Clause
"""The store behind memory: datasets, and when a job should end. Group has the methods that write and fetch them."""
from typing import Any, Callable, List, NamedTuple, Optional

from ._codes import _DATASET_NAME_MAX
from ._errors import check
from ._library import ffi, lib

# A text that no call accepts: it makes the library tell all ranks of an error that was found here.
_REFUSED = b"\n"


class Dataset(NamedTuple):
    """A dataset of the store.

    `name`: of its folder, "group.time stamp.run.generation". `label`: name that Group.flush was given, or an empty one. `complete`: whether
    it can be fetched; otherwise parts are missing."""

    name: str
    label: str
    complete: bool


class Run(NamedTuple):
    """The number of a job on its store.

    `run`: 1 for the first job, and more for each later one; 0: there is no store, or it could not be used. `origin`: number of the job
    that has written the dataset from which a group of this one goes on; 0: there is none."""

    run: int
    origin: int


def _call_with(what: str, text: Optional[str], call: Callable[[Any], int]) -> int:
    """Calls a function of C with a text, or with NULL for None."""
    if text is None:
        return check(call(ffi.NULL))
    if not isinstance(text, str):
        call(_REFUSED)
        raise TypeError(f"{what} is no str but {type(text).__name__}")
    return check(call(_REFUSED if "\0" in text else text.encode("utf-8", "surrogatepass")))


def datasets() -> List[Dataset]:
    """Lists the datasets of the store, of all groups and jobs, newest first. Local; reads the store. Raises ERROR_STORE."""
    number, complete = ffi.new("int*"), ffi.new("int*")
    check(lib.Fenix_Data_get_number_of_datasets(number))
    name, label = (ffi.new("char[]", _DATASET_NAME_MAX) for _ in range(2))
    found = []
    for position in range(number[0]):
        check(lib.Fenix_Data_get_dataset_at_position(position, name, label, complete))
        found.append(Dataset(ffi.string(name).decode(), ffi.string(label).decode(), bool(complete[0])))
    return found


def dataset_delete(name: str) -> None:
    """Removes a dataset. Local; one rank is to call it. `name`: as in Dataset. Raises NoDataError if there is none; ERROR_STORE,
    ERROR_INVALID_ARGUMENT."""
    _call_with("name", "" if name is None else name, lib.Fenix_Data_dataset_delete)


def dataset_set_current(name: Optional[str] = None) -> None:
    """Chooses the dataset from which its group goes on in the next job; None: the newest one again. Local; one rank is to call it.

    `name`: of a complete dataset. Raises NoDataError if there is none; ERROR_STORE, ERROR_INVALID_ARGUMENT."""
    _call_with("name", name, lib.Fenix_Data_dataset_set_current)


def should_halt() -> bool:
    """Tells whether the job should commit and end: the same on all ranks. Once it is True, it stays so.

    It is True after halt, when fenix-halt has said so, or some time before the end of the allocation. Collective over the resilient
    communicator; looks about once a second."""
    flag = ffi.new("int*")
    check(lib.Fenix_Process_should_halt(flag))
    return bool(flag[0])


def halt(reason: Optional[str] = None) -> None:
    """Has should_halt return True on all ranks, soon. Local; one rank is enough. `reason`: one line for the log, at most 1000 bytes.
    Raises ERROR_STORE; ERROR_INVALID_ARGUMENT for a longer reason, or one of several lines."""
    _call_with("reason", reason, lib.Fenix_Process_halt)


def run() -> Run:
    """Returns the number of this job on its store, and of the job whose data it goes on from. Local."""
    number, origin = ffi.new("int*"), ffi.new("int*")
    check(lib.Fenix_Process_get_run(number, origin))
    return Run(int(number[0]), int(origin[0]))
