"""Who speaks, and what the model is given."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.memory.chunks import build_chunks
from core.memory.payload import normalise
from core.memory.sources import SOURCES
from core.memory.speakers import NAME_LIMIT, Speakers, embedded_text, is_spoken, named_in, speakers_of
from tests.support.dialogs import body

TEXTS = st.text(max_size=60)


def test_a_message_has_its_speaker() -> None:
    """Incoming: the client by the name of the profile; outgoing: TU."""
    names = Speakers("Taras")
    assert embedded_text("speaker", "conversation", "incoming", "hi", names) == "Taras: hi"
    assert embedded_text("speaker", "conversation", "outgoing", "hi", names) == "TU: hi"
    assert embedded_text("speaker", "conversation", "outgoing", "hi", Speakers("Taras", "Olena")) == "Olena: hi"


@given(st.sampled_from(SOURCES), st.sampled_from(["incoming", "outgoing", None, "odd"]), TEXTS, TEXTS)
def test_everything_else_stays_plain(source: str, direction: str | None, text: str, name: str) -> None:
    """Notes, profile, photo, summary, and messages without a direction; and everything under plain."""
    names = speakers_of(name)
    assert embedded_text("plain", source, direction, text, names) == text
    given_text = embedded_text("speaker", source, direction, text, names)
    assert given_text.endswith(text)
    assert (given_text != text) == is_spoken(source, direction)


@given(st.text(max_size=200))
def test_a_name_is_one_short_line(name: str) -> None:
    """No line break, no endless name; a blank one is none."""
    ru = speakers_of(name).ru
    assert 0 < len(ru) <= NAME_LIMIT and "\n" not in ru and ru == ru.strip()
    assert speakers_of(None) == speakers_of("  ") == Speakers("RU", "TU")


def test_the_name_of_a_payload() -> None:
    """The profile's name line; a payload without one names nobody."""
    chunks, _ = build_chunks(normalise(body()))
    assert named_in(chunks) == Speakers("Taras")
    assert named_in([chunk for chunk in chunks if chunk.source != "profile"]) is None
