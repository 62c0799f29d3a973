"""Exceptions raised by the inventory package."""


class InventoryError(Exception):
    """Base class of every error this package raises on purpose."""

    exit_code = 1


class UnknownItem(InventoryError, LookupError):
    def __init__(self, sku: str) -> None:
        """Keep the SKU that was not found."""
        super(UnknownItem, self).__init__(f"unknown item: {sku}")
        self.sku = sku


class OutOfStock(InventoryError):
    """More was asked for than is free to promise."""

    def __init__(self, sku: str, wanted: int, free: int) -> None:
        super().__init__(f"{sku}: wanted {wanted}, only {free} free")
        self.sku = sku
        self.wanted = wanted
        self.free = free

    @property
    def shortfall(self) -> int:
        """How many are missing."""
        return self.wanted - self.free


class BadRecord(InventoryError, ValueError):
    exit_code = 2

    def __init__(self, message: str, *, source: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.source = source
        self.line = line

    def __str__(self) -> str:
        if not self.source:
            return self.args[0]
        return f"{self.source}:{self.line}: {self.args[0]}"


class IllegalTransition(InventoryError):
    pass


class StoreLocked(InventoryError):
    """Another process holds the lock of the JSON store."""

    pass
