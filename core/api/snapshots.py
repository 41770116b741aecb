"""The snapshot routes: capture, compare, clean up."""

from __future__ import annotations

from datetime import date
from typing import Any

from core.access import unmasked
from core.api.call import Answer, Call, said
from core.bootstrap import Core
from core.errors import InputError

DIFF_ROWS = 10_000


def capture(core: Core, call: Call) -> Answer:
    return core.snapshots.capture(call.body).as_json(), 200


def diff(core: Core, call: Call) -> Answer:
    dialog_key = call.query.get("dialogKey", "")
    if not dialog_key:
        raise InputError("dialogKey is missing.", field="dialogKey")
    day_from, day_to = _day(call, "from"), _day(call, "to")
    found = core.veil.answer(core.snapshots.diff(dialog_key, day_from, day_to, limit=DIFF_ROWS))
    return {**_shown(found.as_json(), core, dialog_key), **said()}, 200


def cleanup(core: Core, call: Call) -> Answer:
    """A dry run unless `dryRun` is false; the counts are those before the deletion."""
    dry_run = call.body.get("dryRun", True)
    if not isinstance(dry_run, bool):
        raise InputError("dryRun is neither true nor false.", field="dryRun")
    limit = call.body.get("limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
        raise InputError("limit is no whole number.", field="limit")
    if limit is not None and limit < 0:
        raise InputError("limit is negative.", hint="Leave it out to delete all that is expired.", field="limit")
    seen = core.snapshots.preview()
    deleted = 0 if dry_run else core.snapshots.cleanup(limit=limit).deleted
    answer = {
        "dryRun": dry_run,
        "expired": seen.expired,
        "deleted": deleted,
        "oldest": seen.oldest,
        "byType": dict(seen.by_type),
        "withoutExpiry": seen.without_expiry,
        "pinned": seen.pinned_expired,
    }
    return answer, 200


def _shown(body: dict[str, Any], core: Core, dialog_key: str) -> dict[str, Any]:
    """The ids of entities too: whoever wrote a message stands in that of the message."""
    if unmasked():
        return body
    for kind in ("added", "removed", "changed"):
        body[kind] = [{**row, "sourceId": core.veil.text(row["sourceId"], dialog_key)} for row in body[kind]]
    return body


def _day(call: Call, name: str) -> date:
    try:
        return date.fromisoformat(call.query.get(name, ""))
    except ValueError:
        raise InputError(f"{name} is no day.", hint="Write it as 2026-11-30.", field=name) from None
