"""A run: what counts, what does not run, and that the row is the state. Cases 94 to 97 of the specification."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.contract import ToolResult
from core.companion.converse.rituals.opening import Routines
from core.companion.converse.rituals.ritual import Run
from core.companion.converse.rituals.sources import Info, read
from core.companion.converse.rituals.step import Step
from core.db.client import Database
from core.errors import ConflictError, DatabaseUnavailable, Forbidden, InputError, NotFound
from core.events.actor import LOCAL_OPERATOR, ai
from tests.core.companion.conftest import Told
from tests.core.companion.converse.rituals.conftest import Bench, Make, call, info, number, open_again, text
from tests.support.acting import as_operator

ME = LOCAL_OPERATOR
KEY = "ab" * 32


def show(routines: Routines, ritual: Any, run: Run) -> Run:
    """What the page does when it is drawn."""
    now = routines.now()
    infos = {pos: read(ritual.steps[pos].config["source"], now) for pos in routines.runner.reached(ritual, run)}
    return routines.runner.shown(ME, ritual, run, {pos: found for pos, found in infos.items() if found})


def test_info_steps_count_when_shown_also_the_first(routines: Routines, make: Make, told: Told) -> None:
    """94: those up to the step that waits; the one behind it only when that is done; the last completes the run."""
    ritual = make(info(), info("streaks"), call("note"), info())
    run = routines.runner.start(ME, ritual)
    assert (run.completed, run.total) == (0, 4)
    run = show(routines, ritual, run)
    assert run.completed == 2 and routines.runner.current(ritual, run) == 2
    run = routines.runner.do(ME, ritual, run, 2).run
    assert run.completed == 3 and run.open
    run = show(routines, ritual, run)
    assert (run.status, run.completed) == ("completed", 4) and run.completed_at
    event: Any
    (event,) = told("RitualCompleted", whole=True)
    assert event.payload["total"] == event.payload["completed"] == 4 and event.actor.kind == "user"
    assert show(routines, ritual, run) == run


def test_an_info_step_without_figures_is_not_shown(routines: Routines, make: Make) -> None:
    """What could not be read now does not count as seen."""
    ritual = make(info())
    run = routines.runner.start(ME, ritual)
    assert routines.runner.shown(ME, ritual, run, {0: Info((), known=False)}).completed == 0


@pytest.mark.parametrize("given", ["", "   ", None])
def test_an_empty_text_runs_nothing(routines: Routines, make: Make, bench: Bench, given: Any) -> None:
    """The step stays open, and the fault names the field."""
    ritual = make(text())
    run = routines.runner.start(ME, ritual)
    with pytest.raises(InputError) as fault:
        routines.runner.do(ME, ritual, run, 0, {"text": given})
    assert fault.value.field == "text" and not bench.calls
    assert routines.rituals.get(ritual.id).running == run


@pytest.mark.parametrize(
    ("given", "value"),
    [("", 250), (None, 250), ("300", 300), ("2,5e", None), ("abc", None), ("99", None), (1001, None), (True, None),
     (float("nan"), None), ("1000", 1000), ("100,5", 100.5)],
)  # fmt: skip
def test_numbers(routines: Routines, make: Make, bench: Bench, given: Any, value: float | None) -> None:
    """95: empty takes the default; words and what is out of range run nothing."""
    ritual = make(number(min=100, max=1000, default=250))
    run = routines.runner.start(ME, ritual)
    if value is None:
        with pytest.raises(InputError):
            routines.runner.do(ME, ritual, run, 0, {"number": given})
        assert not bench.calls
    else:
        assert routines.runner.do(ME, ritual, run, 0, {"number": given}).outcome == "done"
        assert bench.calls == [("note", {"number": value})]


def test_an_empty_number_without_a_default_runs_nothing(routines: Routines, make: Make, bench: Bench) -> None:
    """There is nothing to take."""
    ritual = make(number())
    with pytest.raises(InputError):
        routines.runner.do(ME, ritual, routines.runner.start(ME, ritual), 0, {"number": ""})
    assert not bench.calls


def test_a_failed_tool_leaves_the_step_open(routines: Routines, make: Make, bench: Bench) -> None:
    """96: it can be tried again, and then counts."""
    ritual = make(call("breaks"), info())
    done = routines.runner.do(ME, ritual, routines.runner.start(ME, ritual), 0)
    assert (done.outcome, done.message, done.run.completed) == ("failed", "It broke.", 0)
    assert done.run.state(0).status == "failed" and routines.runner.current(ritual, done.run) == 0
    bench.bad = False
    assert routines.runner.do(ME, ritual, done.run, 0).run.completed == 1


def test_a_missing_tool_is_unavailable_and_the_routine_goes_on(
    core: Core, routines: Routines, make: Make, bench: Bench, clock: FixedClock, told: Told
) -> None:
    """97: passed over, never done; the run ends, not completed."""
    ritual = make(call("breaks"), Step("checklist", "x", {"items": [{"label": "a", "tool": "breaks"}]}), call("note"))
    module = bench.module()
    tools = tuple(tool for tool in module.tools if tool.name != "breaks")
    poorer = open_again(core, clock, (type(module)(**{**vars(module), "tools": tools}),))
    run = poorer.runner.start(ME, ritual)
    assert not poorer.runner.available(ritual.steps[0]) and not poorer.runner.available(ritual.steps[1])
    assert poorer.runner.current(ritual, run) == 2
    with pytest.raises(NotFound):
        poorer.runner.do(ME, ritual, run, 0)
    run = poorer.runner.do(ME, ritual, run, 2).run
    assert poorer.runner.current(ritual, run) is None and run.open and run.completed == 1
    assert poorer.runner.finish(ME, ritual, run).status == "ended"
    assert told("RitualEnded")[0]["status"] == "ended" and not told("RitualCompleted")


def test_skipping_leaves_it_incomplete(routines: Routines, make: Make) -> None:
    """It may still be done later; what is done is never skipped."""
    ritual = make(call("note"), call("find"))
    run = routines.runner.skip(ME, routines.runner.start(ME, ritual), 0)
    assert routines.runner.current(ritual, run) == 1 and run.completed == 0
    run = routines.runner.do(ME, ritual, run, 1).run
    assert routines.runner.skip(ME, run, 1).state(1).status == "done" and run.open
    assert routines.runner.do(ME, ritual, run, 0).run.status == "completed"


def test_mood_and_checklist(routines: Routines, make: Make, bench: Bench) -> None:
    """Both run their tools; a checklist is done with its last item, and an item counts once."""
    items = [{"label": "Looked"}, {"label": "Noted", "tool": "note", "params": {"number": 7}}]
    mood = Step("mood_picker", "Mood", {"tool": "note", "param": "number", "base_params": {"text": "mood"}})
    ritual = make(mood, Step("checklist", "List", {"items": items}))
    run = routines.runner.start(ME, ritual)
    with pytest.raises(InputError):
        routines.runner.do(ME, ritual, run, 0, {"number": 6})
    run = routines.runner.do(ME, ritual, run, 0, {"number": 4}).run
    run = routines.runner.tick(ME, ritual, run, 1, 1).run
    assert run.completed == 1 and run.state(1).items[1].status == "done"
    assert routines.runner.tick(ME, ritual, run, 1, 1).outcome == "already"
    assert routines.runner.tick(ME, ritual, run, 1, 0).run.status == "completed"
    assert bench.calls == [("note", {"text": "mood", "number": 4}), ("note", {"number": 7})]


def test_the_run_survives_and_is_one(routines: Routines, make: Make, told: Told) -> None:
    """Another tab joins it; a reload finds it; the same press twice is one."""
    ritual = make(call("note"), call("find"))
    run = routines.runner.start(ME, ritual)
    assert routines.runner.start(ME, ritual).id == run.id
    routines.runner.do(ME, ritual, run, 0)
    again = routines.rituals.get(ritual.id)
    assert again.running and again.running.completed == 1 and again.today == again.running
    assert len(told("RitualStarted")) == 1
    run = routines.runner.do(ME, ritual, again.running, 1).run
    assert routines.runner.start(ME, ritual, run.id).status == "completed"
    assert routines.runner.start(ME, ritual).id != run.id


def test_a_run_left_yesterday_is_logged_as_aborted(routines: Routines, make: Make, clock: FixedClock) -> None:
    """By the next start, and by the daily job."""
    ritual = make(call("note"))
    first = routines.runner.start(ME, ritual)
    clock.at += timedelta(days=1)
    assert routines.runner.start(ME, ritual).id != first.id
    clock.at += timedelta(days=1)
    assert routines.rituals.store.tend() == {"aborted": 1, "deleted": 0}
    assert [run.status for run in routines.rituals.runs().rows] == ["aborted", "aborted"]
    clock.at += timedelta(days=401)
    assert routines.rituals.store.tend()["deleted"] == 2


def test_two_tabs_press_at_once(routines: Routines, make: Make, bench: Bench) -> None:
    """One runs the tool; the other hears that it was done, or that it runs."""
    ritual = make(call("note"), call("find"))
    run = routines.runner.start(ME, ritual)
    gate = threading.Barrier(4)
    said: list[str] = []

    def press() -> None:
        gate.wait()
        said.append(routines.runner.do(ME, ritual, run, 0).outcome)

    threads = [threading.Thread(target=as_operator(press)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bench.calls) == 1 and said.count("done") == 1 and set(said) <= {"done", "already", "busy"}


def test_a_step_whose_process_died_may_be_taken_again(routines: Routines, make: Make, clock: FixedClock) -> None:
    """Not before two minutes: until then it counts as under way."""
    ritual = make(call("note"))
    run = routines.runner.start(ME, ritual)
    routines.rituals.store.take(run, 0, None, "00000000-0000-4000-8000-000000000001")
    assert routines.runner.do(ME, ritual, run, 0).outcome == "busy"
    clock.at += timedelta(minutes=3)
    assert routines.runner.do(ME, ritual, run, 0).run.status == "completed"


def test_stopping_and_what_is_over(routines: Routines, make: Make, bench: Bench, told: Told) -> None:
    """Left in the middle it is aborted; nothing runs in it afterwards, in another tab neither."""
    ritual = make(call("note"), call("find"))
    run = routines.runner.start(ME, ritual)
    assert routines.runner.finish(ME, ritual, run).status == "aborted"
    assert routines.runner.finish(ME, ritual, run).status == "aborted"
    with pytest.raises(ConflictError):
        routines.runner.do(ME, ritual, run, 0)
    assert not bench.calls and [e["status"] for e in told("RitualEnded")] == ["aborted"]


def test_a_routine_that_was_changed_closes_its_run(routines: Routines, make: Make, bench: Bench) -> None:
    """The other tab's step is of another version: nothing is done."""
    ritual = make(call("note"))
    run = routines.runner.start(ME, ritual)
    assert routines.rituals.save(ME, ritual).aborted == 1
    newer = routines.rituals.get(ritual.id)
    assert newer.version == ritual.version + 1 and newer.running is None
    for held in (ritual, newer):
        with pytest.raises(ConflictError):
            routines.runner.do(ME, held, run, 0)
    assert not bench.calls


