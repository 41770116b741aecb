"""Usage: record it, read it back by dialog and by group. Money is text, so that it stays a decimal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.api.call import Answer, Call
from core.bootstrap import Core
from core.memory.keys import tips_key
from core.memory.places import request_text
from core.usage.entries import parse_moment
from core.usage.lines import DEFAULT_GROUPS, parse_groups
from core.usage.periods import parse_period


def record(core: Core, call: Call) -> Answer:
    return core.usage.record(call.body, dialog_key=_key_of_pair(call.body)).as_json(), 200


def dialog(core: Core, call: Call) -> Answer:
    since = parse_moment(call.query.get("since"), "since")
    return core.usage.recorder.dialog_usage(str(call.path["dialogKey"]), since).as_json(), 200


def summary(core: Core, call: Call) -> Answer:
    zone = core.settings.zone
    period = parse_period(call.query.get("from"), call.query.get("to"), core.clock.now(), zone)
    groups = parse_groups(call.query.get("groupBy", DEFAULT_GROUPS))
    found = core.usage.reports.summary(period, groups, core.settings.time_zone)
    return {
        "from": found.start.isoformat(),
        "to": found.end.isoformat(),
        "timeZone": core.settings.time_zone,
        "groupBy": list(groups),
        "stale": found.stale,
        "rows": [line.as_json(groups) for line in found.lines],
    }, 200


def _key_of_pair(body: Mapping[str, Any]) -> str | None:
    """The tips key of explicit ids, for a body without a key; None where one of them is missing.

    Errors: InputError naming an id that cannot be one.
    """
    ru_id, tu_id = (request_text(body, name) for name in ("ruId", "tuId"))
    return tips_key(ru_id, tu_id) if ru_id and tu_id else None
