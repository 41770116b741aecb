"""Rounds of a model and tools, over scripted answers and real tools. Source: spec/companion.md section 19, 72 to 78."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.act.act import Act, open_act
from core.companion.act.policy import PolicySet
from core.companion.contract import Module, ModuleTool, Parameter, Section, ToolResult
from core.companion.converse.chat.answering import actor_of
from core.companion.converse.chat.loop import CALLS_A_ROUND, Loop, Outcome, Watcher
from core.companion.converse.llm.aliases import Aliases
from core.companion.converse.llm.contract import Answer, Message, Reply, Request, Skip, ToolCall
from tests.core.companion.converse.chat.conftest import Opened

KEY = "ab" * 32


class Script:
    """Answers one after the other; remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.got = list(answers), list[Request]()

    def __call__(self, request: Request, on_text: Any) -> Reply:
        self.got.append(request)
        step = self.answers.pop(0) if self.answers else "done"
        if step is None:
            return Reply("rules", None, "personal", tried=(Skip("server", "runtime-error", "It broke."),))
        if isinstance(step, str):
            on_text(step)
            return Reply("server", Answer(step, prompt_tokens=3, completion_tokens=2), "personal", "m", 1.0)
        calls = tuple(ToolCall(f"c{n}", name, args) for n, (name, args) in enumerate(step))
        return Reply("server", Answer("", calls), "personal", "m", 1.0)

    def results(self, request: int) -> list[str]:
        return [m.content for m in self.got[request].messages if m.role == "tool"]


class Seen(Watcher):
    def __init__(self) -> None:
        self.told: list[str] = []

    def text(self, piece: str) -> None:
        self.told.append(piece)

    def clear(self) -> None:
        self.told.append("<clear>")

    def step(self, step: Any) -> None:
        self.told.append(f"<{step.call.name}>")


class Bench:
    """Tools that count: `look` reads, `write` changes at once, `ask` waits for a yes, `never` is denied."""

    def __init__(self, core: Core) -> None:
        self.ran: list[str] = []
        self.together = self.most = 0
        self.lock = threading.Lock()

        def look(given: Mapping[str, Any]) -> ToolResult:
            with self.lock:
                self.together += 1
                self.most = max(self.most, self.together)
            time.sleep(0.02 if given.get("n") else 0.04)
            with self.lock:
                self.together -= 1
                self.ran.append(f"look {given.get('n')} {given.get('dialog_key', '')}")
            if given.get("n") == 13:
                raise RuntimeError("a secret of its own")
            return ToolResult(True, f"looked {given.get('n')}", given, dict(given))

        def write(given: Mapping[str, Any]) -> ToolResult:
            self.ran.append("write")
            return ToolResult(True, "written")

        shared: dict[str, Any] = {"module": "bench", "action": "companion", "content_class": "personal"}
        n = Parameter("n", "integer", "A number.")
        key = Parameter("dialog_key", "string", "A key.")
        tools = (
            ModuleTool("look", label="Look", description="d", execute=look, default_policy="auto", read_only=True,
                       parameters=(n, key), **shared),
            ModuleTool("write", label="Write", description="d", execute=write, default_policy="auto",
                       once_per_plan=True, **shared),
            ModuleTool("ask", label="Ask", description="d", execute=write, default_policy="propose", **shared),
            ModuleTool("never", label="Never", description="d", execute=write, default_policy="deny", **shared),
        )  # fmt: skip
        module = Module("bench", "Bench", "personal", (), Section(lambda day: {}, {}), tools)
        self.act: Act = open_act(core.db, core.events, core.clock, core.companion.settings, [module])
        self.aliases, self.seen = Aliases(), Seen()

    def run(self, script: Script, *said: Message, budget: int = 20_000, why_not: Any = lambda *t: None) -> Outcome:
        actor = actor_of("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", "q")
        loop = Loop(script, self.act, actor, self.aliases, why_not, self.seen, budget_tokens=budget)
        return loop.run(said or (Message("system", "s"), Message("user", "q")), ({"function": {"name": "look"}},))