def test_what_a_later_step_takes(routines: Routines, make: Make, bench: Bench, core: Core) -> None:
    """Ids, counts and the dialog key are kept in the run, words only in the tab; the key is gone with its dialog."""
    take = {"preview_id": "find.preview_id", "expected_count": "find.expected_count", "dialog_key": "find.dialog_key"}
    ritual = make(text("find", "dialog_key", base_params={"query": "a secret word"}),
                  call("clean", take={**take, "query": "find.query"}), call("note"))  # fmt: skip
    run = routines.runner.start(ME, ritual)
    run = routines.runner.do(ME, ritual, run, 0, {"dialog_key": KEY}).run
    assert run.state(0).length == 64
    routines.runner.do(ME, ritual, run, 1, told={"find.query": "a secret word"})
    assert bench.calls[1][1] == {
        "preview_id": "00000000-0000-4000-8000-00000000000a", "expected_count": 3, "dialog_key": KEY,
        "query": "a secret word",
    }  # fmt: skip
    stored = str(core.db.sample("companion_ritual_logs", "*", order="id", limit=5))
    assert KEY in stored and "secret" not in stored
    core.erasures.erase(KEY, "request")
    tables = ("companion_ritual_logs", "companion_rituals", "companion_ritual_steps", "companion_events")
    order = {"companion_events": "seq", "companion_ritual_steps": "ritual_id"}
    for table in tables:
        assert KEY not in str(core.db.sample(table, "*", order=order.get(table, "id"), limit=500))


