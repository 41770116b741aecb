"""The effective configuration as the Settings page shows it."""

from __future__ import annotations

import pytest

from core.config import read_settings
from pages._shared import configuration, examples

SECRET = "sb_secret_do_not_show"


def by_name(env: dict[str, str], file: dict[str, str | None] | None = None) -> dict[str, dict[str, str]]:
    settings = read_settings({**{k: v for k, v in (file or {}).items() if v}, **env})
    return {row["name"]: row for row in configuration.rows(settings, env, file or {})}


def test_secrets_are_stars_of_one_length() -> None:
    """Neither a key nor its length can be read from the page."""
    env = {
        "SUPABASE_URL": "https://x.supabase.co",
        "SUPABASE_SERVICE_ROLE_KEY": SECRET,
        "BESCO_GEMINI_API_KEY": "short",
        "MEMORY_DESK_API_TOKEN": "t" * 99,
        "SUPABASE_DB_URL": f"postgresql://u:{SECRET}@h/db",
    }
    found = by_name(env)
    assert SECRET not in str(found) and "t" * 9 not in str(found)
    masked = ("SUPABASE_SERVICE_ROLE_KEY", "BESCO_GEMINI_API_KEY", "MEMORY_DESK_API_TOKEN", "SUPABASE_DB_URL")
    assert {found[name]["value"] for name in masked} == {configuration.STARS}


def test_where_a_value_came_from() -> None:
    """The environment wins over .env, and what neither says is a default."""
    found = by_name({"PORT": "9000"}, {"PORT": "8000", "MEMORY_DESK_TZ": "Europe/Kyiv"})
    assert (found["PORT"]["value"], found["PORT"]["origin"]) == ("9000", "environment")
    assert (found["MEMORY_DESK_TZ"]["value"], found["MEMORY_DESK_TZ"]["origin"]) == ("Europe/Kyiv", ".env")
    assert found["MEMORY_DESK_EMBEDDER"]["origin"] == "default"
    assert found["MEMORY_DESK_API_TOKEN"]["value"] == "not set"


def test_the_key_in_use_is_told_from_one_that_is_only_set() -> None:
    """Of several keys the page says which one counts."""
    env = {"SUPABASE_URL": "https://x.supabase.co", "SUPABASE_ANON_KEY": "a", "SUPABASE_SERVICE_ROLE_KEY": "s"}
    found = by_name(env)
    assert found["SUPABASE_SERVICE_ROLE_KEY"]["meaning"] == "used"
    assert found["SUPABASE_ANON_KEY"]["meaning"] == "set, not used"


def test_a_password_in_an_address_is_not_shown() -> None:
    """Addresses are shown, the login that some carry is not."""
    env = {
        "SUPABASE_URL": "https://desk:hidden@db.example",
        "SUPABASE_ANON_KEY": "k",
        "GOOGLE_GEMINI_BASE_URL": "http://u:hidden@g.example/v1",
    }
    found = by_name(env)
    assert "hidden" not in str(found)
    assert found["SUPABASE_URL"]["value"] == f"https://{configuration.STARS}@db.example"
    assert configuration.without_login("https://plain.example/a") == "https://plain.example/a"


def test_who_has_which_role_is_counted_only() -> None:
    """Everybody may see this page: addresses stay on Access."""
    found = by_name({"MEMORY_DESK_ADMINS": "ann@example.org, groups=ops", "MEMORY_DESK_LOCAL_ROLE": "viewer,auditor"})
    assert found["MEMORY_DESK_ADMINS"]["value"] == "2 named" and "example" not in str(found)
    assert found["MEMORY_DESK_VIEWERS"]["value"] == "nobody"
    assert found["MEMORY_DESK_LOCAL_ROLE"]["value"] == "auditor, viewer"


def test_names_of_this_server_are_shown() -> None:
    """They are nobody's; without any it says so."""
    assert by_name({"MEMORY_DESK_ALLOWED_HOSTS": "desk.example.org"})["MEMORY_DESK_ALLOWED_HOSTS"]["value"] == (
        "desk.example.org"
    )
    assert by_name({})["MEMORY_DESK_ALLOWED_HOSTS"]["value"] == "not set"


def test_every_variable_says_what_it_is_for() -> None:
    """No row is left to guess about."""
    assert [name for name, row in by_name({}).items() if not row["meaning"]] == []


def test_an_example_shows_a_token_where_people_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be refused as it stands."""
    settings = read_settings({"MEMORY_DESK_DATA_DIR": "unused"})
    assert "Bearer" not in examples.curl(settings, "GET", "/health")
    monkeypatch.setattr("pages._shared.session.ways", lambda: ("staff",))
    assert "Bearer $MEMORY_DESK_API_TOKEN" in examples.curl(settings, "GET", "/health")
