"""The steps of a run, done one after another as the AI: what ran, what waits for a person, what was refused."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from core.companion.act.act import Act
from core.companion.act.missions import guardrails
from core.companion.act.missions.mission import Mission, Step, StepStatus
from core.companion.act.missions.plan import PlannedStep
from core.companion.act.missions.situation import Done
from core.companion.act.toolbox import dialogs_of
from core.companion.contract import ModuleTool, ToolResult
from core.events.actor import Actor, ai

WORDS_MOST = 2_000


class Doing:
    """Of one run; `results` are those that the next round may look at."""

    def __init__(self, act: Act, mission: Mission, iteration: str, timer: Callable[[], float] = time.monotonic) -> None:
        self._act = act
        self._mission = mission
        self._iteration = iteration
        self._timer = timer
        self._once: set[str] = set()
        self.steps: list[Step] = []
        self.results: list[Done] = []
        self.notices: list[str] = []

    @property
    def waits(self) -> bool:
        """Whether a person has to decide something now."""
        return any(step.status == "staged" for step in self.steps)

    def do(self, planned: PlannedStep, tool: ModuleTool) -> list[str]:
        """One step through the executor, never raising for what the tool meets; the dialogs that it was about."""
        params = dict(planned.params)
        step = Step(
            id=f"{self._iteration}-{len(self.steps) + 1}",
            tool=tool.name,
            params=params,
            summary=planned.summary[:WORDS_MOST],
            rationale=self._plain((planned.rationale or self._mission.objective)[:WORDS_MOST], tool, params),
        )
        began = self._timer()
        twice = tool.once_per_plan and tool.name in self._once
        result = self._refused(tool, params, twice)
        if result is None:
            actor = self._actor(step.rationale)
            result = self._waiting(tool, actor) or self._act.executor.call(tool.name, params, actor=actor)
            self._once.add(tool.name)
        took = round((self._timer() - began) * 1000, 1)
        status: StepStatus = "skipped" if twice else _status(result)
        step = replace(step, status=status, proposal_id=_proposal(result), message=result.message[:WORDS_MOST])
        self.steps.append(replace(step, latency_ms=took))
        if step.proposal_id is None:
            self.results.append(Done(tool.name, result.success, result.message, result.llm_data))
        try:
            return dialogs_of(tool, params)
        except Exception:  # arguments that no tool has taken
            return []

    def _plain(self, words: str, tool: ModuleTool, params: Mapping[str, object]) -> str:
        """A reason as it may stand in the log: it may be a model's text, or an objective that names somebody."""
        try:
            keys = dialogs_of(tool, params)
        except Exception:  # arguments that no tool has taken
            keys = []
        for mask in (*self._act.people.masks(keys).values(), self._act.people.mask(None)):
            words = mask.text(words)
        return words

    def _refused(self, tool: ModuleTool, params: Mapping[str, object], twice: bool) -> ToolResult | None:
        if twice:
            self.notices.append(f"{tool.label} was asked for twice; a run does it once.")
            return ToolResult(False, "A run does this once.")
        reason = guardrails.blank(tool, params)
        return ToolResult(False, reason) if reason else None

    def _waiting(self, tool: ModuleTool, actor: Actor) -> ToolResult | None:
        """The proposal of this mission that waits already: a run that was cut off may have made it, or last week's."""
        if not tool.once_per_plan or self._act.policies.of(tool, actor) != "propose":
            return None
        found = self._act.proposals.list("pending", mission_id=self._mission.id, modules=(tool.module,), limit=100)
        same = next((one for one in found.rows if one.tool_name == tool.name), None)
        if same is None:
            return None
        kept = {"proposal_id": same.id, "status": "pending"}
        return ToolResult(True, f"{tool.label}: one waits for approval already.", kept)

    def _actor(self, rationale: str) -> Actor:
        return ai(
            "missions",
            "Mission by rules" if self._mission.planner == "rules" else "Mission planner",
            mission_id=self._mission.id,
            iteration_id=self._iteration,
            rationale=rationale,
        )


def _status(result: ToolResult) -> StepStatus:
    if not result.success:
        return "failed"
    return "staged" if _proposal(result) else "approved"


def _proposal(result: ToolResult) -> str | None:
    data = result.data if result.success and isinstance(result.data, Mapping) else {}
    return str(data["proposal_id"]) if "proposal_id" in data and data.get("status") == "pending" else None
