"""The turns of a conversation: question, calls of tools, cards to approve, the answer and who gave it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

import streamlit as st

from core.companion.converse.chat.records import Call, Turn
from core.companion.converse.chat.running import Running
from core.companion.converse.rules_tier.answer import RuleAnswer, answer_of
from core.errors import CoreError
from pages._shared import formats
from pages._shared.chat import shown, talking
from pages._shared.companion import inbox
from pages._shared.literal import literal
from pages._shared.resources import core
from pages._shared.sitemap import place
from pages._shared.zone import my_zone

CALLED = {"rules": "Rules", "server": "Own server", "cloud": "Gemini"}
PERSON, ITSELF = ":material/person:", ":material/forum:"
SETTINGS = "companion_settings"
# The page that shows what a module's tools tell.
PAGES = {"memory": "dialogs", "companion": "goals"}
# After that long without an answer, whoever was to give it is gone.
LOST = timedelta(minutes=3)


def turn(one: Turn, talk: talking.Talk, now: datetime, *, cards: set[str]) -> None:
    """A kept turn. `cards`: proposals that were drawn already, each once a page."""
    question(one.question)
    if talk.running is not None and talk.running.message_id == one.id and talk.busy:
        return  # it is drawn as it comes
    with st.chat_message("assistant", avatar=ITSELF):
        for call in one.calls:
            step(call.name, call.params, call.success, call.message, call.data)
        for call in one.calls:
            _card(call, now, cards)
        if one.answer is None:
            _unanswered(one, talk, now)
        else:
            _answer(one)


def question(text: str) -> None:
    with st.chat_message("user", avatar=PERSON):
        st.text(text)


def step(name: str, params: Any, success: bool, message: str, data: Any) -> None:
    """A call of a tool, closed: what it was asked and what it said."""
    tool = core().companion.act.toolbox.find(name)
    label = tool.label if tool else literal(name[:60])
    icon = ":material/construction:" if success else ":material/close:"
    waits = success and isinstance(data, Mapping) and "proposal_id" in data
    with st.expander(f"{label}: {'waits for a yes' if waits else 'done' if success else 'refused'}", icon=icon):
        st.text(message)
        if params not in (None, {}, ""):
            st.caption("asked with")
            st.code(_written(params), language=None, wrap_lines=True)
        if data not in (None, {}, []):
            st.caption("what a model was told, at most")
            st.code(_written(data), language=None, wrap_lines=True, height=_height(data))


def follow(running: Running) -> None:
    """What is being answered, as it comes; the page is drawn anew at its end."""
    with st.chat_message("assistant", avatar=ITSELF):
        steps = st.container(gap="small")
        words = st.empty()
        text, waited = "", 0
        words.caption("Looking…")
        for update in running.follow():
            if update.kind == "text":
                text += update.text
                words.text(text)
            elif update.kind == "clear":
                text = ""
                words.caption("Asking a tool…")
            elif update.kind == "step" and update.step is not None:
                made = update.step
                with steps:
                    step(
                        made.call.name,
                        made.call.arguments,
                        made.result.success,
                        made.result.message,
                        made.result.llm_data,
                    )
            elif not text:
                # Also lets Streamlit stop this run, where somebody presses something else.
                waited += 1
                words.caption(f"Thinking, {waited // 2} s")
    st.rerun()


def suggestions(texts: tuple[str, ...], talk: talking.Talk, message_id: str) -> None:
    """Questions to press; pressed twice, one is asked once."""
    with st.container(horizontal=True, gap="small"):
        for n, text in enumerate(texts):
            st.button(text, key=f"suggest-{n}-{message_id}", on_click=talking.ask, args=(talk.id, message_id, text))


def rules_answer(one: Turn) -> RuleAnswer | None:
    """The data of an answer by rules, None for another answer and for one of another version."""
    kept = (one.meta or {}).get("answer")
    if not isinstance(kept, Mapping):
        return None
    try:
        return answer_of(kept)
    except (KeyError, TypeError, ValueError):
        return None


def _answer(one: Turn) -> None:
    meta = one.meta or {}
    if meta.get("failure"):
        with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("no answer of a model", color="orange")
            st.text(str(meta["failure"]))
            st.page_link(place(SETTINGS).path, label=place(SETTINGS).title, icon=place(SETTINGS).icon)
    if meta.get("blocked"):
        st.badge("blocked", color="red")
    found = rules_answer(one)
    if found is not None:
        shown.answer(found, one.id)
    else:
        st.text(one.answer or "")
    if meta.get("tier") in ("server", "cloud"):
        _sources(one)
    if meta.get("why"):
        st.caption(str(meta["why"]))
    st.caption(_who(one, meta))


def _who(one: Turn, meta: Mapping[str, Any]) -> str:
    tier = str(meta.get("tier", "rules"))
    parts = [CALLED.get(tier, tier)]
    if meta.get("model"):
        parts[0] += f", {literal(str(meta['model']))}"
    if one.answered_at is not None:
        parts.append(formats.moment(one.answered_at, my_zone())[:16])
        took = meta.get("latency_ms")
        if tier != "rules" and isinstance(took, (int, float)):
            parts.append(formats.milliseconds(took) if took < 1_000 else f"{took / 1_000:.1f} s")
        elif tier == "rules":
            parts.append(formats.milliseconds((one.answered_at - one.asked_at).total_seconds() * 1_000))
    if meta.get("rounds", 1) > 1:
        parts.append(f"{meta['rounds']} rounds")
    if meta.get("tokens"):
        parts.append(f"{meta['tokens']:,} tokens")
    return " · ".join(parts)


def _sources(one: Turn) -> None:
    """Where a model's figures come from: the moment's context, and the tools that it called."""
    find = core().companion.act.toolbox.find
    tools = [tool for call in one.calls if call.success and (tool := find(call.name)) is not None and tool.read_only]
    pages = dict.fromkeys(PAGES.get(tool.module, tool.module) for tool in tools)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        when = formats.clock(one.asked_at, my_zone())
        st.caption(f"Sources: the context as of {when}" + (", tools of" if pages else ""))
        for name in pages:
            if name in shown.KNOWN:
                st.page_link(place(name).path, label=place(name).title, icon=place(name).icon)


def _card(call: Call, now: datetime, cards: set[str]) -> None:
    id = call.proposal_id
    if id is None or id in cards:
        return
    cards.add(id)
    try:
        proposal = core().companion.act.proposals.get(id)
    except CoreError as error:
        st.caption(f"Its proposal cannot be shown. {error.what}")
        return
    st.html(inbox.DASHED)
    inbox.card(proposal, now, with_module=True)


def _unanswered(one: Turn, talk: talking.Talk, now: datetime) -> None:
    failed = talk.running.failure if talk.running is not None and talk.running.message_id == one.id else None
    if failed is None and now - one.asked_at < LOST:
        st.caption("Another process is answering this. Reload the page in a moment.")
        return
    st.text(failed or "There is no answer: whoever was to give it ended before.")
    st.button(
        "Ask again",
        key=f"again-{one.id}",
        icon=":material/replay:",
        on_click=talking.again,
        args=(talk.id, one.id),
    )


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _height(value: Any) -> int | Literal["content"]:
    return 260 if _written(value).count("\n") > 12 else "content"
