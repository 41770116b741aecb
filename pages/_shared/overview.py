"""The parts of the Overview page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from core.events.store import StoredEvent
from core.memory.dialogs import MemoryOverview
from core.snapshots.coverage import DayTotal
from pages._shared import formats, layout, light, reads, session, tables
from pages._shared.examples import curl
from pages._shared.feedback import empty, stale
from pages._shared.layout import Figure, panel
from pages._shared.resources import settings
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.usage import words
from pages._shared.zone import my_zone, my_zone_name


def figures(memory: MemoryOverview) -> None:
    """The health light with its reason, and the totals."""
    report = reads.health()
    zone, now = my_zone(), datetime.now(UTC)
    last = formats.parse(memory.last_at)
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        light.badge(report.status)
        st.text(report.reason or "Every component answers.")
        st.page_link(place("health").path, label="Health", icon=place("health").icon)
    waiting = unsearchable(memory.by_model, reads.active_model())
    old = "The rollup is marked stale: totals may be old until it is rebuilt." if memory.rollup_stale else None
    layout.figures(
        Figure("Chunks", formats.count(memory.chunks), old),
        Figure("Dialogs", formats.count(memory.dialogs), old),
        Figure("Last activity", formats.ago(last, now), formats.moment(last, zone)),
        Figure(
            "Pairs under two keys",
            formats.count(memory.ambiguous_pairs),
            "The same RU and TU with chunks under both key orders: a search sees only one of the two.",
        ),
        Figure(
            "Not searchable",
            formats.count(waiting),
            "Chunks embedded by another model than the active one; searchable once they are embedded again.",
        ),
    )


def today() -> None:
    """What was used and done today, beside yesterday up to the same time; nothing before there is anything."""
    read = reads.today()
    now, then = read.value.today, read.value.yesterday
    if not (read.value.used or read.value.expiry.total or now.events or then.events):
        return
    stale(read)
    expiry, clock = read.value.expiry, formats.clock(read.at, my_zone())
    st.caption(f"Today beside yesterday, each up to the same time of day (as of {clock})")
    layout.figures(
        Figure(
            "Tokens today",
            words.tokens(now.usage.tokens.total),
            f"{now.usage.tokens.total:,} tokens; yesterday {then.usage.tokens.total:,}, each to the end of this hour.",
            against(words.change(now.usage.tokens.total, then.usage.tokens.total)),
        ),
        Figure(
            "Cost today (USD)",
            words.cost(now.usage.cost),
            words.cost_help(now.usage.cost),
            against(words.change(now.usage.cost.usd, then.usage.cost.usd)),
        ),
        *(
            Figure(label, formats.count(now.events.get(name, 0)), None, f"{then.events.get(name, 0):,} yesterday")
            for label, name in (("Searches today", "SearchPerformed"), ("Ingests today", "DialogIngested"))
        ),
        Figure(
            "Expired snapshots",
            formats.count(expiry.expired),
            "Past their expiry and not pinned: clean-up deletes these.",
            f"oldest {formats.ago(formats.parse(expiry.oldest), read.at)}" if expiry.oldest else None,
        ),
        Figure(
            "Synced today",
            of_expected(now.sync),
            "Dialogs with a completed daily sync of this UTC day, of those where one was due.",
            f"{of_expected(then.sync)} yesterday",
        ),
    )


def against(percent: float | None) -> str:
    """A change against yesterday; nothing to compare with is said."""
    return "none yesterday" if percent is None else f"{words.change_text(percent)} on yesterday"


def of_expected(day: DayTotal) -> str:
    """Completed syncs of those that were due; a dash where nothing is known of the day."""
    if day.complete is None or day.expected is None:
        return "–"
    return f"{day.complete:,} of {max(day.complete, day.expected):,}"


def unsearchable(by_model: Mapping[str, int], active: str | None) -> int | None:
    """Chunks of other models than the active one; None while no embedder is known."""
    return None if active is None else sum(n for model, n in by_model.items() if model != active)


def first_steps() -> None:
    """Why there is nothing, and the commands that change it, with the address of this very server."""
    post = curl(settings(), "POST", "/memory/ingest", "@dialog.json")
    code = f"python -m core ingest dialog.json   # one file; or many, or - for standard input\n{post}"
    if settings().embedded:
        code += "\npython -m core demo --load          # or look around with invented dialogs first"
    empty(
        "No dialog is stored yet",
        "Upload a file on Operations, send one dialog to the API, or read it from a file; it shows up here at once.",
        code=code,
    )
    there = place("operations")
    st.page_link(there.path, label="Upload a file", icon=there.icon)


def models(memory: MemoryOverview) -> None:
    """Chunks by embedding model: only those of the active one are searched."""
    active = reads.active_model()
    rows = [
        {"model": model or "none", "chunks": number, "state": "active" if model == active else "not searchable"}
        for model, number in sorted(memory.by_model.items(), key=lambda item: -item[1])
    ]
    if active is None:
        rows = [{**row, "state": "no embedder"} for row in rows]
    columns = (Column("model", "Model"), Column("chunks", "Chunks", "count"), Column("state", "State"))
    says = "A search compares chunks of the active model only: cosine between two models means nothing."
    with panel("Chunks by embedding model (rows)", says):
        tables.show(rows, columns, key="models", zone=my_zone_name())
        tables.downloads(rows, [c.field for c in columns], name="chunks-by-model", key="models-file")


def pairs() -> None:
    """Pairs with rows under both key orders, each key with its size; a row opens the dialog."""
    read = reads.ambiguous_pairs(1)
    rows = [pair_row(p.ru_id, p.tu_id, key) for p in read.value.rows for key in p.keys]
    columns = (
        Column("ru_id", "RU"),
        Column("tu_id", "TU"),
        Column("order", "Key made by"),
        Column("key", "Key"),
        Column("chunks", "Chunks", "count"),
        Column("last_at", "Last activity", "when"),
    )
    says = (
        "The service makes one key from RU then TU (tips) and another from TU then RU (generic API). "
        "A search reads one key, so part of what is known about the pair stays out. Click a row to open it."
    )
    with panel("Pairs under two keys", says):
        chosen = tables.show(rows, columns, key="pairs", zone=my_zone_name(), select=True)
        if read.value.total > len(read.value.rows):
            st.caption(f"The first {len(read.value.rows)} of {formats.count(read.value.total)} pairs.")
        fields = ["dialog_key", *(c.field for c in columns)]
        tables.downloads(rows, fields, name="pairs-under-two-keys", key="pairs-file")
    if chosen is not None:
        row = rows[chosen]
        session.choose_dialog(session.DialogChoice(row["dialog_key"], row["ru_id"], row["tu_id"]))
        st.switch_page(place("dialogs").path, query_params={})


def pair_row(ru_id: str, tu_id: str, key: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ru_id": ru_id,
        "tu_id": tu_id,
        "dialog_key": key["dialog_key"],
        "key": formats.key(key["dialog_key"]),
        "order": key.get("order", "custom"),
        "chunks": key.get("chunks"),
        "last_at": key.get("last_at"),
    }


def changes(rows: Sequence[StoredEvent]) -> None:
    """Events, newest first."""
    shown = [change_row(row) for row in rows]
    columns = (
        Column("at", "When", "when"),
        Column("type", "What"),
        Column("actor", "Who"),
        Column("record", "On"),
        Column("facts", "Facts", width="large"),
    )
    named = [{**row, "type": formats.event(row["type"])} for row in shown]
    tables.show(named, columns, key="changes", zone=my_zone_name())
    tables.downloads(shown, [c.field for c in columns], name="changes", key="changes-file")


def change_row(event: StoredEvent) -> dict[str, Any]:
    """One event in a line; payloads hold counts, ids and hashes."""
    facts = (
        f"{name.replace('_', ' ')} {formats.snippet(str(value), 40)}"
        for name, value in event.payload.items()
        if value not in (None, [], {}, "") and name != "dialog_key"
    )
    return {
        "at": event.timestamp,
        "type": event.type,
        "actor": event.actor.display_name or event.actor.principal_id,
        "record": formats.key(event.record_id or ""),
        "facts": ", ".join(facts),
    }
