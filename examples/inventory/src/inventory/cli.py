"""The ``inventory`` command."""

from __future__ import annotations

import sys
import argparse
from collections.abc import Sequence
from typing import TextIO

from inventory import alerts, csv_io, reports
from inventory.audit import AuditTrail, audited
from inventory.errors import InventoryError, UnknownItem
from inventory.items import Item, normalize_sku
from inventory.json_store import JsonStore
from inventory.money import Money, as_money
from inventory.search import Index

COMMANDS = {}


def command(name: str, *arguments: tuple[str, dict]):
    """Register a method of ``Shell`` as a sub-command with these arguments."""

    def register(method):
        COMMANDS[name] = (method, arguments)
        return method

    return register


class Shell:
    """One run of the command: the loaded store and where output goes."""

    def __init__(self, store: JsonStore, out: TextIO, actor: str = "cli") -> None:
        self.store = store
        self.out = out
        self.actor = actor
        self.audit = AuditTrail()
        self.catalog, self.ledger = store.load()

    def say(self, *words: object) -> None: print(*words, file=self.out)

    def save(self) -> None:
        """Write the store while holding its lock."""
        with self.store.locked():
            self.store.save(self.catalog, self.ledger)

    @command(
        "add-item",
        ("sku", {}),
        ("name", {}),
        ("--price", {"default": "0 EUR"}),
        ("--reorder-level", {"type": int, "default": 0}),
    )
    @audited("add item")
    def add_item(self, sku: str, name: str, price: str, reorder_level: int) -> int:
        item = Item(sku, name, as_money(price), reorder_level=reorder_level)
        self.catalog.add(item)
        self.save()
        self.say(f"added", item.sku)
        return 0

    @command("receive", ("sku", {}), ("quantity", {"type": int}))
    @audited("receive")
    def receive(self, sku: str, quantity: int) -> int:
        """Book goods in."""
        item = self.catalog.get(normalize_sku(sku))
        self.ledger.receive(item.sku, quantity)
        self.save()
        self.say(item.sku, "on hand:", self.ledger.on_hand(item.sku))
        return 0

    @command("issue", ("sku", {}), ("quantity", {"type": int}))
    @audited("issue")
    def issue(self, sku: str, quantity: int) -> int:
        # The catalogue is asked first, so that a typing error says so.
        item = self.catalog.get(normalize_sku(sku))
        self.ledger.issue(item.sku, quantity)
        self.save()
        self.say(item.sku, "on hand:", self.ledger.on_hand(item.sku))
        return 0

    @command("import", ("path", {}))
    def import_csv(self, path: str) -> int:
        added = 0
        for item in csv_io.load_items(path):
            if item.sku in self.catalog:
                self.catalog.update(item)
            else:
                self.catalog.add(item)
                added += 1
        self.save()
        self.say(f"{added} new,", len(self.catalog), "in all")
        return 0

    @command("find", ("words", {"nargs": "+"}))
    def find(self, words: list[str]) -> int:
        index = Index(self.catalog)
        hits = index.search(" ".join(words))
        for hit in hits:
            self.say(hit.sku, self.catalog.get(hit.sku).name)
        if hits:
            return 0
        else:
            close = index.suggest(words[0])
            self.say("nothing found;", "did you mean:", *close)
            return 1

    @command("report", ("--value", {"action": "store_true"}))
    def report(self, value: bool) -> int:
        make = reports.valuation_report if value else reports.stock_report
        self.say(make(self.catalog, self.ledger))
        return 0

    @command("alerts")
    def alerts(self) -> int:
        """List what runs low; the exit status is 3 if anything is out."""
        found = alerts.check(self.catalog, self.ledger)
        for alert in found:
            self.say(f"{alert.severity.name}: {alert.message}")
        worst = max((a.severity for a in found), default=0)
        return 3 if worst >= alerts.Severity.CRITICAL else 0


def build_parser() -> argparse.ArgumentParser:
    """Build the argument parser from the registered commands."""
    parser = argparse.ArgumentParser(prog="inventory", description=__doc__)
    parser.add_argument("--store", default="inventory.json")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (_, arguments) in COMMANDS.items():
        sub = commands.add_parser(name)
        for flag, options in arguments:
            sub.add_argument(flag, **options)
    return parser


def main(argv: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Run one command and return its exit status."""
    options = vars(build_parser().parse_args(argv))
    store = JsonStore(options.pop("store"))
    method, _ = COMMANDS[options.pop("command")]
    out = out or sys.stdout
    try:
        return method(Shell(store, out), **options)
    except InventoryError as error:
        print(f"inventory: {error}", file=out)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
