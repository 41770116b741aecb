"""The numbers of spec/memory.md section 2, written out once more so that a slip of the hand is seen."""

from __future__ import annotations

import pytest

from core.memory import sources


def test_numbers() -> None:
    """Limits and boosts are the spec's."""
    assert (sources.NOTE_LIMIT, sources.CHUNK_LIMIT, sources.MESSAGE_LIMIT) == (800, 420, 420)
    assert (sources.MESSAGES_PER_INGEST, sources.PROFILE_ROWS) == (80, 10)
    assert (sources.LIMIT_MIN, sources.LIMIT_DEFAULT, sources.LIMIT_MAX) == (1, 12, 24)
    assert dict(sources.DEFAULT_WEIGHTS) == {"note": 0.18, "profile": 0.08, "photo": 0.05}
    assert set(sources.SOURCES) == {"note", "profile", "photo", "summary", "conversation"}


def test_default_weights_cannot_be_changed() -> None:
    """No caller can turn the defaults into its own for everybody."""
    with pytest.raises(TypeError):
        sources.DEFAULT_WEIGHTS["note"] = 1.0  # type: ignore[index]
