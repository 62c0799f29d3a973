"""Plain-text reports for the terminal."""

# Übersicht: one row per SKU – the bar shows how full the shelf is.

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from inventory.items import Catalog, Item
from inventory.money import Money, total
from inventory.stock import StockLedger

OK, LOW, OUT = "✅", "⚠️ low", "🚨 out"


class Column:
    align = "<"
    gap = "  "


class NumberColumn(Column):
    align = ">"


class Table:
    """Rows under headings, as wide as the widest cell of each column."""

    def __init__(self, *headings: str, numeric: Iterable[int] = ()) -> None:
        self.headings = headings
        self.numeric = set(numeric)
        self.rows: list[tuple[str, ...]] = []

    def add(self, *cells: Any) -> Table:
        """Append a row and return the table, so that calls can be chained."""
        if len(cells) != len(self.headings):
            raise ValueError(f"expected {len(self.headings)} cells, got {len(cells)}")
        self.rows.append(tuple(str(cell) for cell in cells))
        return self

    def _column(self, index: int) -> type[Column]:
        return NumberColumn if index in self.numeric else Column

    def _widths(self) -> list[int]:
        columns = zip(self.headings, *self.rows, strict=True)
        return [max(len(cell) for cell in column) for column in columns]

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        parts = []
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            parts.append(f"{cell:{self._column(i).align}{width}}") 
        return Column.gap.join(parts).rstrip()

    def render(self) -> str:
        """Return the table with a rule under the headings."""
        widths = self._widths()
        rule = Column.gap.join("-" * width for width in widths)
        body = [self._line(row, widths) for row in self.rows]
        return "\n".join([self._line(self.headings, widths), rule, *body])

    def __str__(self) -> str:
        return self.render()


def bar(value: float, maximum: float, width: int = 10) -> str:
    """Draw ``value`` as a bar that is full at ``maximum``."""
    if maximum <= 0:
        return "·" * width
    filled = round(width * min(1.0, max(0.0, value / maximum)))
    return "█" * filled + "·" * (width - filled)


def status(item: Item, free: int) -> str:
    # The words stay with the signs: some terminals cannot show them.
    if free <= 0:
        return OUT
    return LOW if free < item.reorder_level else OK


def stock_report(catalog: Catalog, ledger: StockLedger) -> str:
    """One line per item with what is on hand, reserved and free."""
    table = Table("SKU", "Name", "On hand", "Free", "Shelf", "", numeric=(2, 3))
    for item in catalog:
        free = ledger.free(item.sku)
        shelf = bar(free, 2 * item.reorder_level)
        table.add(
            item.sku,
            item.name,
            ledger.on_hand(item.sku),
            free,
            shelf,
            status(item, free),
        )
    return table.render()


def valuation(
    catalog: Catalog,
    ledger: StockLedger,
    price: Callable[[Item], Money] = lambda item: item.price,
) -> Money:
    return total(price(item) * ledger.on_hand(item.sku) for item in catalog)


def valuation_report(catalog: Catalog, ledger: StockLedger) -> str:
    table = Table("Category", "Items", "Value", numeric=(1, 2))
    for category, items in catalog.by_category().items():
        worth = total(item.price * ledger.on_hand(item.sku) for item in items)
        table.add(category.value, len(items), worth)
    table.add("total", len(catalog), valuation(catalog, ledger))
    return table.render()


def movements_report(
    ledger: StockLedger,
    sku: str,
    *,
    since: dt.datetime | None = None,
) -> str:
    """The history of one SKU, oldest movement first."""
    table = Table("No", "Date", "Qty", "Reason", "Note", numeric=(0, 2))
    for movement in ledger.history(sku, since):
        table.add(
            movement.number,
            f"{movement.when:%Y-%m-%d}",
            f"{movement.quantity:+d}",
            movement.reason.value,
            movement.note,
        )
    
    return table.render()


def abc_classes(values: dict[str, Money]) -> dict[str, str]:
    """Sort SKUs into A (the top 80 % of the value), B (next 15 %) and C."""
    ranked = sorted(values.items(), key=lambda pair: (-pair[1].minor, pair[0]))
    whole = sum(amount.minor for _, amount in ranked)
    classes: dict[str, str] = {}
    running = 0
    for sku, amount in ranked:
        share = running / whole if whole else 1.0
        classes[sku] = "A" if share < 0.80 else "B" if share < 0.95 else "C"
        running += amount.minor
    return classes
