"""Purchase orders and the states they go through."""

from __future__ import annotations

import datetime as dt
import enum
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from inventory.errors import IllegalTransition
from inventory.money import Money, total
from inventory.stock import StockLedger


class Status(enum.Enum):
    DRAFT = "draft"
    PLACED = "placed"
    PARTIAL = "partly received"
    RECEIVED = "received"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in {Status.RECEIVED, Status.CANCELLED}


def requires(*allowed: Status):
    """Let a method of an order run only in one of the ``allowed`` states."""

    def decorate(method):
        @functools.wraps(method)
        def checked(self, *args, **kwargs):
            if self.status not in allowed:
                raise IllegalTransition(
                    f"cannot {method.__name__} an order that is {self.status.value}"
                )
            return method(self, *args, **kwargs)

        return checked

    return decorate


@dataclass
class OrderLine:
    sku: str
    ordered: int
    price: Money
    received: int = 0

    @property
    def open(self) -> int: return self.ordered - self.received

    @property
    def value(self) -> Money:
        return self.price * self.ordered


@dataclass
class PurchaseOrder:
    """An order to one supplier, with a line per SKU."""

    number: str
    supplier: str
    lines: dict[str, OrderLine] = field(default_factory=dict)
    status: Status = Status.DRAFT
    placed_on: dt.date | None = None

    @requires(Status.DRAFT)
    def add(self, sku: str, quantity: int, price: Money) -> OrderLine:
        """Add ``quantity`` of ``sku``; a second call raises the quantity."""
        if quantity <= 0:
            raise ValueError("quantity must be positive")
        line = self.lines.get(sku)
        if line is None:
            line = self.lines[sku] = OrderLine(sku, quantity, price)
        else:
            line.ordered += quantity
        return line

    @requires(Status.DRAFT)
    def place(self, on: dt.date | None = None) -> None:
        """Send the order off; it must have at least one line."""
        if not self.lines:
            raise IllegalTransition("cannot place an empty order")
        self.placed_on = on or dt.date.today()
        self.status = Status.PLACED

    @requires(
        Status.PLACED,
        Status.PARTIAL,
    )
    def receive(self, sku: str, quantity: int, ledger: StockLedger) -> None:
        """Book goods that arrived into ``ledger`` and update the status."""
        line = self.lines[sku]
        if quantity > line.open:
            raise ValueError(f"only {line.open} of {sku} are still open")
        ledger.receive(sku, quantity, note=self.number)
        line.received += quantity
        done = all(each.open == 0 for each in self.lines.values())
        self.status = Status.RECEIVED if done else Status.PARTIAL

    @requires(Status.DRAFT, Status.PLACED)
    def cancel(self) -> None:
        self.status = Status.CANCELLED

    @property
    def value(self) -> Money:
        """What the whole order costs."""
        return total(line.value for line in self.lines.values())

    def is_late(self, today: dt.date, lead_days: int) -> bool:
        if self.placed_on is not None:
            if not self.status.is_final:
                return today > self.placed_on + dt.timedelta(days=lead_days)
        return False


class OrderBook:
    def __init__(self, prefix: str = "PO") -> None:
        self.prefix = prefix
        self._orders: dict[str, PurchaseOrder] = {}

    def __len__(self) -> int:
        return len(self._orders)

    def __getitem__(self, number: str) -> PurchaseOrder:
        return self._orders[number]

    def create(self, supplier: str) -> PurchaseOrder:
        """Start a draft with the next free number."""
        number = f"{self.prefix}-{len(self._orders) + 1:04d}"
        order = PurchaseOrder(number, supplier)
        self._orders[number] = order
        return order

    def open_orders(self, statuses=[Status.PLACED, Status.PARTIAL]):
        return [o for o in self._orders.values() if o.status in statuses]

    def on_order(self, sku: str) -> int:
        """How many of ``sku`` are on their way."""
        open_lines = (
            order.lines[sku] for order in self.open_orders() if sku in order.lines
        )
        return sum(line.open for line in open_lines)

    def late(self, today: dt.date, lead_days: int = 7) -> Iterator[PurchaseOrder]:
        for order in self._orders.values():
            # An order without a date was never placed.
            if order.is_late(today, lead_days):
                yield order
