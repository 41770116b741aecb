"""The commands that correct the memory: merge two keys of a pair, erase a person. Both only look without --yes."""

from __future__ import annotations

import argparse
from typing import Any

from core.bootstrap import Core
from core.cli.memory import open_core
from core.cli.output import UsageError, one_line, print_json
from core.memory.erasures import REASONS
from core.memory.keys import both_keys, tips_key
from core.memory.merges import MergePreview


def add_merge(command: argparse.ArgumentParser) -> None:
    command.add_argument("--keep", metavar="KEY", help="the dialog key that stays")
    command.add_argument("--drop", metavar="KEY", help="the dialog key that goes")
    command.add_argument("--ru", help="RU id; with --tu: keep the tips key, drop the other order")
    command.add_argument("--tu", help="TU id")
    command.add_argument("--copy", action="store_true", help="copy the chunks, leave the other key as it is")
    command.add_argument("--undo", metavar="ID", help="take this merge back, within 14 days")
    command.add_argument("--yes", action="store_true", help="do it; without this only say what would happen")


def add_erase(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dialog", metavar="KEY", help="dialog key")
    command.add_argument("--ru", help="RU id; with --tu: both keys of the pair")
    command.add_argument("--tu", help="TU id")
    command.add_argument("--reason", choices=list(REASONS), help="why; the record keeps it")
    command.add_argument("--yes", action="store_true", help="do it; without this only say what would go")


def merge(args: argparse.Namespace) -> int:
    """Preview, and with --yes the merge; --undo takes one back."""
    if args.undo:
        with open_core() as core:
            rows = core.merges.undo(args.undo)
        _say(args, {"undone": args.undo, "rows": rows}, [f"Moved back: {rows:,} rows."])
        return 0
    kept, dropped = args.keep, args.drop
    if args.ru and args.tu and not (kept or dropped):
        kept, dropped = both_keys(args.ru, args.tu)
    if not kept or not dropped:
        raise UsageError("name --keep and --drop, or --ru and --tu, or --undo")
    with open_core() as core:
        seen = core.merges.preview(kept, dropped)
        answer: dict[str, Any] = {"preview": _preview(seen), "done": None}
        lines = _lines(seen)
        if args.yes:
            done = core.merges.merge(kept, dropped, mode="copy" if args.copy else "move")
            answer["done"] = {"mergeId": done.merge_id, "tables": done.tables}
            moved = done.count("moved") + done.count("copied")
            lines.append(f"Done: {moved:,} rows, {done.count('lost'):,} gave way. Undo: merge --undo {done.merge_id}")
        else:
            lines.append("Nothing was changed; add --yes to do it.")
    _say(args, answer, lines)
    return 0


def erase(args: argparse.Namespace) -> int:
    """Preview, and with --yes and --reason the erasure."""
    key: str | None = args.dialog
    also: tuple[str, ...] = ()
    if args.ru and args.tu and not key:
        key = tips_key(args.ru, args.tu)
        also = both_keys(args.ru, args.tu)[1:]
    if not key:
        raise UsageError("name --dialog, or --ru and --tu")
    if args.yes and not args.reason:
        raise UsageError("an erasure needs a --reason")
    with open_core() as core:
        return _erase(args, core, key, also)


def _erase(args: argparse.Namespace, core: Core, key: str, also: tuple[str, ...]) -> int:
    seen = core.erasures.preview(key, also=also)
    lines = [f"  {name:30} {rows:,}" for name, rows in seen.tables.items()]
    lines += [f"Also of this pair, not included: {one_line(str(o['dialog_key']))}" for o in seen.others]
    answer: dict[str, Any] = {"keys": list(seen.keys), "tables": dict(seen.tables), "done": None}
    left: tuple[str, ...] = ()
    if args.yes:
        done = core.erasures.erase(key, args.reason, also=also)
        left = done.left
        answer["done"] = {"tables": done.tables, "spooled": done.spooled, "uploads": done.uploads, "left": list(left)}
        lines.append(f"Erased: {done.rows:,} rows, {done.spooled:,} waiting records, {done.uploads:,} uploads.")
        lines += [f"Not reached, erase again: {what}" for what in left]
    else:
        lines.append("Nothing was erased; add --yes and --reason to do it. It cannot be undone.")
    _say(args, answer, lines)
    return 1 if left else 0


def _preview(seen: MergePreview) -> dict[str, Any]:
    return {
        "rows": seen.rows,
        "clashes": seen.clashes,
        "bothAlive": seen.both_alive,
        "differentPairs": seen.different_pairs,
        "kept": vars(seen.kept),
        "dropped": vars(seen.dropped),
        "otherTables": dict(seen.other_tables),
    }


def _lines(seen: MergePreview) -> list[str]:
    lines = [
        f"{word}: {one_line(side.dialog_key)}  {side.chunks:,} chunks, written {side.last_write_at or 'never'}"
        for word, side in (("stays", seen.kept), ("goes ", seen.dropped))
    ]
    lines += [f"  {name:30} {rows:,}" for name, rows in seen.other_tables.items()]
    lines.append(f"Under both: {seen.clashes:,} chunks, of which the newer row stays.")
    if seen.both_alive:
        lines.append("Both keys were written within 14 days: consider --copy.")
    return lines


def _say(args: argparse.Namespace, answer: dict[str, Any], lines: list[str]) -> None:
    if args.json:
        print_json(answer)
    else:
        print("\n".join(lines))
