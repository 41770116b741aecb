"""Merging the keys of a pair through the service: preview, act, undo; what is refused, in words."""

from __future__ import annotations

import uuid

import pytest

from core.bootstrap import Core
from core.errors import ConflictError, Forbidden, InputError, NotFound
from core.events.actor import ai, run_as
from core.memory.keys import both_keys
from core.memory.merges import MergeStore
from tests.support.dialogs import body

TIPS, GENERIC = both_keys("ru-1", "tu-9")


@pytest.fixture
def pair(core: Core) -> Core:
    """One pair with rows under both keys."""
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9", notes=("Told only there.",)))
    return core


def test_merge_and_undo(pair: Core) -> None:
    """The pair is no longer ambiguous; after the undo it is, with the chunks it had; both are in the log."""
    before = {key: pair.dialogs.status([key])[key].chunks for key in (TIPS, GENERIC)}
    seen = pair.merges.preview(TIPS, GENERIC)
    assert seen.both_alive and not seen.different_pairs
    assert (seen.kept.chunks, seen.dropped.chunks) == (before[TIPS], before[GENERIC])
    done = pair.merges.merge(TIPS, GENERIC)
    assert done.count("lost") == seen.clashes
    assert pair.dialogs.status([TIPS])[TIPS].chunks == sum(before.values()) - seen.clashes
    assert pair.dialogs.ambiguous_pairs().total == 0
    assert pair.merges.list().rows[0].written_again is False
    again = pair.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9", notes=("Told only there.",)))
    assert again.added == 0, "hashes are those of the kept key"
    pair.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9"))
    assert pair.merges.list().rows[0].written_again is True
    assert [row["dropped_key"] for row in pair.corrections.state().reopened] == [GENERIC]
    assert pair.merges.undo(done.merge_id) > 0
    assert pair.dialogs.ambiguous_pairs().total == 1
    types = {event.type for event in pair.events.store.query(record_id=TIPS).rows}
    assert "DialogKeysMerged" in types
    assert pair.events.store.verify().ok


def test_refusals(pair: Core) -> None:
    """One key twice, another pair, nothing there, undone twice: each says what it is."""
    pair.ingest.ingest(body(None, ruId="ru-2", tuId="tu-9"))
    other = both_keys("ru-2", "tu-9")[0]
    with pytest.raises(InputError, match="itself"):
        pair.merges.merge(TIPS, TIPS)
    with pytest.raises(InputError):
        pair.merges.preview("", TIPS)
    with pytest.raises(ConflictError, match="different pairs"):
        pair.merges.merge(TIPS, other)
    with pytest.raises(NotFound):
        pair.merges.merge(TIPS, "nobody")
    with pytest.raises(InputError):
        pair.merges.undo("no id")
    with pytest.raises(NotFound):
        pair.merges.undo(str(uuid.uuid4()))
    done = pair.merges.merge(TIPS, GENERIC, mode="copy")
    pair.merges.undo(done.merge_id)
    with pytest.raises(ConflictError, match="already"):
        pair.merges.undo(done.merge_id)


def test_an_ai_may_not(pair: Core) -> None:
    """Without a policy that allows it."""
    machine = ai("m", "m", mission_id="1", iteration_id="1", rationale="tidy")
    with run_as(machine), pytest.raises(Forbidden):
        pair.merges.merge(TIPS, GENERIC)
    with run_as(machine), pytest.raises(Forbidden):
        pair.erasures.erase(TIPS, "test")


def test_a_preview_of_nobody(core: Core) -> None:
    """Keys without rows: zeros and no dates."""
    seen = MergeStore(core.db).preview("a", "b")
    assert (seen.rows, seen.clashes, seen.kept.last_write_at, seen.both_alive) == (0, 0, None, False)
