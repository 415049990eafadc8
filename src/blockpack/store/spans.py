"""Where segments begin and end: spans of numbers that are closed but not sealed yet.

A span closes at an absolute multiple of segment_blocks, or at the number that takes its decoded
bytes to segment_bytes. That depends on the records and the knobs alone, so spans are found again
from the logs at every open and after every cut.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from blockpack.store.knobs import Knobs
from blockpack.store.state import State

BACKLOG_MAX: Final = 2  # closed spans past the lag that may wait; append waits beyond


class Spans:
    """The closed spans, oldest first, and the running one: it starts at ``first``."""

    def __init__(self, knobs: Knobs) -> None:
        self.knobs = knobs
        self.closed: deque[tuple[int, int]] = deque()
        self.first = 0
        self.decoded_bytes = 0
        self.forced = -1  # a span closes here too, and none up to here waits for the lag

    def is_border(self, number: int, decoded_bytes: int) -> bool:
        """Whether a span of that many decoded bytes closes after ``number``."""
        return ((number + 1) % self.knobs.segment_blocks == 0 or number == self.forced
                or decoded_bytes >= self.knobs.segment_bytes)

    def close(self, last: int) -> None:
        """The running span ends with ``last``."""
        self.closed.append((self.first, last))
        self.first, self.decoded_bytes = last + 1, 0

    def derive(self, state: State) -> None:
        """Find all spans anew from what is in the logs and not sealed."""
        self.closed.clear()
        self.first = max(state.sealed_end, state.first)
        self.decoded_bytes = 0
        for log, low, high in state.log_parts(self.first, state.end or 0):
            total = log.rows.decoded_total(low - log.first, high - log.first)
            last_border = high // self.knobs.segment_blocks * self.knobs.segment_blocks
            plain = last_border <= low and not low <= self.forced < high
            if plain and self.decoded_bytes + total < self.knobs.segment_bytes:
                self.decoded_bytes += total  # no border in here: the usual case at open
                continue
            sizes = log.rows.decoded_bytes(low - log.first, high - log.first)
            for number, size in enumerate(sizes.tolist(), low):
                self.decoded_bytes += size
                if self.is_border(number, self.decoded_bytes):
                    self.close(number)

    def ready(self, at: int, end: int) -> bool:
        """Whether the closed span ``at`` may be sealed when the head is ``end`` - 1."""
        if at >= len(self.closed):
            return False
        last = self.closed[at][1]
        return last <= self.forced or end - 1 - last >= self.knobs.seal_lag

    def backlog_full(self, end: int) -> bool:
        """Whether append has to wait for the sealer."""
        return self.ready(BACKLOG_MAX, end)
