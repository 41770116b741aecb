"""The commands over the installation: migrate, demo, health."""

from __future__ import annotations

import argparse
import sys

from core.bootstrap import MIGRATIONS, build_core
from core.cli.memory import open_core
from core.cli.output import one_line, print_json
from core.config import Settings, load_settings
from core.db.client import Database
from core.errors import ConfigError, SchemaMismatch
from core.local import migrate as migrations


def migrate(args: argparse.Namespace) -> int:
    """The embedded database migrates as it starts; a hosted one only over SUPABASE_DB_URL: PostgREST runs no DDL."""
    settings = load_settings()
    if settings.embedded:
        with build_core(settings, background=False) as core:
            assert core.local is not None
            dsn = core.local.endpoint.dsn
            return _report(
                args, [m.file for m in migrations.pending(dsn, MIGRATIONS)], len(migrations.applied(dsn)), []
            )
    if settings.db_url is not None:
        dsn = settings.db_url.get_secret_value()
        ran = [m.file for m in migrations.apply(dsn, MIGRATIONS)]
        return _report(args, [], len(migrations.applied(dsn)), ran)
    pending, done = _pending_over_http(settings)
    return _report(args, pending, done, [])


def demo(args: argparse.Namespace) -> int:
    settings = load_settings()
    if not settings.embedded:
        raise ConfigError("Demo data belongs to the embedded database alone.", hint="Unset the Supabase variables.")
    with build_core(settings, background=False) as core:
        if args.rebuild:
            core.demo.rebuild(core.embedder())
        elif args.load:
            core.demo.load()
        elif args.remove:
            core.demo.remove()
        state = core.demo.state()
    if args.json:
        print_json({"state": state.state, "done": state.done, "total": state.total})
    else:
        print(f"Demo data: {state.state}, {state.done} of {state.total} {state.part}.")
    return 1 if state.state == "failed" else 0


def health(args: argparse.Namespace) -> int:
    with open_core() as core:
        report = core.health.report(probe_embedder=True)
    if args.json:
        print_json(report.as_json())
    else:
        print(f"Health: {report.status}")
        for component in report.components:
            print(f"  {component.label:22} {component.status:9} {one_line(component.reason)}")
    return 0 if report.status in ("ok", "degraded") else 1


def _pending_over_http(settings: Settings) -> tuple[list[str], int]:
    assert settings.hosted is not None
    db = Database(settings.hosted.url, settings.hosted.key.get_secret_value(), timeout_s=settings.db_timeout_s)
    try:
        done = {row["version"] for row in db.rpc("desk_applied_migrations", {}, read=True, returns=list)}
    except SchemaMismatch:
        done = set()  # the function comes with our first migration
    finally:
        db.close()
    files = migrations.read_migrations(MIGRATIONS)
    return [m.file for m in files if m.version not in done], sum(m.version in done for m in files)


def _report(args: argparse.Namespace, pending: list[str], applied: int, ran: list[str]) -> int:
    if args.json:
        print_json({"applied": applied, "ran": ran, "pending": pending})
        return 0
    for name in ran:
        print(f"applied {name}")
    print(f"{applied} migrations are applied, {len(pending)} pending.")
    for name in pending:
        print(f"  {name}")
    if pending:
        print("Apply them with `supabase db push` in the linked project,", file=sys.stderr)
        print("or set SUPABASE_DB_URL to a direct connection and run `python -m core migrate` again.", file=sys.stderr)
    return 0
