"""Which tier answers, and that nothing sensitive leaves."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.bootstrap import Core
from core.clock import SystemClock
from core.companion.converse.llm.choices import TASKS, ModelChoices
from core.companion.converse.llm.contract import (
    ORDER,
    TIERS,
    Answer,
    Message,
    OnText,
    Request,
    Tier,
    ToolCall,
    Unavailable,
)
from core.companion.converse.llm.router import Router
from core.companion.converse.llm.runs import AiRuns
from core.companion.settings import CompanionSettings
from core.errors import DatabaseUnavailable, Forbidden
from core.events.actor import ai, run_as, system
from tests.support.dialogs import body

SECRETS = ("she trusts him, trust", "70114", "ab" * 32, "https://h/p.jpg", '"' + "x " * 120 + '"')


class Spy:
    """A backend that remembers what it was given."""

    def __init__(self, model: str, *, why: str | None = None, fails: bool = False) -> None:
        self.model, self.why, self.fails = model, why, fails
        self.got: list[Request] = []

    def healthy(self) -> str | None:
        return self.why

    def answer(self, request: Request, on_text: OnText | None = None) -> Answer:
        self.got.append(request)
        if self.fails:
            raise Unavailable("It broke.")
        return Answer(f"from {self.model}", prompt_tokens=30, completion_tokens=5)

    def close(self) -> None:
        return None


def router(core: Core, known: Any = lambda words: "70114" in words, **backends: Spy) -> Router:
    choices = ModelChoices(CompanionSettings(core.db), core.events, core.clock)
    return Router(backends, choices, AiRuns(core.db), known, SystemClock(), ZoneInfo("UTC"))  # type: ignore[arg-type]


def ask(text: str = "How is today?", content_class: str = "personal", task: str = "chat") -> Request:
    return Request(task, (Message("system", "Be brief.", constant=True), Message("user", text)), content_class)  # type: ignore[arg-type]


def outcomes(core: Core) -> list[tuple[str, str]]:
    rows = core.db.sample("companion_ai_runs", "tier,outcome,at", order="at", limit=20)
    return [(row["tier"], row["outcome"]) for row in rows]


def test_without_any_model_the_rules_answer(core: Core) -> None:
    """And it says what would have to be configured."""
    reply = router(core).complete(ask())
    assert reply.tier == "rules" and reply.answer is None
    assert [(s.tier, s.reason) for s in reply.tried] == [("server", "no-backend"), ("cloud", "no-backend")]
    assert "OLLAMA_BASE_URL" in reply.tried[0].detail


def test_the_innermost_tier_comes_first(core: Core) -> None:
    """The own server answers although the cloud may; the run is kept without content."""
    server, cloud = Spy("own"), Spy("gemini")
    made = router(core, server=server, cloud=cloud)
    made.choices.agree()
    reply = made.complete(ask())
    assert reply.tier == "server" and reply.answer and reply.model == "own" and not cloud.got
    assert outcomes(core) == [("server", "answered")] and made.runs.tokens(core.clock.now().replace(hour=0)) == 35


def test_no_consent_no_call(core: Core) -> None:
    """Agreed: a call. Taken back: none from then on, also for a router that was there before."""
    cloud = Spy("gemini")
    made = router(core, cloud=cloud)
    assert made.complete(ask()).tried[-1].reason == "no-consent" and not cloud.got
    consent = router(core).choices.agree()
    assert made.complete(ask()).tier == "cloud" and consent.by
    router(core).choices.revoke()
    assert made.complete(ask()).tier == "rules" and len(cloud.got) == 1
    assert [s.state for s in made.states()] == ["ready", "no-backend", "no-consent"]


def test_an_error_falls_to_the_rules_and_to_no_other_model(core: Core) -> None:
    """The cloud would be allowed; it is not asked."""
    server, cloud = Spy("own", fails=True), Spy("gemini")
    made = router(core, server=server, cloud=cloud)
    made.choices.agree()
    reply = made.complete(ask())
    assert reply.tier == "rules" and [(s.tier, s.reason) for s in reply.tried] == [("server", "runtime-error")]
    assert not cloud.got and outcomes(core)[-1] == ("rules", "runtime-error")


def test_a_server_that_is_away_is_passed_over(core: Core) -> None:
    """Known before anything is sent, so the next allowed tier may answer, and it says that the first was away."""
    made = router(core, server=Spy("own", why="It sleeps."), cloud=Spy("gemini"))
    made.choices.agree()
    reply = made.complete(ask())
    assert reply.tier == "cloud" and reply.tried[0].detail == "It sleeps."


def test_the_maximum_and_the_override_of_a_task(core: Core) -> None:
    """An override enables one tier for one task, and nothing but it."""
    server, cloud = Spy("own"), Spy("gemini")
    made = router(core, server=server, cloud=cloud)
    made.choices.agree()
    made.choices.allow("rules")
    assert made.complete(ask()).tier == "rules"
    made.choices.override("plan", "cloud")
    assert made.complete(ask(task="plan")).tier == "cloud" and made.complete(ask()).tier == "rules"
    made.choices.override("plan", "rules")
    made.choices.allow("cloud")
    assert made.complete(ask(task="plan")).tier == "rules" and made.complete(ask()).tier == "server"


def test_the_budget_of_the_day(core: Core) -> None:
    """Used up: the rules, and the reason."""
    made = router(core, server=Spy("own"))
    made.choices.limit(35)
    assert made.complete(ask()).tier == "server"
    spent = made.complete(ask())
    assert spent.tier == "rules" and spent.tried[0].reason == "over-budget"


@pytest.mark.parametrize("secret", SECRETS)
def test_sensitive_text_raises_the_class(core: Core, secret: str) -> None:
    """Wherever it stands: in a question, a result of a tool, the arguments of a call."""
    server = Spy("own")
    made = router(core, server=server)
    call = ToolCall("1", "t", {"q": secret})
    for said in (
        (Message("user", secret),),
        (Message("user", "q"), Message("tool", secret, name="t")),
        (Message("user", "q"), Message("assistant", "", calls=(call,))),
    ):
        reply = made.complete(Request("chat", said, "public"))
        assert (reply.tier, reply.content_class, reply.tried[0].reason) == ("rules", "sensitive", "sensitive")
    assert not server.got and made.why_not(secret)


def test_people_that_cannot_be_looked_up_count_as_known(core: Core) -> None:
    """Rather no answer than a leak."""

    def down(words: list[str]) -> bool:
        raise DatabaseUnavailable("gone")

    server = Spy("own")
    assert router(core, known=down, server=server).complete(ask()).tier == "rules" and not server.got


def test_only_a_person_decides(core: Core) -> None:
    """Neither a model nor the product itself agrees in somebody's place."""
    choices = router(core).choices
    for actor in (ai("m", "m", mission_id="1", iteration_id="1", rationale="r"), system("rule")):
        with run_as(actor), pytest.raises(Forbidden):
            choices.agree()
    assert choices.read().consent is None


