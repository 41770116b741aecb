"""E-mail, links, telephone numbers and ids by their form.

Numbers that are dates, times, scores or amounts stay. Where a run of digits could be both, it is masked: nine digits
and more are a number of somebody rather than a sum. Each pattern is bounded, so that a hostile text costs linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Found = tuple[int, int, str]

_AT = r"(?:@|\s?[(\[]\s?(?:at|собака|ат)\s?[)\]]\s?|\s(?:at|собака|ат)\s)"
_DOT = r"(?:\.|\s?[(\[]\s?(?:dot|точка|крапка)\s?[)\]]\s?|\s(?:dot|точка|крапка)\s)"
_EMAIL = re.compile(
    rf"(?<![\w.+-])[\w.+-]{{1,64}}{_AT}(?:[\w-]{{1,63}}{_DOT}){{1,4}}[^\W\d_]{{2,24}}(?!\w)", re.IGNORECASE
)
_TLD = (
    "com|org|net|info|biz|io|co|app|dev|me|online|site|shop|club|xyz|live|tv|ua|ru|de|uk|us|eu|pl|by|kz|fr|it|es|ca|au|"
    "ch|at|nl|cz|укр|рф"
)
_LINK = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'»]{1,2000}"
    r"|\bwww\.[^\s<>\"'»]{2,2000}"
    rf"|(?<![\w@.-])(?:[\w-]{{1,63}}\.){{1,5}}(?:{_TLD})(?![\w-])(?:[/?#][^\s<>\"'»]{{0,2000}})?"
    r"|(?<!\.)@[\w.]{3,64}\w",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(
    r"\b(?:insta(?:gram)?|ig|telegram|tg|skype|snap(?:chat)?|facebook|fb|viber|whats?app|tik-?tok|[тt]елеграм\w{0,3}|"
    r"[іи]нстаграм\w{0,3}|[іи]нст[аеиіуы]|тг|скайп\w{0,2}|вайбер\w{0,2}|фейсбук\w{0,2})\s{0,3}[:=–—-]\s{0,3}(@?[\w.]{3,64})",
    re.IGNORECASE,
)
_UUID = re.compile(r"(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])", re.IGNORECASE)
_HASH = re.compile(r"(?<!\w)(?=[0-9a-f]*\d)(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?!\w)", re.IGNORECASE)
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_WHEN = re.compile(
    r"(?<!\d)(?:\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?)(?!\d)"
)
_NUMBER = re.compile(r"(?:(?<![\d.,+])\+\s?|(?<![\w.,+]))\(?\d(?:[\d\u00a0 ().–/-]{4,30})\d(?!\w)(?![.,]\d)")
_SUM = re.compile(r"\d{1,3}(?:[ \u00a0]\d{3})+(?:[.,]\d+)?")
_DECIMAL = re.compile(r"\d+[.]\d+")
_DIGITS = re.compile(r"\d")


def by_form(text: str) -> Iterator[Found]:
    """Start, end and kind of each; they may overlap, and the earlier kind then counts."""
    for kind, pattern in (("e-mail", _EMAIL), ("id", _UUID), ("id", _HASH), ("link", _LINK)):
        yield from ((found.start(), found.end(), kind) for found in pattern.finditer(text))
    yield from ((found.start(1), found.end(1), "link") for found in _ACCOUNT.finditer(text))
    yield from (
        (found.start(), found.end(), "id") for found in _IBAN.finditer(text) if _DIGITS.search(found.group()[4:])
    )
    yield from _numbers(text)


def _numbers(text: str) -> Iterator[Found]:
    # What says when is no number of somebody: its digits do not count, nor do they join others.
    blanked = _WHEN.sub(lambda found: "\0" * len(found.group()), text)
    for found in _NUMBER.finditer(blanked):
        kind = _kind(found.group())
        if kind:
            yield (found.start(), found.end(), kind)


def _kind(number: str) -> str | None:
    digits = len(_DIGITS.findall(number))
    bare = number.strip()
    if digits < 6 or _DECIMAL.fullmatch(bare):
        return None
    if bare.startswith("+") or bare.startswith("00"):
        return "phone" if digits >= 8 else "id"
    if _SUM.fullmatch(bare) and digits < 9 and not bare.startswith("0"):
        return None
    if bare.isdigit():
        return (
            "phone"
            if (bare.startswith("0") and 9 <= digits <= 12) or (bare.startswith("380") and digits == 12)
            else "id"
        )
    if digits > 15:
        return "id"
    groups = re.split(r"[^\d]+", bare.strip("()"))
    # Two groups such as 2025-2026 or 100/200 are a range or a share; a telephone number has three, or is long.
    return "phone" if digits >= 9 or (digits == 7 and len(groups) in (2, 3)) or bare.startswith(("0", "(")) else None
