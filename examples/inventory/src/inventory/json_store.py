"""Keep a shop in one JSON file, written atomically and under a lock."""

from __future__ import annotations

import datetime as dt
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inventory.errors import BadRecord, StoreLocked
from inventory.items import Catalog, Item
from inventory.stock import Movement, Reason, StockLedger

try:
    import fcntl

    def _lock(stream) -> None:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except IOError as error:
            raise StoreLocked(f"{stream.name} is locked") from error

    def _unlock(stream) -> None:
        fcntl.flock(stream, fcntl.LOCK_UN)

except ImportError:  # Windows has no fcntl: trust the user to run one copy.

    def _lock(stream) -> None:
        stream.seek(0)

    def _unlock(stream) -> None:
        pass


class Encoder(json.JSONEncoder):
    def default(self, o: Any) -> Any:
        if isinstance(o, (set, frozenset)):
            return sorted(o)
        if isinstance(o, dt.datetime):
            return o.isoformat()
        return super().default(o)


def movement_to_dict(movement: Movement) -> dict[str, Any]:
    """Return a movement in the form ``ledger_from_dicts`` reads."""
    return {
        "sku": movement.sku,
        "quantity": movement.quantity,
        "reason": movement.reason.value,
        "when": movement.when,
        "note": movement.note,
    }


class _Replay:
    """A clock that returns prepared times, then the real time."""

    def __init__(self, times: list[dt.datetime]) -> None:
        self._times = times[::-1]

    def __call__(self) -> dt.datetime:
        if self._times:
            return self._times.pop()
        return dt.datetime.now(dt.timezone.utc)


def ledger_from_dicts(records: list[dict[str, Any]]) -> StockLedger:
    """Rebuild a ledger, keeping the time of every movement."""
    ledger = StockLedger(
        clock=_Replay([dt.datetime.fromisoformat(r["when"]) for r in records])
    )
    for record in records:
        ledger._append(
            record["sku"],
            record["quantity"],
            Reason(record["reason"]),
            record.get("note", ""),
        )
    return ledger


class JsonStore:
    """Load and save a catalogue and a ledger."""

    VERSION = 2

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    @property
    def lock_path(self) -> Path:
        return self.path.with_suffix(self.path.suffix + ".lock")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the store; raise ``StoreLocked`` if another does."""
        with open(self.lock_path, "w") as stream:
            _lock(stream)
            try:
                yield
            finally:
                _unlock(stream)

    def exists(self) -> bool:
        return self.path.exists()

    def load(self) -> tuple[Catalog, StockLedger]:
        """Read the store; a missing file is an empty shop."""
        if not self.exists():
            return Catalog(), StockLedger()
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise BadRecord(
                error.msg, source=str(self.path), line=error.lineno
            ) from error
        data = self._migrate(data)
        catalog = Catalog([Item.from_dict(d) for d in data["items"]])
        return catalog, ledger_from_dicts(data["movements"])

    def _migrate(self, data: dict[str, Any]) -> dict[str, Any]:
        """Bring data of an older version up to date."""
        version = data.get("version", 1)
        if version > self.VERSION:
            raise BadRecord(f"store has version {version}", source=str(self.path))
        if version == 1:
            # Version 1 kept a bare number per SKU instead of movements.
            import time

            now = dt.datetime.now(dt.timezone.utc).isoformat()

            def opening(sku: str, count: int) -> dict[str, Any]:
                return {"sku": sku, "quantity": count, "reason": "count", "when": now}

            data = {
                "items": data["items"],
                "movements": [opening(s, q) for s, q in data.get("stock", {}).items()],
            }
        return data

    def save(self, catalog: Catalog, ledger: StockLedger) -> None:
        """Write to a temporary file next to the store, then rename it.

        A crash half-way leaves the old store untouched.
        """
        data = {
            "version": self.VERSION,
            "items": [item.to_dict() for item in catalog],
            "movements": [movement_to_dict(m) for m in ledger],
        }
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".store-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(data, stream, cls=Encoder, indent=1, ensure_ascii=False)
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise
