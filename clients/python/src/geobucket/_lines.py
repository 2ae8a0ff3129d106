"""Lines of a stream of bytes."""

from __future__ import annotations


class Lines:
    """Cuts what is received into lines. Each byte is looked at once, however long a line is.

    - limit: bytes of a line; `add` raises `ValueError` for a longer one.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> list[bytes]:
        """The lines that end in this piece, without their ends."""
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines:
            if self._parts:
                lines[0] = b"".join([*self._parts, lines[0]])
            self._parts, self._size = [], 0
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
        if self._size > self._limit:
            raise ValueError(f"a line is longer than {self._limit} bytes")
        return lines
