"""What happens on the Tuning page with labelled queries: sets, queries, grades, evaluations."""

from __future__ import annotations

from core.events.facts import AUDIT, fact, room

LABELS = room(
    "tuning",
    fact("QuerySetCreated", AUDIT, word="query_set"),
    fact("QuerySetArchived", AUDIT, word="query_set", reversible=True),
    fact("QuerySetReopened", AUDIT, word="query_set"),
    fact("QueriesAdded", AUDIT, word="query_set", count="count"),
    fact("QueryRemoved", AUDIT, ident="dialog_key", word="query_set query_id"),
    fact(
        "JudgementsGiven",
        AUDIT,
        ident="dialog_key",
        word="query_set query_id",
        count="count queries",
        counts="by_grade by_label",
    ),
    fact("JudgementsImported", AUDIT, word="query_set form", count="count queries", counts="by_grade by_label"),
    fact("JudgementsExported", AUDIT, word="query_set form", count="count queries"),
    fact(
        "EvaluationRan",
        AUDIT,
        word="evaluation_id query_set metric verdict",
        count="queries query_set_version baseline_version profile_version",
        number="difference low high coverage duration_ms",
        flag="llm",
    ),
    fact(
        "GridSearched",
        AUDIT,
        word="query_set metric",
        count="queries query_set_version vectors",
        number="train held_out duration_ms",
        flag="llm",
    ),
)
