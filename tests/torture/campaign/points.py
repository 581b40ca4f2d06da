# SPDX-License-Identifier: BSD-3-Clause
"""The fault points of the library, as its sources have them."""
import re
from pathlib import Path

_POINT = re.compile(r'\bfault_point\("([a-z_.]+)"\s*(,|\))')

# Met in calls that the application does not make.
_ELSEWHERE = ("spawn.", "recruit.", "delete.", "barrier.", "fetch.", "keep.")
_FLUSH_IN_RANKS = {"flush.offered", "flush.waited"}
_RECOVERY = ("repair.", "settle.", "rejoin.", "rebuild.", "restore.", "verify.")


class Points:
    def __init__(self, source):
        names, with_bytes = set(), set()
        for path in sorted(Path(source).rglob("*.cpp")):
            for name, after in _POINT.findall(path.read_text(encoding="utf-8")):
                if name.startswith(_ELSEWHERE):
                    continue
                names.add(name)
                if after == ",":
                    with_bytes.add(name)
        self.recovery = sorted(name for name in names if name.startswith(_RECOVERY))
        self.of_spares = sorted(name for name in names if name.startswith("spare."))
        self.init = sorted(name for name in names if name.startswith("init."))
        self.finish = sorted(name for name in names if name.startswith("finish."))
        # In the keeper of a node, and not in a rank.
        self.of_keepers = sorted(name for name in names if name.startswith("flush.") and name not in _FLUSH_IN_RANKS)
        other = set(self.recovery + self.of_spares + self.init + self.finish + self.of_keepers) | _FLUSH_IN_RANKS
        self.steady = sorted(name for name in names if name not in other)
        self.with_bytes = sorted(with_bytes)
