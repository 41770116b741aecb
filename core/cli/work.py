"""The commands over long work: embed again what another model embedded, and the list of jobs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from core.cli.memory import open_core
from core.cli.output import UsageError, one_line, print_json
from core.errors import ConflictError
from core.jobs.job import Job
from core.memory.keys import tips_key
from core.services.reembed import ReembedPreview


def reembed(args: argparse.Namespace) -> int:
    """Say what it takes, then do it in this process; a job that another process has is watched instead."""
    if bool(args.ru) != bool(args.tu):
        raise UsageError("--ru and --tu belong together")
    dialog_key = args.dialog or (tips_key(args.ru, args.tu) if args.ru else None)
    with open_core() as core:
        found = core.reembed.preview(dialog_key)
        if not args.json:
            _print_preview(found)
        if args.dry_run or not found.chunks:
            if args.json:
                print_json(_preview_json(found))
            return 0
        if found.confirm and not args.yes:
            raise ConflictError(found.confirm, hint="Add --yes to do it all the same.")
        job = core.reembed.start(dialog_key=dialog_key, confirmed=args.yes)
        job = core.jobs.finish_here(job.id, None if args.json else _watch())
    if args.json:
        print_json({**_preview_json(found), "job": _job_json(job)})
    else:
        result = job.result or {}
        print(
            f"{job.state}: {result.get('written', 0):,} embedded again, {result.get('passed_over', 0):,} passed over."
        )
    return 0 if job.state == "done" else 1


def jobs(args: argparse.Namespace) -> int:
    """The latest jobs; with --cancel ID one of them is asked to stop."""
    with open_core() as core:
        if args.cancel:
            job = core.jobs.cancel(args.cancel)
            if args.json:
                print_json(_job_json(job))
            else:
                print(f"{job.id}: {job.state}")
            return 0
        page = core.jobs.list(limit=args.limit)
        if args.json:
            print_json({"jobs": [_job_json(job) for job in page.rows], "total": page.total, "running": page.live})
            return 0
        for job in page.rows:
            left = f", ~{job.remaining_s:.0f} s left" if job.remaining_s is not None else ""
            error = f", {one_line(str((job.error or {}).get('code')))}" if job.error else ""
            started = f"{job.created_at:%Y-%m-%d %H:%M}" if job.created_at else "-"
            title = one_line(core.jobs.title(job.kind), 24)
            print(f"{job.id}  {started}  {title:24} {job.state:10} {job.done:,}/{job.total:,}{left}{error}")
        print(f"{len(page.rows)} of {page.total:,} jobs, {page.live} of them queued or running.")
    return 0


def _print_preview(found: ReembedPreview) -> None:
    for row in found.models:
        print(f"{one_line(row.model):30} {row.chunks:,} chunks in {row.dialogs:,} dialogs")
    time = f"~{found.minutes:.1f} minutes" if found.minutes is not None else "time not measured"
    cost = f"~{found.cost_usd:.4g} USD" if found.cost_usd is not None else "price unknown" if found.paid else "no cost"
    print(f"{found.chunks:,} chunks to embed with {found.model}: ~{found.tokens:,} tokens, {time}, {cost}.")


def _watch() -> Callable[[Job], None]:
    last = ""

    def watch(job: Job) -> None:
        nonlocal last
        if sys.stderr.isatty() and job.message != last:
            last = job.message
            print(f"\r{one_line(job.message, 100)}", end="" if job.live else "\n", file=sys.stderr, flush=True)

    return watch


def _preview_json(found: ReembedPreview) -> dict[str, Any]:
    return {
        "model": found.model,
        "models": [vars(row) for row in found.models],
        "chunks": found.chunks,
        "characters": found.characters,
        "tokensEstimated": found.tokens,
        "minutesEstimated": None if found.minutes is None else round(found.minutes, 2),
        "costUsdEstimated": None if found.cost_usd is None else str(found.cost_usd),
        "confirm": found.confirm,
    }


def _job_json(job: Job) -> dict[str, Any]:
    moments = ("created_at", "started_at", "finished_at", "heartbeat", "claimed_at")
    row = {name: value for name, value in vars(job).items() if name not in ("params", "cursor", "actor", *moments)}
    return {**row, **{name: at.isoformat() if (at := getattr(job, name)) else None for name in moments[:3]}}