@pytest.fixture
def bench(core: Core) -> Iterator[Bench]:
    yield Bench(core)


def test_no_call_is_one_round(bench: Bench) -> None:
    """The text is the answer."""
    script = Script("Hello.")
    outcome = bench.run(script)
    assert (outcome.text, outcome.rounds, outcome.steps, outcome.tokens) == ("Hello.", 1, (), 5)
    assert bench.seen.told == ["Hello."]


def test_a_result_is_seen_by_the_next_call(bench: Bench) -> None:
    """With the id and the name of its call; what was streamed before is cleared."""
    script = Script([("look", {"n": 1})], "It is 1.")
    outcome = bench.run(script)
    assert outcome.text == "It is 1." and outcome.rounds == 2
    *_, asked, result = script.got[1].messages
    assert asked.calls[0].name == "look" and (result.call_id, result.name) == ("c0", "look")
    assert "looked 1" in result.content
    assert bench.seen.told == ["<clear>", "<look>", "It is 1."]


def test_after_three_rounds_an_answer_without_tools(bench: Bench) -> None:
    """Four calls of the model at most, the last one without tools."""
    script = Script(*([("look", {"n": n})] for n in range(1, 4)), "Enough.")
    outcome = bench.run(script)
    assert outcome.text == "Enough." and len(script.got) == 4 and outcome.rounds == 4
    assert [bool(request.tools) for request in script.got] == [True, True, True, False]


def test_an_answer_without_text(bench: Bench) -> None:
    """What the tools said, then."""
    script = Script([("look", {"n": 1}), ("look", {"n": 2})], "")
    assert bench.run(script).text == "looked 1\nlooked 2"


def test_a_failure_is_fed_back(bench: Bench) -> None:
    """An unknown tool, bad arguments, an exception: each a result, none the end."""
    script = Script([("nothing", {}), ("look", {"n": "x"}), ("look", "no object"), ("look", {"n": 13})], "Sorry.")
    outcome = bench.run(script)
    assert outcome.text == "Sorry." and [step.result.success for step in outcome.steps] == [False] * 4
    told = script.results(1)
    assert "no tool" in told[0] and "n is no" in told[1] and "no object" in told[2]
    assert "secret" not in "".join(told)


def test_reads_run_together_in_their_order(bench: Bench) -> None:
    """Ten at a time; the results stand in the order in which they were asked for."""
    script = Script([("look", {"n": n}) for n in range(15)], "Done.")
    outcome = bench.run(script)
    assert [step.result.message for step in outcome.steps] == [
        "The tool met an error of its own; nothing is known to have changed. The log says where."
        if n == 13
        else f"looked {n}"
        for n in range(15)
    ]
    assert 2 <= bench.most <= 10


def test_one_that_changes_something_makes_all_wait(bench: Bench) -> None:
    """One after the other, in their order."""
    script = Script([("look", {"n": 1}), ("write", {}), ("look", {"n": 2})], "Done.")
    bench.run(script)
    assert bench.most == 1 and [line.split(" ")[0] for line in bench.ran] == ["look", "write", "look"]


def test_a_read_that_the_operator_forbids_is_not_run(bench: Bench) -> None:
    """Policy is asked for each call, also in the middle of a run."""
    restore = bench.act.policies.set_policy(PolicySet(tools={"look": "deny"}))
    outcome = bench.run(Script([("look", {"n": 1}), ("look", {"n": 2})], "No."))
    restore()
    assert not bench.ran and not any(step.result.success for step in outcome.steps)


def test_what_has_to_wait_is_staged(bench: Bench) -> None:
    """Under the AI; the denied one is refused; what may be done once is done once."""
    outcome = bench.run(Script([("ask", {}), ("never", {}), ("write", {}), ("write", {})], "Done."))
    staged, denied, first, second = outcome.steps
    assert staged.proposal_id and "waiting for approval" in staged.result.message
    assert not denied.result.success and first.result.success and not second.result.success
    assert bench.ran == ["write"]
    (waiting,) = bench.act.proposals.list().rows
    assert waiting.actor.kind == "ai" and waiting.mission_id.startswith("chat:")
    assert waiting.rationale.startswith("Asked for in a conversation")


