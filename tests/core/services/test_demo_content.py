"""What the demo data promises: languages, sources, keys, and the odd cases that the pages are there to show."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from core.memory.keys import both_keys, key_order
from core.memory.payload import normalise
from core.memory.sources import SOURCES
from core.services.demo_content import FOLDER, DemoDialog, dated, demo_dialogs, demo_texts

NOW = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def dialogs() -> list[DemoDialog]:
    return demo_dialogs(NOW)


def chunks(dialog: DemoDialog, source: str | None = None):
    return [c for ingest in dialog.ingests for c in ingest.chunks if source in (None, c.source)]


def named(dialogs: list[DemoDialog], name: str) -> DemoDialog:
    return next(dialog for dialog in dialogs if dialog.name == name)


def test_forty_dialogs_in_three_languages(dialogs: list[DemoDialog]) -> None:
    """20 English, 12 Ukrainian, 8 Russian, every source present, 15 to 160 messages where there are any."""
    assert Counter(dialog.language for dialog in dialogs) == {"en": 20, "uk": 12, "ru": 8}
    assert {c.source for dialog in dialogs for c in chunks(dialog)} == set(SOURCES)
    sizes = sorted(len(chunks(dialog, "conversation")) for dialog in dialogs)
    assert sizes[0] == 0
    assert sizes[1] >= 15
    assert [size > 100 for size in sizes].count(True) == 2


def test_languages_are_what_they_say(dialogs: list[DemoDialog]) -> None:
    """Ukrainian dialogs use Ukrainian letters, Russian ones Russian ones, English none of either."""
    for dialog in dialogs:
        text = " ".join(c.text for c in chunks(dialog) if c.source in ("note", "conversation")).lower()
        if not text:
            continue
        ukrainian, russian = any(c in text for c in "іїєґ"), any(c in text for c in "ыэъё")
        expected = {"en": (False, False), "uk": (True, False), "ru": (False, True)}[dialog.language]
        teaches_words = dialog.name == "thomas-olena"
        assert (ukrainian, russian) == expected or teaches_words, dialog.name


def test_two_pairs_stand_under_both_keys(dialogs: list[DemoDialog]) -> None:
    """Exactly two pairs have rows in both orders; all other keys are in the order of the tips flow."""
    keys: dict[tuple[str | None, str | None], set[str]] = defaultdict(set)
    for dialog in dialogs:
        for ingest in dialog.ingests:
            owner = ingest.owner
            keys[owner.ru_id, owner.tu_id].add(key_order(owner.dialog_key, owner.ru_id, owner.tu_id))
    assert len(keys) == len(dialogs)
    assert Counter(tuple(sorted(orders)) for orders in keys.values()) == {("generic", "tips"): 2, ("tips",): 38}


def test_six_weeks_that_end_now(dialogs: list[DemoDialog]) -> None:
    """Messages and notes lie within six weeks, some today, none in the future; ingests follow their messages."""
    sent = [datetime.fromisoformat(c.sent_at) for d in dialogs for c in chunks(d) if c.sent_at]
    assert NOW - timedelta(days=42) <= min(sent)
    assert NOW.date() == max(sent).date()
    assert max(sent) < NOW
    for dialog in dialogs:
        for ingest in dialog.ingests:
            assert ingest.created_at < NOW
            days = [c.note_date for c in ingest.chunks if c.note_date]
            times = [c.sent_at for c in ingest.chunks if c.sent_at]
            assert max([*days, "2026"]) <= ingest.created_at.date().isoformat(), dialog.name
            assert max([*times, "2026"]) <= ingest.created_at.isoformat(), dialog.name
        moments = [(i.owner.dialog_key, i.created_at) for i in dialog.ingests]
        assert len(set(moments)) == len(moments), f"{dialog.name}: two ingests of one moment do not supersede"


def test_nothing_in_the_future_at_any_hour() -> None:
    """Loaded at any time of the day, no message and no ingest lies ahead of the clock."""
    for hour in range(24):
        now = datetime(2026, 3, 1, hour, 5, tzinfo=UTC)
        for dialog in demo_dialogs(now):
            assert all(ingest.created_at <= now for ingest in dialog.ingests)
            assert all(datetime.fromisoformat(c.sent_at) <= now for c in chunks(dialog) if c.sent_at)


def test_hashes_do_not_depend_on_the_day(dialogs: list[DemoDialog]) -> None:
    """The same content hashes a year later: loading again adds nothing."""
    later = demo_dialogs(NOW + timedelta(days=365))
    for now, then in zip(dialogs, later, strict=True):
        assert [c.content_hash for c in chunks(now)] == [c.content_hash for c in chunks(then)]


def test_every_payload_is_clean(dialogs: list[DemoDialog]) -> None:
    """Each body ingests with no warning but for a part that is missing, on purpose, and undated messages."""
    for path in FOLDER.glob("*.json"):
        for entry in json.loads(path.read_text(encoding="utf-8"))["ingests"]:
            read = normalise(dated(entry["body"], NOW.date()))
            kinds = {notice.kind for notice in read.notices if notice.is_warning}
            assert kinds <= {"missing"}, path.stem


def test_superseded_facts_are_there(dialogs: list[DemoDialog]) -> None:
    """An age that changed and an edited message: one source_id, two texts, two ingests."""
    peter = named(dialogs, "peter-iryna")
    ages = {c.text for c in chunks(peter, "profile") if c.text.startswith("Age")}
    edited = {c.text for c in chunks(peter, "conversation") if c.source_id == "pm7"}
    assert ages == {"Age: 34", "Age: 35"}
    assert len(edited) == 2


def test_long_notes_split(dialogs: list[DemoDialog]) -> None:
    """At least six notes of more than 420 characters, in pieces of at most 420."""
    pieces: Counter[tuple[str, str]] = Counter()
    for dialog in dialogs:
        for c in chunks(dialog, "note"):
            pieces[dialog.name, c.source_id] += 1
            assert len(c.text) <= 420
    assert sum(count > 1 for count in pieces.values()) >= 6


def test_odd_dialogs(dialogs: list[DemoDialog]) -> None:
    """One with a profile alone, one without any date, duplicates, photos with and without a description."""
    assert {c.source for c in chunks(named(dialogs, "douglas-katya"))} == {"profile", "photo"}
    undated = chunks(named(dialogs, "brian-vira"))
    assert len(undated) > 15
    assert not any(c.sent_at or c.note_date for c in undated)
    twice = [d.name for d in dialogs if max(Counter(c.text for c in chunks(d, "note")).values(), default=0) > 1]
    assert twice == ["robert-vira", "roman-lesia"]
    photos = [[c.text for c in chunks(d, "photo")] for d in dialogs]
    assert sum(any(not text.startswith("Main profile") for text in texts) for texts in photos) == 2
    assert sum(bool(texts) for texts in photos) > 30


def test_about_a_dozen_rows_of_another_model(dialogs: list[DemoDialog]) -> None:
    """Some rows play those of a former model; they are few, and beside rows of the local one."""
    foreign = [(d.name, i.model, len(i.chunks)) for d in dialogs for i in d.ingests if i.model]
    assert {model for _, model, _ in foreign} == {"gemini-embedding-001:768"}
    assert 8 <= sum(count for _, _, count in foreign) <= 16


def test_photos_are_never_reachable(dialogs: list[DemoDialog]) -> None:
    """Every address belongs to the reserved domain `example`."""
    for path in FOLDER.glob("*.json"):
        for part in path.read_text(encoding="utf-8").split('"'):
            if part.startswith("http"):
                assert urlsplit(part).hostname == "photos.example"


def test_tag_words_occur(dialogs: list[DemoDialog]) -> None:
    """The tags trust, emotional and sexual each mark some chunk."""
    tags = Counter(tag for d in dialogs for c in chunks(d) for tag in c.tags)
    assert min(tags["trust"], tags["emotional"]) >= 10
    assert tags["sexual"] >= 1


def test_the_note_about_trust(dialogs: list[DemoDialog]) -> None:
    """It stands alone and shares no word with the query that finds it."""
    note = [c for c in chunks(named(dialogs, "daniel-olena"), "note") if "trust" in c.text]
    assert [c.text for c in note] == ["he worries about trust"]
    assert not {"serious", "relationship"} & set(note[0].text.split())
    assert not any("serious relationship" in c.text.lower() for c in chunks(named(dialogs, "daniel-olena")))


def test_texts_are_distinct_and_many() -> None:
    """Duplicates share one vector."""
    texts = demo_texts()
    assert len(texts) == len(set(texts)) > 1_300


def test_ids_of_pairs(dialogs: list[DemoDialog]) -> None:
    """Every dialog knows both ids, and its key comes from them."""
    for dialog in dialogs:
        for ingest in dialog.ingests:
            owner = ingest.owner
            assert owner.ru_id
            assert owner.tu_id
            assert owner.dialog_key in both_keys(owner.ru_id, owner.tu_id)
            assert owner.favorite_id != owner.dialog_key
