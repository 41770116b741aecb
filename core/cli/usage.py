"""The command over usage: sums by group, one dialog, the rollup against its rows."""

from __future__ import annotations

import argparse

from core.access import acting
from core.cli.memory import open_core
from core.cli.output import one_line, print_json
from core.usage.entries import parse_moment
from core.usage.lines import DEFAULT_GROUPS, parse_groups
from core.usage.periods import parse_period
from core.usage.pricing import Cost, plain


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--from", dest="start", help="first day or moment (default: 30 days ago)")
    command.add_argument("--to", dest="end", help="last day, included, or moment (default: now)")
    command.add_argument("--by", default="provider,model,phase", help=f"any of hour,{DEFAULT_GROUPS}")
    command.add_argument("--dialog", metavar="KEY", help="the sums of one dialog instead")
    command.add_argument("--since", help="with --dialog: from this moment on")
    action = command.add_mutually_exclusive_group()
    action.add_argument(
        "--check", action="store_true", help="compare the rollup with its rows; exit code 1 if not equal"
    )
    action.add_argument("--rebuild", action="store_true", help="bring the rollup to what the rows say")


def usage(args: argparse.Namespace) -> int:
    if args.check or args.rebuild:
        return _rollup(args)
    with open_core() as core:
        if args.dialog:
            found = core.usage.recorder.dialog_usage(args.dialog, parse_moment(args.since, "since"))
            if args.json:
                print_json(found.as_json())
            else:
                print(
                    f"{found.calls:,} calls, {found.total:,} tokens ({found.prompt:,} prompt, "
                    f"{found.completion:,} completion); {found.waiting:,} calls wait to be written."
                )
            return 0
        period = parse_period(args.start, args.end, core.clock.now(), core.settings.zone)
        groups = parse_groups(args.by)
        summary = core.usage.reports.summary(period, groups, core.settings.time_zone)
        waiting = core.usage.waiting().depth
    if args.json:
        rows = [line.as_json(groups) for line in summary.lines]
        print_json({"from": summary.start.isoformat(), "to": summary.end.isoformat(), "rows": rows})
        return 0
    for line in summary.lines:
        name = " · ".join(one_line(str(getattr(line, group) or "-"), 40) for group in groups) or "all"
        print(f"{name:60} {line.tokens.calls:>9,} calls {line.tokens.total:>14,} tokens  {_money(line.cost)}")
    total = summary.total
    print(f"{'together':60} {total.tokens.calls:>9,} calls {total.tokens.total:>14,} tokens  {_money(total.cost)}")
    if waiting.waiting or waiting.in_memory:
        print(f"{waiting.waiting + waiting.in_memory:,} rows wait to be written and are not counted here.")
    if summary.stale:
        print("The rollup is marked stale: run `python -m core usage --rebuild`.")
    return 0


def _rollup(args: argparse.Namespace) -> int:
    with open_core() as core:
        answer = core.usage.rebuild(acting()) if args.rebuild else core.usage.check()
    if args.json:
        print_json(dict(answer))
    elif args.rebuild:
        print(f"{answer['changed']:,} sums changed; {'still stale' if answer['stale'] else 'no fault is left'}.")
    else:
        print("The rollup equals the rows." if answer["equal"] else "The rollup differs from the rows: --rebuild.")
    return 0 if args.rebuild or answer["equal"] else 1


def _money(cost: Cost) -> str:
    if not cost.known:
        return "no price"
    return f"{'at least ' if cost.lower_bound else ''}{plain(cost.usd)} USD"
