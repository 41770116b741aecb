"""The commands that save the embedded database into a file, and bring it back."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from core.bootstrap import MIGRATIONS, Core
from core.cli.memory import open_core
from core.cli.output import print_json
from core.errors import ConfigError, ConflictError, NotFound
from core.local import backup as files
from core.local import state as states


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path)


def add_restore_arguments(command: argparse.ArgumentParser) -> None:
    add_arguments(command)
    command.add_argument("--replace", action="store_true", help="replace what this database holds")


def backup(args: argparse.Namespace) -> int:
    """Also while the application runs; what it writes meanwhile is not in it."""
    with open_core() as core:
        made = files.dump(_dsn(core), args.file.absolute(), core.settings.data_dir)
    size = args.file.stat().st_size
    if args.json:
        print_json({"file": str(args.file), "bytes": size, "rows": dict(made.rows), "chainHead": made.head})
    else:
        print(f"Saved {_rows(made)} to {args.file} ({size:,} bytes).")
        print("Not in it: MEMORY_DESK_DATA_KEY and the other settings, without which sealed text stays shut.")
    return 0


def restore(args: argparse.Namespace) -> int:
    """The application has to be stopped. Erases again whoever was erased since the backup."""
    with open_core() as core:
        _alone(core)
        dsn = _dsn(core)
        made = files.restore(dsn, args.file.absolute(), core.settings.data_dir, MIGRATIONS, replace=args.replace)
    with open_core() as core:
        again = _erase_again(core, made.back)
        chain = core.events.store.verify()
    if args.json:
        print_json({"rows": dict(made.rows), "chainHead": made.head, "chain": chain.ok, "erasedAgain": again})
    else:
        print(f"Restored {_rows(made)}. The chain of events {'verifies' if chain.ok else 'does NOT verify'}.")
        if again:
            print(f"{again:,} dialogs that had been erased since the backup were erased again.")
    return 0 if chain.ok else 1


def _dsn(core: Core) -> str:
    if core.local is None:
        raise ConfigError(
            "A hosted database is saved by its own means.", hint="`supabase db dump`, or its point-in-time recovery."
        )
    return core.local.endpoint.dsn


def _alone(core: Core) -> None:
    state = states.read(core.settings.data_dir)
    if state is not None and (state.guest or len(state.living().clients) > 1):
        raise ConflictError("Memory Desk is running on this data folder.", hint="Stop it first.")


def _erase_again(core: Core, back: Sequence[str]) -> int:
    done = 0
    for key in back:
        with suppress(NotFound):  # gone with one that was merged with it
            core.erasures.erase(key, "request")
            done += 1
    return done


def _rows(made: files.Counts) -> str:
    return ", ".join(f"{count:,} rows of {table}" for table, count in made.rows.items())
