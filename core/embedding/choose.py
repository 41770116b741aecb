"""Which embedder this set-up uses. Vectors of another model must never slip into a hosted table."""

from __future__ import annotations

from core.config import Settings
from core.embedding.provider import Embedder
from core.errors import ConfigError, ProviderMissing

KEY_HINT = "Set BESCO_GEMINI_API_KEY to use Gemini."


def choose(settings: Settings, *, demo_loaded: bool) -> Embedder:
    """The embedder of MEMORY_DESK_EMBEDDER. `auto`: local while demo data is loaded, else Gemini where its key is set,
    else local, which only the embedded database may hold.

    Errors: ProviderMissing where there is none to choose, ConfigError for test vectors on a hosted database.
    Source: design, section 4.
    """
    choice = settings.embedder
    if choice == "auto":
        demo = settings.embedded and demo_loaded
        choice = "gemini" if settings.gemini_api_key and not demo else "local"
    if choice == "test":
        return _test(settings)
    return _gemini(settings) if choice == "gemini" else _local(settings)


def _gemini(settings: Settings) -> Embedder:
    from core.embedding.gemini import GeminiEmbedder

    if settings.gemini_api_key is None:
        raise ProviderMissing("Gemini is chosen as embedder and has no key.", hint=KEY_HINT)
    return GeminiEmbedder(
        settings.gemini_api_key.get_secret_value(),
        base_url=settings.gemini_base_url,
        timeout_s=settings.embed_timeout_s,
    )


def _local(settings: Settings) -> Embedder:
    from core.embedding.local import LocalEmbedder

    if settings.embedded:
        return LocalEmbedder(timeout_s=settings.embed_timeout_s)
    if settings.embedder == "local":
        raise ProviderMissing(
            "The local model is for the embedded database: its vectors must not slip into a hosted table.",
            hint=f"{KEY_HINT} Leave MEMORY_DESK_EMBEDDER unset, or unset the Supabase variables.",
        )
    raise ProviderMissing("No embedder is configured for the hosted database.", hint=KEY_HINT)


def _test(settings: Settings) -> Embedder:
    from core.embedding.test import TestEmbedder

    if not settings.embedded:
        raise ConfigError("Test vectors are refused on a hosted database.", hint="Unset MEMORY_DESK_EMBEDDER.")
    return TestEmbedder()
