"""Which action each method of the companion's rooms takes, beside doors.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.access.room import ANYBODY, PRODUCT

_DAY: Final = "own_day"
_CHANGE: Final = "own_day_change"

_RECORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "companion.records": {ANYBODY: "now today", _DAY: "figures.daily figures.days"},
    "companion.records.ledger": {
        _DAY: "now one read today",
        _CHANGE: "change claim emit insert write",
        PRODUCT: "events",
    },
    "companion.records.tasks": {
        _DAY: "day get list",
        _CHANGE: "complete complete_matching create delete restore uncomplete update",
    },
    "companion.records.steps": {_CHANGE: "add remove tick"},
    "companion.records.reminders": {_CHANGE: "delete set"},
    "companion.records.appointments": {_DAY: "day get list", _CHANGE: "create delete put_back restore update"},
    "companion.records.drinks": {
        _DAY: "day get list presets",
        _CHANGE: "correct delete log log_preset restore undo",
    },
    "companion.records.meals": {_DAY: "day get list", _CHANGE: "correct delete log restore"},
    "companion.records.places": {
        _DAY: "current day get list visits",
        _CHANGE: "create delete forget log restore track unvisit update visit",
    },
    "companion.records.targets": {
        _DAY: "calories_reached get water_ml water_reached",
        _CHANGE: "put_back set_food set_water",
    },
}

COMPANION: Final[Mapping[str, Mapping[str, str]]] = {
    **_RECORDS,
    "companion": {PRODUCT: "close start deps"},
    "companion.settings": {"companion": "figure read", PRODUCT: "patch"},
    "companion.act": {
        ANYBODY: "toolbox.all toolbox.find toolbox.of policies.current policies.of executor.call executor.run",
        "companion": "timeline.iteration timeline.read reverts.plan proposals.get proposals.iteration proposals.list",
        "decide_proposals": "proposals.approve proposals.reject proposals.retry",
        "companion_policy": "policies.override policies.set_policy",
        "revert_ai": "reverts.revert",
        PRODUCT: "toolbox.register proposals.expire proposals.stage reverts.prune people",
    },
    "companion.measures": {_DAY: "daily"},
    "companion.projections": {_DAY: "day", PRODUCT: "close invalidate"},
    "companion.streaks": {"companion": "all history", PRODUCT: "rebuild settle"},
    "companion.correlations": {_DAY: "all scatter mark_shown", PRODUCT: "compute"},
    "companion.scanner": {PRODUCT: "scan"},
    "companion.daily": {"companion": "next_run runs", PRODUCT: "due_day register run_due"},
    "companion.tick": {PRODUCT: "close register run_due start stopping"},
    "companion.router": {
        ANYBODY: "states why_not",
        PRODUCT: "close complete runs.note runs.prune",
        "companion": "choices.read",
        "usage": "runs.tokens runs.usage",
        "companion_policy": "choices.agree choices.allow choices.limit choices.override choices.revoke",
    },
    "companion.reflection": {PRODUCT: "context clock sources"},
    "companion.reflection.goals": {
        "companion": "active list preview track",
        "change_goals": "add change_status save",
        PRODUCT: "renew tend store",
    },
    "companion.reflection.facts": {_DAY: "list", "judge_facts": "judge", PRODUCT: "decay learn reflect"},
    "companion.reflection.nudges": {
        "companion": "open",
        "answer_nudges": "act dismiss snooze",
        PRODUCT: "expire prune resolve",
    },
    "companion.reflection.pulse": {PRODUCT: "hear look_at step"},
    "companion.reflection.feedback": {"companion": "rules", "answer_nudges": "enable reset", PRODUCT: "learn"},
    "companion.routines": {ANYBODY: "now", PRODUCT: "reflection"},
    "companion.routines.rituals": {
        "companion": "check get list runs templates",
        "change_rituals": "add change_status save",
        PRODUCT: "store",
    },
    "companion.routines.runner": {
        "companion": "available current reached",
        "run_rituals": "do finish shown skip start tick",
    },
    "companion.routines.generator": {"change_rituals": "parse propose"},
    "companion.missions": {
        "companion": "get iterations list upcoming sources.all sources.candidates sources.content_class "
        "sources.resolve sources.kinds",
        ANYBODY: "sources.permit",
        "change_missions": "cancel change_state feedback run save start stop",
        PRODUCT: "close close_stale pause run_due tick store",
    },
    "companion.rules": {"chat": "answer"},
    "companion.chat": {"chat": "again ask conversations delete read rename restore running", PRODUCT: "prune"},
    "companion.feed": {"companion": "read"},
    "companion.extraction": {"companion": "latest", "learn_facts": "now", PRODUCT: "weekly"},
}
