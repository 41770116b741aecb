"""The effective configuration as rows: name, value (secrets as stars), where it came from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from core.config import FIELDS, KEY_NAMES, URL_NAMES, Settings

MEANINGS = {
    "MEMORY_DESK_DATABASE": "embedded, hosted, or auto: embedded only if no Supabase variable is set",
    "MEMORY_DESK_DATA_DIR": "folder of the embedded database and of what waits to be written",
    "MEMORY_DESK_DEMO": "demo data in an empty embedded database",
    "MEMORY_DESK_EMBEDDER": "which embedding model searches and ingests use",
    "BESCO_GEMINI_API_KEY": "key of the Gemini embedder",
    "GOOGLE_GEMINI_BASE_URL": "another address for Gemini",
    "SUPABASE_DB_URL": "direct connection, for migrate alone",
    "MEMORY_DESK_API_TOKEN": "one bearer token that may everything; better: tokens of Access",
    "MEMORY_DESK_LOCAL_ROLE": "roles of whoever comes without sign-in",
    "MEMORY_DESK_ALLOW_ANONYMOUS": "serve other machines without sign-in",
    **{
        f"MEMORY_DESK_{role.upper()}S": f"who has the role {role} once signed in; see Access"
        for role in ("admin", "auditor", "tuner", "operator", "viewer", "owner")
    },
    "MEMORY_DESK_DEFAULT_ROLE": "role of whoever no rule is about: viewer, or none where anybody can sign in",
    "MEMORY_DESK_SESSION_HOURS": "hours until somebody has to sign in again",
    "MEMORY_DESK_ALLOWED_HOSTS": "names this server answers to; not set: those of this machine and of the sign-in",
    "MEMORY_DESK_RATE_PER_MINUTE": "requests of one token, and clicks of one person, a minute; 0: any number",
    "MEMORY_DESK_DATA_KEY": "seals the companion's words and uploads",
    "MEMORY_DESK_TZ": "time zone of days, and of moments for whoever chose none",
    "HOST": "address to listen on",
    "PORT": "port to listen on",
    "MEMORY_DESK_DB_TIMEOUT_S": "seconds to wait for the database",
    "MEMORY_DESK_EMBED_TIMEOUT_S": "seconds to wait for the embedder",
    "MEMORY_DESK_WEBHOOK_URL": "told of every settled change of the overall health",
    "MEMORY_DESK_PHOTO_ANALYSIS": "consent: photos may be sent to Gemini to be described",
    "MEMORY_DESK_VISION_MODEL": "the Gemini model that describes photos",
    "OLLAMA_BASE_URL": "a server of your own with the Ollama API, for the companion",
    "MEMORY_DESK_OLLAMA_MODEL": "its model",
    "MEMORY_DESK_CHAT_MODEL": "the Gemini model of the companion; used only after consent",
}
STARS = "********"
HOSTS = "allowed_hosts"  # no addresses of people


def rows(settings: Settings, env: Mapping[str, str], file: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """One row per variable; the environment wins over `.env`; an empty value counts as absent."""
    shown = [_row("MEMORY_DESK_DATABASE", _mode(env, file), env, file)]
    for name in (*URL_NAMES, *KEY_NAMES):
        value = _given(name, env, file)
        if value is not None:
            used = settings.hosted is not None and name in _used(settings, env, file)
            text = without_login(value) if name in URL_NAMES else STARS
            shown.append(_row(name, text, env, file, "used" if used else "set, not used"))
    if settings.hosted is None:
        shown.append(
            {
                "name": "SUPABASE_URL and key",
                "value": "not set",
                "origin": "default",
                "meaning": "the hosted project: none",
            }
        )
    shown += [
        _row(name, masked(getattr(settings, field)), env, file) for name, field in FIELDS.items() if field != HOSTS
    ]
    hosts = ", ".join(settings.allowed_hosts) or "not set"
    return [*shown, _row("MEMORY_DESK_ALLOWED_HOSTS", hosts, env, file)]


def masked(value: Any) -> str:
    """A value for the eye: a secret as stars of one length, whatever its own; absent as "not set"."""
    if value is None:
        return "not set"
    if isinstance(value, SecretStr):
        return STARS
    if isinstance(value, str):
        return without_login(value)
    if isinstance(value, frozenset):
        return ", ".join(sorted(value)) or "none"
    if isinstance(value, tuple):
        return f"{len(value)} named" if value else "nobody"  # addresses of people: for those who see Access
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def without_login(value: str) -> str:
    """An address as it is, but for a name and password in it."""
    head, at, host = value.rpartition("@")
    scheme, slashes, _ = head.partition("://")
    return f"{scheme}://{STARS}@{host}" if at and slashes else value


def _row(
    name: str, value: str, env: Mapping[str, str], file: Mapping[str, str | None], meaning: str | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "origin": _origin(name, env, file),
        "meaning": meaning or MEANINGS.get(name, ""),
    }


def _origin(name: str, env: Mapping[str, str], file: Mapping[str, str | None]) -> str:
    if (env.get(name) or "").strip():
        return "environment"
    return ".env" if (file.get(name) or "").strip() and name not in env else "default"


def _given(name: str, env: Mapping[str, str], file: Mapping[str, str | None]) -> str | None:
    return ((env[name] if name in env else file.get(name)) or "").strip() or None


def _mode(env: Mapping[str, str], file: Mapping[str, str | None]) -> str:
    return (_given("MEMORY_DESK_DATABASE", env, file) or "auto").lower()


def _used(settings: Settings, env: Mapping[str, str], file: Mapping[str, str | None]) -> set[str | None]:
    url = next((n for n in URL_NAMES if _given(n, env, file)), None)
    return {url, settings.hosted.key_name if settings.hosted else None}
