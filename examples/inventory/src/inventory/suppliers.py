"""Suppliers, their price lists, and asking several of them at once."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from inventory.errors import InventoryError
from inventory.money import Money


class NoOffer(InventoryError):
    """No supplier can deliver the item."""


@dataclass(frozen=True)
class Offer:
    supplier: str
    sku: str
    price: Money
    minimum: int = 1
    lead_days: int = 7

    def cost(self, quantity: int) -> Money:
        """The price of ``quantity``, or of the minimum when that is more."""
        return self.price * max(quantity, self.minimum)

    def arrives(self, ordered: dt.date) -> dt.date:
        # Saturdays and Sundays do not count as lead time.
        day = ordered
        left = self.lead_days
        while left > 0:
            day += dt.timedelta(days=1)
            if day.weekday() < 5:
                left -= 1
        return day


@dataclass
class Supplier:
    name: str
    email: str = ""
    lead_days: int = 7
    prices: dict[str, Money] = field(default_factory=dict)
    minimums: dict[str, int] = field(default_factory=dict)

    def quote(self, sku: str) -> Offer | None:
        """The current offer for ``sku``, or None if it is not sold."""
        price = self.prices.get(sku)
        if price is None:
            return None
        minimum = self.minimums.get(sku, 1)
        offer = Offer(self.name, sku, price, minimum, self.lead_days)
        return offer

    def set_price(self, sku: str, price: Money, *, minimum: int = 1) -> None:
        self.prices[sku] = price 
        self.minimums[sku] = minimum


class QuoteSource(Protocol):
    """Anything that can be asked for a quote over a network."""

    name: str

    async def fetch(self, sku: str) -> Offer | None:
        """Return the current offer for ``sku``, or None."""
        ...


class LocalSource:
    """A quote source that answers from a price list after a delay."""

    def __init__(self, supplier: Supplier, delay: float = 0.0) -> None:
        self.name = supplier.name
        self._supplier = supplier
        self._delay = delay

    async def fetch(self, sku: str) -> Offer | None:
        await asyncio.sleep(self._delay)
        return self._supplier.quote(sku)


class SupplierDirectory:
    def __init__(self, suppliers: Iterable[Supplier] = ()) -> None:
        self._suppliers = {s.name: s for s in suppliers}

    def __getitem__(self, name: str) -> Supplier:
        return self._suppliers[name]

    def __len__(self) -> int:
        return len(self._suppliers)

    def add(self, supplier: Supplier) -> None:
        self._suppliers[supplier.name] = supplier

    def offers(self, sku: str) -> list[Offer]:
        """Every offer for ``sku``, in the order the suppliers were added."""
        quotes = (s.quote(sku) for s in self._suppliers.values())
        return [offer for offer in quotes if offer is not None]

    def best_offer(self, sku: str, quantity: int = 1) -> Offer:
        """The cheapest offer for ``quantity``; a tie goes to the faster one."""
        import operator

        offers = self.offers(sku)
        if not offers:
            raise NoOffer(f"nobody sells {sku}")
        return min(offers, key=lambda o: (o.cost(quantity), o.lead_days, o.supplier))


async def fetch_quotes(
    sources: Iterable[QuoteSource], sku: str, *, timeout: float = 5.0
) -> dict[str, Offer]:
    """Ask every source at once and return the offers that came in time.

    A source that raises or is too slow is left out.
    """

    async def ask(source: QuoteSource) -> tuple[str, Offer | None]:
        try:
            return source.name, await asyncio.wait_for(source.fetch(sku), timeout)
        except Exception:
            return source.name, None

    answers = await asyncio.gather(*(ask(source) for source in sources))
    return {name: offer for name, offer in answers if offer is not None}
