"""`python -m core token`: made and printed once, listed without its secret, revoked; exit codes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from core.bootstrap import Core
from core.cli import main
from core.errors import Unauthenticated


@pytest.fixture(autouse=True)
def environment(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)


def test_made_listed_and_revoked(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing but the token on standard output; no list holds it; revoked, it is refused."""
    assert main(["token", "create", "Nightly import", "--role", "operator", "--role", "viewer", "--days", "7"]) == 0
    printed = capsys.readouterr()
    secret = printed.out.strip()
    assert "not shown again" in printed.err and secret not in printed.err
    bearer = core.access_desk.bearer(secret)
    assert bearer.actor.roles == {"operator", "viewer"}
    assert main(["token", "list"]) == 0
    said = capsys.readouterr().out
    assert "Nightly import" in said and "in force" in said and secret not in said
    id = bearer.actor.principal_id.removeprefix("token:")
    assert main(["token", "revoke", id]) == 0
    core.access_desk.bearer.forget()
    with pytest.raises(Unauthenticated):
        core.access_desk.bearer(secret)
    (event,) = core.events.store.query(type="ApiTokenRevoked").rows
    assert event.actor.principal_id.startswith("cli:")


def test_for_machines(core: Core, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON each time; the secret in that of the making alone."""
    assert (
        main(["token", "create", "Audit", "--role", "auditor", "--no-expiry", "--reveal", "Audit 2026", "--json"]) == 0
    )
    made = json.loads(capsys.readouterr().out)
    assert made["token"].startswith(f"md_{made['id']}_")
    assert (made["roles"], made["expires_at"], made["reveal_reason"]) == (["auditor"], None, "Audit 2026")
    monkeypatch.setenv("MEMORY_DESK_API_TOKEN", "of-the-environment")
    assert main(["token", "list", "--json"]) == 0
    text = capsys.readouterr().out
    listed = json.loads(text)
    assert listed["environment"] is True and [t["name"] for t in listed["tokens"]] == ["Audit"]
    assert made["token"] not in text and "of-the-environment" not in text
    assert main(["token", "revoke", made["id"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"revoked": made["id"]}


def test_the_least_role_and_ninety_days(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """What nobody said otherwise."""
    assert main(["token", "create", "Reader", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["roles"] == ["viewer"]
    (token,) = core.access_desk.tokens()
    assert token.expires_at is not None and (token.expires_at - token.created_at).days == 90


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["create"], 2),
        (["revoke"], 2),
        (["create", "x", "--role", "root"], 2),
        (["create", "x", "--reveal", "Because"], 1),
        (["create", "x", "--days", "0"], 1),
        (["revoke", "abcdefgh"], 1),
    ],
)
def test_what_cannot_be_done(core: Core, arguments: list[str], code: int) -> None:
    """2 for what is no command, 1 for what is refused; nothing is made."""
    assert main(["token", *arguments]) == code
    assert core.access_desk.tokens() == ()
