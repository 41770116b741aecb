"""Chat: a question in plain words, answered from live data by a model that may be asked, else by rules."""

from __future__ import annotations

import streamlit as st

from core.companion.converse.chat.questions import QUESTION_LIMIT
from core.companion.converse.rules_tier.answer import SUGGESTIONS
from pages._shared import guard
from pages._shared.chat import bar, talking, turns
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.operations import outcome
from pages._shared.resources import core

here = guard.enter("chat")
head = page_head(here, "Ask in plain words: answers from live data, each with its sources.")

with boundary(here.title):
    talk = talking.current()
    now = core().clock.now()
    head.as_of(now)
    bar.show(talk)
    bar.who_answers()
    outcome.show()
    busy = talk.busy
    message_id = outcome.form_id(talking.INPUT)
    cards: set[str] = set()
    if talk.transcript is None:
        st.text("Ask one of these, or anything in the field below.")
        turns.suggestions(SUGGESTIONS, talk, message_id)
    else:
        if talk.transcript.cut:
            st.caption("Older messages of this conversation are kept, and not shown.")
        for one in talk.transcript.turns:
            turns.turn(one, talk, now, cards=cards)
        last = talk.transcript.turns[-1] if talk.transcript.turns else None
        found = turns.rules_answer(last) if last is not None and not busy else None
        if found is not None and found.suggestions:
            turns.suggestions(found.suggestions, talk, message_id)
    st.chat_input(
        "Ask about the day, the week, cost, goals, a dialog…",
        key=talking.INPUT,
        max_chars=QUESTION_LIMIT,
        disabled=busy,
        on_submit=talking.typed,
        args=(talk.id, message_id),
    )
    if busy and talk.running is not None:
        turns.follow(talk.running)
