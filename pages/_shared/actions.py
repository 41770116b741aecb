"""What pages change. Each asks for permission, acts once through core, and clears the reads it made stale."""

from __future__ import annotations

from core.access import require
from core.events import run_as
from pages._shared import reads, session
from pages._shared.resources import core


def remove_demo() -> int:
    """Deletes the demo rows; the number of chunks that went. Asked twice, the second finds none. Errors: CoreError."""
    actor = session.actor()
    require(actor, "demo_remove")
    with run_as(actor):
        removed = core().demo.remove()
    reads.forget_dialogs()
    session.keep_exploration(None)
    session.choose_dialog(None)
    return int(removed)
