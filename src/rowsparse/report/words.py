"""Names and numbers as a reader sees them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

# Marks that only join letters or emoji: text of some languages is wrong without them.
JOINERS = "\u200c\u200d"
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format (bidi overrides), surrogates, separators


def visible(text: object) -> str:
    r"""The text with every control character spelt out, so that none can act.

    >>> visible("gene\n\u202eabc")
    'gene\\u000a\\u202eabc'
    """
    shown = []
    for letter in str(text):
        acts = unicodedata.category(letter) in UNSEEN and letter not in JOINERS
        shown.append(f"\\u{ord(letter):04x}" if acts else letter)
    return "".join(shown)


def shortened(text: str, length: int) -> str:
    """At most so many letters: the beginning and the end tell names apart.

    >>> shortened("a_very_long_name_17", 11)
    'a_ver…me_17'
    """
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def number(value: float | None, digits: int = 3, zeros: bool = False) -> str:
    """So many digits; with ``zeros`` also those at the end, for columns of numbers.

    >>> number(0.000123456), number(1234567.0), number(None), number(0.03, zeros=True)
    ('0.000123', '1,234,567', '–', '0.0300')
    """
    if value is None or np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 10**digits and float(value).is_integer():
        return f"{value:,.0f}".replace("-", "−")
    text = f"{value:.{digits}g}"
    if zeros and value:  # of a zero there would be a row of them
        text = f"{value:#.{digits}g}".rstrip(".")
    return text.replace("-", "−")  # the minus sign is as wide as the digits


def count(n: int, one: str, many: str = "") -> str:
    """
    >>> count(1, "column"), count(7129, "column")
    ('1 column', '7,129 columns')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """
    >>> percent(0.1234), percent(1e-6), percent(1.0)
    ('12.3 %', '0.0001 %', '100 %')
    """
    # of less than a hundredth of one per cent only the size counts
    digits = 3 if share == 0 or share >= 1e-4 else 1
    return f"{100 * share:.{digits}g} %"


def listed(names: Sequence[str], most: int = 3) -> str:
    """
    >>> listed(["a", "b"]), listed(["a", "b", "c", "d"], most=2)
    ('a and b', 'a, b and 2 more')
    """
    shown = [shortened(visible(name), 40) for name in names[:most]]
    more = len(names) - len(shown)
    if more > 0:
        return f"{', '.join(shown)} and {more:,} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
