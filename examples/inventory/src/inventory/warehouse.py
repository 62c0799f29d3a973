"""Bins, aisles and the way a picker walks between them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Optional

from inventory.errors import InventoryError, OutOfStock

_CODE = re.compile(r"^([A-Z])(\d{2})-(\d{1,2})$")


class BinFull(InventoryError):
    pass


class Warehouse:
    """A building with bins addressed as ``A01-3``: aisle, bay, level."""

    class Location(NamedTuple):
        """The parsed address of a bin."""

        aisle: str
        bay: int
        level: int

        @property
        def code(self) -> str:
            """The address as it is printed on the shelf."""
            return f"{self.aisle}{self.bay:02d}-{self.level}"

        def distance(self, other: Warehouse.Location) -> int:
            # Changing aisle means walking to the cross aisle at bay 0 and back.
            if self.aisle == other.aisle:
                return abs(self.bay - other.bay)
            aisles = abs(ord(self.aisle) - ord(other.aisle))
            return self.bay + other.bay + 5 * aisles

    class Bin:
        __slots__ = ("location", "capacity", "contents")

        def __init__(self, location: Warehouse.Location, capacity: int) -> None:
            self.location = location
            self.capacity = capacity
            self.contents: dict[str, int] = {}

        @property
        def used(self) -> int:
            return sum(self.contents.values())

        @property
        def room(self) -> int:
            return self.capacity - self.used

        def add(self, sku: str, quantity: int) -> None:
            if quantity > self.room:
                raise BinFull(f"bin {self.location.code} has room for {self.room}")
            self.contents[sku] = self.contents.get(sku, 0) + quantity

        def take(self, sku: str, quantity: int) -> None:
            """Remove ``quantity`` of ``sku``; a bin never goes below zero."""
            held = self.contents.get(sku, 0)
            if quantity > held:
                raise OutOfStock(sku, quantity, held)
            if quantity == held:
                del self.contents[sku]
            else:
                self.contents[sku] = held - quantity

    def __init__(self, name: str) -> None:
        self.name = name
        self._bins: dict[Warehouse.Location, Warehouse.Bin] = {}

    @staticmethod
    @lru_cache(maxsize=1024)
    def parse(code: str) -> Warehouse.Location:
        """Read a bin code such as ``A01-3``."""
        match = _CODE.match(code.upper())
        if match is None:
            raise ValueError(f"bad bin code: {code!r}")
        aisle, bay, level = match.groups()
        return Warehouse.Location(aisle, int(bay), int(level))

    @classmethod
    def grid(
        cls,
        name: str,
        aisles: str = "AB",
        bays: int = 4,
        levels: int = 2,
        *,
        capacity: int = 100,
    ) -> Warehouse:
        """Make a warehouse with a bin at every aisle, bay and level."""
        house = cls(name)
        for aisle, bay, level in itertools.product(
            aisles, range(1, bays + 1), range(1, levels + 1)
        ):
            house.add_bin(f"{aisle}{bay:02d}-{level}", capacity)
        return house

    def add_bin(self, code: str, capacity: int = 100) -> Warehouse.Bin:
        location = self.parse(code)
        if location in self._bins:
            raise ValueError(f"bin {code} exists already")
        self._bins[location] = Warehouse.Bin(location, capacity)
        return self._bins[location]

    def bin(self, code: str) -> Warehouse.Bin:
        return self._bins[self.parse(code)]

    def __iter__(self) -> Iterator[Warehouse.Bin]:
        for location in sorted(self._bins):
            yield self._bins[location]

    def where(self, sku: str) -> list[str]:
        """The codes of the bins that hold ``sku``, in walking order."""
        return [b.location.code for b in self if sku in b.contents]

    def quantity(self, sku: str) -> int:
        return sum(b.contents.get(sku, 0) for b in self)

    def put_away(self, sku: str, quantity: int) -> dict[str, int]:
        """Spread ``quantity`` over the bins, those that hold ``sku`` first.

        Nothing is stored when it would not all fit: ``BinFull`` is raised and
        every bin stays as it was.
        """

        def preference(candidate: Warehouse.Bin):
            return (sku not in candidate.contents, candidate.location)

        plan: dict[str, int] = {}
        left = quantity
        for candidate in sorted(self, key=preference):
            if left == 0:
                break
            amount = min(left, candidate.room)
            if amount:
                plan[candidate.location.code] = amount
                left -= amount
        if left:
            raise BinFull(f"{left} of {quantity} {sku} do not fit")
        for code, amount in plan.items():
            self.bin(code).add(sku, amount)
        return plan

    def move(self, sku: str, quantity: int, source: str, target: str) -> None:
        origin, goal = self.bin(source), self.bin(target)
        if goal.room < quantity:
            raise BinFull(f"bin {target} has room for {goal.room}")
        origin.take(sku, quantity)
        goal.add(sku, quantity)

    def pick(self, sku: str, quantity: int) -> Iterator[tuple[str, int]]:
        """Take ``quantity`` out of the bins, yielding each code and amount.

        Raises ``OutOfStock`` before anything is taken if there is too little.
        """
        if quantity > self.quantity(sku):
            raise OutOfStock(sku, quantity, self.quantity(sku))
        left = quantity
        for code in self.where(sku):
            if not left:
                return
            amount = min(left, self.bin(code).contents[sku])
            self.bin(code).take(sku, amount)
            left -= amount
            yield code, amount

    def walk(self, codes: list[str], start: Optional[str] = None) -> list[str]:
        """Order ``codes`` by always going to the nearest bin next."""
        todo = {self.parse(code) for code in codes}
        here = self.parse(start) if start else Warehouse.Location("A", 0, 1)
        route = []
        while todo:
            here = min(todo, key=lambda place: (here.distance(place), place))
            todo.remove(here)
            route.append(here.code)
        return route

    def fill_rate(self) -> float:
        """The share of the total capacity that is in use."""
        capacity = sum(b.capacity for b in self)
        if capacity == 0:
            return 0.0
        return sum(b.used for b in self) / capacity
