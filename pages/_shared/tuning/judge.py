"""Judge: one query, one chunk at a time, by keyboard; who ranked the chunk is not shown."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.memory.retrieval import Profile
from core.tuning.labelling import DEPTH, Sheet
from core.tuning.labels import GRADES, Judgement, LabelledQuery, QuerySet
from pages._shared import formats, session, veil
from pages._shared.feedback import boundary, empty, stale
from pages._shared.fragments import fragment
from pages._shared.head import Head
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.resources import core
from pages._shared.tuning import acting, choices, grading, reading

QUERY = "judge.query"
PLACE = "judge.place"


def show(head: Head) -> None:
    chosen = choices.query_set()
    if chosen is None:
        return
    read = reading.query_set(chosen.id)
    head.as_of(read.at)
    stale(read)
    if not read.value.queries:
        empty("The set has no query", "Add some under Query sets.")
        return
    profiles = _profiles()
    _desk(chosen.id, profiles)


def _profiles() -> list[Profile]:
    """The profiles whose best chunks are put before the grader."""
    lines = choices.profiles()
    first = [choices.active(lines), *(line for line, profile in lines.items() if profile in choices.BUILT_IN)]
    with st.expander("What is put before me", icon=":material/filter_list:", type="compact"):
        picked = st.multiselect(
            f"The best {DEPTH} of", list(lines), default=first, key="pool-profiles", placeholder="at least one profile"
        )
        st.caption(
            "Each chunk once, whoever ranked it, in an order that tells nothing. Labels made from one profile alone "
            "favour it: what only another one finds stays unjudged."
        )
    return [lines[line] for line in picked or first]


@fragment
def _desk(set_id: str, profiles: list[Profile]) -> None:
    """Everything a key press changes; the rest of the page stays as it is."""
    with boundary("Judging"):
        outcome.show()
        given = reading.query_set(set_id).value
        order = _queue(given)
        query = _query(given, order)
        sheet = core().tuning.labels.sheet(query, profiles)
        if not sheet.chunks:
            empty("Nothing to judge", "No chunk of this dialog carries a vector of the active embedding model.")
            return
        mine = grading.mine(query)
        place = _place(query, sheet, mine)
        with panel("Query", ""):
            st.text(query.query, width="stretch")
            parts = (veil.pair(query.ru_id, query.tu_id), query.category, query.note)
            st.text(" · ".join(part for part in parts if part))
        _card(query, sheet, place, mine)
        grading.listing(query, sheet, place, mine, jump)


def _queue(given: QuerySet) -> list[LabelledQuery]:
    """The order of the queries: as they were added, or by what is unjudged in the prompt of today."""
    by_need = st.toggle(
        "Unjudged in the current top 12 first",
        key="by-need",
        help="Asks for every query of the set what the active profile shows now; the most unjudged come first.",
    )
    if not by_need:
        return list(given.queries)
    with st.spinner("Looking at every query"):
        left = reading.waiting(given.id, given.version, core().profiles.active(), False).value
    total, shown = sum(n for n, _ in left.values()), sum(n for _, n in left.values())
    st.caption(
        f"{formats.count(total)} of {formats.plural(shown, 'result')} in the current top 12 are unjudged, in "
        f"{formats.plural(sum(n > 0 for n, _ in left.values()), 'query', 'queries')}."
    )
    return sorted(given.queries, key=lambda q: -left.get(q.id, (0, 0))[0])


def _query(given: QuerySet, order: list[LabelledQuery]) -> LabelledQuery:
    ids = [query.id for query in order]
    kept = session.remembered(QUERY, None)
    now = ids.index(kept) if kept in ids else 0
    names = {q.id: _option(n, q) for n, q in enumerate(order, start=1)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picked = st.selectbox(
            f"Query ({formats.count(len(ids))} in the set)",
            ids,
            index=now,
            format_func=names.__getitem__,
            key=f"judge-query-{ids[now]}-{len(ids)}",
            width="stretch",
        )
        st.button("Query before", key="query-back", on_click=_move, args=(ids, now - 1), disabled=now == 0)
        st.button(
            "Next query",
            key="query-next",
            shortcut="N",
            on_click=_move,
            args=(ids, now + 1),
            disabled=now == len(ids) - 1,
        )
    session.remember(QUERY, picked)
    return next(query for query in given.queries if query.id == picked)


def _option(number: int, query: LabelledQuery) -> str:
    graded = len(query.grades())
    return f"{number}. {formats.snippet(query.query, 70)} · {formats.plural(graded, 'chunk')} graded"


def _move(ids: list[str], to: int) -> None:
    session.remember(QUERY, ids[max(0, min(to, len(ids) - 1))])
    session.remember(PLACE, None)


def jump(query_id: str, place: int) -> None:
    session.remember(PLACE, (query_id, place))


def _place(query: LabelledQuery, sheet: Sheet, mine: dict[str, Judgement]) -> int:
    """The chunk in hand: where the grader stands, else the first that this grader has not graded."""
    kept = session.remembered(PLACE, None)
    if kept and kept[0] == query.id and kept[1] < len(sheet.chunks):
        return int(kept[1])
    return next((n for n, c in enumerate(sheet.chunks) if c.row.id not in mine), 0)


def _card(query: LabelledQuery, sheet: Sheet, place: int, mine: dict[str, Judgement]) -> None:
    chunk = sheet.chunks[place]
    done = sum(c.row.id in mine for c in sheet.chunks)
    given = mine.get(chunk.row.id)
    with st.container(border=True, gap="small", key="grade-card"):
        st.progress(done / len(sheet.chunks), f"{done} of {formats.plural(len(sheet.chunks), 'chunk')} graded by you")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(chunk.row.source, color="gray")
            st.caption(grading.about(chunk, place, len(sheet.chunks)))
            if given is not None:
                st.badge(f"graded {given.grade}: {GRADES[given.grade]}", color="blue")
        with st.container(height=110, border=False, key="grade-text"):
            st.text(veil.text(chunk.row.text, query.dialog_key), width="stretch")
        turn = session.remembered("why-turn", 0)
        st.text_input(
            "Why (optional)",
            key=f"why-{turn}",
            max_chars=1000,
            placeholder="goes with the next grade; press Tab to leave",
        )
        with st.container(horizontal=True, gap="small"):
            for grade, words in GRADES.items():
                st.button(
                    words,
                    key=f"grade-{grade}",
                    shortcut=str(grade),
                    type="primary" if given is not None and given.grade == grade else "secondary",
                    on_click=_grade,
                    args=(query.id, chunk.ids, grade, place, [c.row.id in mine for c in sheet.chunks], turn),
                )
            st.button("Back", key="chunk-back", shortcut="Left", on_click=jump, args=(query.id, max(place - 1, 0)))
            st.button(
                "Skip",
                key="chunk-next",
                shortcut="Right",
                on_click=jump,
                args=(query.id, (place + 1) % len(sheet.chunks)),
            )
        if done == len(sheet.chunks):
            st.text("You graded every chunk. N goes to the next query; a new grade replaces the one before.")


def _grade(query_id: str, ids: tuple[str, ...], grade: int, place: int, graded: list[bool], turn: int) -> None:
    why = st.session_state.get(f"why-{turn}") or ""
    done = outcome.attempt("The grade", partial(acting.judge, query_id, ids, grade, why))
    if done is None:
        return
    session.remember("why-turn", turn + 1)
    graded[place] = True
    later = [n for n in (*range(place + 1, len(graded)), *range(place)) if not graded[n]]
    session.remember(PLACE, (query_id, later[0] if later else place))
