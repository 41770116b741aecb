"""Routines, which code, tables and events call rituals: steps, templates, runs, and how one is put together."""
