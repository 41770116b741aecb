"""How many jobs may be alive at once: whoever asks for more is told so, calmly. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from core.errors import CoreError
from core.events.actor import Actor
from core.jobs.job import Job

EACH = 20
OVERALL = 100


class QueueFull(CoreError):
    code, status, retryable = "queue_full", 429, True


def check_room(live: Iterable[Job], actor: Actor, id: str | None = None) -> None:
    """Errors: QueueFull where that person, or everybody together, has as many as there may be.

    What the product starts by itself always has room; so has a job that is there already, by its `id`.
    """
    jobs = tuple(live)
    if actor.kind == "system" or any(job.id == id for job in jobs):
        return
    own = sum(job.actor.get("principal_id") == actor.principal_id for job in jobs)
    if own >= EACH or len(jobs) >= OVERALL:
        whose = f"You have {own}" if own >= EACH else f"There are {len(jobs)}"
        raise QueueFull(
            f"{whose} jobs waiting or running: nothing was started.",
            hint="Wait until some have ended, or stop some on the Operations page.",
        )
