# SPDX-License-Identifier: BSD-3-Clause
"""One rank of a run of fenix.testing: python -m fenix._rank FOLDER."""
import faulthandler
import functools
import importlib.util
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, Callable, Dict, List, NoReturn

folder = Path(sys.argv[1])
own_pid = os.getpid()
number = int(os.environ.get("PMIX_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))


def say_who() -> None:
    """Sends all that is printed to a file of this rank, and lets a signal print the stacks there."""
    output = os.open(folder / f"output-{os.getpid()}.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    (folder / f"pid-{os.getpid()}").write_text(str(number), encoding="utf-8")
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)


def tell(status: str, result: Any = None) -> None:
    """Writes the report of this rank: the end of a run without one is a loss."""
    try:
        data = pickle.dumps({"status": status, "result": result})
    except Exception as error:
        print(f"the result cannot be pickled: {error}", flush=True)
        data = pickle.dumps({"status": "failed", "result": None})
    made = folder / f"new-{os.getpid()}"
    made.write_bytes(data)
    made.rename(folder / f"report-{os.getpid()}")


def load(specification: Dict[str, Any]) -> Callable[..., Any]:
    """Returns the function of the specification."""
    sys.path[:] = [*specification["path"], *(entry for entry in sys.path if entry not in specification["path"])]
    name = specification["module"]
    if name in sys.modules:
        module = sys.modules[name]
    else:
        found = importlib.util.spec_from_file_location(name, specification["file"])
        assert found is not None and found.loader is not None
        module = importlib.util.module_from_spec(found)
        sys.modules[name] = module
        found.loader.exec_module(module)
    function: Any = module
    for part in specification["name"].split("."):
        function = getattr(function, part)
    return function  # type: ignore[no-any-return]


def arm(kills: List[Any]) -> None:
    """Lets calls of methods of Group kill this rank."""
    from fenix import Group, Role, current
    from fenix.testing import _die

    def is_meant(kill: Any) -> bool:
        session = current()
        return session.role == Role.INITIAL_RANK and session.comm.Get_rank() == kill.rank

    def later(kill: Any) -> None:
        time.sleep(kill.delay)
        _die(str(kill))

    for kill in kills:
        original = getattr(Group, kill.point)
        calls = [0]

        @functools.wraps(original)
        def wrapper(*arguments: Any, _original: Any = original, _kill: Any = kill, _calls: List[int] = calls, **keywords: Any) -> Any:
            _calls[0] += 1
            if _calls[0] == _kill.count and is_meant(_kill):
                if _kill.delay > 0:
                    threading.Thread(target=later, args=(_kill, ), daemon=True).start()
                else:
                    _die(str(_kill))
            return _original(*arguments, **keywords)

        setattr(Group, kill.point, wrapper)


def fail() -> NoReturn:
    """Writes the traceback, with the values of all variables, and ends the job."""
    kind, error, trace = sys.exc_info()
    assert kind is not None and error is not None
    # The frames of this module say nothing.
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_globals.get("__name__") in ("__main__", "fenix._session"):
        trace = trace.tb_next
    told = traceback.TracebackException(kind, error, trace, capture_locals=True)
    for frame in told.stack:
        # Of long values the beginning is enough, and of the package itself the names of its functions.
        inside = os.path.dirname(__file__) in frame.filename
        frame.locals = None if inside else {name: " ".join(value.split())[:150] for name, value in (frame.locals or {}).items()}
    print("".join(told.format()), file=sys.stderr, flush=True)
    if os.getpid() != own_pid:
        # A child of fork is no rank.
        os._exit(1)
    tell("failed")
    from mpi4py import MPI

    if MPI.Is_initialized() and not MPI.Is_finalized():
        # Others may be about to say the same.
        time.sleep(0.2)
        MPI.COMM_WORLD.Abort(1)
    os._exit(1)


def main() -> None:
    say_who()
    specification = pickle.loads((folder / "specification.pickle").read_bytes())
    try:
        import fenix

        function = load(specification)
        arm(specification["kills"])
        arguments, keywords = specification["arguments"], specification["keywords"]
        if specification["resilient"]:
            result = fenix.init(spares=specification["spares"]).run(function, *arguments, abort=False, **keywords)
        else:
            result = function(*arguments, **keywords)
    except SystemExit as end:
        if os.getpid() != own_pid:
            raise
        if end.code:
            fail()
        tell("spare")
        raise
    except BaseException:
        fail()
    tell("passed", result)


if __name__ == "__main__":
    main()
