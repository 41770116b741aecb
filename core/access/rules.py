"""Which roles somebody has who signed in: rules by e-mail, claim and domain, of the settings and the database. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from core.access.roles import Role
from core.config import PERSON, Settings
from core.errors import InputError

Kind = Literal["email", "claim", "domain"]
Origin = Literal["configuration", "database"]
# From the most specific: the first kind that has a rule for somebody decides.
KINDS: tuple[Kind, ...] = ("email", "claim", "domain")
VALUE_LIMIT = 254

# Where anybody can have an account: whoever signs in there alone is nobody in particular.
PUBLIC_HOSTS = ("accounts.google.com", "gitlab.com", "appleid.apple.com", "github.com")
PUBLIC_TENANTS = ("common", "consumers", "organizations", "9188040d-6c67-4c5b-b112-36a304b66dad")


@dataclass(frozen=True)
class RoleRule:
    """Whoever `value` fits has `roles`: an address, `@example.org`, or `groups=ops`. `id` is None in the settings."""

    kind: Kind
    value: str
    roles: frozenset[Role]
    origin: Origin
    id: str | None = None
    by: str = ""
    at: str | None = None

    def fits(self, claims: Mapping[str, Any], *, public: bool = False) -> bool:
        """Whether the claims of a sign-in are meant."""
        if self.kind == "claim":
            name, _, wanted = self.value.partition("=")
            return wanted in _values(claims, name)
        address = email_of(claims, public=public)
        if address is None:
            return False
        return address == self.value if self.kind == "email" else address.rpartition("@")[2] == self.value[1:]


def parse(text: str) -> tuple[Kind, str]:
    """Kind and value of what somebody wrote: `ann@example.org`, `@example.org`, `groups=ops`.

    Errors: InputError for anything else. An address as a claim is refused: there nobody asks whether it is verified.
    """
    value = text.strip()
    found = PERSON.fullmatch(value)
    if found is None or len(value) > VALUE_LIMIT or not value.isprintable():
        raise InputError("This names nobody.", hint="Write ann@example.org, @example.org or groups=ops.", field="value")
    kind = next(kind for kind in KINDS if found[kind])
    return kind, value if kind == "claim" else _folded(value)


def configured(settings: Settings) -> tuple[RoleRule, ...]:
    """The rules of MEMORY_DESK_ADMINS and its sisters, one for each value with all its roles."""
    roles: dict[tuple[Kind, str], set[Role]] = {}
    for role in get_args(Role):
        for text in getattr(settings, f"{role}s"):
            roles.setdefault(parse(text), set()).add(role)
    return tuple(RoleRule(kind, value, frozenset(held), "configuration") for (kind, value), held in roles.items())


def roles_for(
    claims: Mapping[str, Any], rules: Iterable[RoleRule], default: Iterable[Role] = (), *, public: bool = False
) -> frozenset[Role]:
    """The roles of whoever signed in with these claims; `default` where no rule is about them.

    The most specific kind decides: e-mail before claim before domain. Within it the settings come before the
    database, and what several rules of one origin say is added up. `public`: the provider lets anybody in, so that
    an address counts only where it is said to be verified.
    """
    fitting = [rule for rule in rules if rule.fits(claims, public=public)]
    for kind in KINDS:
        for origin in get_args(Origin):
            found = [rule.roles for rule in fitting if rule.kind == kind and rule.origin == origin]
            if found:
                return frozenset[Role]().union(*found)
    return frozenset(default)


def default_roles(settings: Settings, public: bool) -> frozenset[Role]:
    """What somebody may whom no rule is about: MEMORY_DESK_DEFAULT_ROLE, else viewer, and nothing where the provider
    lets anybody in."""
    chosen = settings.default_role or ("none" if public else "viewer")
    return frozenset() if chosen == "none" else frozenset({chosen})


def email_of(claims: Mapping[str, Any], *, public: bool = False) -> str | None:
    """The address of a sign-in, None where there is none or its provider does not vouch for it."""
    address, verified = claims.get("email"), claims.get("email_verified")
    if not isinstance(address, str) or address.count("@") != 1:
        return None
    vouched = str(verified).lower() if verified is not None else "true" if not public else "false"
    return _folded(address.strip()) if vouched in ("true", "1") else None


def is_public(provider: str) -> bool:
    """Whether anybody can have an account there: by the URL of its metadata or its issuer."""
    parts = urlsplit(provider.strip())
    host, tenant = (parts.hostname or "").lower(), parts.path.strip("/").split("/")[0].lower()
    if host in ("login.microsoftonline.com", "login.live.com", "sts.windows.net"):
        return tenant in PUBLIC_TENANTS
    return host in PUBLIC_HOSTS


def overruled(rule: RoleRule, rules: Iterable[RoleRule]) -> bool:
    """Whether the settings say something else of exactly the same, so that this rule of the database is not asked."""
    return rule.origin == "database" and any(
        other.origin == "configuration" and (other.kind, other.value) == (rule.kind, rule.value) for other in rules
    )


def _values(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """What a claim says, as texts; `realm_access.roles` looks into an object where no claim has that very name."""
    found: Any = claims.get(name)
    if found is None and "." in name:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    several = found if isinstance(found, (list, tuple)) else (found,)
    return tuple(str(v).lower() if isinstance(v, bool) else str(v) for v in several if isinstance(v, (str, int)))


def _folded(text: str) -> str:
    # Not beyond ASCII: there other letters become ours, and another's address would be somebody's.
    return "".join(c.lower() if c.isascii() else c for c in text)
