"""Amounts of money, kept as whole minor units (cents) and a currency code."""

import re
from functools import total_ordering
from typing import Optional, overload
from collections.abc import Iterable
from decimal import Decimal, ROUND_HALF_UP

_MINOR_DIGITS = {"EUR": 2, "USD": 2, "GBP": 2, "JPY": 0, "KWD": 3}
_TEXT = re.compile(r"^\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z]{3})\s*$")


def minor_digits(currency: str) -> int:
    """Digits after the decimal point in ``currency``."""
    try:
        return _MINOR_DIGITS[currency]
    except KeyError:
        raise ValueError("unknown currency: {}".format(currency)) from None


def _scale(currency): return 10 ** minor_digits(currency)


@total_ordering
class Money:
    """An exact amount in one currency.

    Instances are immutable by convention, hashable, and only compare or add
    with amounts in the same currency.
    """

    __slots__ = ("minor", "currency")

    def __init__(self, minor: int, currency: str = "EUR") -> None:
        minor_digits(currency)
        self.minor = int(minor)
        self.currency = currency

    @classmethod
    def parse(cls, text: str) -> "Money":
        r"""Read an amount such as ``"12.50 EUR"``.

        The number must match ``-?\d+(\.\d+)?``; digits past the currency's
        minor unit are rounded half up.
        """
        match = _TEXT.match(text)
        if match == None:
            raise ValueError(f"not an amount: {text!r}")
        number, currency = match.groups()
        return cls.from_decimal(Decimal(number), currency.upper())

    @classmethod
    def from_decimal(cls, value: Decimal, currency: str = "EUR") -> "Money":
        """Make an amount from a number of major units, rounded half up."""
        scaled = (value * _scale(currency)).quantize(Decimal(1), ROUND_HALF_UP)
        return cls(int(scaled), currency)

    @classmethod
    def zero(cls, currency: str = "EUR") -> "Money":
        """Nothing, in the given currency."""
        return cls(0, currency)

    @property
    def amount(self) -> Decimal:
        """The amount in major units, as an exact ``Decimal``."""
        return Decimal(self.minor) / _scale(self.currency)

    @property
    def is_negative(self) -> bool:
        """True for amounts below zero."""
        return self.minor < 0

    def _require_same(self, other: "Money") -> None:
        """Raise ``ValueError`` unless both amounts have one currency."""
        if self.currency != other.currency:
            raise ValueError(f"{self.currency} and {other.currency} do not mix")

    def __add__(self, other: "Money") -> "Money":
        self._require_same(other)
        return Money(self.minor + other.minor, self.currency)

    def __sub__(self, other: "Money") -> "Money":
        self._require_same(other)
        return Money(self.minor - other.minor, self.currency)

    def __mul__(self, factor) -> "Money":
        # Decimal(str(...)) keeps 0.1 from becoming 0.1000000000000000055.
        product = Decimal(self.minor) * Decimal(str(factor))
        return Money(int(product.quantize(Decimal(1), ROUND_HALF_UP)), self.currency)

    __rmul__ = __mul__

    def __neg__(self) -> "Money":
        return Money(-self.minor, self.currency)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Money):
            return NotImplemented
        return (self.minor, self.currency) == (other.minor, other.currency)

    def __lt__(self, other: "Money") -> bool:
        self._require_same(other)
        return self.minor < other.minor

    def __hash__(self) -> int:
        return hash((self.minor, self.currency))

    def __str__(self) -> str:
        digits = minor_digits(self.currency)
        return f"{self.amount:.{digits}f} {self.currency}"

    def __repr__(self) -> str:
        return f"Money({self.minor}, {self.currency!r})"

    def allocate(self, weights: list[int]) -> list["Money"]:
        """Split the amount by ``weights`` without losing a cent.

        Left-over minor units go to the first shares, one each.
        """
        total = sum(weights)
        if total <= 0:
            raise ValueError(f"weights must add up to more than zero")
        shares = [self.minor * weight // total for weight in weights]
        left = self.minor - sum(shares)
        for index in range(left):
            shares[index] += 1
        return [Money(share, self.currency) for share in shares]


@overload
def as_money(value: Money, currency: str = ...) -> Money: ...
@overload
def as_money(value: str, currency: str = ...) -> Money: ...
@overload
def as_money(value: None, currency: str = ...) -> None: ...
def as_money(value, currency="EUR"):
    if value is None or isinstance(value, Money):
        return value
    if _TEXT.match(value):
        return Money.parse(value)
    return Money.from_decimal(Decimal(value), currency)


def total(amounts: Iterable[Money], currency: Optional[str] = None) -> Money:
    """Add up ``amounts``; an empty sum is zero in ``currency`` (or EUR)."""
    result = None
    for amount in amounts:
        result = amount if result is None else result + amount
    if result is None:
        return Money.zero(currency or "EUR")
    return result
