"""Settings, read once from a mapping. Every problem is listed in one error; secrets print as stars."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from dotenv import dotenv_values
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, field_validator

from core.errors import ConfigError

URL_NAMES = ("BESCO_SUPABASE_URL", "SUPABASE_URL")
SERVICE_KEY_NAMES = ("BESCO_SUPABASE_SERVICE_ROLE_KEY", "SUPABASE_SERVICE_ROLE_KEY")
PUBLIC_KEY_NAMES = ("BESCO_SUPABASE_PUBLISHABLE_KEY", "SUPABASE_PUBLISHABLE_KEY", "SUPABASE_ANON_KEY")
KEY_NAMES = SERVICE_KEY_NAMES + PUBLIC_KEY_NAMES

NOT_SENDABLE = "holds a character that no HTTP header can carry"

DatabaseMode = Literal["auto", "embedded", "hosted"]
Role = Literal["viewer", "auditor", "tuner", "operator", "admin", "owner"]
EmbedderChoice = Literal["auto", "gemini", "local", "test"]


def _switch(value: Any) -> Any:
    words = {"1": True, "on": True, "true": True, "yes": True, "0": False, "off": False, "false": False, "no": False}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


Switch = Annotated[bool, BeforeValidator(_switch)]


def _words(value: Any) -> Any:
    return [word.strip().lower() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


Roles = Annotated[frozenset[Role], BeforeValidator(_words)]


_LABEL = r"[^\s@=,;<>.]+"
_DOMAIN = rf"@{_LABEL}(?:\.{_LABEL})*"
# Who may be meant by a rule of access. An address as a claim is none: nobody would ask whether it is verified.
PERSON = re.compile(
    rf"(?P<email>[^\s@=,;<>]+{_DOMAIN})|(?P<domain>{_DOMAIN})|(?P<claim>(?!email(?:_verified)?=)[^\s=]+=\S.*)",
    re.IGNORECASE,
)


def _people(value: Any) -> Any:
    found = tuple(w.strip() for w in value.split(",") if w.strip()) if isinstance(value, str) else value
    for word in found:
        if not PERSON.fullmatch(word):
            raise ValueError(f"{word!r} is none of ann@example.org, @example.org, groups=ops")
    return found


People = Annotated[tuple[str, ...], BeforeValidator(_people)]
DefaultRole = Literal["viewer", "none"]


def _host_names(value: Any) -> Any:
    found = tuple(w.strip().lower() for w in value.split(",") if w.strip()) if isinstance(value, str) else value
    for word in found:
        if word != "*" and not re.fullmatch(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*|[0-9a-f:]+", word):
            raise ValueError(f"{word!r} is none of desk.example.org, *.example.org, 192.0.2.7")
    return found


HostNames = Annotated[tuple[str, ...], BeforeValidator(_host_names)]


class Hosted(BaseModel):
    """A hosted Supabase project, and which variable its key came from."""

    model_config = ConfigDict(frozen=True)
    url: str
    key: SecretStr
    key_name: str


class Settings(BaseModel):
    """What the operator configured. `hosted` is None exactly when the embedded database is used."""

    model_config = ConfigDict(frozen=True)
    hosted: Hosted | None = None
    data_dir: Path
    demo: Switch | None = Field(None, description="None: on for an empty embedded database")
    embedder: EmbedderChoice = "auto"
    gemini_api_key: SecretStr | None = None
    gemini_base_url: str | None = None
    db_url: SecretStr | None = Field(None, description="direct connection, for `migrate` alone")
    api_token: SecretStr | None = None
    allow_anonymous: Switch = False
    local_roles: Roles = Field(frozenset({"admin"}), description="what everybody may who comes without sign-in")
    # Who has which role once signed in: addresses, @domains and claims such as groups=ops.
    admins: People = ()
    auditors: People = ()
    tuners: People = ()
    operators: People = ()
    viewers: People = ()
    owners: People = ()
    session_hours: float = Field(12.0, gt=0, le=720, description="how long a sign-in holds")
    default_role: DefaultRole | None = Field(None, description="None: viewer, and none where anybody can sign in")
    allowed_hosts: HostNames = Field((), description="Host names that are answered to; (): see core.api.web.hosts")
    rate_per_minute: int = Field(600, ge=0, description="API requests and clicks of one caller; 0: no limit")
    time_zone: str = "UTC"
    host: str = "127.0.0.1"
    port: int = Field(8501, ge=1, le=65535)
    db_timeout_s: float = Field(10.0, gt=0)
    embed_timeout_s: float = Field(60.0, gt=0)
    data_key: SecretStr | None = Field(None, description="seals the companion's free text and uploads")
    webhook_url: SecretStr | None = Field(None, description="told of a change of health; its path may be a secret")
    photo_analysis: Switch = Field(False, description="consent: photos are sent to Gemini")
    vision_model: str = "gemini-2.5-flash"
    ollama_base_url: str | None = None
    ollama_model: str = "llama3.1"
    chat_model: str = "gemini-2.5-flash"

    @field_validator("webhook_url")
    @classmethod
    def _http_url(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not _is_http_url(value.get_secret_value()):
            raise ValueError("is no http(s) URL")
        return value

    @field_validator("ollama_base_url")
    @classmethod
    def _server_url(cls, value: str | None) -> str | None:
        if value is not None and not _is_http_url(value):
            raise ValueError("is no http(s) URL")
        return value

    @field_validator("db_url")
    @classmethod
    def _postgres_url(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not _is_postgres_url(value.get_secret_value()):
            raise ValueError("is no URL such as postgresql://postgres:PASSWORD@HOST:5432/postgres")
        return value

    @field_validator("gemini_api_key", "api_token")
    @classmethod
    def _sendable(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not _fits_a_header(value.get_secret_value()):
            raise ValueError(NOT_SENDABLE)
        return value

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError) as problem:
            raise ValueError(f"{value!r} is no IANA time zone such as Europe/Kyiv") from problem
        return value

    @property
    def embedded(self) -> bool:
        return self.hosted is None

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)


FIELDS = {
    "MEMORY_DESK_DATA_DIR": "data_dir",
    "MEMORY_DESK_DEMO": "demo",
    "MEMORY_DESK_EMBEDDER": "embedder",
    "BESCO_GEMINI_API_KEY": "gemini_api_key",
    "GOOGLE_GEMINI_BASE_URL": "gemini_base_url",
    "SUPABASE_DB_URL": "db_url",
    "MEMORY_DESK_API_TOKEN": "api_token",
    "MEMORY_DESK_ALLOW_ANONYMOUS": "allow_anonymous",
    "MEMORY_DESK_LOCAL_ROLE": "local_roles",
    "MEMORY_DESK_ADMINS": "admins",
    "MEMORY_DESK_AUDITORS": "auditors",
    "MEMORY_DESK_TUNERS": "tuners",
    "MEMORY_DESK_OPERATORS": "operators",
    "MEMORY_DESK_VIEWERS": "viewers",
    "MEMORY_DESK_OWNERS": "owners",
    "MEMORY_DESK_DEFAULT_ROLE": "default_role",
    "MEMORY_DESK_SESSION_HOURS": "session_hours",
    "MEMORY_DESK_ALLOWED_HOSTS": "allowed_hosts",
    "MEMORY_DESK_RATE_PER_MINUTE": "rate_per_minute",
    "MEMORY_DESK_TZ": "time_zone",
    "HOST": "host",
    "PORT": "port",
    "MEMORY_DESK_DB_TIMEOUT_S": "db_timeout_s",
    "MEMORY_DESK_EMBED_TIMEOUT_S": "embed_timeout_s",
    "MEMORY_DESK_DATA_KEY": "data_key",
    "MEMORY_DESK_WEBHOOK_URL": "webhook_url",
    "MEMORY_DESK_PHOTO_ANALYSIS": "photo_analysis",
    "MEMORY_DESK_VISION_MODEL": "vision_model",
    "OLLAMA_BASE_URL": "ollama_base_url",
    "MEMORY_DESK_OLLAMA_MODEL": "ollama_model",
    "MEMORY_DESK_CHAT_MODEL": "chat_model",
}


def read_settings(env: Mapping[str, str]) -> Settings:
    """Settings from a mapping such as os.environ; empty values count as absent.

    Errors: one ConfigError that lists every problem by variable name and repeats no value of a secret.
    """
    given = {name: value.strip() for name, value in env.items() if value and value.strip()}
    problems: list[str] = []
    values: dict[str, Any] = {field: given[name] for name, field in FIELDS.items() if name in given}
    values.setdefault("data_dir", default_data_dir())
    values["data_dir"] = Path(values["data_dir"]).expanduser().absolute()
    values["hosted"] = _hosted(given, problems)
    try:
        settings = Settings(**values)
    except ValidationError as invalid:
        names = {field: name for name, field in FIELDS.items()}
        wrong = {str(e["loc"][0]): e["msg"] for e in invalid.errors()}
        problems += [f"{names.get(field, field)}: {message}" for field, message in wrong.items()]
        settings = Settings(**{field: value for field, value in values.items() if field not in wrong})
    problems += _contradictions(settings)
    if problems:
        raise _config_error(problems)
    return settings


def load_settings(root: Path | None = None) -> Settings:
    """Settings of this process: the environment, filled up from `.env` beside the project, which never overrides it."""
    env_file = (root or Path(__file__).parent.parent) / ".env"
    from_file = {k: v for k, v in dotenv_values(env_file).items() if v} if env_file.is_file() else {}
    return read_settings({**from_file, **os.environ})


def default_data_dir() -> Path:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/memory-desk")
    return Path.home() / ".local/share/memory-desk"


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _hosted(given: Mapping[str, str], problems: list[str]) -> Hosted | None:
    mode = given.get("MEMORY_DESK_DATABASE", "auto").lower()
    if mode not in ("auto", "embedded", "hosted"):
        problems.append(f"MEMORY_DESK_DATABASE: {mode!r} is none of auto, embedded, hosted")
        return None
    url_name = next((n for n in URL_NAMES if n in given), None)
    key_name = next((n for n in KEY_NAMES if n in given), None)
    if mode == "embedded" or (mode == "auto" and not url_name and not key_name):
        return None
    if not url_name:
        problems.append(f"{URL_NAMES[0]} (or {URL_NAMES[1]}) is missing: a hosted database needs its URL")
    elif not _is_http_url(given[url_name]):
        problems.append(f"{url_name} is no http(s) URL")
    if not key_name:
        problems.append(
            f"{KEY_NAMES[0]} (or one of {', '.join(KEY_NAMES[1:])}) is missing: a hosted database needs a key"
        )
    elif not _fits_a_header(given[key_name]):
        problems.append(f"{key_name} {NOT_SENDABLE}")
    if url_name and key_name:
        return Hosted(url=given[url_name].rstrip("/"), key=SecretStr(given[key_name]), key_name=key_name)
    return None


def _is_http_url(text: str) -> bool:
    return _is_url(text, "http", "https")


def _is_postgres_url(text: str) -> bool:
    return _is_url(text, "postgres", "postgresql")


def _is_url(text: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _fits_a_header(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _contradictions(settings: Settings) -> list[str]:
    problems = []
    if not settings.embedded:
        if settings.embedder == "test":
            problems.append("MEMORY_DESK_EMBEDDER: test vectors are refused on a hosted database")
        if settings.demo:
            problems.append("MEMORY_DESK_DEMO: demo data never goes into a hosted database")
    if settings.embedder == "gemini" and settings.gemini_api_key is None:
        problems.append("BESCO_GEMINI_API_KEY is missing: MEMORY_DESK_EMBEDDER=gemini needs it")
    return problems


def _config_error(problems: list[str]) -> ConfigError:
    count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
    return ConfigError(
        f"The configuration has {count}.",
        hint="\n".join(f"- {p}" for p in problems),
    )
