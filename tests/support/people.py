"""Two dialogs whose texts, payloads and ids name people, and everything of them that must not be seen."""

from __future__ import annotations

from typing import Any

import psycopg

from core.bootstrap import Core
from core.memory.keys import tips_key
from tests.support.dialogs import body, message
from tests.support.snapshots import row, upstream

RU, TU = "ru-731905", "tu-640218"
KEY = tips_key(RU, TU)
OTHER_RU, OTHER_TU = "ru-552277", "tu-918273"
OTHER = tips_key(OTHER_RU, OTHER_TU)
QUERY = "чи пише Олена про чай"
# Stems: no form of a name may be left.
PERSONAL = (
    *("Олен", "Ковальськ", "Тетян", "olena.k", "example.org", "123 45 67", "Марин"),
    *(RU, TU, OTHER_RU, OTHER_TU, "fav-880011", "Ганн", "hanna"),
)
DAYS = ("2026-11-29", "2026-11-30")


def dialog(name: str, ru: str, tu: str, *texts: str) -> dict[str, Any]:
    made = body(None, ruId=ru, tuId=tu, notes=[f"{name} любить чай і прогулянки."])
    favorite = made["conversationJson"]["favorite"]
    favorite |= {"id": "fav-880011", "clientId": ru, "operatorId": tu}
    favorite["profile"] |= {"name": name, "main_photo": {"url": f"https://cdn.example.org/{ru}.jpg"}}
    favorite["allMessages"] += [message(40 + n, text) for n, text in enumerate(texts)]
    return made


def remember(core: Core, dsn: str) -> None:
    """Ingest both, search in each and over all, and two days of snapshots that differ in a name."""
    texts = (
        "Привіт, Олено! Чай з Оленою Ковальською завжди смачний.",
        f"Пиши на olena.k@example.org або +380 67 123 45 67, мій id {RU}",
        "Ось фото: https://example.org/olena?x=1",
    )
    core.ingest.ingest(dialog("Олена Ковальська", RU, TU, *texts))
    core.ingest.ingest(dialog("Ганна", OTHER_RU, OTHER_TU, "Ганно, чай? hanna@example.org"))
    ids = {"ru_id": RU, "tu_id": TU, "dialog_key": KEY}
    mine = {"entity_type": "dialog", "source_id": f"2026-11-01:{RU}", "initiator": RU}
    profile = {"entity_type": "profile", "source_role": "ru", "source_id": "ru"}
    with psycopg.connect(dsn) as connection:
        for day, name in zip(DAYS, ("Олена", "Марина"), strict=True):
            upstream(
                connection,
                row(day=day, payload={"name": name, "about": f"{name} і чай"}, text=f"{name} пише", **profile, **ids),
                row(day=day, payload={"text": f"Олені, {day}"}, text="Олені", **{**ids, **mine}),
                row(day=day, payload={"url": f"https://example.org/{day}"}, source_id="9", **ids),
            )
