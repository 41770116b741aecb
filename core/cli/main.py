"""Arguments, and what every command shares: the actor, readable errors, exit codes 0 done, 1 failed, 2 usage."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from core.cli import companion, key, memory, mending, saving, snapshots, token, upkeep, usage, work
from core.cli.output import UsageError, print_error
from core.errors import CoreError
from core.events.actor import Actor, run_as, user

USAGE = 2
Command = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None, more: Sequence[tuple[str, str, Command]] = ()) -> int:
    """Run one command. Errors of core become one or two lines on stderr (with --json, one object) and exit code 1.

    `more`: commands of other rooms, each its name, what it does, and how it is run.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        args = parser(more).parse_args(argv)
    except SystemExit as leaving:  # argparse has printed help or what is wrong
        return 0 if not leaving.code else USAGE
    command: Command = args.command
    try:
        with run_as(cli_actor()):
            return command(args)
    except UsageError as wrong:
        args.parser.print_usage(sys.stderr)
        print(f"{args.parser.prog}: error: {wrong}", file=sys.stderr)
        return USAGE
    except CoreError as error:
        print_error(error, as_json=args.json)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read our output has left, as `head` does; nothing more can be said there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def cli_actor() -> Actor:
    """The operating system's user, who can read the data folder and so may everything: spec/companion.md EV-3."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        name = "unknown"
    return user(f"cli:{name}", name, ("admin",))


def parser(more: Sequence[tuple[str, str, Command]] = ()) -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m core", description="Memory Desk on the command line.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    ingest = _command(
        commands, "ingest", memory.ingest, "take dialogs from JSON, JSON lines or ZIP files into the memory"
    )
    ingest.add_argument("files", nargs="+", metavar="FILE", help="a file, or - for standard input")
    _pair(ingest)

    search = _command(commands, "search", memory.search, "the chunks of one dialog that fit a query best")
    search.add_argument("query", metavar="QUERY")
    _pair(search)
    search.add_argument("--limit", type=int, default=12, help="1 to 24 results (default 12)")
    search.add_argument("--fallback", action="store_true", help="search by words where the embedder or database fails")

    status = _command(commands, "status", memory.status, "how much is stored; with --ru and --tu how fresh one pair is")
    status.add_argument("--ru", help="RU id")
    status.add_argument("--tu", help="TU id")

    _command(commands, "migrate", upkeep.migrate, "bring the database's schema up to date, or say how")

    demo = _command(commands, "demo", upkeep.demo, "the demo data: its state, or one of the actions below")
    action = demo.add_mutually_exclusive_group()
    action.add_argument("--load", action="store_true", help="load it into the embedded database")
    action.add_argument("--remove", action="store_true", help="remove every demo row, and remember that")
    action.add_argument("--rebuild", action="store_true", help="make the shipped file anew with the local embedder")

    cleanup = _command(commands, "cleanup", snapshots.cleanup, "delete expired snapshots, pinned ones never")
    cleanup.add_argument("--dry-run", action="store_true", help="only say what would be deleted")
    cleanup.add_argument("--limit", type=int, help="delete at most so many")

    usage.add_arguments(
        _command(commands, "usage", usage.usage, "what the calls used and cost, and whether the totals are right")
    )

    reembed = _command(commands, "reembed", work.reembed, "embed again the chunks of other models, as a job done here")
    _pair(reembed)
    reembed.add_argument("--dry-run", action="store_true", help="only say what it would take")
    reembed.add_argument("--yes", action="store_true", help="do it although another writer uses the old model")

    mending.add_merge(_command(commands, "merge", mending.merge, "merge the two keys of a pair, or take a merge back"))
    mending.add_erase(
        _command(commands, "erase", mending.erase, "erase a person: every trace of a dialog, here and in the database")
    )

    jobs = _command(commands, "jobs", work.jobs, "the latest jobs with their progress")
    jobs.add_argument("--limit", type=int, default=20, help="how many (default 20)")
    jobs.add_argument("--cancel", metavar="ID", help="ask this job to stop between two steps")

    companion.add_arguments(
        _command(commands, "companion", companion.companion, "run missions that are due, without the application")
    )

    saving.add_arguments(_command(commands, "backup", saving.backup, "save the embedded database into a file"))
    saving.add_restore_arguments(_command(commands, "restore", saving.restore, "bring a saved database back"))
    key.add_arguments(_command(commands, "key", key.key, "the data key: make one, or seal what was written before"))
    token.add_arguments(_command(commands, "token", token.token, "API tokens: create one, list them, revoke one"))

    for name, what, run in more:
        _command(commands, name, run, what)
    _command(commands, "health", upkeep.health, "every component's state; exit code 1 unless ok or degraded")
    return top


def _command(commands: Any, name: str, run: Command, what: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    made.add_argument("--json", action="store_true", help="print JSON for machines")
    made.set_defaults(command=run, parser=made)
    return made


def _pair(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dialog", metavar="KEY", help="dialog key")
    command.add_argument("--ru", help="RU id; with --tu it gives the tips key")
    command.add_argument("--tu", help="TU id")
