"""What happened, to what, and who did it: facts in the past tense, only ever appended."""

from core.events.actor import LOCAL_OPERATOR, Actor, current_actor, run_as, system, user

__all__ = ["LOCAL_OPERATOR", "Actor", "current_actor", "run_as", "system", "user"]
