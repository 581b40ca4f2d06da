# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are too long for their places, scripts/ and tests/."""
