"""Answers from live data: right figures, each with its source; honest where there is none."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.contract import GoalMetric, GoalTarget
from core.companion.converse.rules_tier.answer import SUGGESTIONS, RuleAnswer, answer_of
from core.companion.reflect.goals.draft import Draft
from core.errors import DatabaseUnavailable
from core.events.actor import LOCAL_OPERATOR
from core.usage.report import UsageReports
from tests.support.companion import agent
from tests.support.companion_events import at, put
from tests.support.dialogs import body
from tests.support.fake_models import FakeGeminiChat


def ask(core: Core, text: str) -> RuleAnswer:
    core.companion.projections.invalidate()
    return core.companion.rules.answer(text)


def lines(answer: RuleAnswer, page: str) -> list[str]:
    return [line for part in answer.parts if part.source.page == page for line in part.lines]


def used(core: Core, total: int, days: int = 0, model: str = "m") -> None:
    entry = {"provider": "gemini", "model": model, "phase": "generate", "promptTokens": total, "totalTokens": total}
    # A minute back: an hour that has just begun is not yet part of a range that ends now.
    moment = (core.clock.now() - timedelta(days=days, minutes=1)).isoformat()
    core.usage.record({"requestId": str(uuid.uuid4()), "entries": [{**entry, "at": moment}]})


def a_week(core: Core) -> None:
    """Five tasks and 1,500 tokens in these seven days, two tasks and 1,000 tokens in the seven before."""
    now = core.clock.now()
    done = [(0, 2), (3, 1), (6, 2), (7, 1), (13, 1), (14, 9)]
    events = [
        at(core.events, now - timedelta(days=d), "TaskCompleted", {"task_id": "t"}) for d, n in done for _ in range(n)
    ]
    put(core.events, *events)
    for days, total in ((1, 1_000), (6, 500), (8, 1_000), (15, 7_000)):
        used(core, total, days)


@pytest.mark.parametrize("question", SUGGESTIONS)
def test_on_an_empty_database(core: Core, question: str) -> None:
    """Every suggested question has an answer, which can be kept and read again."""
    answer = ask(core, question)
    assert answer.intent not in ("unknown", "help") and answer.says
    assert answer_of(answer.as_json()).text() == answer.text()


def test_how_was_my_week(core: Core) -> None:
    """Sums of seven days, today included, beside the seven before, with the change and the page of each."""
    a_week(core)
    answer = ask(core, "How was my week?")
    assert answer.table is not None and answer.table.columns == ("figure", "7 days", "7 before", "change", "page")
    rows = {row[0]: row[1:] for row in answer.table.rows}
    assert rows["Tasks completed"] == (5, 2, "+150 %", "todo")
    assert rows["Tokens"] == (1_500, 1_000, "+50 %", "usage")
    today = core.clock.now().date()
    assert f"{today - timedelta(days=6)} to {today}, compared with {today - timedelta(days=13)}" in answer.says
    assert answer.table.source.page == "insights"


def test_how_was_my_week_by_a_model(core: Core, env: Any, endpoint: Any) -> None:
    """The same figures reach Gemini as the result of its tool call, and its answer is kept."""
    from core.bootstrap import build_core
    from core.config import read_settings
    from core.embedding.test import TestEmbedder

    a_week(core)
    call = {"call": "compare_days", "args": {"range": "week"}}
    with FakeGeminiChat(call, "You completed 5 tasks, after 2 the week before.") as fake:
        given = {**env, "BESCO_GEMINI_API_KEY": "secret-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
        other = build_core(read_settings(given), endpoint=endpoint, embedder=TestEmbedder())
        other.companion.router.choices.agree()
        talk = str(uuid.uuid4())
        assert other.companion.chat.ask(talk, str(uuid.uuid4()), "How was my week?").wait(60)
        (turn,) = other.companion.chat.read(talk).turns
        other.close()
    assert turn.answer == "You completed 5 tasks, after 2 the week before." and turn.meta
    assert turn.meta["tier"] == "cloud" and turn.calls[0].name == "compare_days"
    told = fake.requests[1]["contents"][-1]["parts"][0]["functionResponse"]["response"]["result"]
    assert '"figure": "Tasks completed", "now": 5.0, "before": 2.0, "change": "+150 %", "page": "todo"' in told
    assert '"figure": "Tokens", "now": 1500.0, "before": 1000.0' in told


def test_what_did_it_cost(core: Core) -> None:
    """Today by default; a week by model, beside the week before, with a bar a day."""
    a_week(core)
    used(core, 40, model="a$b$c")
    assert "40 tokens" in " ".join(lines(ask(core, "What did it cost?"), "usage"))
    answer = ask(core, "What did it cost this week, by model?")
    assert answer.table is not None and answer.chart is not None
    assert answer.table.rows == (("m", 2, 1_500, None), ("a$b$c", 1, 40, None))
    assert len(answer.chart.days) == 7 and sum(v or 0 for v in answer.chart.values) == 1_540
    said = lines(answer, "usage")
    assert "3 calls, 1,540 tokens" in said[0] and "1 call, 1,000 tokens" in said[1]
    assert "no price is known" in answer.says and "USD" not in answer.says


def test_what_is_due(core: Core) -> None:
    """Titles as they are, the number of what is overdue."""
    tasks, today = core.companion.records.tasks, core.companion.records.today()
    tasks.create("Pay $20 :red[x] <b>", due_date=today, priority="high")
    tasks.create("Late", due_date=today - timedelta(days=2))
    answer = ask(core, "What is due?")
    assert answer.says.startswith("1 task is due today, 1 overdue")
    assert "due today: Pay $20 :red[x] <b> (high priority)" in lines(answer, "todo")
    assert lines(answer, "calendar") == ["Appointments: none"]


def test_how_is_today(core: Core) -> None:
    """Each part of the product that has something to say, under its page."""
    core.companion.records.tasks.create("Buy milk", due_date=core.companion.records.today())
    core.ingest.ingest(body(None))
    answer = ask(core, "How is today?")
    assert "Tasks: 1 open, 1 due today" in lines(answer, "todo")
    assert any("chunks" in line for line in lines(answer, "overview"))
    assert {"todo", "drink", "food", "overview", "health"} <= {part.source.page for part in answer.parts}


def test_a_part_that_cannot_be_read(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named as missing; the others are there."""

    def away(*_: Any, **__: Any) -> Any:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr(UsageReports, "summary", away)
    answer = ask(core, "How is today?")
    assert "Not to be had now: Usage." in answer.says and lines(answer, "todo") and not lines(answer, "usage")
    assert "Not to be had now: Usage." in ask(core, "How was my week?").says


