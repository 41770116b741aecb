"""Access: rules made, replaced and dropped; tokens shown once and revoked; refused, empty and broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.access.desk import AccessDesk
from core.access.people import Person
from core.access.store import AccessStore
from core.bootstrap import Core
from core.errors import StatementTimeout, Unauthenticated
from pages._shared.access import tokens
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]
FIRST = {"selection": {"rows": [0], "columns": [], "cells": []}}


def view(open_page: Open, name: str) -> AppTest:
    return calm(open_page("access", query={"view": name}))


def again(at: AppTest) -> str:
    return texts(calm(at.run()))


def give(at: AppTest, who: str, *roles: str) -> str:
    at.text_input(key="rule-who").set_value(who)
    at.button_group(key="rule-roles").set_value([*roles])
    at.button(key="rule-save").click()
    return again(at)


def listed(at: AppTest, column: str) -> list[Any]:
    return list(next(d.value for d in at.dataframe if column in d.value)[column])


def test_a_fresh_machine(core: Core, open_page: Open) -> None:
    """No rule, no token, nobody signed in; who everybody is here, and what each role may."""
    at = view(open_page, "roles")
    said = texts(at)
    assert "Sign-in is not set up" in said and "(admin)" in said and "No rule yet" in said
    may = next(d.value for d in at.dataframe if "auditor" in d.value).set_index("does")
    assert may.loc["see personal data unmasked", "auditor"] == "yes"
    assert may.loc["see personal data unmasked", "operator"] != "yes"
    assert set(may["admin"]) == {"yes"}
    assert "No token yet" in texts(view(open_page, "tokens"))
    assert "Nobody signs in here" in texts(view(open_page, "people"))


def test_a_rule(core: Core, open_page: Open) -> None:
    """Made and replaced with the same form, dropped after a second look; the form is empty afterwards."""
    at = view(open_page, "roles")
    assert "The rule holds." in give(at, "Ann@Example.org", "operator", "tuner")
    assert at.text_input(key="rule-who").value == ""
    assert (listed(at, "value"), listed(at, "roles")) == (["ann@example.org"], ["operator, tuner"])
    give(at, "ann@example.org", "viewer")
    assert core.access_desk.rules()[0].roles == {"viewer"}
    assert "stood there already" in give(at, "ann@example.org", "viewer")
    at.session_state["access-rules"] = FIRST
    calm(at.run())
    at.button(key="rule-drop").click()
    assert "The rule is dropped." in again(at)
    assert core.access_desk.rules() == ()


@pytest.mark.parametrize(("who", "roles"), [("ann", ["viewer"]), ("", ["viewer"]), ("ann@x.org", [])])
def test_what_is_no_rule(core: Core, open_page: Open, who: str, roles: list[str]) -> None:
    """Why is said, and what was typed stays."""
    at = view(open_page, "roles")
    said = give(at, who, *roles)
    assert "Role: " in said and "The rule holds" not in said
    assert at.text_input(key="rule-who").value == who
    assert core.access_desk.rules() == ()


def test_rules_of_the_settings(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shown with where they stand, and not to be dropped here."""
    monkeypatch.setenv("MEMORY_DESK_ADMINS", "root@example.org")
    at = view(open_page, "roles")
    assert (listed(at, "value"), listed(at, "from")) == (["root@example.org"], ["settings"])
    at.session_state["access-rules"] = FIRST
    assert "stands in the settings" in again(at)
    assert not [b for b in at.button if b.key == "rule-drop"]


