# SPDX-License-Identifier: BSD-3-Clause
"""Starts, supervises, ends and cleans up jobs of mpirun: the base of tests/run-mpi, tests/nodes/check, scripts/demo,
scripts/torture and scripts/measure time-to-solution. Programs import it from the folder tests/."""
