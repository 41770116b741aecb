"""The companion without an application: missions that are due, run in this process until somebody stops it."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from core.cli.memory import open_core
from core.cli.output import one_line, print_json
from core.companion.act.missions.offline import may_run
from core.companion.act.missions.outcomes import Ran

EVERY_S = 60.0


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", choices=("run",), help="run: missions that are due, now and every minute")
    command.add_argument("--once", action="store_true", help="look once, run what is due, and leave")


def companion(args: argparse.Namespace) -> int:
    """Exit code 1 with --once where a run failed; else it goes on until Ctrl-C or SIGTERM, which end the run."""
    with open_core() as core, _ended_by_signal():
        missions = core.companion.missions
        may = may_run(core.companion.router, missions.sources)
        told: set[str] = set()
        while True:
            ran = missions.run_due("server", may)
            _tell(args, [one for one in ran if one.status is not None or one.mission.id not in told])
            told |= {one.mission.id for one in ran if one.status is None}
            if args.once:
                return 1 if any(one.status == "failed" for one in ran) else 0
            missions.pause(EVERY_S)


def _tell(args: argparse.Namespace, ran: list[Ran]) -> None:
    if args.json:
        if ran or args.once:
            print_json({"missions": [_json(one) for one in ran]})
        return
    for one in ran:
        what = one.status or f"left alone, {one.why}"
        print(f"{one.mission.id}  {one_line(one.mission.title, 40):40}  {one_line(what)}", flush=True)
    if args.once and not ran:
        print("No mission is due.")


def _json(one: Ran) -> dict[str, Any]:
    return {"id": one.mission.id, "title": one.mission.title, "status": one.status, "why": one.why}


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """SIGTERM does what Ctrl-C does: the run in hand is closed, the mission stays due. Both are set, as a process that
    a shell starts in the background ignores Ctrl-C."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {sign: signal.signal(sign, interrupt) for sign in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
