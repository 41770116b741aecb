"""One run of a mission, from its inputs to its verdict. Source: spec/companion.md, MI-5, MI-8.

Each step goes through the executor as the AI: policy decides whether it runs, waits for a person, or is refused.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.act.act import Act
from core.companion.act.missions import guardrails
from core.companion.act.missions.doing import WORDS_MOST, Doing
from core.companion.act.missions.inputs import Sources
from core.companion.act.missions.mission import PHASES, Mission, Origin, RunStatus, verdict
from core.companion.act.missions.plan import PlanError, PlannedStep
from core.companion.act.missions.situation import Planner, PlannerUnavailable, Situation
from core.companion.act.missions.store import MissionStore
from core.companion.contract import ModuleTool
from core.companion.converse.llm.aliases import Aliases
from core.errors import CoreError
from core.events.actor import system
from core.events.emitter import Events

log = logging.getLogger(__name__)

HISTORY = 3
BROKEN = "The run met an error of its own; the log says where."


class Halt(Exception):
    """The run ends here: Cancelled, Timeout, Lost (another process has it), Stopped (this one ends)."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Runner:
    """One per process, thread-safe. `tokens` gives what a mission's calls used today; `stopping` whether to end."""

    def __init__(
        self,
        store: MissionStore,
        act: Act,
        planners: Mapping[str, Planner],
        sources: Sources,
        events: Events,
        clock: Clock,
        zone: ZoneInfo,
        *,
        tokens: Callable[[str, datetime], int] = lambda mission, since: 0,
        stopping: Callable[[], bool] = lambda: False,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._act = act
        self._planners = planners
        self._sources = sources
        self._events = events
        self._clock = clock
        self._zone = zone
        self._tokens = tokens
        self._stopping = stopping
        self._timer = timer

    def run(self, mission: Mission, iteration: str, owner: str, source: Origin) -> RunStatus:
        """Do it and end it, whatever happens on the way; the mission was claimed by this owner.

        Raises only what is no Exception (somebody interrupts the process), after the run is closed.
        """
        run = _Run(self, mission, iteration, owner)
        status: RunStatus = "failed"
        error: dict[str, str] | None = None
        failed = True
        try:
            run.work()
            status = verdict(run.doing.steps)
            failed = status == "failed"
            if failed:
                error = {"name": "AllFailed", "message": "Every step failed.", "phase": run.phase}
        except Halt as halt:
            error = {"name": halt.name, "message": str(halt)}
            failed = halt.name == "Timeout"
        except (PlanError, PlannerUnavailable, guardrails.Blocked) as reason:
            error = {"name": type(reason).__name__, "message": _sentence(str(reason))}
        except CoreError as failure:
            error = {"name": failure.code, "message": failure.what}
        except Exception as bug:
            error = {"name": type(bug).__name__, "message": BROKEN}
            log.error("a mission's run failed: %s at %s", type(bug).__name__, _place(bug))
        except BaseException:
            run.end(
                "failed", {"name": "Stopped", "message": "The process was ended.", "phase": run.phase}, None, source
            )
            raise
        kept = {"phase": run.phase, **error} if error else None
        now = self._clock.now()
        stopped = error is not None and error["name"] in ("Stopped", "Lost")
        after = None if stopped else guardrails.after_run(mission, failed=failed, now=now, zone=self._zone)
        if error is not None and error["name"] == "Cancelled" and after is not None:
            after |= {"fail_count": mission.fail_count}
        run.end(status, kept, after, source)
        return status


class _Run:
    """What one run has in hand."""

    def __init__(self, runner: Runner, mission: Mission, iteration: str, owner: str) -> None:
        self._r = runner
        self._mission = mission
        self._iteration = iteration
        self._owner = owner
        self._began = runner._timer()
        self.phase = PHASES[0]
        self.doing = Doing(runner._act, mission, iteration, runner._timer)
        self.summary = ""
        self.tier: str | None = None

    def work(self) -> None:
        r, mission = self._r, self._mission
        self.at(PHASES[0])
        inputs, left_out = r._sources.resolve(mission.inputs)
        self.doing.notices += left_out
        tools = self._tools()
        guardrails.check_inputs(inputs)
        history = r._store.iterations(mission.id, limit=HISTORY + 1).rows
        situation = Situation(
            mission=mission,
            round=1,
            tools=tools,
            at=self.at,
            inputs=inputs,
            history=tuple(one for one in history if one.id != self._iteration)[:HISTORY],
            content_class=r._sources.content_class(mission.inputs),
            aliases=Aliases(),
        )
        if situation.content_class == "public":
            situation = replace(situation, content_class="personal")  # words of the operator
        planner, by_name = r._planners[mission.planner], {tool.name: tool for tool in tools}
        for round in range(1, guardrails.ROUNDS_MOST + 1):
            notes = self._notes(round)
            now = replace(situation, round=round, results=tuple(self.doing.results), notes=notes, left_s=self._left())
            planned = planner.plan(now)
            self.tier = planned.tier
            self.summary = planned.plan.summary[:WORDS_MOST] or self.summary
            if not planned.plan.steps:
                break
            if len(self.doing.steps) + len(planned.plan.steps) > guardrails.STEPS_MOST:
                raise guardrails.Blocked(f"A run has at most {guardrails.STEPS_MOST} steps.")
            self.at("staging-proposals")
            for step in planned.plan.steps:
                self._do(step, by_name[step.tool])
            if self.doing.waits:
                break
        self.at("finalizing")

    def at(self, phase: str | None) -> None:
        """Say where it is, and that it lives. Errors: Halt where it is to stop, DatabaseError."""
        if phase:
            self.phase = phase
        held, cancel = self._r._store.phase(self._iteration, self._owner, phase, self._r._clock.now())
        if not held:
            raise Halt("Lost", "Another process has taken this mission over.")
        if cancel:
            raise Halt("Cancelled", "Somebody cancelled it.")
        if self._r._stopping():
            raise Halt("Stopped", "The process was ended.")
        if self._left() <= 0:
            raise Halt("Timeout", f"It took longer than {guardrails.RUN_S:.0f} seconds.")

    def end(
        self, status: RunStatus, error: Mapping[str, str] | None, after: Mapping[str, Any] | None, source: Origin
    ) -> None:
        r, mission = self._r, self._mission
        states = [step.status for step in self.doing.steps]
        facts = {"status": status, "phase": self.phase, "error_class": error["name"] if error else None}
        counts = {"steps": len(states), "approved": states.count("approved"), "failed": states.count("failed")}
        payload = {"mission_id": mission.id, "iteration_id": self._iteration, "source": source, **facts, **counts}
        if after is not None:
            payload |= {"failures": after["fail_count"], "paused": after["paused"]}
        event = r._events.prepare(
            "MissionIterationFinished", payload, actor=system("mission-runner"), record_id=mission.id
        )
        outcome = {
            "status": status,
            "summary": self.summary or None,
            "tier": self.tier,
            "error": error,
            "phase": self.phase,
            "steps": [step.row() for step in self.doing.steps],
            "notices": self.doing.notices,
        }
        try:
            if r._store.finish(self._iteration, self._owner, outcome, after, r._clock.now(), event):
                r._events.announce(event)
        except CoreError as failure:
            # Its lease ends, and whoever runs the mission next closes it.
            log.warning("the end of a mission's run was not stored (%s)", failure.code)

    def _do(self, planned: PlannedStep, tool: ModuleTool) -> None:
        self.at(None)
        dialogs = self.doing.do(planned, tool)
        # On record before the next step: a run that is cut off shows what it did.
        self._r._store.phase(self._iteration, self._owner, None, self._r._clock.now(), self.doing.steps, dialogs)

    def _tools(self) -> Sequence[ModuleTool]:
        policy = self._r._act.policies.current()
        return [tool for tool in self._r._act.toolbox.all() if policy.decide(tool) != "deny"]

    def _notes(self, round: int) -> tuple[str, ...]:
        notes = []
        if self._mission.planner == "llm":
            midnight = self._r._clock.now().astimezone(self._r._zone).replace(hour=0, minute=0, second=0, microsecond=0)
            spent = self._r._tokens(self._mission.id, midnight)
            if warning := guardrails.check_budget(spent, self._mission.token_budget):
                notes.append(warning)
        if round == guardrails.ROUNDS_MOST:
            notes.append("This is the last round.")
        if guardrails.struggling(round, self.doing.steps):
            notes.append("The last two calls failed. Stop now: answer with an empty list of steps.")
        return tuple(notes)

    def _left(self) -> float:
        return guardrails.RUN_S - (self._r._timer() - self._began)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _place(bug: Exception) -> str:
    step, place = bug.__traceback__, "?"
    while step is not None:
        place = f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}"
        step = step.tb_next
    return place
