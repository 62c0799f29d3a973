"""Stock keeping for a small shop or workshop."""

from inventory.errors import InventoryError, OutOfStock, UnknownItem
from inventory.items import Catalog, Category, Item
from inventory.money import Money
from inventory.stock import StockLedger

__version__ = "0.4.2"

__all__ = [
    "Catalog",
    "Category",
    "InventoryError",
    "Item",
    "Money",
    "OutOfStock",
    "StockLedger",
    "UnknownItem",
]
