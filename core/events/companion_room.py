"""Events of the companion itself: ids and status, no text. Source: spec/companion.md section 1."""

from __future__ import annotations

from core.events.facts import AUDIT, OBSERVATION, fact, room

COMPANION = room(
    "companion",
    # Goals
    fact("GoalCreated", AUDIT, word="goal_id module template_id", title="title", reversible=True),
    fact("GoalUpdated", AUDIT, word="goal_id", words="fields"),
    fact("GoalStatusChanged", AUDIT, word="goal_id old_status new_status", reversible=True),
    fact("GoalDeleted", AUDIT, word="goal_id", title="title", reversible=True),
    fact("GoalReached", AUDIT, word="goal_id period", title="title", day="period_start", number="value target"),
    fact("GoalExceeded", AUDIT, word="goal_id period", title="title", day="period_start", number="value target"),
    # What it says, and what became of that
    fact("NudgeShown", OBSERVATION, word="nudge_id rule_id type module priority"),
    fact("NudgeResolved", AUDIT, word="nudge_id rule_id type outcome", number="latency_ms"),
    fact("NudgeSnoozed", AUDIT, word="nudge_id rule_id type", moment="until"),
    fact("RuleChanged", AUDIT, word="rule_id source", flag="enabled", number="hour_shift"),
    fact("LearningReset", AUDIT, word="rule_id", count="outcomes"),
    # What it learned
    fact("FactLearned", OBSERVATION, word="fact_id fact_key category status origin", number="confidence"),
    fact("FactJudged", AUDIT, word="fact_id fact_key verdict", number="confidence", reversible=True),
    # Tools and decisions
    fact("CompanionToolCalled", OBSERVATION, word="tool module error_class", flag="success", number="latency_ms"),
    fact(
        "ProposalCreated",
        AUDIT,
        word="proposal_id tool module mission_id iteration_id",
        moment="expires_at",
    ),
    fact(
        "ProposalDecided",
        AUDIT,
        word="proposal_id tool module decision status error_class",
        flag="success has_reason",
    ),
    fact("PolicyChanged", AUDIT, word="scope name old_policy new_policy", reversible=True),
    fact("CompanionSettingChanged", AUDIT, word="key old_value new_value", reversible=True),
    # Conversations
    fact("CompanionConversationStarted", AUDIT, word="conversation_id"),
    fact(
        "CompanionMessageSent",
        OBSERVATION,
        word="message_id conversation_id role",
        count="content_length",
    ),
    fact("CompanionConversationChanged", AUDIT, word="conversation_id change"),
    # Routines and missions
    fact(
        "RitualChanged",
        AUDIT,
        word="ritual_id change trigger template_id origin",
        title="title",
        count="steps",
    ),
    fact("RitualStarted", AUDIT, word="ritual_id log_id", day="day", count="total"),
    fact("RitualCompleted", AUDIT, word="ritual_id log_id", day="day", count="completed total"),
    fact("RitualEnded", AUDIT, word="ritual_id log_id status", day="day", count="completed total"),
    fact("MissionCreated", AUDIT, word="mission_id planner"),
    fact("MissionChanged", AUDIT, word="mission_id"),
    fact("MissionStateChanged", AUDIT, word="mission_id old_state new_state"),
    fact("MissionRunStarted", AUDIT, word="mission_id iteration_id source"),
    fact(
        "MissionIterationFinished",
        AUDIT,
        word="mission_id iteration_id status phase error_class source",
        count="steps approved failed failures",
        flag="paused",
    ),
    fact("IterationReverted", AUDIT, word="mission_id iteration_id", count="reverted unsupported failed"),
    # Its own upkeep
    fact("EventsPruned", AUDIT, count="deleted"),
    fact("CompanionJobFailed", OBSERVATION, word="job step error_class", day="day"),
)