def test_not_oneself_by_accident(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked once more, and only then; the last administrator stays whatever is ticked."""
    me = {"iss": "https://id.x.org", "email": "ann@x.org", "email_verified": True}
    monkeypatch.setattr("pages._shared.access.who.claims", lambda: me)
    core.access_desk.set_rule("ann@x.org", ["admin"])
    core.access_desk.set_rule("bob@x.org", ["admin"])
    at = view(open_page, "roles")
    assert "your own role" in give(at, "ann@x.org", "viewer")
    assert core.access_desk.rules()[0].roles == {"admin"}
    at.checkbox(key="rule-sure-set").check()
    calm(at.run())
    at.button(key="rule-save").click()
    assert "The rule holds." in again(at)
    assert core.access_desk.rules()[0].roles == {"viewer"}
    assert not [box for box in at.checkbox if (box.key or "").startswith("rule-sure")]


def make(at: AppTest, name: str) -> str:
    at.text_input(key="token-name").set_value(name)
    at.button(key="token-create").click()
    return again(at)


def secret_of(said: str) -> str:
    return next(line for line in said.splitlines() if line.startswith("md_"))


def test_a_token(core: Core, open_page: Open) -> None:
    """Shown once with a line to try it, gone at a press; in no other session; listed, used, revoked."""
    at = view(open_page, "tokens")
    said = make(at, ODD)
    secret = secret_of(said)
    assert "curl" in said and "/stack-ai/tips/health" in said
    assert core.access_desk.bearer(secret).actor.roles == {"viewer"}
    assert secret not in texts(view(open_page, "tokens"))
    at.button(key="access-made-done").click()
    assert secret not in again(at)
    assert (listed(at, "name"), listed(at, "state"), listed(at, "sees")) == ([ODD], ["in force"], ["masked"])
    assert listed(at, "last_used")[0] is not None
    at.session_state["access-tokens"] = FIRST
    calm(at.run())
    at.button(key="token-revoke").click()
    assert "opens nothing any more" in again(at)
    assert listed(at, "state") == ["revoked"]
    core.access_desk.bearer.forget()  # the application is another process, as far as this one knows
    with pytest.raises(Unauthenticated):
        core.access_desk.bearer(secret)


def test_a_secret_does_not_stay(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """After five minutes it is gone, also where nobody pressed anything."""
    at = view(open_page, "tokens")
    secret = secret_of(make(at, "Nightly import"))
    monkeypatch.setattr(tokens, "SHOWN_S", 0.0)
    assert secret not in again(at)
    assert tokens.MADE not in at.session_state


def test_a_token_that_sees_everything(core: Core, open_page: Open) -> None:
    """The reason can be given once a role may see personal data, and stands in the list."""
    at = view(open_page, "tokens")
    assert at.text_input(key="token-reason").disabled
    at.button_group(key="token-roles").set_value(["auditor"])
    calm(at.run())
    at.text_input(key="token-reason").set_value("Yearly audit")
    at.checkbox(key="token-forever").check()
    make(at, "Audit")
    assert listed(at, "sees") == ["unmasked: Yearly audit"]
    (token,) = core.access_desk.tokens()
    assert (token.reveal_reason, token.expires_at) == ("Yearly audit", None)


def test_a_token_without_a_name(core: Core, open_page: Open) -> None:
    """Refused with why; none is made."""
    assert "A token has a name" in make(view(open_page, "tokens"), " ")
    assert core.access_desk.tokens() == ()


def test_the_token_of_the_environment(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is said to be there; its value is not."""
    monkeypatch.setenv("MEMORY_DESK_API_TOKEN", "token-never-shown")
    said = texts(view(open_page, "tokens"))
    assert "From the environment" in said and "token-never-shown" not in said


def test_people(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was here with their roles of now; a second look before their sessions end."""
    ended: list[str] = []
    ann = Person("oidc:0123456789abcdef", "ann@example.org", frozenset(), core.clock.now(), 2)
    monkeypatch.setattr(AccessDesk, "people", lambda _: (ann,))

    def end(_: AccessDesk, id: str) -> int:
        ended.append(id)
        return 2

    monkeypatch.setattr(AccessDesk, "end_sessions", end)
    at = view(open_page, "people")
    assert (listed(at, "name"), listed(at, "roles")) == (["ann@example.org"], ["none"])
    at.session_state["access-people"] = FIRST
    calm(at.run())
    at.button(key="sessions-end").click()
    assert "2 sessions ended" in again(at)
    assert ended == [ann.principal_id]


@pytest.mark.parametrize("name", ["roles", "tokens"])
def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """It says so, and draws nothing that could be wrong."""

    def away(*_: Any) -> Any:
        raise StatementTimeout("The database took too long.")

    for asked in ("rules", "tokens"):
        monkeypatch.setattr(AccessStore, asked, away)
    st.cache_data.clear()
    at = open_page("access", query={"view": name})
    assert not at.exception
    assert "Access cannot be shown" in texts(at) and "took too long" in texts(at)


@pytest.mark.parametrize("role", ["viewer", "auditor", "operator"])
def test_refused(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    """Nothing of it for anybody but an administrator, also by a link."""
    core.access_desk.set_rule("ann@example.org", ["admin"])
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", role)
    at = open_page("access", query={"view": "roles"})
    assert "ann@example.org" not in texts(at) + "".join(d.value.to_csv() for d in at.dataframe)
    assert not [b for b in at.button if b.key == "rule-save"]
