"""The command over data keys: make one, and seal with it what was written before."""

from __future__ import annotations

import argparse
import sys

from core.bootstrap.connect import sealer_of
from core.cli.memory import open_core
from core.cli.output import print_json
from core.db.sealing import new_key
from core.services.reseal import reseal


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("action", choices=("new", "reseal"))


def key(args: argparse.Namespace) -> int:
    """`new` prints a key and keeps it nowhere; `reseal` can be stopped and run again."""
    if args.action == "new":
        made = new_key()
        if args.json:
            print_json({"key": made})
        else:
            print(made)
            print("Set it as MEMORY_DESK_DATA_KEY, and keep it apart from the backups.", file=sys.stderr)
        return 0
    with open_core() as core:
        done = reseal(core.db, sealer_of(core.settings))
    if args.json:
        print_json({"sealed": done})
    else:
        for table, count in done.items():
            print(f"{table}: {count:,} sealed")
    return 0
