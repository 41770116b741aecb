"""Which messages are kept, in which order, and what they say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from core.memory.messages import Message, read_messages
from core.memory.notices import Findings


def read(messages: Any) -> tuple[tuple[Message, ...], Counter[str]]:
    findings = Findings()
    found = read_messages({"messages": messages}, findings)
    told: Counter[str] = Counter()
    for notice in findings.notices():
        told[f"{notice.field}/{notice.kind}"] += notice.count
    return found, told


def message(i: int, **more: Any) -> dict[str, Any]:
    at = f"2026-11-{i // 24 + 1:02}T{i % 24:02}:00:00Z"
    return {"id": f"m{i}", "body": f"text {i}", "is_incoming": i % 2 == 0, "sent_at": at, **more}


def test_a_message() -> None:
    """Id, folded text without a prefix, direction, instant in UTC."""
    (found,), told = read(
        [message(1, id=7, body=" hi \n there ", sent_at="2026-11-01T03:00:00+02:00", is_incoming=True)]
    )
    assert (found.source_id, found.text, found.direction) == ("7", "hi there", "incoming")
    assert found.sent_at == "2026-11-01T01:00:00+00:00" and told == {}


def test_latest_80_by_time() -> None:
    """The latest 80 in time order, wherever they stood; a second run gives the same."""
    messages = [message(i) for i in range(100)]
    found, told = read(messages[::-1])
    assert [m.source_id for m in found] == [f"m{i}" for i in range(20, 100)]
    assert told == {"conversation/limit": 20}
    assert read(messages[::-1])[0] == found


def test_mixed_zones_across_the_double_hour() -> None:
    """Zoned, unzoned and epoch values sort without a crash; the zone assumed is UTC, and the unzoned are told."""
    odd = [
        "2026-10-25T03:40:00",
        "2026-10-25T03:10:00",
        "2026-10-25T03:20:00+02:00",
        "2026-10-25T01:30:00Z",
        1792892400,
        "1792892400",
    ]
    messages = [message(i, sent_at=f"2026-10-{i // 24 + 10}T{i % 24:02}:00:00Z") for i in range(76)]
    messages += [message(900 + i, id=f"odd{i}", sent_at=at) for i, at in enumerate(odd)]
    found, told = read(messages)
    assert [m.source_id for m in found][-6:] == ["odd2", "odd3", "odd4", "odd5", "odd1", "odd0"]
    assert len(found) == 80 and found[0].source_id == "m2"
    assert told == {"conversation.sent_at/date": 2, "conversation/limit": 2}
    assert read(messages) == (found, told)


def test_undated_keep_their_place_in_the_cut() -> None:
    """An undated message at the end of the list is among the latest, one at the start is not."""
    messages = [
        message(0, id="first", sent_at=None),
        *(message(i) for i in range(1, 82)),
        message(0, id="last", sent_at="?"),
    ]
    found, told = read(messages)
    ids = [m.source_id for m in found]
    assert ids[-1] == "last" and "first" not in ids and ids[0] == "m3"
    assert told["conversation.sent_at/missing"] == 1 and told["conversation.sent_at/date"] == 1


@pytest.mark.parametrize("body", ["", " ", "\u200b", "\u2060\ufe0f", "\u3000", "\u00ad", "\0", None])
def test_empty_messages_are_dropped(body: Any) -> None:
    """What shows nothing would spoil an embedding batch: dropped and told; with a photo it says [photo]."""
    found, told = read([message(1), message(2, body=body)])
    assert [m.source_id for m in found] == ["m1"] and told["conversation/dropped"] == 1
    assert [m.text for m in read([message(2, body=body, photo={"url": "u"})])[0]] == ["[photo]"]


@pytest.mark.parametrize(
    "system",
    [
        {"type": 3},
        {"type": "3"},
        {"type": 3.0},
        {"body": "Ann IS ONLINE NOW."},
        {"body": "Ann is  waiting\nto chat with you"},
    ],
)
def test_system_messages_are_dropped(system: dict[str, Any]) -> None:
    """By type, as number or text, or by what they say; they take none of the 80 places."""
    found, told = read([message(1, **system), *(message(i) for i in range(2, 82))])
    assert len(found) == 80 and found[0].source_id == "m2" and told == {"conversation/system": 1}


def test_attachments() -> None:
    """Labels in their order behind the body; empty values and their texts are none."""
    whole = {"gift": 1, "sticker": {"id": None}, "video": [0], "photo": "http://x/y.jpg"}
    none = {"gift": 0, "sticker": {}, "video": [], "photo": "null"}
    (first, second), _ = read([message(1, body="look", **whole), message(2, body="look", **none)])
    assert (first.text, second.text) == ("look [photo] [video] [sticker] [gift]", "look")


def test_cut_to_420_with_labels() -> None:
    """Body and labels are cut together, as the existing backend cuts; no half emoji is left."""
    (found, emoji), told = read([message(1, body="x" * 418, photo=True), message(2, body="y" * 419 + "😀")])
    assert found.text == "x" * 418 + " [" and emoji.text == "y" * 419
    assert told == {"conversation/cut": 2}


@pytest.mark.parametrize(
    ("value", "direction"),
    [
        (True, "incoming"),
        (1, "incoming"),
        ("true", "incoming"),
        ("1", "incoming"),
        (False, "outgoing"),
        (0, "outgoing"),
        ("False", "outgoing"),
        (None, None),
        ("maybe", None),
        ([], None),
    ],
)
def test_direction(value: Any, direction: str | None) -> None:
    """Booleans, numbers and their texts; anything else is no direction, and told."""
    (found,), told = read([message(1, is_incoming=value)])
    assert found.direction == direction
    assert told == ({} if direction else {"conversation.is_incoming/missing": 1})


def test_edited_and_emptied() -> None:
    """An edit keeps the id and is another text; a message emptied upstream is dropped and replaces nothing."""
    (five,), _ = read([message(7, body="see you at five")])
    (six,), _ = read([message(7, body="see you at six")])
    assert five.source_id == six.source_id == "m7" and five.text != six.text
    assert read([message(7, body="")]) == ((), {"conversation/dropped": 1})


def test_without_an_id() -> None:
    """The time as written stands in; without one, a digest that a growing list does not change."""
    (dated, undated), _ = read([message(1, id=None), message(2, id=[5], sent_at=None)])
    assert dated.source_id == "2026-11-01T01:00:00Z"
    assert undated.source_id.startswith("text:")
    later, told = read([message(0), message(1, id=None), message(2, id=[5], sent_at=None)])
    assert [m.source_id for m in later][1:] == [dated.source_id, undated.source_id]
    assert told["conversation.id/missing"] == 1 and told["conversation.id/malformed"] == 1


def test_places() -> None:
    """Place by place, in each allMessages before messages; what is empty or no list is passed over."""
    inner = {"data": {"favorite": {"allMessages": [], "messages": [message(1)]}}, "allMessages": [message(2)]}
    assert [m.source_id for m in read_messages(inner, Findings())] == ["m1"]
    findings = Findings()
    payload = {"data": {"allMessages": {"a": 1}}, "messages": [message(1)], "allMessages": [message(2)]}
    assert [m.source_id for m in read_messages(payload, findings)] == ["m2"]
    assert [(n.field, n.kind) for n in findings.notices()] == [("allMessages", "malformed")]
    assert [m.source_id for m in read_messages([message(3)], findings)] == ["m3"]
    assert read_messages(None, findings) == () and read_messages({"messages": 5}, findings) == ()


def test_nonsense_in_the_list() -> None:
    """What is no object is dropped, a body of another type is none, and what cannot be stored is taken out."""
    found, told = read(
        [None, "x", 5, [], message(1, body={"a": 1}), message(2, body=12), message(3, body="a\0b\ud800")]
    )
    assert [m.text for m in found] == ["12", "ab"]
    assert told == {"conversation/malformed": 4, "conversation.body/malformed": 2, "conversation/dropped": 1}


def test_foreign_scripts_stay_as_they_are() -> None:
    """Right-to-left, zalgo, dollars and tags: character for character."""
    bodies = ["\u202eשלום", "Z\u0351\u036b\u0343", "I paid $20, she paid $30 _and_ ~tip~ :red[x] #1 <b>"]
    found, _ = read([message(i, body=body) for i, body in enumerate(bodies)])
    assert [m.text for m in found] == bodies
