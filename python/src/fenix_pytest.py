# SPDX-License-Identifier: BSD-3-Clause
"""Plug-in of pytest: runs test functions under mpirun, with ranks that die. See docs/python.md.

pytest loads it in each run, also where nothing has to do with MPI: so it imports fenix, which starts MPI, only for marked tests."""
import inspect
from typing import TYPE_CHECKING, Any, Callable, Optional

import pytest

if TYPE_CHECKING:
    from fenix.testing import Outcome

_MARKER = "fenix"
_OPTIONS = ("ranks", "spares", "kill", "timeout", "env", "mpirun")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line(
        "markers", "fenix(ranks=3, spares=0, kill=(), timeout=60, env=None): run the test function on ranks of mpirun. With an argument "
        "fenix_session it is called again after each failure; otherwise it calls fenix.init itself. kill: fenix.testing.Kill, one or several")


@pytest.fixture
def fenix_session() -> None:
    """Stands for the session, which only the ranks have."""


@pytest.fixture
def fenix_run() -> "Callable[..., Outcome]":
    """Gives fenix.testing.run to tests that look at outcomes themselves, or expect a failure."""
    from fenix.testing import run

    return run


@pytest.hookimpl(tryfirst=True)  # type: ignore[misc]
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Optional[bool]:
    """Runs a marked test on ranks. Other fixtures are evaluated here, and pickled for the ranks."""
    marker = pyfuncitem.get_closest_marker(_MARKER)
    if marker is None:
        return None
    unknown = set(marker.kwargs) - set(_OPTIONS)
    if marker.args or unknown:
        pytest.fail(f"the marker fenix takes only {', '.join(_OPTIONS)}: {marker.args} {sorted(unknown)}", pytrace=False)
    names = list(inspect.signature(pyfuncitem.obj).parameters)
    keywords: Any = {name: pyfuncitem.funcargs[name] for name in names if name in pyfuncitem.funcargs and name != "fenix_session"}
    resilient = "fenix_session" in names
    if resilient and names[0] != "fenix_session":
        pytest.fail("fenix_session has to be the first argument", pytrace=False)
    if inspect.ismethod(pyfuncitem.obj):
        pytest.fail("a test that runs on ranks has to be a function, not a method", pytrace=False)
    from fenix.testing import run_with

    outcome = run_with(pyfuncitem.obj, (), keywords, resilient=resilient, **marker.kwargs)
    if not outcome.passed:
        pytest.fail(outcome.report(), pytrace=False)
    return True
