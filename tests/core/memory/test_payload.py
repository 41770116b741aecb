"""A whole request body, ordinary and hostile: an error that names the field, or notices and a correct reading."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.memory.chunks import build_chunks
from core.memory.keys import generic_key, tips_key
from core.memory.payload import normalise

PAIR = {"ruId": "r", "tuId": "t"}
SECRET = "SECRET-WORDS"


def test_text_and_parsed_are_the_same() -> None:
    """JSON arguments may come as text, with a byte-order mark too, or parsed."""
    payload = {"messages": [{"id": 1, "body": "hi", "is_incoming": True, "sent_at": 1792892400}]}
    profile = {"name": "Ann"}
    parsed = normalise({**PAIR, "conversationJson": payload, "profileJson": profile})
    text = {"conversationJson": "\ufeff" + json.dumps(payload), "profileJson": json.dumps(profile)}
    assert normalise({**PAIR, **text}) == parsed


def test_both_keys_are_exposed() -> None:
    """Whatever key a request gets, both keys of its pair are known; without a pair there are none."""
    normalised = normalise({**PAIR, "conversationJson": {}})
    assert (normalised.tips_key, normalised.generic_key) == (tips_key("r", "t"), generic_key("t", "r"))
    alone = normalise({"dialogKey": "k", "ruId": "r", "conversationJson": {}})
    assert (alone.tips_key, alone.generic_key, alone.ru_id) == (None, None, "r")


@pytest.mark.parametrize(
    ("mode", "expected"), [("reply", "reply"), ("both", "both"), ("letter", "both"), (None, "both"), (5, "both")]
)
def test_compose_mode(mode: Any, expected: str) -> None:
    """Both, unless the request says reply."""
    assert normalise({**PAIR, "conversationJson": {}, "composeMode": mode}).compose_mode == expected


def test_profile_json_wins_and_unites() -> None:
    """The explicit profile, bare or in an envelope, wins field by field; the photo follows the same order."""
    payload = {"profile": {"name": "B", "age": 30, "details": {"goal": ["y"]}, "main_photo": "https://b"}}
    own = {"name": "A", "details": {"goal": ["x"]}}
    for profile in (own, {"data": {"profileRu": own}}):
        normalised = normalise({**PAIR, "conversationJson": payload, "profileJson": profile})
        assert normalised.profile == ("Name: A", "Age: 30", "Goals: x, y") and normalised.photo_url == "https://b"
    own["photo_url"] = "https://a"
    assert normalise({**PAIR, "conversationJson": payload, "profileJson": own}).photo_url == "https://a"
    explicit = {"conversationJson": payload, "profileJson": own, "photoUrl": "https://c"}
    assert normalise({**PAIR, **explicit}).photo_url == "https://c"


@pytest.mark.parametrize(
    "body", [{"profileJson": {"name": "A"}}, {"photoUrl": "https://a"}, {"summaries": [{"text": "s"}]}]
)
def test_conversation_may_be_missing_beside_another_part(body: dict[str, Any]) -> None:
    """Its absence is a notice then; with nothing at all it is an error that names it."""
    assert "conversation" in {n.field for n in normalise({**PAIR, **body}).notices}
    with pytest.raises(InputError) as caught:
        normalise(PAIR)
    assert caught.value.field == "conversationJson"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("conversationJson", v) for v in ("not json " + SECRET, "5", "null", '"x"', 5, True, "[" * 50_000)),
        *(("profileJson", v) for v in ("not json " + SECRET, [], [{}], "[]", 5, False)),
        *(("photoUrl", v) for v in (5, True, [], {})),
        *(
            (name, v)
            for name in ("ruId", "tuId", "clientId", "womanId", "favoriteId", "dialogKey")
            for v in (True, [], {}, "\0")
        ),
    ],
)
def test_unusable_arguments_name_their_field(field: str, value: Any) -> None:
    """Arguments of the request itself are refused by name, and the error repeats nothing of them."""
    with pytest.raises(InputError) as caught:
        normalise({**PAIR, "conversationJson": {}, field: value})
    assert caught.value.field == field and caught.value.status == 400
    assert SECRET not in f"{caught.value!r}{caught.value}{caught.value.detail}{caught.value.hint}"


@pytest.mark.parametrize("body", [[], None, "x", 5])
def test_a_body_that_is_no_object(body: Any) -> None:
    """Refused, naming the body."""
    with pytest.raises(InputError) as caught:
        normalise(body)
    assert caught.value.field == "body"


WRONG: list[Any] = [
    *(None, True, 0, -1.5, float("nan"), 10**400),
    *("", "\0", "\ud800", "text"),
    *([], [None], [[[]]], {}, {"a": None}),
]
INSIDE = """
data favorite data.favorite data.favorite.messages data.favorite.allMessages data.favorite.aiNotes data.favorite.notes
data.favorite.profile data.favorite.profileRu data.favorite.id messages.id messages.body messages.is_incoming
messages.sent_at messages.type messages.photo messages.gift notes.id notes.text notes.note notes.summary notes.date
notes.created_at profile.name profile.age profile.city profile.country profile.details profile.photos profile.main_photo
profile.url profile.photo_count profile.details.occupation profile.details.goal profile.details.hobbies
profile.details.traits profile.city.name profile.main_photo.url profile.photos.image summaries
"""


@pytest.mark.parametrize("place", INSIDE.split())
@pytest.mark.parametrize("wrong", WRONG, ids=lambda v: repr(v)[:12])
def test_wrong_types_inside_break_nothing(place: str, wrong: Any) -> None:
    """Any value at any place of the payload: what else was sent is still read, and all of it can be stored."""
    value: Any = wrong
    for key in reversed(place.split(".")):
        value = {key: [value, value] if key in ("messages", "notes", "image") else value}
    body = {**PAIR, "conversationJson": value, "profileJson": {"name": "Ann"}, "summaries": [{"text": "sum"}]}
    chunks, _ = build_chunks(normalise(body))
    assert {"Name: Ann", "sum"} <= {c.text for c in chunks}
    assert "\0" not in json.dumps([c.text + c.source_id for c in chunks], ensure_ascii=False).encode("utf-8").decode()


KEYS = """
data favorite messages allMessages notes aiNotes profile details city name id text body sent_at date photos main_photo
url goal summaries clientId operator type age
"""
ARGUMENTS = """
conversationJson profileJson photoUrl ruId tuId clientId womanId favoriteId dialogKey composeMode summaries
"""
keys = st.sampled_from(KEYS.split()) | st.text(max_size=3)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(categories=None), max_size=30)
arbitrary = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=40,
)
arguments = st.dictionaries(st.sampled_from(ARGUMENTS.split()), arbitrary)


@settings(max_examples=150)
@given(arguments, arbitrary)
def test_fuzz(body: dict[str, Any], payload: Any) -> None:
    """Arbitrary JSON at every place: an InputError with a field, or chunks that can be stored. Nothing else."""
    for candidate in (body, {"conversationJson": payload, **PAIR}):
        try:
            normalised = normalise(candidate)
        except InputError as error:
            assert error.field
            continue
        chunks, _ = build_chunks(normalised)
        json.dumps([c.text + c.source_id for c in chunks]).encode("utf-8")
        assert all(c.text and "\0" not in c.text + c.source_id for c in chunks)


def test_a_hundred_thousand_messages() -> None:
    """The latest 80 within seconds, and a handful of notices."""
    messages = [
        {"id": i, "body": f"text {i}", "is_incoming": 1, "sent_at": "2026-01-01T00:00:00"} for i in range(100_000)
    ]
    started = time.process_time()
    normalised = normalise({**PAIR, "conversationJson": messages})
    assert time.process_time() - started < 20
    assert [m.source_id for m in normalised.messages] == [str(i) for i in range(99_920, 100_000)]
    assert {n.count for n in normalised.notices if n.field.startswith("conversation")} == {100_000, 99_920}


def test_one_word_of_five_thousand() -> None:
    """A note of one endless word becomes two pieces by length."""
    normalised = normalise({**PAIR, "conversationJson": {"notes": [{"id": 1, "text": "x" * 5_000}]}})
    assert [len(c.text) for c in build_chunks(normalised)[0]] == [420, 380]