def test_too_many_calls(bench: Bench) -> None:
    """The rest is refused by name, none is dropped without a word."""
    outcome = bench.run(Script([("look", {"n": 1})] * (CALLS_A_ROUND + 2), "Done."))
    assert len(outcome.steps) == CALLS_A_ROUND + 2 and len(bench.ran) == CALLS_A_ROUND
    assert "At most" in outcome.steps[-1].result.message


@pytest.mark.parametrize(
    ("text", "ran"),
    [
        ('```tool\n{"name": "look", "params": {"n": 1}}\n```', True),
        ('I look.\n```tool\n{"name": "look"}\n```', True),
        ('```tool\n{"name": "look", "params": \n```', False),
        ('```tool\n{"params": {"n": 1}}\n```', False),
        ('```json\n{"name": "look"}\n```', False),
    ],
)
def test_a_fenced_block(bench: Bench, text: str, ran: bool) -> None:
    """One that is whole is a call, whatever model wrote it; a malformed one is text."""
    outcome = bench.run(Script(text, "Done."))
    assert bool(bench.ran) is ran and outcome.text == ("Done." if ran else text)


def test_a_dialog_has_an_alias(bench: Bench) -> None:
    """The tool gets the key, the model never: not in the result, not in its own arguments."""
    alias = bench.aliases.of(KEY)
    script = Script([("look", {"dialog_key": alias})], "Done.")
    outcome = bench.run(script)
    assert bench.ran == [f"look None {KEY}"] and outcome.steps[0].key == KEY
    assert KEY not in repr(script.got) and alias in script.results(1)[0]


def test_a_model_that_breaks_off(bench: Bench) -> None:
    """What was done until then is told; there is no answer."""
    outcome = bench.run(Script([("look", {"n": 1})], None))
    assert not outcome.answered and len(outcome.steps) == 1 and outcome.tried[0].reason == "runtime-error"


def long_talk(turns: int) -> list[Message]:
    said = [Message("system", "persona"), Message("system", "context")]
    for n in range(turns):
        said += [Message("user", f"question {n} " + "x" * 400), Message("assistant", f"answer {n}")]
    return [*said, Message("user", "the last question")]


def test_compaction(bench: Bench) -> None:
    """From 92 % on: the system's words, the first question, four parts of a summary, the last four turns; once."""
    script = Script([("look", {"n": 1})], "Done.")
    bench.run(script, *long_talk(12), budget=1_000)
    sent = script.got[0].messages
    assert [m.content for m in sent[:2]] == ["persona", "context"] and sent[2].content.startswith("question 0")
    summary = sent[3].content
    assert all(f"{part}:" in summary for part in ("Goal", "Decisions", "Tools called", "Progress"))
    assert [m.content[:11] for m in sent[4:] if m.role == "user"] == [
        "question 9 ",
        "question 10",
        "question 11",
        "the last qu",
    ]
    assert sum("in short" in m.content for m in script.got[1].messages) == 1


def test_nothing_to_fold(bench: Bench) -> None:
    """Below the budget, or with four turns: as it was."""
    for said, budget in ((long_talk(12), 100_000), (long_talk(3), 10)):
        script = Script("Done.")
        bench.run(script, *said, budget=budget)
        assert list(script.got[0].messages) == said


def test_both_formats_over_the_wire(talk: Opened) -> None:
    """An own server that knows functions, and one that does not: the same tool, the same answer."""
    native = talk(server=[{"call": "get_task_stats"}, "No task."])
    turn = native.ask("How many tasks?")
    assert [(c.name, c.success) for c in turn.calls] == [("get_task_stats", True)] and turn.answer == "No task."
    block = '```tool\n{"name": "get_task_stats", "params": {}}\n```'
    fenced = talk(server=[400, block, "No task."], functions=False)
    turn = fenced.ask("How many tasks?")
    assert [(c.name, c.success) for c in turn.calls] == [("get_task_stats", True)] and turn.answer == "No task."
