"""A question -> its answer: by a model through the router, else by rules, and always with the reason.

Source: spec/companion.md, CH-2, CH-7 and CH-8.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.access import acting
from core.companion.act.act import Act
from core.companion.converse.chat import prompt
from core.companion.converse.chat.loop import Loop, Outcome, Step, Watcher
from core.companion.converse.chat.records import Transcript
from core.companion.converse.llm.aliases import Aliases
from core.companion.converse.llm.contract import Message, Reply, Request, Skip
from core.companion.converse.llm.router import CALLED, Router
from core.companion.converse.rules_tier.answer import RuleAnswer
from core.companion.converse.rules_tier.rules import RulesTier
from core.errors import CoreError
from core.events.actor import Actor, ai

SILENT = ("unknown", "help")  # what rules say where they know no answer


@dataclass(frozen=True)
class Answered:
    """What is to be kept of a turn. `dialogs`: the keys that it turned out to be about."""

    text: str
    meta: Mapping[str, Any]
    steps: tuple[Step, ...]
    actor: Actor | None
    dialogs: tuple[str, ...]
    aliases: Mapping[str, str]


def actor_of(conversation_id: str, message_id: str, text: str) -> Actor:
    """The AI that acts in a turn, for whoever asked; its reason names the question by a digest, never by its words."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    asking = acting()
    return ai(
        "companion",
        "Companion",
        mission_id=f"chat:{conversation_id}",
        iteration_id=message_id,
        rationale=f"Asked for in a conversation (question {digest}).",
        roles=asking.roles,
        on_behalf_of=asking.display_name,
    )


class Answering:
    """One per process, thread-safe. `context` is the context document for a model."""

    def __init__(self, router: Router, act: Act, rules: RulesTier, context: Callable[[], str]) -> None:
        self._router = router
        self._act = act
        self._rules = rules
        self._context = context

    def answer(self, known: Transcript, turn_id: str, text: str, watcher: Watcher) -> Answered:
        """Errors: DatabaseError where nothing could be read at all; never for what a model does."""
        conversation_id = known.conversation.id
        actor = actor_of(conversation_id, turn_id, text)
        aliases = Aliases(known.aliases)
        private = self._router.why_not(text)
        if private is not None or not self._any_model():
            reply = self._refused(text if private is None else "", actor, sensitive=private is not None)
            return self._by_rules(text, reply.tried, private, (), aliases, reply.latency_ms)
        earlier = [turn for turn in known.turns if turn.id != turn_id]
        why_not = self._router.why_not
        messages = (
            *prompt.system(aliases.hide(self._context()), why_not),
            *prompt.history(earlier, self._act.toolbox.find, aliases, why_not),
            Message("user", aliases.hide(text)),
        )

        def complete(request: Request, on_text: Callable[[str], None]) -> Reply:
            return self._router.complete(request, on_text, mission_id=actor.mission_id)

        loop = Loop(complete, self._act, actor, aliases, why_not, watcher)
        outcome = loop.run(messages, prompt.schemas(self._act, actor))
        if not outcome.answered:
            watcher.clear()
            reason = outcome.tried[-1] if outcome.tried else None
            why = reason.detail if reason is not None and reason.reason == "sensitive" else None
            return self._by_rules(text, outcome.tried, why, outcome.steps, aliases, outcome.latency_ms)
        return self._by_model(outcome, actor, aliases)

    def _any_model(self) -> bool:
        return any(state.state == "ready" for state in self._router.states() if state.tier != "rules")

    def _refused(self, text: str, actor: Actor, *, sensitive: bool) -> Reply:
        """The router's own word, kept as a call that was not made."""
        said = (Message("user", text),)
        return self._router.complete(
            Request("chat", said, "sensitive" if sensitive else "personal"), mission_id=actor.mission_id
        )

    def _by_model(self, outcome: Outcome, actor: Actor, aliases: Aliases) -> Answered:
        last = outcome.last
        blocked = last.answer.blocked if last.answer else None
        text = outcome.text
        if blocked:
            refusal = f"{CALLED[last.tier]} would not answer: it was blocked ({blocked})."
            text = f"{text}\n{refusal}".strip()
        if not text:
            text = f"{CALLED[last.tier]} gave an empty answer."
        meta = {**_told(outcome), "tier": last.tier, "model": last.model, "blocked": blocked}
        keys = tuple({step.key: None for step in outcome.steps if step.key})
        return Answered(text, meta, outcome.steps, actor, keys, aliases.as_json())

    def _by_rules(
        self,
        text: str,
        tried: Sequence[Skip],
        private: str | None,
        steps: tuple[Step, ...],
        aliases: Aliases,
        latency_ms: float,
    ) -> Answered:
        failed = next((skip for skip in tried if skip.reason == "runtime-error"), None)
        meta: dict[str, Any] = {"tier": "rules", "tried": [asdict(skip) for skip in tried]}
        meta |= {"latency_ms": round(latency_ms, 1), "private": private is not None}
        if private is not None:
            why = private.removeprefix("Only rules may answer: ").removesuffix(".")
            meta["why"] = f"Answered by rules: {why}, so no model is asked."
        if failed is not None:
            meta["failure"] = failed.detail
        try:
            found: RuleAnswer | None = self._rules.answer(text)
        except CoreError as error:
            meta["failure"] = " ".join(x for x in (meta.get("failure"), f"{error.what} {error.hint}".strip()) if x)
            found = None
        said = _spoken(found, failed)
        if found is not None and not (failed is not None and found.intent in SILENT):
            meta["answer"] = found.as_json()
        keys = tuple(dict.fromkeys((*(s.key for s in steps if s.key), *(found.dialogs if found else ()))))
        return Answered(said, meta, steps, None, keys, aliases.as_json())


def rows(answered: Answered, aliases: Aliases) -> list[dict[str, Any]]:
    """The messages of a turn after its question, as they are kept: calls, redacted results, the answer."""
    kept: list[dict[str, Any]] = []
    for step in answered.steps:
        call = {"name": step.call.name, "params": aliases.hide(step.call.arguments), "round": step.round}
        result = {"success": step.result.success, "message": step.result.message}
        result["data"] = _bounded(aliases.hide(_json(step.result.llm_data)))
        kept.append({"id": str(uuid.uuid4()), "role": "assistant", "tool_call": _json(call)})
        kept.append({"id": str(uuid.uuid4()), "role": "tool_result", "tool_result": aliases.hide(_json(result))})
    kept.append({"id": str(uuid.uuid4()), "role": "assistant", "content": answered.text, "meta": dict(answered.meta)})
    return kept


def _spoken(found: RuleAnswer | None, failed: Skip | None) -> str:
    if found is None:
        return "The figures cannot be read now."
    if failed is not None and found.intent in SILENT:
        return f"{failed.detail} Your question is kept; ask again, or see what the settings say of models."
    return found.says


def _told(outcome: Outcome) -> dict[str, Any]:
    return {
        "latency_ms": round(outcome.latency_ms, 1),
        "rounds": outcome.rounds,
        "own_words": outcome.own_words,
        "tokens": outcome.tokens,
        "tried": [asdict(skip) for skip in outcome.tried],
    }


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def _bounded(value: Any, limit: int = 20_000) -> Any:
    return value if len(json.dumps(value)) <= limit else None
