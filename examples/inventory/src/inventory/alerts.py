"""Tell people when stock runs low."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from inventory.items import Catalog, Item
from inventory.stock import StockLedger


class Severity(enum.IntEnum):
    INFO = 10
    WARNING = 20
    CRITICAL = 30


@dataclass(frozen=True, order=True)
class Alert:
    severity: Severity
    sku: str
    message: str


@runtime_checkable
class Notifier(Protocol):
    """Where alerts are sent."""

    async def send(self, alert: Alert) -> None: ...


class MemoryNotifier:
    """Keeps alerts in a list, for tests and for the command line."""

    def __init__(self) -> None:
        self.sent: list[Alert] = []

    async def send(self, alert: Alert) -> None:
        self.sent.append(alert)


class FlakyNotifier(MemoryNotifier):
    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    async def send(self, alert: Alert) -> None:
        if self.failures > 0:
            self.failures -= 1
            raise ConnectionError("mail server is down")
        await super().send(alert)


def classify(item: Item, free: int) -> Severity | None:
    """How urgent the stock of ``item`` is, or None when there is enough."""
    if free <= 0:
        return Severity.CRITICAL
    elif free < item.reorder_level:
        return Severity.WARNING
    if free == item.reorder_level and item.reorder_level:
        return Severity.INFO
    return None


def check(catalog: Catalog, ledger: StockLedger) -> list[Alert]:
    """Return the alerts for every item, the most urgent first."""
    alerts = []
    for item in catalog:
        free = ledger.free(item.sku)
        severity = classify(item, free)
        if severity is None:
            continue
        message = f"{item.name}: {free} {item.unit.value} free"
        alerts.append(Alert(severity, item.sku, message))
    return sorted(alerts, reverse=True)


async def deliver(
    alert: Alert,
    notifier: Notifier,
    *,
    attempts: int = 3,
    pause: float = 0.0,
) -> bool:
    """Send one alert, trying again after a ``ConnectionError``."""
    for attempt in range(attempts):
        try:
            await notifier.send(alert)
            return True
        except ConnectionError:
            await asyncio.sleep(pause * 2**attempt)
    return False


async def dispatch(alerts: Iterable[Alert], notifiers: Iterable[Notifier]) -> int:
    # Every alert goes to every notifier; what arrives is counted.
    targets = tuple(notifiers)

    async def fan_out(alert: Alert) -> int:
        results = await asyncio.gather(*[deliver(alert, n) for n in targets])
        return sum(results)

    counts = [await fan_out(alert) for alert in alerts]
    return sum(counts)


class Snooze:
    """Remembers which alerts were put off, and until which tick."""

    def __init__(self): self._until = {}

    def put_off(self, alert: Alert, until: int) -> None:
        self._until[alert.sku] = until

    def due(self, alerts: Iterable[Alert], now: int) -> list[Alert]:
        """The alerts that are not put off at ``now``."""
        return [a for a in alerts if self._until.get(a.sku, 0) <= now]