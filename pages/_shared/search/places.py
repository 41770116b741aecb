"""The ranking: stacked bars with the cut line beside the chunks themselves, near misses below the line."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.memory import whatif
from core.memory.hits import Hit
from pages._shared import formats, tables
from pages._shared.feedback import empty
from pages._shared.layout import panel
from pages._shared.search.drawing import Bar, scores
from pages._shared.search.view import NEAR, View
from pages._shared.search.whynot import explain
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (
    Column("rank", "Place", "count", pinned=True, width=55),
    Column("move", "Move", width=70, help="Against the active weights: places up or down; in, out: crossed the limit."),
    Column("source", "Source", width=98),
    Column("score", "Score", "score", width=65),
    Column("cosine", "Cosine", "score", width=65),
    Column("lexical", "Words", "signed", width=65, help="BM25 of the query's words, on the cosine's scale."),
    Column("boost", "Boost", "signed", width=65),
    Column(
        "margin",
        "To the line",
        "signed",
        width=85,
        help="Above zero: ahead of the first chunk outside. Below zero: short of the last one inside.",
    ),
    Column("date", "Date", width=92),
    Column(
        "mark",
        "Mark",
        width=92,
        help="superseded: a newer chunk of the same source and id says something else. "
        "quota, budget: why a higher score is not in.",
    ),
    Column("text", "Text"),
)
SPARSE = ("mark", "move", "lexical")
FIELDS = (*(c.field for c in COLUMNS), "id", "source_id", "note_date", "sent_at", "direction")


def chart(view: View) -> None:
    """The bars of the prompt's chunks and of those just below."""
    hits = view.hits(NEAR)
    gap = view.line.gap
    says = "The lighter part is the boost. Below the line: near misses."
    if view.fused.lexical.any():
        says = "The orange part is that of the words, the lighter one the boost. Below the line: near misses."
    if gap is not None and gap >= 0:
        says += f" The gap at the line is {gap:.3f}."
    with panel("Score by place (cosine + boost)", says):
        fitted = st.toggle("Fit the axis to the scores", key="fit", bind="query-params")
        bars = [Bar(h.rank, h.source, h.cosine, h.boost, view.before(h.id), h.lexical) for h in hits]
        st.plotly_chart(scores(bars, view.limit, from_zero=not fitted), key="scores", config={"displayModeBar": False})


def table(view: View) -> None:
    """The same places with their texts; one chunk in full on demand."""
    hits = view.hits(NEAR)
    rows = [row_of(view, hit, view.line) for hit in hits]
    inside = min(view.limit, len(hits))
    reach = "The first one reaches" if inside == 1 else f"The first {inside} reach"
    verb = "another set than with the active profile" if view.changed else "the same set as with the active profile"
    says = f"{reach} the prompt: {verb}. Below them the near misses. Click a row to read it whole."
    with panel("The chunks, best first", says):
        # A column without a word in it would take the room of the texts.
        columns = [
            c for c in COLUMNS if c.field not in ("mark", "move", "lexical") or any(row[c.field] for row in rows)
        ]
        chosen = tables.show(
            rows,
            columns,
            key=f"places-{view.found.as_of.timestamp()}",
            zone=my_zone_name(),
            select=True,
            height="content",
        )
        tables.downloads(rows, FIELDS, name="search", key="places-file")
        if chosen is not None:
            with st.container(border=True, key="whole-hit"):
                st.caption(explain(view, hits[chosen].id))
                st.text(hits[chosen].text, width="stretch")


def row_of(view: View, hit: Hit, line: whatif.CutLine) -> dict[str, Any]:
    """One place; the margin is to the other side of the cut line."""
    other = line.first_out if hit.rank <= view.limit else line.last_in
    return {
        "rank": hit.rank,
        "move": move(view.before(hit.id), hit.rank, view.limit),
        "source": hit.source,
        "score": hit.weighted_score,
        "cosine": hit.cosine,
        "lexical": hit.lexical,
        "boost": hit.boost,
        "margin": None if other is None or view.kept_out(hit.id) else hit.weighted_score - other,
        "date": hit.note_date or day(hit.sent_at),
        "text": hit.text,
        "mark": mark(view, hit),
        **{name: getattr(hit, name) for name in ("id", "source_id", "note_date", "sent_at", "direction")},
    }


def mark(view: View, hit: Hit) -> str:
    """What is to be said of a place in a word."""
    if hit.id in view.found.superseded:
        return "superseded"
    if hit.rank > view.limit and view.line.last_in is not None and hit.weighted_score > view.line.last_in:
        return "quota" if view.kept_out(hit.id) else "budget"
    return ""


def move(before: int, now: int, limit: int) -> str:
    """How a place changed: "in" and "out" where it crossed the limit."""
    if before > limit >= now:
        return f"in ▲{before - now}"
    if now > limit >= before:
        return f"out ▼{now - before}"
    return "" if before == now else f"▲{before - now}" if now < before else f"▼{now - before}"


def day(sent_at: str | None) -> str | None:
    """The day of a message in the zone of the settings."""
    sent = formats.parse(sent_at)
    return f"{sent.astimezone(my_zone()):%Y-%m-%d}" if sent else None


def nothing(view: View) -> None:
    """Why there is no ranking."""
    found = view.found
    if sum(found.other_models.values()):
        why = f"Its chunks carry vectors of another model than {found.model}: embed them again to search them."
    elif sum(found.excluded.values()):
        why = "Every chunk was left out by the filters above."
    else:
        why = "No chunk is stored under this key."
    empty("Nothing to compare in this dialog", why)
