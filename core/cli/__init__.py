"""The command line, `python -m core`: ingest, search, status, migrate, demo, health."""

from core.cli.main import main

__all__ = ["main"]
