"""Who may do what: one table, asked at every boundary."""

from core.access.roles import ACTIONS, allowed, require

__all__ = ["ACTIONS", "allowed", "require"]