def test_people_of_the_memory_are_found_by_id_and_name(core: Core) -> None:
    """The real question to the database: ids of dialogs and names of profiles."""
    made = core.companion.router
    assert made.why_not("What about ru-1?") is None
    core.ingest.ingest(body())
    assert made.why_not("What about RU-1?") and made.why_not("How is Taras?")
    assert made.why_not("How is today?") is None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nothing_sensitive_leaves_whatever_is_set(core: Core, data: st.DataObject) -> None:
    """Over random settings, overrides, classes and places of the secret: no backend ever sees it."""
    server, cloud = Spy("own", fails=data.draw(st.booleans())), Spy("gemini", fails=data.draw(st.booleans()))
    made = router(core, server=server, cloud=cloud)
    made.choices.allow(data.draw(st.sampled_from(TIERS)))
    task = data.draw(st.sampled_from(TASKS))
    tier: Tier | None = data.draw(st.sampled_from([*TIERS, None]))
    made.choices.override(task, tier)
    if data.draw(st.booleans()):
        made.choices.agree()
    secret = data.draw(st.sampled_from(SECRETS))
    around = data.draw(st.text(st.sampled_from(" .,!?\nab"), max_size=6))
    content_class = data.draw(st.sampled_from(ORDER))
    role = data.draw(st.sampled_from(["user", "assistant", "tool"]))
    said = (Message("user", "How is today?"), Message(role, f"{around} {secret} {around}"))
    made.complete(Request(task, said, content_class))
    made.complete(Request(task, (Message("user", "plain"),), "sensitive"))
    assert not server.got and not cloud.got
