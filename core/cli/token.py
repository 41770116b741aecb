"""The command over API tokens: make one, list them, end one. The secret is printed once, when it is made."""

from __future__ import annotations

import argparse
import sys
from typing import get_args

from core.access import Role
from core.access.tokens import DEFAULT_DAYS, ApiToken
from core.cli.memory import open_core
from core.cli.output import UsageError, one_line, print_json


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("action", choices=("create", "list", "revoke"))
    command.add_argument("what", nargs="?", metavar="NAME|ID", help="the name of a new token, or the id of one to end")
    command.add_argument(
        "--role", action="append", choices=get_args(Role), help="what it may; again for more (default viewer)"
    )
    life = command.add_mutually_exclusive_group()
    life.add_argument("--days", type=int, default=DEFAULT_DAYS, help=f"it lives for so long (default {DEFAULT_DAYS})")
    life.add_argument("--no-expiry", action="store_true", help="it lives until it is revoked")
    command.add_argument(
        "--reveal", metavar="REASON", help="answer it unmasked, for this reason; auditor or admin only"
    )


def token(args: argparse.Namespace) -> int:
    """One of the three actions."""
    if args.action != "list" and not args.what:
        raise UsageError(f"{args.action} needs {'a name' if args.action == 'create' else 'the id of a token'}")
    return {"create": _create, "list": _list, "revoke": _revoke}[args.action](args)


def _create(args: argparse.Namespace) -> int:
    with open_core() as core:
        made, secret = core.access_desk.create_token(
            args.what,
            args.role or ["viewer"],
            days=None if args.no_expiry else args.days,
            reveal_reason=args.reveal,
        )
        now = core.clock.now()
    if args.json:
        print_json({**made.as_json(now), "token": secret})
        return 0
    print(secret)
    print(f"This is {made.id}, {_life(made)}. It is not shown again: keep it now.", file=sys.stderr)
    return 0


def _list(args: argparse.Namespace) -> int:
    with open_core() as core:
        found, now = core.access_desk.tokens(), core.clock.now()
        environment = core.settings.api_token is not None
    if args.json:
        print_json({"tokens": [t.as_json(now) for t in found], "environment": environment})
        return 0
    if environment:
        print("MEMORY_DESK_API_TOKEN is set: one more token, of every role, unmasked, that does not expire.")
    for token in found:
        used = f"used {token.last_used_at:%Y-%m-%d %H:%M} UTC" if token.last_used_at else "never used"
        roles = ",".join(sorted(token.roles)) + (" unmasked" if token.reveal_reason else "")
        print(f"{token.id:12} {token.state(now):9} {one_line(token.name, 30):30} {roles:24} {_life(token)}, {used}")
    if not found:
        print("No token was made yet.")
    return 0


def _revoke(args: argparse.Namespace) -> int:
    with open_core() as core:
        core.access_desk.revoke_token(args.what)
    if args.json:
        print_json({"revoked": args.what})
    else:
        print(f"{one_line(args.what, 40)} opens nothing any more.")
    return 0


def _life(token: ApiToken) -> str:
    return f"until {token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "without an end"
