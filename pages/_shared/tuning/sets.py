"""Query sets: what there is, and a new one."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._shared import session, tables
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.parts import only
from pages._shared.tables import Column
from pages._shared.tuning import acting, choices, files, queries, reading
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("name", "Query set", width=220, pinned=True),
    Column("queries", "Queries", "count"),
    Column("dialogs", "Dialogs", "count"),
    Column("with_relevant", "With a relevant chunk", "count", help="Only these have a figure in an evaluation."),
    Column("judgements", "Grades", "count", help="The latest of each judge."),
    Column("llm", "Of models", "count", help="Labels of a model; they count only where somebody says so."),
    Column("version", "Version", "count", help="Grows with every change of a query or a grade."),
    Column("updated_at", "Last change", "when"),
    Column("note", "Note", width=220),
)
FORM = "query-set"


def show(head: Head) -> None:
    archived = st.toggle("Archived", key="archived", bind="query-params")
    read = reading.sets(archived)
    head.as_of(read.at)
    stale(read)
    rows = [{c.field: getattr(row, c.field) for c in COLUMNS} | {"id": row.id} for row in read.value]
    if rows:
        with panel("Query sets", "Questions with the chunks that answer them. Click one to open it."):
            chosen = tables.show(
                rows, COLUMNS, key=f"sets-{archived}", zone=my_zone_name(), select=True, height="content"
            )
            tables.downloads(rows, [c.field for c in COLUMNS], name="query-sets", key="sets-file")
        if chosen is not None:
            choices.remember_set(read.value[chosen].id)
    elif archived:
        empty("No query set is archived", "One that is put away keeps its queries and grades.")
    else:
        empty(
            "There is no query set yet",
            "A query set is a list of questions about dialogs, each with graded chunks. Name one below, add real "
            "questions to it, then grade what the search finds for them.",
        )
    if not archived:
        _new()
    kept = choices.remembered_set()
    mine = next((row for row in read.value if row.id == kept), None)
    if mine is not None:
        queries.show(mine)
        files.show(mine)
        _put_away(mine.id, archived)
    elif not archived:
        files.show(None)


@only("judge")
def _new() -> None:
    with st.expander("New query set", icon=":material/add:", type="compact"), st.form("new-set", clear_on_submit=True):
        st.text_input("Name", key="new-set-name", max_chars=120, placeholder="Questions of support, November")
        st.text_input("Note", key="new-set-note", max_chars=1000, placeholder="who chose them, and how")
        st.form_submit_button("Create", type="primary", on_click=_create)


def _create() -> None:
    name, note = st.session_state.get("new-set-name") or "", st.session_state.get("new-set-note") or ""
    made = outcome.attempt("The query set", partial(acting.create, name, note, outcome.form_id(FORM)))
    if made is not None:
        outcome.new_form(FORM)
        choices.remember_set(made)
        outcome.say("done", f"The query set “{name.strip()}” is there. Add questions to it.")


@only("judge")
def _put_away(id: str, archived: bool) -> None:
    label = "Bring this set back" if archived else "Archive this set"
    st.button(
        label, key="archive-set", type="tertiary", icon=":material/archive:", on_click=_archive, args=(id, archived)
    )


def _archive(id: str, archived: bool) -> None:
    done = outcome.attempt("The query set", partial(acting.archive, id, not archived))
    if done:
        choices.remember_set(None)
        session.remember("judge.query", None)
        outcome.say("done", "The set is back." if archived else "The set is archived; nothing in it was deleted.")