def test_which_goals_are_behind(core: Core) -> None:
    """Not reached yet, or a limit that is passed; those first."""
    save, metric = core.companion.reflection.goals.save, GoalMetric("event_count", ("TaskCompleted",))
    for n, (title, target) in enumerate(
        (("One task", GoalTarget(1, "day")), ("Ten tasks", GoalTarget(10, "week")),
         ("At most one", GoalTarget(1, "day", "lte")))
    ):  # fmt: skip
        save(LOCAL_OPERATOR, Draft(f"00000000-0000-4000-8000-00000000000{n}", title, "todo", metric, target))
    for _ in range(2):
        core.events.emit("TaskCompleted", {"task_id": "t"})
    core.events.flush()
    answer = ask(core, "Which goals are behind?")
    assert answer.says == "2 of 3 active goals are behind." and answer.table is not None
    states = {row[0]: (row[1], row[4]) for row in answer.table.rows}
    assert states == {"Ten tasks": ("2", "8 missing"), "At most one": ("2", "over by 1"), "One task": ("2", "reached")}
    assert [row[0] for row in answer.table.rows][-1] == "One task" and answer.table.source.page == "goals"


def test_streaks(core: Core) -> None:
    """Those that ever counted a day."""
    put(core.events, at(core.events, core.clock.now(), "TaskCompleted", {"task_id": "t"}))
    answer = ask(core, "How are my streaks?")
    assert answer.says == "1 active, 0 at risk, 0 broken." and answer.table is not None
    assert answer.table.rows[0][:4] == ("A task completed", 1, 1, "active")


def test_which_proposals_wait(core: Core) -> None:
    """Tool, part, who, since when."""
    core.companion.act.executor.call("set_token_budget", {"value": 5_000}, actor=agent())
    answer = ask(core, "Which proposals wait?")
    assert answer.says == "1 proposal waits for a decision." and answer.table is not None
    assert answer.table.rows[0][:3] == ("set token budget", "usage", "Planner")


def test_is_a_dialog_synced(core: Core) -> None:
    """By ids and by key: counts and dates, the moment of the last ingest; nothing for one that is not there."""
    core.ingest.ingest(body(None))
    answer = ask(core, "Is dialog RU ru-1 TU tu-9 synced?")
    assert "last ingested" in answer.says and "chunks: " in lines(answer, "dialogs")[0]
    assert any(line.startswith("latest message: 2026-05-01") for line in lines(answer, "dialogs"))
    (key,) = [row.dialog_key for row in core.dialogs.list().rows]
    assert key in answer.dialogs and key not in str(answer.as_json())
    assert lines(ask(core, f"Is dialog {key} synced?"), "dialogs") == lines(answer, "dialogs")
    assert "nothing of this dialog" in ask(core, "Is dialog 5/6 synced?").says


def test_what_is_wrong(core: Core) -> None:
    """Components by name with the reason; two key orders of one pair count too."""
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9"))
    core.events.flush()
    answer = ask(core, "What is wrong?")
    assert "1 pair has chunks under both key orders" in lines(answer, "operations") and "look" in answer.says
    assert lines(answer, "health")


def test_an_unknown_question(core: Core) -> None:
    """It says so, and offers what it knows."""
    answer = ask(core, "Write a poem")
    assert "cannot answer that without a model" in answer.says and answer.suggestions == SUGGESTIONS
