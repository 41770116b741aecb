"""Settings out of an environment: all problems at once, nothing secret in any text."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.config import KEY_NAMES, Settings, is_loopback, load_settings, read_settings
from core.errors import ConfigError

SECRET = "hunter2-very-secret"
URL = "https://project.supabase.co"


def problems(env: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        read_settings(env)
    text = f"{caught.value}{caught.value!r}{caught.value.hint}{caught.value.detail}"
    assert SECRET not in text
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value.hint


def test_an_empty_environment_is_the_embedded_database() -> None:
    """Defaults: embedded, loopback, UTC, the embedder chosen later."""
    settings = read_settings({})
    assert settings.embedded and settings.hosted is None and settings.loopback
    assert (settings.port, settings.host, settings.time_zone, settings.embedder) == (8501, "127.0.0.1", "UTC", "auto")
    assert settings.demo is None and not settings.allow_anonymous and settings.data_dir.is_absolute()


def test_empty_values_count_as_absent() -> None:
    """A variable set to nothing, or to spaces, is a variable that is not set."""
    assert read_settings({"SUPABASE_URL": "", "PORT": "  ", "MEMORY_DESK_TZ": ""}) == read_settings({})


@pytest.mark.parametrize("key_name", KEY_NAMES)
def test_hosted_by_any_key_name(key_name: str) -> None:
    """A URL and one of the key names make it hosted; the name of the key is known, the key is not shown."""
    settings = read_settings({"SUPABASE_URL": URL + "/", key_name: SECRET})
    assert settings.hosted is not None and not settings.embedded
    assert (settings.hosted.url, settings.hosted.key_name) == (URL, key_name)
    assert settings.hosted.key.get_secret_value() == SECRET


def test_first_name_wins() -> None:
    """BESCO_ names before the plain ones, service keys before public ones."""
    env = dict.fromkeys(KEY_NAMES, "later") | {KEY_NAMES[0]: "first"}
    settings = read_settings({**env, "BESCO_SUPABASE_URL": URL, "SUPABASE_URL": "https://other.example"})
    assert settings.hosted and settings.hosted.url == URL and settings.hosted.key.get_secret_value() == "first"


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"SUPABASE_URL": URL}, "BESCO_SUPABASE_SERVICE_ROLE_KEY"),
        ({"SUPABASE_ANON_KEY": SECRET}, "BESCO_SUPABASE_URL"),
        ({"MEMORY_DESK_DATABASE": "hosted", "SUPABASE_URL": URL}, "BESCO_SUPABASE_SERVICE_ROLE_KEY"),
        ({"SUPABASE_URL": "project.supabase.co", "SUPABASE_ANON_KEY": SECRET}, "SUPABASE_URL"),
        ({"MEMORY_DESK_DATABASE": "cloud"}, "MEMORY_DESK_DATABASE"),
    ],
)
def test_half_a_hosted_database_is_an_error(env: dict[str, str], named: str) -> None:
    """A lost variable never opens an empty demo: the error names what is missing or wrong."""
    assert named in problems(env)


@pytest.mark.parametrize("url", ["http://[half", "http://127.0.0.1:99999", "https://", "ftp://project.supabase.co"])
def test_an_unusable_url_is_named(url: str) -> None:
    """A URL that no client can read is a problem of its variable, and no traceback at the first call."""
    assert problems({"SUPABASE_URL": url, "SUPABASE_ANON_KEY": SECRET}) == "- SUPABASE_URL is no http(s) URL"


@pytest.mark.parametrize("value", [SECRET + "ключ", SECRET + "\n" + SECRET])
def test_a_key_that_no_header_can_carry_is_named(value: str) -> None:
    """A key pasted in another alphabet, or over two lines, is named before the first call fails on it."""
    env = {"SUPABASE_URL": URL, "SUPABASE_ANON_KEY": value}
    hint = problems({**env, "BESCO_GEMINI_API_KEY": value, "MEMORY_DESK_API_TOKEN": value})
    assert all(name in hint for name in ("SUPABASE_ANON_KEY", "BESCO_GEMINI_API_KEY", "MEMORY_DESK_API_TOKEN"))


def test_hosted_without_anything_names_both() -> None:
    """Both variables are named in one error."""
    hint = problems({"MEMORY_DESK_DATABASE": "hosted"})
    assert "BESCO_SUPABASE_URL" in hint and "BESCO_SUPABASE_SERVICE_ROLE_KEY" in hint


def test_embedded_on_purpose_ignores_a_hosted_one() -> None:
    """MEMORY_DESK_DATABASE=embedded is a decision."""
    settings = read_settings({"MEMORY_DESK_DATABASE": "embedded", "SUPABASE_URL": URL, "SUPABASE_ANON_KEY": SECRET})
    assert settings.embedded


def test_all_problems_at_once() -> None:
    """One error lists every variable that is wrong, each in a line, and no secret."""
    hint = problems(
        {
            "PORT": "99999",
            "MEMORY_DESK_TZ": "Kyiv/Nowhere",
            "MEMORY_DESK_EMBEDDER": "magic",
            "MEMORY_DESK_DB_TIMEOUT_S": "0",
            "MEMORY_DESK_DEMO": "perhaps",
            "SUPABASE_SERVICE_ROLE_KEY": SECRET,
        }
    )
    wanted = [
        "PORT",
        "MEMORY_DESK_TZ",
        "MEMORY_DESK_EMBEDDER",
        "MEMORY_DESK_DB_TIMEOUT_S",
        "MEMORY_DESK_DEMO",
        "SUPABASE_URL",
    ]
    assert all(name in hint for name in wanted)
    assert len(hint.splitlines()) == len(wanted) and all(line.startswith("- ") for line in hint.splitlines())


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"MEMORY_DESK_EMBEDDER": "test"}, "MEMORY_DESK_EMBEDDER"),
        ({"MEMORY_DESK_DEMO": "on"}, "MEMORY_DESK_DEMO"),
        ({"MEMORY_DESK_EMBEDDER": "gemini"}, "BESCO_GEMINI_API_KEY"),
    ],
)
def test_contradictions_with_a_hosted_database(env: dict[str, str], named: str) -> None:
    """Test vectors and demo data never reach a hosted table; Gemini needs its key."""
    assert named in problems({"SUPABASE_URL": URL, "SUPABASE_SERVICE_ROLE_KEY": SECRET, **env})


@pytest.mark.parametrize(
    ("text", "value"), [("on", True), ("1", True), ("YES", True), ("off", False), ("0", False), ("no", False)]
)
def test_switches(text: str, value: bool) -> None:
    """Words for on and off, in any case."""
    assert read_settings({"MEMORY_DESK_DEMO": text, "MEMORY_DESK_ALLOW_ANONYMOUS": text}).demo is value


def test_secrets_print_as_stars() -> None:
    """No text of the settings shows a secret, and neither does their JSON."""
    names = ["SUPABASE_SERVICE_ROLE_KEY", "BESCO_GEMINI_API_KEY", "MEMORY_DESK_API_TOKEN"]
    direct = {"SUPABASE_DB_URL": f"postgresql://u:{SECRET}@db.example.org/postgres"}
    settings = read_settings({"SUPABASE_URL": URL, **dict.fromkeys(names, SECRET), **direct})
    assert settings.api_token and settings.api_token.get_secret_value() == SECRET
    shown = f"{settings}{settings!r}{settings.model_dump()}{settings.model_dump_json()}"
    assert SECRET not in shown and "****" in shown


@pytest.mark.parametrize("text", ["db.example.org", "https://db.example.org", "postgresql://", "postgresql://h:0/d"])
def test_an_unusable_direct_connection_is_named(text: str) -> None:
    """By its variable, and without its value, which holds a password."""
    with pytest.raises(ConfigError, match="SUPABASE_DB_URL") as refused:
        read_settings({"SUPABASE_DB_URL": text})
    assert "PASSWORD@HOST" in str(refused.value)


def test_settings_cannot_be_changed() -> None:
    """They are read once."""
    settings = read_settings({})
    with pytest.raises(ValueError, match="frozen"):
        settings.port = 1  # type: ignore[misc]
    assert isinstance(settings, Settings)


def test_env_file_never_overrides_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.env` fills up what the environment lacks."""
    (tmp_path / ".env").write_text("PORT=9001\nMEMORY_DESK_TZ=Europe/Kyiv\nEMPTY=\n", encoding="utf-8")
    for name in ("SUPABASE_URL", "BESCO_SUPABASE_URL", *KEY_NAMES, "MEMORY_DESK_TZ"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PORT", "9002")
    settings = load_settings(tmp_path)
    assert (settings.port, settings.time_zone, str(settings.zone)) == (9002, "Europe/Kyiv", "Europe/Kyiv")


LOOPBACK = ("127.0.0.1", "127.8.8.8", "::1", "[::1]", "LocalHost")
ELSEWHERE = ("0.0.0.0", "::", "192.168.1.5", "example.org", "127.0.0.1.evil.org")


@pytest.mark.parametrize("host", [*LOOPBACK, *ELSEWHERE])
def test_loopback(host: str) -> None:
    """What is loopback, by address or by its one name."""
    assert is_loopback(host) is (host in LOOPBACK)


def test_a_wrong_value_hides_no_contradiction() -> None:
    """What contradicts itself is listed beside what cannot be read at all."""
    hint = problems({"PORT": "abc", "MEMORY_DESK_EMBEDDER": "gemini"})
    assert "PORT" in hint and "BESCO_GEMINI_API_KEY" in hint
