"""Which question it is: by words, the same each time. English, with a few words of Ukrainian, Russian and German."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Name = Literal[
    "help",
    "dialog",
    "proposals",
    "goals",
    "streaks",
    "cost",
    "due",
    "wrong",
    "sync",
    "memory",
    "patterns",
    "week",
    "today",
    "unknown",
]
Range = Literal["today", "yesterday", "week", "month"]
Group = Literal["model", "phase", "provider", "day"]


@dataclass(frozen=True)
class Intent:
    """What is asked; `dialog_key`, or `pair` (RU, TU), of a question about one dialog."""

    name: Name
    range: Range | None = None
    group: Group | None = None
    dialog_key: str | None = None
    pair: tuple[str, str] | None = None


_KEY = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{64}(?![0-9A-Za-z])")
_ID = r"[:#=\s]*(?P<{0}>[0-9A-Za-z][\w.-]{{0,60}})"
_PAIR = re.compile(
    r"\bru(?:[\s_-]?id)?\b" + _ID.format("ru") + r".{0,20}?\btu(?:[\s_-]?id)?\b" + _ID.format("tu"), re.I
)
_TWO = re.compile(r"\bdialog(?:ue)?\s+(?P<ru>\d+)\s*(?:/|:|,|\band\b|\s)\s*(?P<tu>\d+)\b", re.I)
_NAMED = re.compile(r"\bdialog(?:ue)?\s+[\"'«]?(?P<key>[^\s\"'»?]*\d[^\s\"'»?]*)", re.I)

# In this order: the first that fits is it. A question about cost may name a day, one about today names nothing else.
_WORDS: tuple[tuple[Name, str], ...] = (
    ("help", r"^\W*(help|\?)\W*$|what can (you|i)|how do you work|допомо|що ти вмі|что ты уме|hilfe|was kannst"),
    ("proposals", r"\bpropos|\bapprov|waits? for me|пропозиц|предложен|vorschl|genehmig"),
    ("goals", r"\bgoals?\b|behind\b|\bціл[іь]|\bцел[иь]|\bziele?\b"),
    ("streaks", r"\bstreaks?\b|\bсері[яїй]|\bсери[яий]|\bserien?\b"),
    ("cost", r"\bcosts?\b|\bspen[dt]|\btokens?\b|\busage\b|\bbudget\b|\bexpens|\bbill(ed)?\b|кошту|витра|стои[лт]|"
             r"расход|токен|\bkost|ausgegeben|verbrauch"),
    ("due", r"\b(over)?due\b|\bto-?do\b|\btasks?\b|\bappointments?\b|\bcalendar\b|\bagenda\b|завдан|задач|"
            r"\bfällig|\baufgabe|\btermin"),
    ("wrong", r"\bwrong\b|\bhealth|\bproblems?\b|\bbroken\b|\bfail|\bincidents?\b|\berrors?\b|\bdown\b|\balarm|"
              r"не так\b|проблем|поломк|помилк|ошиб|\bkaputt|\bfehler|\bproblem|\bstörung"),
    ("sync", r"\bsync|\bsnapshots?\b|\bup to date\b|\bfresh\b|\bexpired?\b|синхрон|снапшот|\bsynchron|\baktuell"),
    ("memory", r"\bchunks?\b|\bhow many dialogs|\bdialogs\b|\bmemory\b|пам.ят|памят|\bgedächtnis|\bspeicher"),
    ("patterns", r"\bpatterns?\b|\binsights?\b|\bcorrelat|\bfacts?\b|\bhabits?\b|\bmoves? together|закономір|закономер|"
                 r"\bmuster\b|\bzusammenh"),
    ("week", r"\bweek\b|\b7 days\b|\bmonth\b|\b30 days\b|тижд|тижн|недел|місяц|месяц|\bwoche|\bmonat"),
    ("today", r"\btoday\b|\byesterday\b|\bday\b|\bstatus\b|\bhow are (things|we)|\bhow is it going|\bsummary\b|"
              r"сьогодні|сегодня|вчора|вчера|як справи|як день|\bheute\b|\bgestern\b|\btag\b"),
)  # fmt: skip
_KNOWN = tuple((name, re.compile(words, re.IGNORECASE)) for name, words in _WORDS)
_RANGES: tuple[tuple[Range, re.Pattern[str]], ...] = (
    ("yesterday", re.compile(r"\byesterday\b|вчора|вчера|\bgestern\b", re.IGNORECASE)),
    ("week", re.compile(r"\bweek|\b7 days\b|тижд|тижн|недел|\bwoche", re.IGNORECASE)),
    ("month", re.compile(r"\bmonth|\b30 days\b|місяц|месяц|\bmonat", re.IGNORECASE)),
    ("today", re.compile(r"\btoday\b|сьогодні|сегодня|\bheute\b", re.IGNORECASE)),
)
_GROUPS: tuple[tuple[Group, re.Pattern[str]], ...] = (
    ("model", re.compile(r"\bmodels?\b|модел|\bmodell", re.IGNORECASE)),
    ("phase", re.compile(r"\bphases?\b|фаз|\bphasen?\b", re.IGNORECASE)),
    ("provider", re.compile(r"\bproviders?\b|провайдер|\banbieter", re.IGNORECASE)),
    ("day", re.compile(r"\b(by|per|each|every) day\b|\bdaily\b|по днях|по дням|\bpro tag\b", re.IGNORECASE)),
)
_OWN = re.compile(r"\b(over)?due\b|\bfällig", re.IGNORECASE)


def intent_of(text: str) -> Intent:
    """What a question asks; "unknown" where nothing says it. Never fails."""
    said = " ".join(text.split())[:2_000]
    about = _dialog(said)
    if about is not None:
        return about
    range_ = next((name for name, words in _RANGES if words.search(said)), None)
    found: Name = next((name for name, words in _KNOWN if words.search(said)), "unknown")
    # What was done in a week is a question about the week; what is due in it is not.
    if found == "due" and range_ in ("week", "month") and not _OWN.search(said):
        found = "week"
    group = next((name for name, words in _GROUPS if words.search(said)), None) if found == "cost" else None
    return Intent(found, range_, group)


def _dialog(said: str) -> Intent | None:
    if key := _KEY.search(said):
        return Intent("dialog", dialog_key=key.group().lower())
    if pair := _PAIR.search(said) or _TWO.search(said):
        return Intent("dialog", pair=(pair["ru"].rstrip(".,?!-"), pair["tu"].rstrip(".,?!-")))
    if named := _NAMED.search(said):
        return Intent("dialog", dialog_key=named["key"].rstrip(".,?!"))
    return Intent("sync") if re.search(r"\bdialog\b", said, re.I) and re.search(r"\bsync|\bfresh", said, re.I) else None
