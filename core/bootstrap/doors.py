"""Which action each method of core takes: asked of whoever calls from outside, be it a page, a route or a command.

Inside, rooms use each other as they are: what somebody may do was asked at the door, and a part that runs by itself
acts for nobody. The companion's rooms are in doors_companion.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final

from core.access.room import ANYBODY, PRODUCT, guarded
from core.bootstrap.core import Core
from core.bootstrap.doors_companion import COMPANION

# Without a door. Rooms that ask by themselves, what every part stands on, and the parts of the companion's own.
OPEN: Final = frozenset({"settings", "clock", "db", "local", "access_desk", "veil", "views", "preferences", "on_close"})

_MEMORY: Final[Mapping[str, Mapping[str, str]]] = {
    "events": {
        ANYBODY: "announce emit flush prepare counters handlers",
        PRODUCT: "close off on on_any drain",
    },
    "events.store": {
        "events": "counts find query verify",
        "list_dialogs": "count_by_type",
        PRODUCT: "append prune send",
    },
    "events.spool": {
        "health": "depth",
        PRODUCT: "append change_memory close folder in_memory peek refuse segments settle",
    },
    "embedder": {ANYBODY: "model", PRODUCT: "__call__ base close under"},
    "dialogs": {
        "list_dialogs": "ambiguous_pairs get list overview",
        "status": "status",
        "read_dialog": "chunks chunks_by_id timeline",
        "search_all": "text_search",
        "health_check": "check_rollups",
        "rebuild_rollups": "rebuild_rollups",
    },
    "search": {"search": "explore search with_words", "search_all": "across", ANYBODY: "active_profile active_weights"},
    "search.words": {"search": "index scores"},
    "ingest": {"ingest": "ingest", "preview_ingest": "preview"},
    "health": {"health": "memory_status report supabase_health"},
    "demo": {
        ANYBODY: "loaded state",
        "demo_load": "load rebuild",
        "demo_remove": "remove rows",
        PRODUCT: "also load_when_due stop",
    },
    "snapshots": {
        "snapshots": "diff diff_days preview verify",
        "snapshots_capture": "capture capture_ingest",
        "snapshots_pin": "pin unpin",
        "snapshots_cleanup": "cleanup cleanup_previewed confirm_schedule",
        PRODUCT: "catch_up daily.due daily.run_if_due daily.tend",
    },
    "snapshots.reads": {"snapshots": "calendar days diff diff_days entities expiry get history"},
    "snapshots.daily": {"snapshots": "state"},
    "snapshot_source": {"snapshots": "body days"},
    "jobs": {
        "jobs": "get list",
        ANYBODY: "title may_cancel cancel start",  # cancel and start ask for the action of the job
        PRODUCT: "close finish_here hourly register work",
    },
    "intake": {
        "ingest": "discard refused results stage stage_body stage_text start",
        "preview_ingest": "preview",
        PRODUCT: "files",
    },
    "reembed": {"reembed": "preview rate start"},
    "recipe": {ANYBODY: "active", "switch_recipe": "preview start"},
    "cleanup": {"snapshots_cleanup": "start"},
    "usage": {
        "usage": "waiting check",
        "record_usage": "record",
        "set_price": "set_budget set_price",
        "rebuild_rollups": "rebuild",
        PRODUCT: "close recorder.close recorder.drain prices.set prices.set_budget",
    },
    "usage.recorder": {"usage": "dialog_usage waiting", "record_usage": "record", ANYBODY: "flush"},
    "usage.prices": {"usage": "book budget list"},
    "usage.reports": {"usage": "anomalies dialogs request requests summary"},
    "corrections": {
        "corrections": "excluded state superseded",
        "exclude_chunks": "exclude restore",
        "delete_superseded": "delete_superseded",
    },
    "merges": {"corrections": "list preview", "merge_keys": "merge undo"},
    "erasures": {"corrections": "list preview", "erase_person": "erase"},
    "monitor": {
        "health": "timeline.history timeline.uptime",
        "health_check": "look daily.run",
        PRODUCT: "start stop timeline.flush timeline.note daily.due",
    },
    "photos": {"photos_describe": "describe find start", ANYBODY: "ready", "jobs": "waiting", PRODUCT: "close"},
    "retrievals": {
        "report_context": "report withdraw",
        "retrieval_retention": "keep_days",
        PRODUCT: "prune recorder.close recorder.record recorder.row",
        ANYBODY: "recorder.flush",
    },
    "retrievals.store": {
        "retrievals": "get list never of_request query_parts totals whereabouts wrong",
        PRODUCT: "keep_days prune report withdraw",
    },
    "replays": {"retrievals": "reconstruct replay usage"},
    "profiles": {"profiles": "active all", ANYBODY: "forget"},
    "loop": {
        "propose_profile": "propose",
        "approve_profile": "approve",
        "activate_profile": "activate revert",
    },
    "after_checks": {"profiles": "look"},
    "recent": {"search": "load"},
    "tuning.labels": {
        "judgements": "history query_set recorded sets sheet waiting",
        "judge": "add add_rows archive create judge remove",
    },
    "tuning.files": {"judgements": "export", "judge": "import_text"},
    "tuning.evaluations": {"judgements": "get page waiting", "evaluate": "pool run start"},
    "tuning.boosts": {"judgements": "heat", "evaluate": "run start"},
    "rent": {"judgements": "dialog report"},
}


def _paths(table: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for room, rules in table.items():
        for action, methods in rules.items():
            for method in methods.split():
                assert f"{room}.{method}" not in found, f"two rules for {room}.{method}"
                found[f"{room}.{method}"] = action
    return MappingProxyType(found)


# From a method, by its dotted path from Core -> action.
DOORS: Final = _paths({**_MEMORY, **COMPANION})


def behind_doors(core: Core) -> Core:
    """The same core, for those outside."""
    doors: dict[str, Any] = {}
    for field in fields(core):
        if field.name not in OPEN:
            rules = {path.partition(".")[2]: to for path, to in DOORS.items() if path.startswith(f"{field.name}.")}
            doors[field.name] = guarded(getattr(core, field.name), rules)
    return replace(core, **doors)
