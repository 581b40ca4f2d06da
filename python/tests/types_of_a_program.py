# SPDX-License-Identifier: BSD-3-Clause
"""A program that mypy --strict has to accept: the hints serve programs, and not only the package itself."""
import numpy as np

import fenix
from fenix.testing import Kill, Outcome, run


@fenix.resilient(spares=1)
def main(session: fenix.Session, steps: int) -> float:
    """Uses most of the interface."""
    state = np.zeros((10, 10))
    with session.group("state", policy=fenix.Parity(size=4), depth=1) as group:
        group.define(0, state)
        if not group.restore(0, required=False):
            state[:] = 1
        for _ in range(steps):
            group.store(0, state[1:-1])
            request = group.istore(0, fenix.Subset(range(10)) | fenix.Subset((90, None)))
            request.wait()
            stamp: int = group.commit_barrier()
            if group.need_commit() or fenix.should_halt():
                group.flush(name="last")
                group.iflush(stamp).wait()
        with group.stage_file("file") as file:
            file.write(b"bytes")
    code: fenix.Code = session.error
    names: str = ", ".join(each.name for each in fenix.datasets() if each.complete)
    fenix.halt(names if fenix.run().origin > 0 else None)
    return float(state.sum()) + stamp + code


@fenix.resilient
def without_arguments(session: fenix.Session) -> int:
    """Returns the role."""
    return int(session.role)


total: float = main(3)
role: int = without_arguments()
outcome: Outcome = run(main, ranks=2, kill=[Kill(1, "store")])
