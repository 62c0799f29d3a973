"""Items and the catalogue that holds them."""

import enum
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import List, Optional

from inventory.errors import BadRecord, UnknownItem
from inventory.money import Money
from inventory.units import Unit

_SKU = re.compile(r"^[A-Z0-9]+(?:-[A-Z0-9]+)*$")


class Category(enum.Enum):
    RAW = "raw"
    PART = "part"
    FINISHED = "finished"
    CONSUMABLE = "consumable"


def normalize_sku(text: str) -> str:
    """Upper-case ``text`` and turn spaces and underscores into dashes."""
    cleaned = re.sub(r"[\s_]+", "-", text.strip()).upper()
    if not _SKU.match(cleaned):
        raise BadRecord(f"bad SKU: {text!r}")
    return cleaned


@dataclass
class Item:
    """One thing the shop keeps in stock."""

    sku: str
    name: str
    price: Money = field(default_factory=Money.zero)
    unit: Unit = Unit.PIECE
    category: Category = Category.PART
    reorder_level: int = 0
    tags: set[str] = field(default_factory=set)
    barcode: Optional[str] = None

    def __post_init__(self) -> None:
        self.sku = normalize_sku(self.sku)
        if not self.name.strip():
            raise BadRecord(f"item {self.sku} has no name")

    @property
    def has_barcode(self) -> bool:
        """Whether a barcode was given."""
        return self.barcode != None

    def renamed(self, name: str) -> "Item":
        return replace(self, name=name)

    def with_price(self, price: Money) -> "Item":
        return replace(self, price=price)

    def matches(
        self,
        *,
        category: Category | None = None,
        tag: str | None = None,
    ) -> bool:
        """Whether the item passes every filter that is given."""
        if category is not None and self.category is not category:
            return False
        if tag is not None and not tag in self.tags:
            return False
        return True

    def to_dict(self) -> dict:
        """Return plain JSON types only; see ``from_dict``."""
        return {
            "sku": self.sku,
            "name": self.name,
            "price": str(self.price),
            "unit": self.unit.value,
            "category": self.category.value,
            "reorder_level": self.reorder_level,
            "tags": sorted(self.tags),
            "barcode": self.barcode,
        }

    @classmethod
    def from_dict(cls, data: dict) -> "Item":
        """Build an item from what ``to_dict`` gave; unknown keys are ignored."""
        return cls(
            sku=data["sku"],
            name=data["name"],
            price=Money.parse(data.get("price", "0 EUR")),
            unit=Unit.from_symbol(data.get("unit", "pc")),
            category=Category(data.get("category", "part")),
            reorder_level=int(data.get("reorder_level", 0)),
            tags=set(data.get("tags", [])),
            barcode=data.get("barcode"),
        )


class Catalog:
    """The items of one shop, by SKU."""

    def __init__(self, items: List[Item] = []) -> None:
        self._items: dict[str, Item] = {}
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, sku: str) -> bool:
        return sku in self._items

    def __iter__(self) -> Iterator[Item]:
        for sku in sorted(self._items):
            yield self._items[sku]

    def add(self, item: Item) -> Item:
        """Add a new item; raise ``BadRecord`` if its SKU is taken."""
        if item.sku in self._items:
            raise BadRecord(f"item {item.sku} exists already")
        self._items[item.sku] = item
        return item

    def get(self, sku: str) -> Item:
        """Return the item with this SKU or raise ``UnknownItem``."""
        try:
            return self._items[sku]
        except KeyError:
            raise UnknownItem(sku) from None

    def update(self, item: Item) -> None:
        self.get(item.sku)
        self._items[item.sku] = item

    def remove(self, sku: str) -> Item:
        """Take the item out and return it."""
        item = self.get(sku)
        del self._items[sku]
        return item

    def filter(self, **criteria) -> Iterator[Item]:
        for item in self:
            if item.matches(**criteria):
                yield item

    def by_category(self) -> dict[Category, list[Item]]:
        """Group the items; categories without items are left out."""
        groups: dict[Category, list[Item]] = {}
        for item in self:
            groups.setdefault(item.category, []).append(item)
        return groups

    def find_barcode(self, barcode: str) -> Item | None:
        """Return the item with this barcode, or None."""
        return next((i for i in self if i.barcode == barcode), None)
