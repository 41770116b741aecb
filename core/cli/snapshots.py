"""The command over snapshots: cleanup."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from core.cli.memory import open_core
from core.cli.output import print_json
from core.snapshots.retention import Expiry


def cleanup(args: argparse.Namespace) -> int:
    """Delete what has expired; with --dry-run only say what that would be."""
    with open_core() as core:
        seen = core.snapshots.preview()
        deleted = 0
        if not args.dry_run:
            deleted = core.snapshots.cleanup(limit=args.limit, progress=None if args.json else _progress).deleted
    answer: dict[str, Any] = {
        "dryRun": args.dry_run,
        "expired": seen.expired,
        "deleted": deleted,
        "oldest": seen.oldest,
        "byType": dict(seen.by_type),
        "withoutExpiry": seen.without_expiry,
        "pinned": seen.pinned_expired,
    }
    if args.json:
        print_json(answer)
        return 0
    for line in _lines(seen):
        print(line)
    print("Nothing was deleted: a dry run." if args.dry_run else f"Deleted: {deleted:,}.")
    return 0


def _lines(seen: Expiry) -> list[str]:
    kinds = ", ".join(f"{kind} {n:,}" for kind, n in seen.by_type.items())
    lines = [
        f"Expired before {seen.cutoff}: {seen.expired:,}" + (f" ({kinds}), oldest {seen.oldest}." if kinds else ".")
    ]
    if seen.pinned_expired:
        lines.append(f"Expired and pinned, kept: {seen.pinned_expired:,}.")
    if seen.without_expiry:
        lines.append(f"Without an expiry, kept: {seen.without_expiry:,}.")
    return lines


def _progress(done: int, total: int, _: str) -> None:
    print(f"  {done:,} of {total:,}", file=sys.stderr)
