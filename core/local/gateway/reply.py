"""What goes back: status, headers and body, from the outcome of a statement."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from urllib.parse import quote

from core.local.gateway.errors import Failure
from core.local.gateway.preferences import Preferences
from core.local.gateway.ranges import content_range, range_status
from core.local.gateway.statement import Outcome

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""


def failed(failure: Failure) -> Reply:
    """The four fields; Proxy-Status repeats the code, as the answer to a HEAD has no body."""
    headers = [("Content-Type", JSON), ("Proxy-Status", f"PostgREST; error={failure.code}"), *failure.headers]
    return Reply(failure.status, headers, failure.body())


def rows_reply(outcome: Outcome, offset: int, media: str, wants: Preferences) -> Reply:
    """Rows that were read. Errors: Failure 416 PGRST103 past the end of a counted result."""
    status = range_status(offset, outcome.rows, outcome.total)
    headers = [("Content-Type", media), ("Content-Range", content_range(offset, outcome.rows, outcome.total))]
    return Reply(status, headers + _applied(wants, "count", "handling", "max-affected"), outcome.body)


def insert_reply(outcome: Outcome, table: str, media: str, wants: Preferences) -> Reply:
    """201, or 200 where a merge found every row already there."""
    only_updated = wants.resolution == "merge-duplicates" and outcome.inserted == 0
    changed = _changed(outcome)
    headers = [("Content-Range", f"*/{changed if wants.count else '*'}")]
    if outcome.location:
        pairs = json.loads(outcome.location)
        headers.append(
            ("Location", f"/{quote(table)}?" + "&".join(f"{quote(k)}=eq.{quote(str(v))}" for k, v in pairs.items()))
        )
    headers += _applied(wants, "return", "count", "resolution", "missing", "handling", "max-affected")
    return _with_body(200 if only_updated else 201, outcome, media, headers, wants)


def change_reply(outcome: Outcome, media: str, wants: Preferences, *, deleted: bool) -> Reply:
    """200 with the rows, 204 without them."""
    changed = _changed(outcome)
    shown = content_range(0, 0 if deleted else changed, changed if wants.count else None)
    headers = [("Content-Range", shown), *_applied(wants, "return", "count", "handling", "max-affected")]
    return _with_body(200 if wants.returned == "representation" else 204, outcome, media, headers, wants)


def check_change(outcome: Outcome, wants: Preferences, single: bool) -> None:
    """Errors: Failure 400 PGRST124 (more rows than allowed), 406 PGRST116 (not one row): nothing is kept."""
    changed = _changed(outcome)
    if wants.max_affected is not None and changed > wants.max_affected:
        raise Failure(
            400,
            "PGRST124",
            "Query result exceeds max-affected preference constraint",
            details=f"The query affects {changed} rows",
        )
    if single and wants.returned == "representation":
        check_single(outcome)


def check_single(outcome: Outcome) -> None:
    if outcome.rows != 1:
        raise Failure(
            406,
            "PGRST116",
            "Cannot coerce the result to a single JSON object",
            details=f"The result contains {outcome.rows} rows",
        )


def _changed(outcome: Outcome) -> int:
    """Rows written: with a representation the total, as limit may hide some of them."""
    return outcome.rows if outcome.total is None else outcome.total


def _with_body(status: int, outcome: Outcome, media: str, headers: list[tuple[str, str]], wants: Preferences) -> Reply:
    if wants.returned == "representation":
        return Reply(status, [("Content-Type", media), *headers], outcome.body)
    return Reply(status, headers)


def _applied(wants: Preferences, *names: str) -> list[tuple[str, str]]:
    applied = [preference for preference in wants.applied if preference.partition("=")[0] in names]
    return [("Preference-Applied", ", ".join(applied))] if applied else []
