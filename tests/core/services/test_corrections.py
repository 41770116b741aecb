"""Excluding chunks and cleaning up superseded ones through the service."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from core.bootstrap import Core
from core.errors import ConflictError, InputError, NotFound
from tests.support.dialogs import ODD_KEY, body


def aged(age: int, key: str = "k1") -> dict[str, Any]:
    made = body(key, messages=2)
    made["conversationJson"]["favorite"]["profile"]["age"] = age
    return made


def test_the_next_ingest_does_not_revive(core: Core) -> None:
    """An excluded chunk stays away and is reported; put back it is unchanged for the next ingest."""
    core.ingest.ingest(body(ODD_KEY))
    note = core.dialogs.chunks(ODD_KEY, source="note").rows[0]
    assert core.corrections.exclude([note.id], "sensitive", kind="deleted").count == 1
    preview = core.ingest.preview(body(ODD_KEY))
    assert preview.count("excluded") == 1
    again = core.ingest.ingest(body(ODD_KEY))
    assert (again.added, again.excluded, again.unchanged) == (0, 1, again.total_chunks - 1)
    assert any("excluded or deleted" in notice.message for notice in again.warnings)
    away = core.corrections.excluded(ODD_KEY)
    assert (away.total, away.rows[0].text, away.rows[0].reason) == (1, note.text, "sensitive")
    assert core.corrections.restore([note.id]).restored == 1
    assert core.dialogs.chunks_by_id([note.id]) == (note,)
    assert core.ingest.ingest(body(ODD_KEY)).unchanged == again.total_chunks


def test_superseded(core: Core) -> None:
    """Seen, counted, deleted, put back; never more than was shown."""
    core.ingest.ingest(aged(34))
    core.ingest.ingest(aged(35))
    seen = core.corrections.superseded()
    assert [(row.text, row.newer_text) for row in seen.rows] == [("Age: 34", "Age: 35")]
    with pytest.raises(ConflictError, match="0 were shown"):
        core.corrections.delete_superseded(expected=0)
    calls: list[tuple[int, int, str]] = []
    done = core.corrections.delete_superseded(expected=seen.total, progress=lambda *at: calls.append(at))
    assert (done.count, calls) == (1, [(1, 1, "")])
    assert core.corrections.superseded().total == 0
    assert core.corrections.restore([seen.rows[0].id]).restored == 1
    assert core.corrections.superseded().total == 1
    types = [event.type for event in core.events.store.query().rows]
    assert types.count("ChunksDeleted") == 1


def test_refusals(core: Core) -> None:
    """No id, a wrong id, an unknown reason, a chunk that is gone."""
    core.ingest.ingest(body("k1"))
    one = core.dialogs.chunks("k1").rows[0].id
    for ids, reason in (([], "stale"), (["x"], "stale"), ([one], "because"), ([one] * 1001, "stale")):
        with pytest.raises(InputError):
            core.corrections.exclude(ids, reason)
    with pytest.raises(NotFound):
        core.corrections.exclude([str(uuid.uuid4())], "stale")
    with pytest.raises(NotFound):
        core.corrections.restore([one])
    with pytest.raises(InputError):
        core.corrections.restore([])


def test_a_tombstone_without_text_is_lifted(core: Core) -> None:
    """The hash alone is enough to let the next ingest write it again."""
    core.ingest.ingest(body("k1"))
    chunk = core.dialogs.chunks("k1").rows[0]
    core.corrections.exclude([chunk.id], "other")
    assert chunk.content_hash
    assert core.corrections.restore(dialog_key="k1", hashes=[chunk.content_hash]).lifted == 1
    assert core.ingest.ingest(body("k1")).added == 1
