"""The stock ledger: every movement, and what follows from them."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from inventory.errors import OutOfStock
from inventory.cache import cached_until


class Reason(Enum):
    RECEIPT = "receipt"
    ISSUE = "issue"
    COUNT = "count"
    SCRAP = "scrap"

    @property
    def is_outgoing(self) -> bool:
        return self in (Reason.ISSUE, Reason.SCRAP)


@dataclass(frozen=True)
class Movement:
    """One line of the ledger; ``quantity`` is negative for goods going out."""

    number: int
    sku: str
    quantity: int
    reason: Reason
    when: dt.datetime
    note: str = ""


@dataclass
class Reservation:
    number: int
    sku: str
    quantity: int
    owner: str
    open: bool = True


def _utc_now() -> dt.datetime:
    return dt.datetime.now(dt.timezone.utc)


class StockLedger:
    """An append-only list of movements plus the open reservations."""

    def __init__(self, clock=_utc_now) -> None:
        self._clock = clock
        self._movements: list[Movement] = []
        self._reservations: dict[int, Reservation] = {}
        self._numbers = itertools.count(1)
        self._version = 0

    def __iter__(self) -> Iterator[Movement]:
        return iter(self._movements)

    def __len__(self) -> int:
        return len(self._movements)

    def _append(self, sku: str, quantity: int, reason: Reason, note: str) -> Movement:
        movement = Movement(
            next(self._numbers), sku, quantity, reason, self._clock(), note
        )
        self._movements.append(movement)
        self._version += 1
        return movement

    @cached_until("_version")
    def totals(self) -> Counter[str]:
        counted: Counter[str] = Counter()
        for movement in self._movements:
            counted[movement.sku] += movement.quantity
        return counted

    def on_hand(self, sku: str) -> int:
        """What is physically there, reserved or not."""
        return self.totals[sku]

    def reserved(self, sku: str) -> int:
        """The sum of the open reservations."""
        return sum(
            r.quantity for r in self._reservations.values() if r.sku == sku and r.open
        )

    def free(self, sku: str) -> int:
        """What is on hand and not promised to anybody."""
        return self.on_hand(sku) - self.reserved(sku)

    def receive(self, sku: str, quantity: int, note: str = "") -> Movement:
        """Book goods in; the quantity must be positive."""
        if quantity <= 0:
            raise ValueError("quantity must be positive")
        return self._append(sku, quantity, Reason.RECEIPT, note)

    def issue(
        self,
        sku: str,
        quantity: int,
        note: str = "",
        *,
        reason: Reason = Reason.ISSUE,
    ) -> Movement:
        """Take ``quantity`` out of stock.

        Raises ``OutOfStock`` when less than that is free, and ``ValueError``
        for a quantity that is not positive or a reason that is not outgoing.
        """
        if quantity <= 0 or not reason.is_outgoing:
            raise ValueError("an issue needs a positive quantity and a way out")
        free = self.free(sku)
        if quantity > free:
            raise OutOfStock(sku, quantity, free)
        return self._append(sku, -quantity, reason, note)

    def count(self, sku: str, found: int, note: str = "") -> Movement | None:
        """Record a stock count; return the correction, or None if it agreed."""
        difference = found - self.on_hand(sku)
        if difference == 0:
            return None
        return self._append(sku, difference, Reason.COUNT, note)

    def reserve(self, sku: str, quantity: int, owner: str) -> Reservation:
        """Promise ``quantity`` to ``owner``, if that much is free."""
        if quantity > self.free(sku):
            raise OutOfStock(sku, quantity, self.free(sku))
        number = next(self._numbers)
        reservation = Reservation(number, sku, quantity, owner)
        self._reservations[number] = reservation
        return reservation

    def release(self, number: int) -> None:
        """Close a reservation without taking the goods."""
        self._reservations[number].open = False

    def fulfil(self, number: int) -> Movement:
        reservation = self._reservations[number]
        if not reservation.open:
            raise ValueError(f"reservation {number} is closed")
        reservation.open = False
        return self.issue(
            reservation.sku, reservation.quantity, f"for {reservation.owner}"
        )

    def history(
        self,
        sku: str,
        since: dt.datetime | None = None,
        reasons: Iterable[Reason] = (),
    ) -> Iterator[Movement]:
        wanted = set(reasons)
        for movement in self._movements:
            if movement.sku != sku:
                continue
            if since is not None and movement.when < since:
                continue
            if wanted and movement.reason not in wanted:
                continue
            yield movement

    def running_balance(self, sku: str) -> list[tuple[int, int]]:
        """Pair each movement number of ``sku`` with the balance after it."""
        moves = list(self.history(sku))
        balances = list(itertools.accumulate(m.quantity for m in moves))
        return [(m.number, b) for m, b in zip(moves, balances, strict=True)]

    def usage(self, sku: str) -> int:
        gone = 0
        for movement in self.history(sku, reasons=[Reason.ISSUE, Reason.SCRAP]):
            gone -= movement.quantity
        average = gone / max(1, len(self))
        return gone
