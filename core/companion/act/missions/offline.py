"""Which missions a process without anybody before it may run: those whose inputs its tier may see. Source: MI-10."""

from __future__ import annotations

from core.companion.act.missions.inputs import Sources
from core.companion.act.missions.mission import Mission
from core.companion.act.missions.outcomes import MayRun
from core.companion.converse.llm.router import Router


def may_run(router: Router, sources: Sources) -> MayRun:
    """Why a mission is left for the application, or None. Plans by rules see everything; errors: DatabaseError."""

    def why_not(mission: Mission) -> str | None:
        if mission.planner == "rules":
            return None
        if sources.content_class(mission.inputs) == "sensitive":
            return "its inputs are for no model"
        if reason := router.why_not(mission.title, mission.objective, mission.concept):
            return f"its words are for no model: {reason}"
        if not any(state.state == "ready" for state in router.states() if state.tier != "rules"):
            return "no model may or can answer here"
        return None

    return why_not
