"""Snapshots: what upstream delivered each day, what changed between two days, what expires."""

from __future__ import annotations

from datetime import UTC, date, datetime

from pages._shared import formats, guard, layout
from pages._shared.companion import inbox, nudges
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import page_head
from pages._shared.layout import Figure
from pages._shared.snapshots import choices, compare, coverage, entities, expiry, history, reading

here = guard.enter("snapshots")
head = page_head(here, "What upstream delivered each day, what changed between two days, and what expires.")
inbox.show("snapshots")
nudges.show("snapshots")

with boundary(here.title):
    read = reading.expiry()
    facts = read.value
    head.as_of(read.at)
    stale(read)
    view = choices.view()
    chosen = choices.dialog_scope(view)
    kept = formats.count(facts.total)
    layout.figures(
        Figure("Snapshots kept", kept, f"Days {facts.first_day or '–'} to {facts.last_day or '–'}."),
        Figure("Expired", formats.count(facts.expired), "Past their expiry and not pinned: clean-up deletes these."),
        Figure("Expire in 24 h", formats.count(facts.expiring_24h), "Pin what has to stay longer."),
        Figure("Without an expiry", formats.count(facts.without_expiry), "Never deleted by clean-up."),
        Figure("Pinned", formats.count(facts.pinned), f"{facts.pinned_expired:,} of them are past their expiry."),
    )
    last = date.fromisoformat(facts.last_day) if facts.last_day else datetime.now(UTC).date()
    if not facts.total and view not in ("history", "coverage"):
        empty(
            "No snapshot is stored",
            "The existing service writes them daily; POST /stack-ai/tips/snapshots writes those of one dialog.",
        )
    elif view == "coverage":
        coverage.show(chosen, max(last, datetime.now(UTC).date()), head)
    elif view == "day":
        entities.show(chosen, last, head)
    elif view == "compare":
        compare.show(chosen, last, head)
    elif view == "history":
        history.show(head)
    else:
        expiry.show(chosen, read)
