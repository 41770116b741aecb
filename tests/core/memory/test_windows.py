"""Long conversations in windows of 80: nothing lost, nothing twice, the same ids and hashes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.memory.chunks import build_chunks
from core.memory.messages import read_messages
from core.memory.notices import Findings
from core.memory.payload import normalise
from core.memory.windows import count_windows, split_windows
from tests.support.dialogs import body, message


def hashes(request: dict[str, Any]) -> set[str]:
    return {chunk.content_hash for chunk in build_chunks(normalise(request))[0]}


def test_a_short_conversation_stays_as_it_is() -> None:
    """80 messages are one window, and the body comes back unchanged."""
    request = body(messages=80)
    assert split_windows(request) == [request]
    assert count_windows(request) == (1, 0)


def test_a_long_one_loses_nothing() -> None:
    """200 messages: three windows of at most 80, oldest first; the last 80 have the hashes of a plain ingest."""
    request = body(messages=200)
    windows = split_windows(request)
    assert count_windows(request) == (3, 120)
    read = [normalise(window).messages for window in windows]
    assert [len(messages) for messages in read] == [80, 80, 40]
    assert [m.source_id for messages in read for m in messages] == [f"m{n}" for n in range(1, 201)]
    assert hashes(request) <= set().union(*map(hashes, windows))
    assert not any(n.kind == "limit" for window in windows for n in normalise(window).notices)


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("place", ["root", "data", "favorite", "data.favorite", "list"])
def test_wherever_the_messages_stand(place: str, as_text: bool) -> None:
    """Each place of the payload, parsed or as text; everything else of the body is in every window."""
    payload: Any = {"allMessages": [message(n) for n in range(1, 101)], "notes": [{"id": "n1", "text": "A note."}]}
    if place == "list":
        payload = payload["allMessages"]
    elif place != "root":
        for name in reversed(place.split(".")):
            payload = {name: payload}
    request = {"dialogKey": "k", "conversationJson": json.dumps(payload) if as_text else payload}
    windows = split_windows(request)
    read = [normalise(window) for window in windows]
    assert [len(n.messages) for n in read] == [80, 20]
    assert all(len(n.notes) == (place != "list") for n in read)
    assert {n.dialog_key for n in read} == {"k"}


def test_an_empty_list_before_the_real_one() -> None:
    """The first list that is not empty is the one, as for an ingest."""
    request = body(messages=90)
    request["conversationJson"]["messages"] = [message(n) for n in range(500, 600)]
    request["conversationJson"]["data"] = {"allMessages": []}
    assert [len(normalise(w).messages) for w in split_windows(request)] == [80, 10]


def test_system_and_empty_messages_take_no_place() -> None:
    """Windows count what would be stored."""
    request = body(messages=0)
    noise = [{"id": f"s{n}", "type": 3, "body": "x"} for n in range(200)] + [{"id": "e", "body": " "}, None, 7]
    request["conversationJson"]["favorite"]["allMessages"] = noise + [message(n) for n in range(1, 82)]
    assert count_windows(request) == (2, 1)
    assert [len(normalise(w).messages) for w in split_windows(request)] == [80, 1]


def test_text_that_is_no_json_names_its_field() -> None:
    """As the ingest would."""
    with pytest.raises(InputError) as refused:
        count_windows({"conversationJson": "{"})
    assert refused.value.field == "conversationJson"


MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"body": st.sampled_from(["", "a", "b", "x" * 500]), "is_incoming": st.booleans()},
        optional={
            "id": st.integers(1, 400),
            "sent_at": st.sampled_from(["2026-05-01T10:00:00Z", "2026-05-01T09:00:00+03:00", "2026-05-02", "?", None]),
            "type": st.sampled_from([1, 3]),
        },
    ),
    max_size=250,
)


@given(MESSAGES)
def test_together_they_are_the_whole(messages: list[dict[str, Any]]) -> None:
    """Whatever the order, dates and gaps: the windows hold each message that is worth storing once, in time order."""
    request = {"dialogKey": "k", "conversationJson": {"messages": messages}}
    kept = [m for raw in messages for m in read_messages([raw], Findings())]
    windows = [normalise(w).messages for w in split_windows(request)]
    assert all(len(w) <= 80 for w in windows)
    assert sorted(map(repr, kept)) == sorted(repr(m) for w in windows for m in w)
    dated = [m.at for w in windows for m in w if m.at]
    assert dated == sorted(dated)
