"""Insights: what was learned about the operator's own days, as far as somebody else than a rule may add to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.access.roles import acting, require
from core.companion.contract import Module, ModuleTool, Parameter, Section, ToolResult
from core.companion.modules.answers import Params, done, honest
from core.companion.reflect.facts import Learned
from core.companion.reflect.memory import Facts
from core.errors import ConflictError, NotFound

CATEGORIES = ("pattern", "preference", "context")  # what counts can show
CONTENT_LIMIT, KEY_LIMIT, EVIDENCE_LIMIT = 200, 80, 5
KEY_FORM = rf"[a-z0-9][a-z0-9_.:-]{{2,{KEY_LIMIT - 1}}}"
CLAIM_LIMIT = 0.5  # a model is never surer than that
PREFIX = "llm:"  # so that no rule's fact is touched


def insights(facts: Callable[[], Facts], *more: ModuleTool) -> Module:
    """`facts` is asked when something is learned: they are built from the other modules. `more`: further tools."""
    return Module(
        name="insights",
        label="Insights",
        content_class="personal",
        events=("FactLearned", "FactJudged"),
        section=Section(lambda day: {}, {}),
        tools=(_learn_fact(facts), *more),
        inverses={"FactLearned": honest(_forget(facts))},
    )


def _learn_fact(facts: Callable[[], Facts]) -> ModuleTool:
    def learn(given: Params) -> ToolResult:
        actor = acting()
        require(actor, "learn_facts")
        evidence = [str(name)[:100] for name in given["evidence"]]
        learned = Learned(
            fact_key=f"{PREFIX}{given['fact_key'].removeprefix(PREFIX)}",
            category=given["category"],
            content=given["content"].strip(),
            measured={"claimed": given["confidence"], "evidence": evidence},
            source_modules=tuple(sorted({name.partition(".")[0] for name in evidence})),
            origin="llm" if actor.kind == "ai" else "feedback",
        )
        outcome = facts().learn(learned, actor=actor)
        said = {"learned": "It was learned.", "confirmed": "It was known, and is confirmed.", "same": "It was known."}
        return done(said.get(outcome, "It contradicts what was known."), {"outcome": outcome}, {"outcome": outcome})

    return ModuleTool(
        name="learn_fact",
        module="insights",
        label="Learn a fact",
        description="Keep a pattern of the operator's days, with the figures it was seen in.",
        execute=honest(learn),
        action="learn_facts",
        default_policy="propose",
        content_class="personal",
        parameters=(
            Parameter("category", "string", "What kind of fact.", required=True, enum=CATEGORIES),
            Parameter("content", "string", "One sentence.", required=True, max_length=CONTENT_LIMIT),
            Parameter("fact_key", "string", "A short name, as morning-tasks.", required=True, pattern=KEY_FORM),
            Parameter("confidence", "number", "How sure, 0 to 0.5.", required=True, minimum=0, maximum=CLAIM_LIMIT),
            Parameter("evidence", "array", "Names of the figures.", required=True, max_length=EVIDENCE_LIMIT),
        ),
        reversible=True,
    )


def _forget(facts: Callable[[], Facts]) -> Callable[[Mapping[str, Any]], ToolResult]:
    def forget(event: Mapping[str, Any]) -> ToolResult:
        found = next((f for f in facts().list(0.0) if f.id == event["payload"].get("fact_id")), None)
        if found is None:
            raise NotFound("This fact is forgotten already.")
        if found.confirmations > 1 or found.contradictions:
            raise ConflictError("Somebody confirmed or contradicted this fact since.")
        facts().judge(acting(), found, "deleted")
        return done("The fact is forgotten.")

    return forget
