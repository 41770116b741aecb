"""The one way to run a tool: known, valid, allowed, then run, staged or refused; told as an event either way.

Source: spec/companion.md, TO-5.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from core.access.roles import acting, granted, require
from core.companion.act.policy import Policies
from core.companion.act.toolbox import Toolbox, dialogs_of
from core.companion.act.validation import validate
from core.companion.contract import ModuleTool, ToolResult
from core.errors import CoreError
from core.events.actor import Actor, run_as
from core.events.emitter import Events

log = logging.getLogger(__name__)

_OURS = re.compile("[0-9a-f]{64}")
BROKEN = "The tool met an error of its own; nothing is known to have changed. The log says where."
Stage = Callable[[ModuleTool, Mapping[str, Any], Actor], ToolResult]


class Executor:
    """One per process, thread-safe. `stage` keeps what has to wait for a person."""

    def __init__(self, toolbox: Toolbox, policies: Policies, events: Events, stage: Stage) -> None:
        self._toolbox = toolbox
        self._policies = policies
        self._events = events
        self._stage = stage

    def call(self, name: str, params: Any, *, actor: Actor | None = None, only_reads: bool = False) -> ToolResult:
        """Run a tool as this actor, else as the current one; what goes wrong is a result without success.

        For an AI whose policy is propose the call is staged: success, and `data["proposal_id"]`. With `only_reads` so
        is every other change of an AI, whatever policy says of it.
        """
        who = actor or acting()
        began = time.perf_counter()
        tool = self._toolbox.find(name)
        if tool is None:
            return ToolResult(False, f"There is no tool {name[:60]!r}." if isinstance(name, str) else "No tool.")
        code = "refused"
        try:
            _permit(tool, who)
            given = validate(tool, params)
            policy = self._policies.of(tool, who)
            if policy == "deny":
                result = ToolResult(False, f"{tool.label} is not for an AI.")
            elif reason := self._refusal(tool, given, who):
                result = ToolResult(False, reason)
            elif policy == "propose" or (only_reads and who.kind == "ai" and not tool.read_only):
                return self._stage(tool, given, who)
            else:
                return self.run(tool, given, who)
        except CoreError as error:
            result, code = ToolResult(False, str(error)), error.code
        except Exception as bug:
            result, code = _broken(tool, bug), type(bug).__name__
        self._tell(tool, who, result, code, began, _record(tool, params, sure=False))
        return result

    def run(
        self, tool: ModuleTool, params: Mapping[str, Any], actor: Actor, proposal_id: str | None = None
    ) -> ToolResult:
        """Run it now, with no question of policy: for `call`, and for what a person has approved. Never raises."""
        began = time.perf_counter()
        code = "failed"
        try:
            _permit(tool, actor)
            with run_as(actor), granted(*tool.actions):
                result = tool.execute(dict(params))
        except CoreError as error:
            result, code = ToolResult(False, str(error)), error.code
        except Exception as bug:
            result, code = _broken(tool, bug), type(bug).__name__
        self._tell(tool, actor, result, code, began, proposal_id or _record(tool, params, sure=result.success))
        return result

    def _refusal(self, tool: ModuleTool, params: Mapping[str, Any], actor: Actor) -> str | None:
        if tool.refuse is None:
            return None
        with run_as(actor), granted(*tool.actions):
            return tool.refuse(params)

    def _tell(
        self, tool: ModuleTool, actor: Actor, result: ToolResult, code: str, began: float, record_id: str | None
    ) -> None:
        self._events.emit(
            "CompanionToolCalled",
            {
                "tool": tool.name,
                "module": tool.module,
                "success": result.success,
                "latency_ms": round((time.perf_counter() - began) * 1000, 1),
                "error_class": None if result.success else code,
            },
            actor=actor,
            record_id=record_id,
        )


def _permit(tool: ModuleTool, actor: Actor) -> None:
    """Forbidden unless whoever asks, or whom an AI acts for, may do all that the tool does. Of a policy: `call`."""
    with granted(*tool.actions):
        for action in tool.actions:
            require(actor, action)


def _record(tool: ModuleTool, params: Any, *, sure: bool) -> str | None:
    """The dialog that a call is about: with it the event, and the reason the AI gave, can be erased.

    Unless it is `sure` that there is such a dialog, only what has the form of a key of ours: anything may stand there.
    """
    try:
        found = next(iter(dialogs_of(tool, params)), None)
    except Exception:  # arguments that no one has checked
        return None
    return found if sure or (found is not None and _OURS.fullmatch(found)) else None


def _broken(tool: ModuleTool, bug: Exception) -> ToolResult:
    step = bug.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    place = f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}" if step else "?"
    # Not the message: it may quote a row or an argument.
    log.error("the tool %s met %s at %s", tool.name, type(bug).__name__, place)
    return ToolResult(False, BROKEN)
