"""Sealed text: what the database holds of it, and what comes out with the right key, another, or none."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bootstrap import Core, build_core
from core.bootstrap.connect import sealer_of
from core.clock import FixedClock
from core.config import read_settings
from core.db.sealing import MISSING, PREFIX, Sealer, new_key, read_keys
from core.embedding.test import TestEmbedder
from core.errors import ConfigError, InputError
from core.local.server import Endpoint
from core.services.reseal import reseal
from core.services.upload_files import UploadFiles

OLD, NEW = new_key(), new_key()
PLANTED = "borscht with Olena Planted"


def sealer(*keys: str) -> Sealer:
    return Sealer(read_keys(",".join(keys)))


@given(st.text(min_size=1) | st.dictionaries(st.text(), st.integers() | st.text() | st.none(), min_size=1))
def test_it_comes_out_as_it_went_in(value: Any) -> None:
    """A text or a JSON object; twice sealed is sealed once; never the same cipher text again."""
    one = sealer(NEW)
    sealed = one.seal(value)
    assert sealed.startswith(PREFIX) and one.open(sealed) == value
    assert one.seal(sealed) == sealed and one.seal(value) != sealed


def test_without_its_key_it_stays_shut() -> None:
    """Another key, none, a changed letter: said in words, nothing breaks; what was never sealed is as it is."""
    text, whole = sealer(NEW).seal("secret"), sealer(NEW).seal({"a": 1})
    for other in (sealer(OLD), Sealer()):
        assert other.open(text) == MISSING and other.open(whole) is None
    head, _, body = text.rpartition(":")
    assert sealer(NEW).open(f"{head}:{body[:-6]}AAAA==") == MISSING
    assert sealer(NEW).open({"plain": ["as it is", 5, None]}) == {"plain": ["as it is", 5, None]}
    assert sealer(NEW).open("sealed:v1:nonsense") == MISSING


def test_rotation() -> None:
    """The first key seals, the older one still opens; sealing anew moves it to the first."""
    text = sealer(OLD).seal("secret")
    both = sealer(NEW, OLD)
    assert both.open(text) == "secret"
    moved = both.seal(text)
    assert moved != text and sealer(NEW).open(moved) == "secret"


@pytest.mark.parametrize(
    "key",
    ["my dog is called Rex", "a" * 44, NEW[:-4], f"{NEW},short", "ключ"],
    ids=["phrase", "letters", "cut", "second", "cyrillic"],
)
def test_what_is_no_key(key: str) -> None:
    """A passphrase is refused, without repeating it."""
    with pytest.raises(ConfigError) as refused:
        read_keys(key)
    assert key not in str(refused.value)


@pytest.fixture
def opened(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Any]:
    made: list[Core] = []

    def open_(*keys: str) -> Core:
        settings = read_settings({**env, **({"MEMORY_DESK_DATA_KEY": ",".join(keys)} if keys else {})})
        made.append(build_core(settings, endpoint=endpoint, embedder=TestEmbedder(), background=False))
        return made[-1]

    yield open_
    for core in made:
        core.close()


def write(core: Core) -> str:
    """A meal, a fact and a conversation with the planted words; the id of the meal."""
    from core.companion.reflect.facts import Learned

    mind = core.companion
    meal = mind.records.meals.log(PLANTED, meal_type="lunch", foods=("Olena's bread",))
    fact = Learned("llm:planted", "pattern", f"Likes {PLANTED}.", {"n": 1}, ("food",), (), "llm")
    mind.reflection.facts.learn(fact)
    return str(meal["id"])


def dump(dsn: str) -> str:
    """Every row of every table of the companion, as SQL sees it."""
    with psycopg.connect(dsn) as db:
        tables = [r[0] for r in db.execute("select tablename from pg_tables where tablename like 'companion%'")]
        return "\n".join(str(r[0]) for t in tables for r in db.execute(f"select row_to_json(t)::text from {t} t"))


def test_the_database_sees_none_of_it(opened: Any, dsn: str) -> None:
    """Written with a key: read back whole with it, shut without it, and in no row of the dump."""
    core = opened(NEW)
    id = write(core)
    assert core.companion.records.meals.get(id)["description"] == PLANTED
    assert core.companion.reflection.facts.list(0.0)[0].content == f"Likes {PLANTED}."
    core.events.flush()
    assert "Planted" not in dump(dsn) and "Olena" not in dump(dsn)
    without = opened()
    assert without.companion.records.meals.get(id)["description"] == MISSING
    assert without.companion.reflection.facts.list(0.0)[0].content == MISSING


def test_what_was_written_before_there_was_a_key(opened: Any, dsn: str) -> None:
    """Readable beside sealed rows; sealed by `key reseal`, once; moved to a newer key by the same."""
    id = write(opened())
    assert "Planted" in dump(dsn)
    core = opened(OLD)
    assert core.companion.records.meals.get(id)["description"] == PLANTED
    done = reseal(core.db, sealer_of(core.settings))
    assert done["companion_meals"] == 2 and done["companion_facts"] == 1
    assert "Planted" not in dump(dsn)
    assert not any(reseal(core.db, sealer_of(core.settings)).values())
    newer = opened(NEW, OLD)
    assert sum(reseal(newer.db, sealer_of(newer.settings)).values()) == 3
    assert opened(NEW).companion.records.meals.get(id)["foods"] == ["Olena's bread"]
    with pytest.raises(InputError):
        reseal(core.db, Sealer())


def test_a_conversation(opened: Any, dsn: str) -> None:
    """Title, question and answer; asked twice under one id it is still one question."""
    core = opened(NEW)
    chat = core.companion.chat
    conversation, message = str(uuid.uuid4()), str(uuid.uuid4())
    for _ in range(2):
        chat.ask(conversation, message, f"What about {PLANTED}?").wait(60)
    core.events.flush()
    assert "Planted" not in dump(dsn)
    transcript = chat.read(conversation)
    (turn,) = transcript.turns
    assert turn.question == f"What about {PLANTED}?"
    assert PLANTED in transcript.conversation.title


def test_uploads(tmp_path: Path) -> None:
    """On disk sealed line by line; read, erased and resumed as before; without the key refused."""
    clock = FixedClock(datetime(2026, 12, 1, tzinfo=UTC))
    files = UploadFiles(tmp_path, clock, sealer(NEW))
    bodies = {"a": {"dialogKey": "k1", "text": PLANTED}, "b": {"dialogKey": "k2"}}
    sha = files.keep([{"label": label, "body": body} for label, body in bodies.items()])
    kept = next((tmp_path / "uploads").iterdir())
    assert b"Planted" not in kept.read_bytes() and kept.stat().st_mode & 0o777 == 0o600
    assert [line.label for line in files.lines(sha)] == ["a", "b"]
    assert files.erase(["k1"]) == 1
    assert [(line.label, line.erased) for line in files.lines(sha)] == [("", True), ("b", False)]
    with pytest.raises(InputError, match="sealed"):
        list(UploadFiles(tmp_path, clock).lines(sha, start=1))
    assert json.loads(kept.read_bytes().splitlines()[1])["sealed"].startswith(PREFIX)
