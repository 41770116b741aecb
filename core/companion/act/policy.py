"""May an AI do that by itself, after a person's yes, or not at all?

People and the product itself always may. For an AI: what the operator says of the tool, else of its module, else the
tool's own default, else `default_for_ai`. A tool whose own default is deny stays so, whatever else is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import get_args

from core.access.roles import permit
from core.companion.contract import Decision, ModuleTool
from core.companion.settings import CompanionSettings
from core.errors import InputError
from core.events.actor import Actor
from core.events.emitter import Events

TOPIC = "policy"
DECISIONS = get_args(Decision)


@dataclass(frozen=True)
class PolicySet:
    """What is said beside the tools' own defaults."""

    tools: Mapping[str, Decision] = field(default_factory=dict)
    modules: Mapping[str, Decision] = field(default_factory=dict)
    default_for_ai: Decision = "propose"

    def decide(self, tool: ModuleTool) -> Decision:
        """For an AI. A module's word holds for what changes something; its reads it can only forbid."""
        said = self.modules.get(tool.module)
        by_module = None if tool.read_only and said == "propose" else said
        if tool.default_policy == "deny":
            return "deny"
        return self.tools.get(tool.name) or by_module or tool.default_policy or self.default_for_ai


class Policies:
    """The operator's choices, read anew for each call of an AI, so that a no holds at once in every process."""

    def __init__(self, settings: CompanionSettings, events: Events) -> None:
        self._settings = settings
        self._events = events
        self._lock = Lock()
        self._instead: PolicySet | None = None

    def of(self, tool: ModuleTool, actor: Actor) -> Decision:
        """Errors: DatabaseError where nobody can say; then nothing may be done."""
        return "auto" if actor.kind != "ai" else self.current().decide(tool)

    def current(self) -> PolicySet:
        """What holds now. Errors: DatabaseError."""
        with self._lock:
            instead = self._instead
        return instead or _policy(self._settings.read(TOPIC))

    def set_policy(self, policy: PolicySet) -> Callable[[], None]:
        """In this process another policy holds, until the function that is returned is called."""
        with self._lock:
            before, self._instead = self._instead, policy

        def restore() -> None:
            with self._lock:
                self._instead = before

        return restore

    def override(self, decision: Decision | None, *, tool: ModuleTool | None = None, module: str | None = None) -> None:
        """Say it of a tool or of a module, in every process; None: say nothing of it any more.

        Errors: Forbidden, InputError, DatabaseError.
        """
        permit("companion_policy")
        if decision is not None and decision not in DECISIONS:
            raise InputError("A policy is auto, propose or deny.", field="decision")
        if (tool is None) == (module is None):
            raise InputError("Name a tool or a module.", field="tool")
        if tool is not None and tool.default_policy == "deny" and decision not in (None, "deny"):
            raise InputError(f"{tool.label} is for people only.", hint="No setting changes that.", field="tool")
        scope, name = ("tool", tool.name) if tool else ("module", str(module))
        old = self._settings.read(TOPIC).get(f"{scope}:{name}")
        payload = {"scope": scope, "name": name, "old_policy": old, "new_policy": decision}
        event = self._events.prepare("PolicyChanged", payload, record_id=name)
        self._settings.patch(TOPIC, {f"{scope}:{name}": decision}, event)
        self._events.announce(event)


def _policy(stored: Mapping[str, object]) -> PolicySet:
    found: dict[str, dict[str, Decision]] = {"tool": {}, "module": {}}
    for key, value in stored.items():
        scope, _, name = key.partition(":")
        # A word that no version of ours wrote forbids: it may have meant so.
        if scope in found:
            found[scope][name] = value if value in DECISIONS else "deny"  # type: ignore[assignment]
    return PolicySet(found["tool"], found["module"])
