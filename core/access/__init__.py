"""Who may do what: one table, asked at every boundary."""

from core.access.roles import ACTIONS, ROLES, Role, acting, allowed, granted, may, permit, require, who_may
from core.access.sight import sight, unmasked, unmasked_reason

__all__ = [
    "ACTIONS",
    "ROLES",
    "Role",
    "acting",
    "allowed",
    "granted",
    "may",
    "permit",
    "require",
    "sight",
    "unmasked",
    "unmasked_reason",
    "who_may",
]
