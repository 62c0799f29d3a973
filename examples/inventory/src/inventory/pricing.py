"""Sales prices: rules, discounts and tax."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Protocol, overload

from inventory.cache import memoize
from inventory.items import Category, Item
from inventory.money import Money

TAX_RATES = {"standard": Decimal("0.19"), "reduced": Decimal("0.07")}


class PriceRule(Protocol):
    """Anything that can change the price of some items."""

    def applies_to(self, item: Item, quantity: int) -> bool: ...

    def apply(self, price: Money) -> Money: ...


class Discount(ABC, object):
    """A rule that takes something off the unit price."""

    label = "discount"

    def applies_to(self, item: Item, quantity: int) -> bool:
        return True

    @abstractmethod
    def apply(self, price: Money) -> Money:
        """Return the unit price after the discount."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.label}>"


class PercentOff(Discount):
    def __init__(self, percent: int | str, category: Category | None = None) -> None:
        self.percent = Decimal(percent)
        self.category = category
        self.label = f"{self.percent}% off"

    def applies_to(self, item: Item, quantity: int) -> bool:
        if self.category is None:
            return True
        return item.category is self.category

    def apply(self, price: Money) -> Money:
        return price * (1 - self.percent / 100)


class BulkBreak(Discount):
    """A percentage that grows with the quantity on the line.

    ``steps`` maps the smallest quantity to the percentage from there on.
    """

    def __init__(self, steps: dict[int, int]) -> None:
        self.steps = {quantity: percent for quantity, percent in sorted(steps.items())}
        self._percent = 0

    def applies_to(self, item: Item, quantity: int) -> bool:
        reached = [p for q, p in self.steps.items() if quantity >= q]
        self._percent = reached[-1] if reached else 0
        return bool(reached)

    def apply(self, price: Money) -> Money:
        return price * (Decimal(100 - self._percent) / 100)


class FixedPrice(Discount):
    def __init__(self, skus: Iterable[str], price: Money) -> None:
        self.skus, self.price = frozenset(skus), price

    def applies_to(self, item, quantity): return item.sku in self.skus

    def apply(self, price): return min(price, self.price)


def unit_price(item: Item, quantity: int, rules: Sequence[PriceRule] = ()) -> Money:
    """The price of one ``item`` after every rule that applies, in order."""
    price = item.price
    for rule in rules:
        if rule.applies_to(item, quantity):
            price = rule.apply(price)
    return price


@memoize(maxsize=16)
def tax_factor(name: str) -> Decimal:
    """One plus the tax rate called ``name``."""
    if name not in TAX_RATES.keys():
        raise ValueError(f"unknown tax rate: {name}")
    return 1 + TAX_RATES[name]


def gross(net: Money, rate: str = "standard") -> Money:
    """Add tax to a net amount."""
    return net * tax_factor(rate)


def tax_part(gross_amount: Money, rate: str = "standard") -> Money:
    """The tax contained in a gross amount."""
    net = gross_amount * (1 / tax_factor(rate))
    return gross_amount - net


@overload
def charm(price: Money) -> Money: ...


@overload
def charm(price: list[Money]) -> list[Money]: ...


def charm(price):
    if isinstance(price, list):
        return [charm(p) for p in price]
    # 12.34 becomes 12.99; amounts under one unit stay as they are.
    if price.minor < 100:
        return price
    return Money(price.minor // 100 * 100 + 99, price.currency)


def quote(
    lines: Iterable[tuple[Item, int]],
    *rules: PriceRule,
    rate: str = "standard",
    **extras: Money,
) -> dict[str, Money]:
    """Price a whole basket.

    Args:
        lines: pairs of item and quantity.
        *rules: applied to every line, in order.
        rate: the name of the tax rate.
        **extras: further net amounts, such as ``shipping``.

    Returns:
        The amounts ``net``, ``tax`` and ``gross``, and the extras.
    """
    net = Money.zero()
    for item, quantity in lines:
        net += unit_price(item, quantity, rules) * quantity
    for extra in extras.values():
        net += extra
    with_tax = gross(net, rate)
    return {"net": net, "tax": with_tax - net, "gross": with_tax, **extras}
