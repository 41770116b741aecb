"""The queries of one set: what was judged of each, new ones by hand or from recorded searches."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.tuning.label_store import RecordedQuery
from core.tuning.labels import CATEGORY_LIMIT, NOTE_LIMIT, LabelledQuery, SetSummary
from pages._shared import formats, parts, reads, session, tables, veil
from pages._shared.dialogs.listing import option
from pages._shared.layout import panel
from pages._shared.literal import literal
from pages._shared.operations import outcome
from pages._shared.tables import Column
from pages._shared.tuning import acting, reading
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("query", "Query", width=380, pinned=True),
    Column("pair", "Dialog", width=150),
    Column("category", "Category", width=110),
    Column("graded", "Chunks graded", "count"),
    Column("relevant", "Relevant", "count", help="Chunks of grade 1 to 3; where judges differ the lower grade counts."),
    Column("disputed", "Disputed", "count", help="Chunks to which two people gave different grades."),
    Column("gone", "Gone", "count", help="Graded chunks that are no longer stored: they count for nothing."),
    Column("llm", "Of models", "count"),
    Column("note", "Note", width=160),
)
FIELDS = (*(c.field for c in COLUMNS), "dialog_key", "id")
RECORDED = (
    Column("query", "Query", width=380, pinned=True),
    Column("pair", "Dialog", width=150),
    Column("times", "Asked", "count"),
    Column("last_at", "Last", "when"),
    Column("unjudged", "Unjudged", "count", help="Of the chunks in the top 12 when it was asked last."),
    Column("shown", "Shown", "count"),
    Column("here", "In the set", width=90),
)


def show(chosen: SetSummary) -> None:
    read = reading.query_set(chosen.id)
    rows = [row_of(query) for query in read.value.queries]
    with panel("Queries of the set", "Click one to see its grades, or to take it out."):
        st.markdown(literal(chosen.name))
        if rows:
            picked = tables.show(
                rows, COLUMNS, key=f"queries-{chosen.id}", zone=my_zone_name(), select=True, height="auto"
            )
            tables.downloads(rows, FIELDS, name="queries", key="queries-file")
            if picked is not None:
                _one(read.value.queries[picked])
        else:
            st.text("No query yet. They are written here, or taken from recorded searches.")
    if session.may("judge"):
        with st.expander("Add queries", icon=":material/add:", type="compact", expanded=not rows):
            _by_hand(chosen.id)
    with st.expander("From recorded searches", icon=":material/history:", type="compact"):
        _recorded(chosen.id)


def row_of(query: LabelledQuery) -> dict[str, Any]:
    """A query as table and file show it."""
    grades = query.grades()
    return {
        "query": query.query,
        "pair": veil.pair(query.ru_id, query.tu_id),
        "category": query.category,
        "graded": len(grades),
        "relevant": sum(grade > 0 for grade in grades.values()),
        "disputed": len(query.disputed()) or None,
        "gone": len(query.gone()) or None,
        "llm": sum(j.label_source == "llm" for j in query.judgements) or None,
        "note": query.note,
        "dialog_key": query.dialog_key,
        "id": query.id,
    }


def _one(query: LabelledQuery) -> None:
    st.text(query.query)
    rows = [
        {
            "source": j.source,
            "source_id": j.source_id,
            "grade": j.grade,
            "judge": j.judge if j.label_source == "person" else f"{j.judge} (model)",
            "why": j.why,
            "times": j.times,
            "created_at": j.created_at,
            "stored": "stored" if j.present else "no longer stored",
        }
        for j in query.judgements
    ]
    if rows:
        columns = (
            Column("source", "Source"),
            Column("source_id", "Id of the source"),
            Column("grade", "Grade", "count"),
            Column("judge", "Judge"),
            Column("why", "Why", width=260),
            Column("times", "Graded", "count", help="How often this judge graded it; the latest counts."),
            Column("created_at", "When", "when"),
            Column("stored", "Chunk", help="A chunk that is gone counts for nothing until it is back."),
        )
        tables.show(rows, columns, key=f"grades-{query.id}", zone=my_zone_name(), height="content")
    with st.container(horizontal=True):
        parts.button("judge", "Judge this query", key="judge-this", type="primary", on_click=_judge, args=(query.id,))
        parts.button("judge", "Take it out of the set", key="remove-query", on_click=_remove, args=(query.id,))


def _judge(query_id: str) -> None:
    session.remember("judge.query", query_id)
    st.session_state["view"] = "judge"


def _remove(query_id: str) -> None:
    if outcome.attempt("The query", partial(acting.remove, query_id)):
        outcome.say("done", "The query is out of the set; what was judged of it stays stored.")


def _by_hand(set_id: str) -> None:
    typed = st.text_input("Find a dialog", key="label-find", type="search", placeholder="RU, TU or key")
    rows = {row.dialog_key: row for row in reads.dialogs(typed or "", False, "last_at", True, 1).value.rows}
    if not rows:
        st.text("No dialog matches." if typed else "No dialog is stored.")
        return
    kept = session.dialog()
    keys = list(rows)
    with st.form("add-queries", clear_on_submit=False, border=False):
        st.selectbox(
            "Dialog",
            keys,
            index=keys.index(kept.dialog_key) if kept and kept.dialog_key in rows else 0,
            format_func=lambda key: option(rows[key]),
            key="label-dialog",
        )
        turn = session.remembered("label-turn", 0)
        st.text_area(
            "Queries, one a line", key=f"label-text-{turn}", height=110, placeholder="what does he do for work?"
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Category", key="label-category", max_chars=CATEGORY_LIMIT, width=200, placeholder="facts")
            st.text_input("Note", key="label-note", max_chars=NOTE_LIMIT, width=300)
            st.form_submit_button("Add", type="primary", on_click=_add, args=(set_id,))


def _add(set_id: str) -> None:
    turn = session.remembered("label-turn", 0)
    lines = [line.strip() for line in (st.session_state.get(f"label-text-{turn}") or "").splitlines() if line.strip()]
    if not lines:
        outcome.say("warning", "Write at least one query.")
        return
    given = {
        "dialog_key": st.session_state.get("label-dialog"),
        "category": st.session_state.get("label-category"),
        "note": st.session_state.get("label-note"),
    }
    done = outcome.attempt("The queries", partial(acting.add, set_id, [{**given, "query": line} for line in lines]))
    if done is not None:
        session.remember("label-turn", turn + 1)
        _told(done.added, done.present)


def _recorded(set_id: str) -> None:
    found, total = reading.recorded(set_id).value
    if not found:
        st.text("No recorded search has an unjudged result. Searches of API and pages are recorded as they are made.")
        return
    st.caption(f"{formats.plural(total, 'query', 'queries')} with unjudged results in the top 12, the most first.")
    rows = [_recorded_row(one) for one in found]
    key = f"recorded-{set_id}-{session.remembered('label-turn', 0)}"
    chosen = tables.show(rows, RECORDED, key=key, zone=my_zone_name(), select=True, height="auto")
    if chosen is None:
        return
    one = found[chosen]
    st.text(one.query)
    if one.query_id:
        parts.button(
            "judge", "Judge this query", key="judge-recorded", type="primary", on_click=_judge, args=(one.query_id,)
        )
    else:
        parts.button(
            "judge", "Add it to the set", key="add-recorded", type="primary", on_click=_add_recorded, args=(set_id, one)
        )


def _recorded_row(one: RecordedQuery) -> dict[str, Any]:
    names = ("query", "times", "last_at", "unjudged", "shown")
    return {
        **{name: getattr(one, name) for name in names},
        "pair": veil.pair(one.ru_id, one.tu_id),
        "here": "yes" if one.query_id else "no",
    }


def _add_recorded(set_id: str, one: RecordedQuery) -> None:
    rows = [{"dialog_key": one.dialog_key, "query": one.query, "category": "recorded"}]
    done = outcome.attempt("The query", partial(acting.add, set_id, rows))
    if done is not None:
        session.remember("label-turn", session.remembered("label-turn", 0) + 1)
        _told(done.added, done.present)


def _told(added: int, present: int) -> None:
    words = f"{formats.plural(added, 'query', 'queries')} added."
    outcome.say("done" if added else "note", words + (f" {present} stood there already." if present else ""))
