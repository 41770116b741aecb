"""Rounds of a model and tools: at most three, then one answer without tools, so that there always is one.

Source: spec/companion.md, CH-2 to CH-7.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from core.companion.act.act import Act
from core.companion.contract import ToolResult
from core.companion.converse.chat import compaction
from core.companion.converse.chat.redaction import WhyNot, told
from core.companion.converse.llm.aliases import Aliases
from core.companion.converse.llm.contract import Message, Reply, Request, Skip, ToolCall
from core.companion.converse.llm.fenced import call_in
from core.events.actor import Actor

ROUNDS = 3
BATCH = 10
CALLS_A_ROUND = 20  # of one answer; a model that asks for more has lost its way
Complete = Callable[[Request, Callable[[str], None]], Reply]


@dataclass(frozen=True)
class Step:
    """A call that was made, and what came of it. `params` as the model gave them: dialogs by their alias."""

    call: ToolCall
    result: ToolResult
    round: int
    key: str = ""  # the dialog that it was about

    @property
    def proposal_id(self) -> str | None:
        """Of a call that waits for a person."""
        data = self.result.data
        found = data.get("proposal_id") if isinstance(data, Mapping) else None
        return found if isinstance(found, str) else None


@dataclass(frozen=True)
class Outcome:
    """How a run ended; `text` is "" where no model answered: `tried` says why."""

    text: str
    steps: tuple[Step, ...]
    rounds: int
    last: Reply
    latency_ms: float
    tokens: int
    tried: tuple[Skip, ...]

    @property
    def answered(self) -> bool:
        return self.last.answer is not None

    @property
    def own_words(self) -> bool:
        """Whether the text is the model's; else it is what tools said, which a model may not be told again."""
        return self.last.answer is not None and bool(self.last.answer.text.strip())


class Watcher:
    """What somebody who looks on is told; does nothing by itself."""

    def text(self, piece: str) -> None:
        """A piece of the answer as it comes."""

    def clear(self) -> None:
        """What came so far was no answer, but the way to a tool."""

    def step(self, step: Step) -> None:
        """A tool was run, staged or refused."""


class Loop:
    """One run: a question and all that comes of it. Not to be used twice."""

    def __init__(
        self,
        complete: Complete,
        act: Act,
        actor: Actor,
        aliases: Aliases,
        why_not: WhyNot,
        watcher: Watcher,
        *,
        budget_tokens: int = compaction.BUDGET_TOKENS,
    ) -> None:
        self._complete = complete
        self._act = act
        self._actor = actor
        self._aliases = aliases
        self._why_not = why_not
        self._watcher = watcher
        self._budget = budget_tokens
        self._steps: list[Step] = []
        self._folded = False
        self._latency = 0.0
        self._tokens = 0
        self._once: set[str] = set()

    def run(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Outcome:
        """Until there is an answer, or no model that gives one. Never raises for what a tool or a model does."""
        said = tuple(messages)
        for turn in range(1, ROUNDS + 1):
            said, reply = self._ask(said, tuple(tools))
            calls = _calls(reply)
            if not calls:
                return self._outcome(reply, turn)
            self._watcher.clear()
            answer = reply.answer
            assert answer is not None
            said = (*said, Message("assistant", "" if not answer.calls else answer.text, calls=calls))
            for step in self._call(calls, turn):
                tool = self._act.toolbox.find(step.call.name)
                content = told(tool, step.result, self._aliases, self._why_not)
                said = (*said, Message("tool", content, call_id=step.call.id, name=step.call.name))
        _, reply = self._ask(said, ())
        return self._outcome(reply, ROUNDS + 1)

    def _ask(self, said: tuple[Message, ...], tools: tuple[Mapping[str, Any], ...]) -> tuple[Any, Reply]:
        if not self._folded and compaction.is_full(said, tools, self._budget):
            said, self._folded = compaction.folded(said), True
        reply = self._complete(Request("chat", said, "personal", tools), self._watcher.text)
        self._latency += reply.latency_ms
        if reply.answer is not None:
            self._tokens += reply.answer.prompt_tokens + reply.answer.completion_tokens
        return said, reply

    def _outcome(self, reply: Reply, rounds: int) -> Outcome:
        text = reply.answer.text.strip() if reply.answer else ""
        if reply.answer and not text and not reply.answer.blocked:
            text = "\n".join(step.result.message for step in self._steps if step.result.message)
        return Outcome(text, tuple(self._steps), rounds, reply, self._latency, self._tokens, reply.tried)

    def _call(self, calls: Sequence[ToolCall], turn: int) -> list[Step]:
        found: list[Step] = []
        made, beyond = calls[:CALLS_A_ROUND], calls[CALLS_A_ROUND:]
        if len(made) > 1 and all(self._reads(call) for call in made):
            with ThreadPoolExecutor(min(BATCH, len(made)), thread_name_prefix="chat tool") as pool:
                for start in range(0, len(made), BATCH):
                    batch = made[start : start + BATCH]
                    running = [pool.submit(copy_context().run, self._one, call, turn) for call in batch]
                    found += [self._keep(one.result()) for one in running]
        else:
            found += [self._keep(self._one(call, turn)) for call in made]
        refused = ToolResult(False, f"At most {CALLS_A_ROUND} calls at once: this one was not made.")
        return found + [self._keep(Step(call, refused, turn)) for call in beyond]

    def _reads(self, call: ToolCall) -> bool:
        tool = self._act.toolbox.find(call.name)
        return tool is not None and tool.read_only and not tool.once_per_plan and self._policy(tool) == "auto"

    def _policy(self, tool: Any) -> str:
        try:
            return self._act.policies.of(tool, self._actor)
        except Exception:  # nobody can say: one after the other, where the executor says so
            return "propose"

    def _one(self, call: ToolCall, turn: int) -> Step:
        tool = self._act.toolbox.find(call.name)
        if tool is not None and tool.once_per_plan:
            if tool.name in self._once:
                return Step(call, ToolResult(False, f"{tool.label} can be done once in a conversation's turn."), turn)
            self._once.add(tool.name)
        params = self._aliases.reveal(_object(call.arguments))
        result = self._act.executor.call(call.name, params, actor=self._actor)
        key = params.get("dialog_key", "") if isinstance(params, Mapping) else ""
        return Step(call, result, turn, key if isinstance(key, str) else "")

    def _keep(self, step: Step) -> Step:
        self._steps.append(step)
        self._watcher.step(step)
        return step


def _calls(reply: Reply) -> tuple[ToolCall, ...]:
    if reply.answer is None or reply.answer.blocked:
        return ()
    if reply.answer.calls:
        return reply.answer.calls
    block = call_in(reply.answer.text)
    return (block,) if block is not None else ()


def _object(arguments: Any) -> Any:
    """Some models give the object as its JSON text; what is none is left to be refused."""
    if isinstance(arguments, str):
        try:
            found = json.loads(arguments)
        except ValueError:
            return arguments
        return found if isinstance(found, dict) else arguments
    return arguments
