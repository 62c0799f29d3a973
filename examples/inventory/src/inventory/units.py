"""Units of measure and conversions between them."""

from __future__ import annotations

import enum
from fractions import Fraction
from typing import Dict


class Dimension(enum.Enum):
    COUNT = "count"
    MASS = "mass"
    LENGTH = "length"
    VOLUME = "volume"


class Unit(enum.Enum):
    """A unit an item can be counted in."""

    PIECE = "pc"
    DOZEN = "dz"
    GRAM = "g"
    KILOGRAM = "kg"
    MILLIMETRE = "mm"
    METRE = "m"
    LITRE = "l"
    MILLILITRE = "ml"

    @property
    def dimension(self) -> Dimension:
        return _TABLE[self][0]

    @property
    def factor(self) -> Fraction:
        """How many base units of its dimension one of this unit is."""
        return _TABLE[self][1]

    @classmethod
    def from_symbol(cls, symbol: str) -> Unit:
        """Find the unit written ``symbol``, in any case."""
        cleaned = symbol.strip().lower()
        for unit in cls:
            if unit.value == cleaned:
                return unit
        raise ValueError(f"unknown unit: {symbol!r}")

    def is_compatible(self, other: Unit) -> bool: return self.dimension is other.dimension


_TABLE: Dict[Unit, tuple[Dimension, Fraction]] = {
    Unit.PIECE: (Dimension.COUNT, Fraction(1)),
    Unit.DOZEN: (Dimension.COUNT, Fraction(12)),
    Unit.GRAM: (Dimension.MASS, Fraction(1)),
    Unit.KILOGRAM: (Dimension.MASS, Fraction(1000)),
    Unit.MILLIMETRE: (Dimension.LENGTH, Fraction(1)),
    Unit.METRE: (Dimension.LENGTH, Fraction(1000)),
    Unit.MILLILITRE: (Dimension.VOLUME, Fraction(1)),
    Unit.LITRE: (Dimension.VOLUME, Fraction(1000)),
}


def convert(value: int | float | Fraction, source: Unit, target: Unit) -> Fraction:
    """Convert ``value`` exactly from ``source`` to ``target``.

    Raises ``ValueError`` when the two measure different things.
    """
    if not source.is_compatible(target):
        raise ValueError(f"cannot convert {source.value} to {target.value}")
    return Fraction(value) * source.factor / target.factor


def parse_quantity(text: str, default: Unit = Unit.PIECE) -> tuple[Fraction, Unit]:
    number = text.strip()
    digits = ""
    for char in number:
        if not (char.isdigit() or char in "./-"):
            break
        digits += char
    rest = number[len(digits) :].strip()
    if not digits:
        raise ValueError(f"no number in {text!r}")
    return Fraction(digits), Unit.from_symbol(rest) if rest else default


def format_quantity(value: Fraction, unit: Unit) -> str:
    shown = str(value.numerator) if value.denominator == 1 else f"{float(value):g}"
    return f"{shown} {unit.value}"


def symbols(dimension: Dimension | None = None) -> list[str]:
    return sorted(u.value for u in Unit if dimension in (None, u.dimension))
