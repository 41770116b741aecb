"""The commands over memory: ingest, search, status."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.bootstrap import Core, build_core
from core.cli.output import UsageError, error_json, one_line, print_json
from core.config import load_settings
from core.errors import CoreError
from core.memory.hits import Hit
from core.memory.ingest import NO_CHUNKS, IngestResult
from core.memory.requests import parse_search
from core.services.uploads import UploadedBody, read_upload


@dataclass
class _Tally:
    """Counts of one run over several files, and whether anything failed."""

    dialogs: int = 0
    chunks: int = 0
    added: int = 0
    reembedded: int = 0
    failed: int = 0


def open_core() -> Core:
    """Core of this process; the embedded server is shared with a running app."""
    return build_core(load_settings(), background=False)


def ingest(args: argparse.Namespace) -> int:
    """Every dialog of every file; one that fails does not stop the next."""
    _check_pair(args, needed=False)
    lines: list[dict[str, Any]] = []
    tally = _Tally()
    bodies: list[UploadedBody] = []
    for name in args.files:
        try:
            upload = read_upload("standard input" if name == "-" else name, _read(name))
        except OSError as problem:
            _failed(args, lines, tally, name, {"code": "unreadable", "message": problem.strerror or "cannot be read"})
            continue
        for notice in upload.problems:
            _failed(args, lines, tally, notice.field, {"code": "bad_input", "message": notice.message})
        bodies += upload.bodies
    if bodies:
        with open_core() as core:
            for item in bodies:
                try:
                    result = core.ingest.ingest({**item.body, **_given(args)}, progress=_progress(args))
                except CoreError as error:
                    _failed(args, lines, tally, item.label, error_json(error))
                    continue
                _done(args, lines, tally, item.label, result)
    if args.json:
        print_json({"results": lines, "failed": tally.failed})
    else:
        print(
            f"{tally.dialogs} ingested, {tally.failed} failed: {tally.chunks:,} chunks, "
            f"{tally.added:,} added, {tally.reembedded:,} re-embedded."
        )
    return 1 if tally.failed else 0


def search(args: argparse.Namespace) -> int:
    _check_pair(args, needed=True)
    body = {"query": args.query, "limit": args.limit, "allowFallback": args.fallback, "explain": True, **_given(args)}
    request = parse_search(body)
    with open_core() as core:
        result = core.search.search(request)
        other = core.status(args.ru, args.tu) if not result.total and args.ru else None
    if args.json:
        print_json(result.as_json(explain=True))
        return 0
    for warning in result.warnings:
        print(f"Note: {one_line(warning.message)}", file=sys.stderr)
    for hit in result.hits:
        print(_hit_line(hit))
    if not result.hits:
        print("Nothing is stored under this key." if not result.total else "No chunk can be searched.")
    if other and other.also_under:
        print(f"This pair has {other.also_chunks:,} chunks under the other key: --dialog {other.also_under}")
    return 0


def status(args: argparse.Namespace) -> int:
    """Exit code 1 where the memory is not ready."""
    _check_pair(args, needed=False)
    with open_core() as core:
        if args.ru:
            return _pair_status(args, core)
        answer = core.health.memory_status()
        if args.json:
            print_json(answer)
        elif answer["ready"]:
            overview = core.dialogs.overview()
            print(f"Ready: {overview.chunks:,} chunks in {overview.dialogs:,} dialogs, table {answer['table']}.")
        else:
            print(f"Not ready: {one_line(str(answer['error']))}")
            if answer.get("needsMigration"):
                print("Run: python -m core migrate")
    return 0 if answer["ready"] else 1


def _pair_status(args: argparse.Namespace, core: Core) -> int:
    found = core.status(args.ru, args.tu)
    if args.json:
        print_json(found.as_json())
        return 0
    for name, value in found.as_json().items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        print(f"{name:18} {shown if shown is not None else '-'}")
    return 0


def _check_pair(args: argparse.Namespace, *, needed: bool) -> None:
    if bool(args.ru) != bool(args.tu):
        raise UsageError("--ru and --tu belong together")
    if needed and not (args.dialog or args.ru):
        raise UsageError("say which dialog: --dialog KEY, or --ru ID --tu ID")


def _given(args: argparse.Namespace) -> dict[str, str]:
    names = {"dialogKey": args.dialog, "ruId": args.ru, "tuId": args.tu}
    return {name: value for name, value in names.items() if value}


def _read(name: str) -> bytes:
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


def _progress(args: argparse.Namespace) -> Any:
    if args.json or not sys.stderr.isatty():
        return None

    def show(stage: str, done: int, total: int) -> None:
        end = "\n" if done >= total else ""
        print(f"\r{stage} {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)

    return show


def _done(
    args: argparse.Namespace, lines: list[dict[str, Any]], tally: _Tally, label: str, result: IngestResult
) -> None:
    tally.dialogs += 1
    tally.chunks += result.total_chunks
    tally.added += result.added
    tally.reembedded += result.reembedded
    if args.json:
        lines.append({"file": label, **result.as_json()})
        return
    outcome = f"{result.total_chunks:,} chunks, {result.added:,} added" if result.total_chunks else NO_CHUNKS
    print(f"{one_line(label)}: {outcome} ({one_line(result.dialog_key, 80)})")
    for warning in result.warnings:
        print(f"  {one_line(warning.field)}: {one_line(warning.message)}")


def _failed(
    args: argparse.Namespace, lines: list[dict[str, Any]], tally: _Tally, label: str, error: dict[str, Any]
) -> None:
    tally.failed += 1
    if args.json:
        lines.append({"file": label, "error": error})
        return
    print(
        f"{one_line(label)}: {one_line(error['message'])} {one_line(error.get('hint', ''))}".rstrip(), file=sys.stderr
    )


def _hit_line(hit: Hit) -> str:
    when = hit.note_date or hit.sent_at or ""
    score = f"{hit.weighted_score:.3f} = {hit.cosine:.3f} + {hit.boost:.2f}"
    return f"{hit.rank:2}. {score}  {hit.source:12} {when[:10]:10}  {one_line(hit.text, 160)}"
