"""Which rows of a result: limit and offset, the Range header, and the Content-Range of the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.local.gateway.errors import Failure

RANGE_HEADER = re.compile(r"(\d+)-(\d*)")


@dataclass(frozen=True)
class Window:
    """Rows `offset` to `offset + limit`; limit None means all."""

    offset: int = 0
    limit: int | None = None

    def capped(self, max_rows: int) -> Window:
        return Window(self.offset, max_rows if self.limit is None else min(self.limit, max_rows))


def parse_window(limit: str | None, offset: str | None, header: str | None) -> Window:
    """The rows that both the parameters and the Range header (None unless GET) allow. Errors: Failure 416 PGRST103."""
    size, start = _whole(limit), _whole(offset) or 0
    if size is not None and size < 0:
        raise unsatisfiable("Limit should be greater than or equal to zero.")
    if start < 0:
        raise unsatisfiable("Offset should be greater than or equal to zero.")
    end = None if size is None else start + size
    found = RANGE_HEADER.fullmatch((header or "").removeprefix("items=").strip())
    if found:
        first, last = int(found.group(1)), int(found.group(2)) if found.group(2) else None
        if last is not None and last < first:
            raise unsatisfiable(
                "The lower boundary must be lower than or equal to the upper boundary in the Range header."
            )
        start = max(start, first)
        if last is not None:
            end = last + 1 if end is None else min(end, last + 1)
    return Window(start, None if end is None else max(0, end - start))


def content_range(offset: int, rows: int, total: int | None) -> str:
    """`first-last/total`; `*` for no rows and for a total nobody asked for."""
    rows_shown = f"{offset}-{offset + rows - 1}" if rows > 0 and total != 0 else "*"
    return f"{rows_shown}/{'*' if total is None else total}"


def range_status(offset: int, rows: int, total: int | None) -> int:
    """200 for everything, 206 for a part. Errors: Failure 416 PGRST103 where the offset lies past the end."""
    if total is None:
        return 200
    if offset > total:
        failure = unsatisfiable(f"An offset of {offset} was requested, but there are only {total} rows.")
        failure.headers.append(("Content-Range", f"*/{total}"))
        raise failure
    return 206 if rows < total else 200


def unsatisfiable(details: str) -> Failure:
    return Failure(416, "PGRST103", "Requested range not satisfiable", details=details)


def _whole(text: str | None) -> int | None:
    """An integer of bigint's range; anything else counts as not given, as PostgREST reads it."""
    if text is None or not re.fullmatch(r"-?\d{1,18}", text):
        return None
    return int(text)
