"""The index of a dialog's words: read once, anew when anything of the dialog changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.memory.dialog_words import KEPT, DialogWords
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core


def ids_of(core: Core, key: str) -> dict[str, str]:
    pages = core.db.pages("client_memory_chunks", "id,text", where={"dialog_key": key})
    return {row["id"]: row["text"] for page in pages for row in page}


def test_texts_are_read_once_until_something_changes(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second search reads no text; an ingest makes the next one read them again."""
    core.ingest.ingest(body("k1"))
    words, reads = DialogWords(core.db), []
    pages = Database.pages

    def counted(self: Database, *args: Any, **named: Any) -> Any:
        reads.append(args)
        return pages(self, *args, **named)

    monkeypatch.setattr(Database, "pages", counted)
    first = list(ids_of(core, "k1"))
    reads.clear()
    assert words.scores("k1", "trust", first).tolist() == words.scores("k1", "trust", first).tolist()
    assert len(reads) == 1
    core.ingest.ingest(body("k1", notes=("Umbrella weather",)))
    reads.clear()
    texts = ids_of(core, "k1")
    scores = dict(zip(texts, words.scores("k1", "umbrella", list(texts)), strict=True))
    assert len(reads) == 2
    assert {texts[i] for i, score in scores.items() if score} == {"Umbrella weather"}


def test_a_chunk_that_the_index_lacks_has_it_read_anew(core: Core) -> None:
    """Should the rollup lag behind the rows, an unknown id says so; one of nowhere scores 0."""
    core.ingest.ingest(body("k1"))
    words = DialogWords(core.db)
    nowhere = "00000000-0000-4000-8000-000000000000"
    assert words.scores("k1", "trust", [nowhere]).tolist() == [0.0]


def test_few_dialogs_are_kept(core: Core) -> None:
    """Words of the latest only; none at all of a dialog without rows."""
    words = DialogWords(core.db)
    for n in range(KEPT + 3):
        assert len(words.index(f"none-{n}")) == 0
    assert len(words._kept) == KEPT


def test_a_database_that_is_away_is_said(core: Core) -> None:
    """The caller decides what a search without words is worth."""
    with pytest.raises(DatabaseUnavailable):
        DialogWords(Database("http://127.0.0.1:9", "key", timeout_s=1.0)).index("k1")
