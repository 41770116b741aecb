"""Rules of access: how one is written, whom it fits, and which of several decides."""

from __future__ import annotations

from typing import Any

import pytest

from core.access.rules import (
    Kind,
    Origin,
    RoleRule,
    configured,
    default_roles,
    email_of,
    is_public,
    overruled,
    parse,
    roles_for,
)
from core.config import Settings, read_settings
from core.errors import ConfigError, InputError


def rule(kind: Kind, value: str, *roles: Any, origin: Origin = "configuration") -> RoleRule:
    return RoleRule(kind, value, frozenset(roles), origin)


def settings(**env: str) -> Settings:
    given = {f"MEMORY_DESK_{name}": value for name, value in env.items()}
    return read_settings({"MEMORY_DESK_DATA_DIR": "unused", **given})


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Ann@Example.org ", "email", "ann@example.org"),
        ("@Example.org", "domain", "@example.org"),
        ("groups=Ops", "claim", "groups=Ops"),
        ("https://x.example/roles=a b", "claim", "https://x.example/roles=a b"),
    ],
)
def test_what_is_written(text: str, kind: str, value: str) -> None:
    """Addresses and domains in small letters, claims as they are."""
    assert parse(text) == (kind, value)


@pytest.mark.parametrize(
    "text",
    ["", "ann", "@", "a@b@c", "a b@c.d", "a@b..c", "a@.b", "groups=", "=ops", "email=a@b.c", "EMAIL=a@b.c",
     "email_verified=true", "a,b@c.d", "x" * 251 + "@b.c", "groups=a\x00b"],
)  # fmt: skip
def test_what_names_nobody(text: str) -> None:
    """Refused, naming the field; an address as a claim too, since there nobody asks whether it is verified."""
    with pytest.raises(InputError) as refused:
        parse(text)
    assert refused.value.field == "value"


def test_the_settings() -> None:
    """One rule for each value with the roles of all its lists; a value that names nobody is named by its variable."""
    found = configured(settings(ADMINS="ann@x.org, groups=ops", AUDITORS="ANN@x.org", VIEWERS="@x.org"))
    assert {(r.kind, r.value): r.roles for r in found} == {
        ("email", "ann@x.org"): {"admin", "auditor"},
        ("claim", "groups=ops"): {"admin"},
        ("domain", "@x.org"): {"viewer"},
    }
    with pytest.raises(ConfigError, match=r"MEMORY_DESK_OWNERS.*bob"):
        settings(OWNERS="bob")
    with pytest.raises(ConfigError, match="MEMORY_DESK_DEFAULT_ROLE"):
        settings(DEFAULT_ROLE="admin")


CLAIMS = {"sub": "1", "email": "Ann@X.org", "email_verified": True, "groups": ["ops", "dev"], "hd": "x.org"}


@pytest.mark.parametrize(
    ("rules", "roles"),
    [
        ([], {"viewer"}),
        ([rule("domain", "@x.org", "tuner")], {"tuner"}),
        ([rule("domain", "@x.org", "admin"), rule("claim", "groups=ops", "operator")], {"operator"}),
        ([rule("claim", "groups=ops", "operator"), rule("claim", "hd=x.org", "auditor")], {"operator", "auditor"}),
        ([rule("claim", "groups=ops", "admin"), rule("email", "ann@x.org", "viewer")], {"viewer"}),
        ([rule("email", "ann@x.org", "admin", origin="database"), rule("email", "ann@x.org", "viewer")], {"viewer"}),
        ([rule("email", "ann@x.org", "tuner", origin="database"), rule("domain", "@x.org", "admin")], {"tuner"}),
        ([rule("domain", "@sub.x.org", "admin"), rule("domain", "@org", "admin")], {"viewer"}),
        ([rule("email", "an@x.org", "admin"), rule("claim", "groups=op", "admin")], {"viewer"}),
        ([rule("claim", "groups=ops,dev", "admin")], {"viewer"}),
    ],
)
def test_which_rule_decides(rules: list[RoleRule], roles: set[str]) -> None:
    """E-mail before claim before domain; the settings before the database; no part of a name is the name."""
    assert roles_for(CLAIMS, rules, ("viewer",)) == roles


