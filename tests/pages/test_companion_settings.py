"""Companion settings: each change is stored, told as an event, and holds at once; empty and broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.converse.llm.choices import CONSENT_TEXT
from core.companion.settings import CompanionSettings
from core.errors import StatementTimeout
from tests.pages.conftest import calm, texts
from tests.support.companion import agent

Open = Callable[..., AppTest]
PAGE = "companion_settings"


def events(core: Core, type: str) -> list[Any]:
    return [row.payload for row in core.events.store.query(type=type).rows]


def open_view(open_page: Open, view: str, **query: str) -> AppTest:
    return calm(open_page(PAGE, query={"view": view, **query}))


def test_a_fresh_machine(core: Core, open_page: Open) -> None:
    """Rules are ready, both models say what is missing, nobody agreed; the zone and its note."""
    said = texts(calm(open_page(PAGE)))
    assert "OLLAMA_BASE_URL is not set" in said and "BESCO_GEMINI_API_KEY is not set" in said and "ready" in said
    assert CONSENT_TEXT in said and core.settings.time_zone in said and "MEMORY_DESK_TZ" in said


def test_consent(core: Core, open_page: Open) -> None:
    """Given with name and time, taken back; both are events, and the router knows."""
    at = calm(open_page(PAGE))
    at.button(key="consent-agree").click()
    assert "Local operator agreed on" in texts(calm(at.run()))
    assert core.companion.router.choices.read().consent is not None
    at.button(key="consent-revoke").click()
    assert "Consent is taken back" in texts(calm(at.run()))
    assert core.companion.router.choices.read().consent is None


def test_limits_and_single_tasks(core: Core, open_page: Open) -> None:
    """Each holds in another process at once."""
    at = calm(open_page(PAGE))
    at.segmented_control(key="models-maximum").set_value("server")
    at = calm(at.run())
    at.number_input(key="models-tokens").set_value(1_000)
    at = calm(at.run())
    at.selectbox(key="models-task-chat").set_value("rules")
    at = calm(at.run())
    chosen = core.companion.router.choices.read()
    assert (chosen.maximum, chosen.tokens_per_day, chosen.overrides) == ("server", 1_000, {"chat": "rules"})
    at.selectbox(key="models-task-chat").set_value("as above")
    calm(at.run())
    assert core.companion.router.choices.read().overrides == {}
    keys = {payload["key"] for payload in events(core, "CompanionSettingChanged")}
    assert keys == {"llm.maximum", "llm.tokens_per_day", "llm.override.chat"}


def test_policy(core: Core, open_page: Open) -> None:
    """Of a tool and of a part; one for people only cannot be opened."""
    at = open_view(open_page, "policy", part="usage")
    at.segmented_control(key="policy-tool-set_token_budget").set_value("deny")
    at = calm(at.run())
    refused = core.companion.act.executor.call("set_token_budget", {"value": 5}, actor=agent())
    assert not refused.success and "not for an AI" in refused.message
    at.segmented_control(key="policy-tool-set_token_budget").set_value("own")
    at = calm(at.run())
    at.segmented_control(key="policy-module-usage").set_value("deny")
    calm(at.run())
    assert core.companion.act.policies.current().modules == {"usage": "deny"}
    assert len(events(core, "PolicyChanged")) == 3
    at = open_view(open_page, "policy", part="memory")
    assert "for people only" in texts(at)


def test_rules(core: Core, open_page: Open) -> None:
    """Switched off, by an event; nothing learned, nothing to forget."""
    at = open_view(open_page, "rules")
    view = core.companion.reflection.feedback.rules()[0]
    at.button(key=f"rule-switch-{view.rule.id}").click()
    calm(at.run())
    assert not core.companion.reflection.feedback.rules()[0].state.enabled
    assert events(core, "RuleChanged")[0]["enabled"] is False


def test_forget_what_was_learned(core: Core, open_page: Open) -> None:
    """A slot that answers had moved is where it was, of every rule at once."""
    rules = [v.rule for v in core.companion.reflection.feedback.rules() if v.rule.learnable][:2]
    for rule in rules:
        told = core.events.prepare("RuleChanged", {"rule_id": rule.id, "hour_shift": 1})
        change = {"p_rule": rule.id, "p_change": {"hour_shift": {"18:00": 1}}, "p_event": told.row()}
        core.db.rpc("companion_rule_change", change, read=False)
    at = open_view(open_page, "rules")
    assert "1 hour later" in texts(at)
    at.button(key="forget-learning").click()
    assert "What 2 rules had learned is forgotten." in texts(calm(at.run()))
    assert not any(v.state.hour_shift for v in core.companion.reflection.feedback.rules())
    assert len(events(core, "LearningReset")) == 2


def test_the_weekly_look(core: Core, open_page: Open) -> None:
    """Without a model nothing is learned, and why is said."""
    at = open_view(open_page, "rules")
    at.button(key="extract-now").click()
    said = texts(calm(at.run()))
    assert "Nothing was learned." in said and "Too little happened" in said


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and why; no choice is drawn as if it held."""

    def away(*_: Any, **__: Any) -> Any:
        raise StatementTimeout("The database took too long.")

    monkeypatch.setattr(CompanionSettings, "read", away)
    for view in ("models", "policy", "rules"):
        assert "Companion settings cannot be shown" in texts(open_page(PAGE, query={"view": view}))