def test_ai_may_not(routines: Routines, make: Make) -> None:
    """A routine is walked through by a person."""
    ritual = make(call("note"))
    agent = ai("m", "m", mission_id="1", iteration_id="1", rationale="r")
    with pytest.raises(Forbidden):
        routines.runner.start(agent, ritual)
    with pytest.raises(Forbidden):
        routines.rituals.save(agent, ritual)


def test_the_database_goes_away(routines: Routines, make: Make, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the tool: nothing runs. After it: the person hears that it ran, and it does not run again."""
    ritual = make(call("note"))
    run = routines.runner.start(ME, ritual)
    rpc = Database.rpc

    def gone(word: str) -> Any:
        def answer(db: Database, name: str, *args: Any, **more: Any) -> Any:
            if name == f"companion_ritual_{word}":
                raise DatabaseUnavailable("Can't reach the memory database.")
            return rpc(db, name, *args, **more)

        return answer

    monkeypatch.setattr(Database, "rpc", gone("take"))
    with pytest.raises(DatabaseUnavailable):
        routines.runner.do(ME, ritual, run, 0)
    assert not bench.calls
    monkeypatch.setattr(Database, "rpc", gone("put"))
    done = routines.runner.do(ME, ritual, run, 0)
    assert done.outcome == "done" and "could not be noted" in done.message and len(bench.calls) == 1
    monkeypatch.setattr(Database, "rpc", rpc)
    assert routines.runner.do(ME, ritual, run, 0).outcome == "busy" and len(bench.calls) == 1


def test_a_tool_that_raises_is_a_failure(routines: Routines, make: Make, bench: Bench) -> None:
    """The executor says so; the step stays open."""
    ritual = make(call("breaks"))
    bench.bad = True
    run = routines.runner.start(ME, ritual)
    done = routines.runner.do(ME, ritual, run, 0)
    assert done.result == ToolResult(False, "It broke.") and done.run.open