@pytest.mark.parametrize("verified", [False, "false", "False", 0, "no", ""])
def test_an_address_that_nobody_vouches_for(verified: Any) -> None:
    """Neither its rule nor that of its domain holds; a claim does."""
    claims = {**CLAIMS, "email_verified": verified}
    everything = [rule("email", "ann@x.org", "admin"), rule("domain", "@x.org", "admin")]
    assert roles_for(claims, everything) == set()
    assert roles_for(claims, [*everything, rule("claim", "groups=ops", "tuner")]) == {"tuner"}


@pytest.mark.parametrize(("public", "found"), [(False, "ann@x.org"), (True, None)])
def test_a_provider_that_says_nothing_of_verification(public: bool, found: str | None) -> None:
    """One's own provider is believed; where anybody has an account the word has to stand there."""
    claims = {"email": "ann@x.org"}
    assert email_of(claims, public=public) == found
    assert email_of({**claims, "email_verified": "true"}, public=True) == "ann@x.org"


@pytest.mark.parametrize("email", ["bo\u212a@x.org", "ann@x.org@y.org", "", None, 7, ["ann@x.org"]])
def test_an_address_that_only_looks_like_another(email: Any) -> None:
    """The Kelvin sign is no k, and what is no single address is none."""
    rules = [
        rule("email", "bok@x.org", "admin"),
        rule("domain", "@y.org", "admin"),
        rule("email", "ann@x.org", "admin"),
    ]
    assert roles_for({"email": email, "email_verified": True}, rules) == set()


@pytest.mark.parametrize(
    ("claims", "fits"),
    [
        ({"groups": "ops"}, True),
        ({"realm_access": {"roles": ["ops"]}}, False),
        ({"groups": {"ops": True}}, False),
        ({"groups": [["ops"]]}, False),
        ({}, False),
    ],
)
def test_what_a_claim_may_be(claims: dict[str, Any], fits: bool) -> None:
    """A word or a list of words."""
    assert rule("claim", "groups=ops", "admin").fits(claims) is fits


def test_a_claim_inside_another() -> None:
    """A dotted name looks into an object, unless a claim has that very name."""
    inner = rule("claim", "realm_access.roles=ops", "admin")
    assert inner.fits({"realm_access": {"roles": ["ops"]}})
    assert not inner.fits({"realm_access": {"roles": ["ops"]}, "realm_access.roles": "dev"})
    assert not inner.fits({"realm_access": "roles"})
    assert rule("claim", "staff=true", "admin").fits({"staff": True})


@pytest.mark.parametrize(
    ("provider", "public"),
    [
        ("https://accounts.google.com/.well-known/openid-configuration", True),
        ("https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration", True),
        ("https://login.microsoftonline.com/Organizations/v2.0", True),
        ("https://login.microsoftonline.com/8b1a-tenant/v2.0/.well-known/openid-configuration", False),
        ("https://gitlab.com", True),
        ("https://gitlab.example.org", False),
        ("https://accounts.google.com.example.org/", False),
        ("https://appleid.apple.com/.well-known/openid-configuration", True),
        ("", False),
    ],
)
def test_where_anybody_has_an_account(provider: str, public: bool) -> None:
    """Known by the host, and at Microsoft by the tenant."""
    assert is_public(provider) is public


@pytest.mark.parametrize(
    ("env", "public", "roles"),
    [
        ({}, False, {"viewer"}),
        ({}, True, set()),
        ({"DEFAULT_ROLE": "none"}, False, set()),
        ({"DEFAULT_ROLE": "viewer"}, True, {"viewer"}),
    ],
)
def test_the_least_role(env: dict[str, str], public: bool, roles: set[str]) -> None:
    """Viewer, and nothing where anybody may sign in, unless the settings say it."""
    assert default_roles(settings(**env), public) == roles


def test_overruled() -> None:
    """Only by a rule of the settings for exactly the same."""
    mine = rule("email", "ann@x.org", "admin", origin="database")
    assert overruled(mine, [mine, rule("email", "ann@x.org", "viewer")])
    assert not overruled(mine, [mine, rule("domain", "@x.org", "viewer")])
