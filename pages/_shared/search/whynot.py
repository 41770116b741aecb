"""Why a chunk is in the prompt, or is not, and what it would need: for any chunk, also one that was never compared."""

from __future__ import annotations

from dataclasses import asdict, replace

import streamlit as st

from core.memory.dialogs import StoredChunk
from core.memory.whynot import Explanation, excluded_by, why_not
from pages._shared import formats, reads, session, veil
from pages._shared.feedback import boundary
from pages._shared.layout import panel
from pages._shared.search.view import View

LISTED = 200


def show(view: View) -> None:
    with panel(
        "Why, or why not",
        "Of the first chunk left out, until you choose another or paste the id of any.",
    ):
        _panel(view)


def _panel(view: View) -> None:
    candidates = view.found.candidates
    order = [candidates.ids[int(i)] for i in view.ranking.order[: view.limit + LISTED]]
    order = [chunk_id for chunk_id in order[view.limit :] + order[: view.limit] if view.row(chunk_id)]
    # Without a key: places and scores stand in the options, so a slider makes it another widget. The choice is kept.
    first = order[0] if len(order) > view.limit else None
    search, kept = session.remembered("why", (None, None))
    kept = kept if search == view.found.as_of and kept in order else first
    chosen = st.selectbox(
        "Chunk",
        order,
        index=None if kept is None else order.index(kept),
        format_func=lambda chunk_id: _option(view, chunk_id),
        placeholder="a chunk of the ranking",
        help="First the chunks below the line, then those above it.",
    )
    if chosen != kept:
        session.remember("why", (view.found.as_of, chosen))
    pasted = (
        st.text_input("or its id", key="why-id", placeholder="00000000-0000-0000-0000-000000000000").strip().lower()
    )
    chunk_id = pasted or chosen
    if not chunk_id:
        return
    if chunk_id in candidates.positions:
        _explain(view, chunk_id)
    else:
        with boundary("This chunk"):
            _elsewhere(view, chunk_id)


def explanation(view: View, chunk_id: str) -> Explanation:
    """Of a candidate, among those that no quota keeps out."""
    return why_not(view.field.candidates, view.field.weights, view.limit, chunk_id)


def explain(view: View, chunk_id: str) -> str:
    """The explanation in words, quotas, budget and units counted in."""
    hit = view.hit(view.found.candidates.positions[chunk_id])
    inside = hit.rank <= view.limit
    if view.kept_out(chunk_id):
        most = view.profile.quotas.get(hit.source, 0)
        return f"The quota gives {hit.source} {formats.plural(most, 'place')}, and this chunk has none of them."
    if view.profile.budget_chars is not None:
        where = "is in the prompt" if inside else "is not in the prompt"
        return f"With a budget of {formats.count(view.profile.budget_chars)} characters it {where}."
    found = explanation(view, chunk_id)
    if view.profile.unit == "sd" and found.needed_boost is not None:
        needed = f" A {found.source} boost of {found.needed_boost / view.field.sd:+.2f} SD draws level."
        return sentence(replace(found, needed_boost=None), view.limit) + needed
    return sentence(found, view.limit)


def _explain(view: View, chunk_id: str) -> None:
    found = view.hit(view.found.candidates.positions[chunk_id])
    inside = found.rank <= view.limit
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge("in the prompt" if inside else "not in the prompt", color="green" if inside else "gray")
        if found.id in view.found.superseded:
            st.badge("superseded", color="orange", help="A newer chunk of the same source and id says something else.")
    st.text(explain(view, chunk_id))
    words = (("Words", formats.signed(found.lexical)),) if view.fused.lexical.any() else ()
    facts = (
        ("Place", formats.count(found.rank)),
        ("Cosine", formats.score(found.cosine)),
        *words,
        ("Boost", formats.signed(found.boost)),
        ("Score", formats.score(found.weighted_score)),
    )
    with st.container(horizontal=True):
        for label, value in facts:
            st.metric(label, value, width="content")
    row = view.row(found.id)
    text = row.text if row else (stored.text if (stored := reads.chunk(found.id)) else "")
    st.text(text, width="stretch")


def sentence(found: Explanation, limit: int) -> str:
    """The explanation in words, with its numbers."""
    if found.reason == "in":
        ahead = "no chunk is outside" if found.margin is None else f"{gap(found.margin)} ahead of the first one outside"
        return f"It takes place {found.rank} of {limit}: {ahead}."
    short = "" if found.margin is None else f" and lacks {gap(found.margin)} to the last one inside"
    if found.reason == "behind_own_source":
        ahead_of = "1 chunk of the same source is" if limit == 1 else f"{limit} chunks of the same source are"
        return (
            f"It stands at place {found.rank}{short}. No boost of {found.source} brings it in: "
            f"{ahead_of} ahead of it, and a boost lifts the whole source."
        )
    needed = "" if found.needed_boost is None else f" A {found.source} boost of {found.needed_boost:+.3f} draws level."
    return f"It stands at place {found.rank}{short}.{needed}"


def gap(margin: float) -> str:
    """A distance to the cut line; one that three decimals cannot show is not called nothing."""
    size = abs(margin)
    return "less than 0.001" if 0 < size < 0.0005 else f"{size:.3f}"


def _elsewhere(view: View, chunk_id: str) -> None:
    """A chunk that took no part: the row itself says why."""
    stored = reads.chunk(chunk_id)
    with st.container(horizontal=True):
        st.badge("not compared", color="gray")
    if stored is None:
        st.text("No chunk has this id.")
        return
    st.text(absence(view, stored))
    st.text(stored.text, width="stretch")


def absence(view: View, chunk: StoredChunk) -> str:
    """Why a stored chunk was not among the candidates of this search."""
    request, model = view.found.request, view.found.model
    causes = excluded_by(
        asdict(chunk),
        dialog_key=request.dialog_key,
        model=model,
        client_id=request.client_id,
        compose_mode=request.compose_mode,
    )
    asked, whose = (veil.person("RU", id) for id in (request.client_id, chunk.client_id))
    words = {
        "dialog_key": f"It belongs to another dialog, {formats.key(chunk.dialog_key)}.",
        "embedding_model": f"Its vector is of {chunk.embedding_model or 'no named model'}, not {model}.",
        "client_id": f"The filter keeps rows of {asked}; this one is of {whose}.",
        "compose_mode": f"Its compose mode is {chunk.compose_mode}, which this search leaves out.",
    }
    return " ".join(words[cause] for cause in causes) or "It was written after this search: search again."


def _option(view: View, chunk_id: str) -> str:
    hit = view.hit(view.found.candidates.positions[chunk_id])
    return f"{hit.rank}. {hit.source} {formats.score(hit.weighted_score)}: {formats.snippet(hit.text, 70)}"
