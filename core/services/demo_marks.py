"""The marks by which a row is known as demo data, where its table has no place for a word that only we write.

Both count together: an id that nobody else makes, and DEMO in a column that people see. Source: the range in
supabase/migrations/20261201060000_extend_demo_data.sql.
"""

from __future__ import annotations

import hashlib

DEMO = "demo"  # tips_daily_entity_snapshots.family, token_usage_log.invite_type
_PREFIX = "de30de30-de30-8"  # version 8: no random UUID (4) and none of a name (5) begins like this


def demo_id(*parts: object) -> str:
    """A UUID within the range of the demo, the same for the same parts."""
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()
    return f"{_PREFIX}{digest[:3]}-8{digest[3:6]}-{digest[6:18]}"


def is_demo_id(id: str) -> bool:
    """Whether only the demo makes such an id. As desk_is_demo_id."""
    return id.startswith(_PREFIX)
