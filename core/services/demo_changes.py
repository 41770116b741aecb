"""What changes in a demo dialog within the fourteen days: the payload as it was before, made from the payload as it is.

One seed per dialog decides; most dialogs change once or twice, some not at all.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.services.demo_content import DemoDialog

KINDS = ("age", "occupation", "hobbies", "photo", "note edited", "note withdrawn")
PART_TIME = {"en": "part-time", "uk": "неповний день", "ru": "неполный день"}


@dataclass(frozen=True)
class Changes:
    """`days`: how many days ago each change came; before that day things stood otherwise."""

    language: str
    days: Mapping[str, int]

    @classmethod
    def of(cls, dialog: DemoDialog) -> Changes:
        rng = random.Random(f"changes {dialog.name}")
        chosen = rng.sample(KINDS, rng.choice((0, 1, 1, 2, 2, 3)))
        return cls(dialog.language, {kind: rng.randint(0, 11) for kind in chosen})

    def profile(self, profile: Mapping[str, Any], ago: int) -> tuple[dict[str, Any], str | None]:
        """The profile as of that many days ago, and the address of the photo."""
        then = copy.deepcopy(dict(profile))
        photo = then.pop("main_photo", None) or {}
        url = photo.get("big_url")
        details = then.get("details") or {}
        if self._still(ago, "age") and isinstance(then.get("age"), int):
            then["age"] -= 1
        if self._still(ago, "occupation") and details.get("occupation"):
            details["occupation"] += f", {PART_TIME[self.language]}"
        if self._still(ago, "hobbies") and len(details.get("hobbies") or ()) > 1:
            details["hobbies"] = details["hobbies"][1:]
        if self._still(ago, "photo") and url:
            url = url.replace("/main.", "/former.")
            then["photo_count"] = 0
        return then, url

    def notes(self, notes: Sequence[Mapping[str, Any]], ago: int) -> list[Mapping[str, Any]]:
        """The notes as of that many days ago: the newest in its first wording, the oldest until it was withdrawn."""
        then = list(notes)
        if len(then) > 1 and "note withdrawn" in self.days and not self._still(ago, "note withdrawn"):
            del then[0]
        if then and self._still(ago, "note edited"):
            words = str(then[-1]["text"]).split()
            then[-1] = {**then[-1], "text": " ".join(words[: max(3, 3 * len(words) // 5)])}
        return then

    def _still(self, ago: int, kind: str) -> bool:
        """Whether that day lies before the change."""
        return ago > self.days.get(kind, 99)
