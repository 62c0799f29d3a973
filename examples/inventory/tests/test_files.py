"""Tests of CSV, the JSON store, reports and the command line."""

import datetime as dt
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from inventory import Catalog, Item, Money, StockLedger, csv_io, reports
from inventory.cli import main
from inventory.errors import BadRecord, StoreLocked
from inventory.json_store import JsonStore


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class CsvTest(FolderTest):
    TEXT = "sku,name,price,tags\nBOLT,Bolt,0.35 EUR,steel metric\nNUT,Nut,,\n"

    def test_read(self):
        bolt, nut = csv_io.read_items(self.TEXT)
        self.assertEqual((bolt.price, bolt.tags), (Money(35), {"steel", "metric"}))
        self.assertEqual((nut.price, nut.tags), (Money(0), set()))

    def test_semicolons_and_bare_prices(self):
        (item,) = csv_io.read_items("sku;name;price\nA;Axle, long;1.50\n")
        self.assertEqual((item.name, item.price), ("Axle, long", Money(150)))

    def test_errors_name_source_and_line(self):
        with self.assertRaises(BadRecord) as caught:
            list(csv_io.read_items(self.TEXT + "BAD/SKU,x,,\n", "stock.csv"))
        self.assertEqual(str(caught.exception), "stock.csv:4: bad SKU: 'BAD/SKU'")

    def test_missing_column(self):
        with self.assertRaisesRegex(BadRecord, "no column 'name'"):
            list(csv_io.read_items("sku\nA\n"))

    def test_save_and_load(self):
        items = list(csv_io.read_items(self.TEXT))
        path = self.folder / "items.csv"
        self.assertEqual(csv_io.save_items(path, iter(items)), 2)
        self.assertEqual(csv_io.load_items(path), items)

    def test_load_skips_a_byte_order_mark(self):
        path = self.folder / "office.csv"
        path.write_bytes(b"\xef\xbb\xbfsku;name\r\nA;Axle\r\n")
        self.assertEqual(csv_io.load_items(path)[0].name, "Axle")

    def test_help_has_plain_newlines(self):
        self.assertEqual(len(csv_io.HELP.split("\n")), 4)
        self.assertNotIn("\r", csv_io.HELP)

    def test_count_sheet(self):
        sheet = csv_io.CountSheet.parse("# aisle A\nbolt, 9\n\nNUT,4\n")
        self.assertEqual(len(sheet), 2)
        self.assertEqual(sheet.differences({"BOLT": 10, "NUT": 4}), {"BOLT": -1})

    def test_count_sheet_rejects_bad_lines(self):
        for text in ("BOLT", "BOLT,x", "BOLT,1,2"):
            with self.subTest(text), self.assertRaises(BadRecord):
                csv_io.CountSheet.parse(text)

    def test_blank_sheet(self):
        self.assertEqual(csv_io.CountSheet.blank(["A", "B"]), "A,\nB,\n")


class StoreTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.store = JsonStore(self.folder / "shop.json")

    def test_new_store_is_empty(self):
        catalog, ledger = self.store.load()
        self.assertFalse(self.store.exists())
        self.assertEqual((len(catalog), len(ledger)), (0, 0))

    def test_round_trip(self):
        ledger = StockLedger()
        ledger.receive("OSE", 5, "first")
        ledger.issue("OSE", 2)
        self.store.save(Catalog([Item("OSE", "Öse", tags={"b", "a"})]), ledger)
        catalog, again = self.store.load()
        self.assertEqual(catalog.get("OSE").tags, {"a", "b"})
        self.assertEqual(list(again), list(ledger))
        self.assertIn("Öse", self.store.path.read_text(encoding="utf-8"))

    def test_version_1_is_migrated(self):
        old = {"items": [{"sku": "A", "name": "Axle"}], "stock": {"A": 7}}
        self.store.path.write_text(json.dumps(old))
        _, ledger = self.store.load()
        self.assertEqual(ledger.on_hand("A"), 7)

    def test_newer_version_is_refused(self):
        self.store.path.write_text('{"version": 99}')
        with self.assertRaisesRegex(BadRecord, "store has version 99"):
            self.store.load()

    def test_broken_file(self):
        self.store.path.write_text("{\n!")
        with self.assertRaises(BadRecord) as caught:
            self.store.load()
        self.assertEqual(caught.exception.line, 2)

    def test_failed_save_leaves_the_old_store(self):
        self.store.save(Catalog([Item("A", "Axle")]), StockLedger())
        before = self.store.path.read_bytes()
        broken = Catalog([Item("A", "Axle", barcode=object())])
        with self.assertRaises(TypeError):
            self.store.save(broken, StockLedger())
        self.assertEqual(self.store.path.read_bytes(), before)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["shop.json"])

    @unittest.skipIf(sys.platform == "win32", "no file locks on Windows")
    def test_lock(self):
        other = JsonStore(self.store.path)
        with self.store.locked(), self.assertRaises(StoreLocked), other.locked():
            self.fail("locked twice")
        with self.store.locked():
            self.assertTrue(self.store.lock_path.exists())


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.catalog = Catalog(
            [
                Item("A", "Axle", Money(1000), reorder_level=5),
                Item("B", "Bolt", Money(10), reorder_level=5),
                Item("C", "Cog", Money(250)),
            ]
        )
        clock = iter(dt.datetime(2024, 3, day) for day in range(1, 30))
        self.ledger = StockLedger(lambda: next(clock))
        self.ledger.receive("A", 10)
        self.ledger.receive("B", 3, "first lot")

    def test_table(self):
        table = reports.Table("Name", "Qty", numeric=[1]).add("Bolt", 5)
        self.assertEqual(str(table), "Name  Qty\n----  ---\nBolt    5")
        with self.assertRaisesRegex(ValueError, "expected 2 cells, got 1"):
            table.add("x")

    def test_bar(self):
        self.assertEqual(reports.bar(5, 10, 4), "██··")
        self.assertEqual(reports.bar(99, 10, 4), "████")
        self.assertEqual(reports.bar(1, 0, 4), "····")

    def test_stock_report(self):
        lines = reports.stock_report(self.catalog, self.ledger).splitlines()
        self.assertEqual(len(lines), 5)
        self.assertTrue(lines[2].endswith("✅"))
        self.assertTrue(lines[3].endswith("⚠️ low"))
        self.assertTrue(lines[4].endswith("🚨 out"))

    def test_valuation(self):
        self.assertEqual(reports.valuation(self.catalog, self.ledger), Money(10030))
        at_one = reports.valuation(self.catalog, self.ledger, lambda item: Money(1))
        self.assertEqual(at_one, Money(13))
        text = reports.valuation_report(self.catalog, self.ledger)
        self.assertRegex(text, r"total +3  100\.30 EUR$")

    def test_movements_report(self):
        text = reports.movements_report(self.ledger, "B")
        self.assertIn("2024-03-02", text)
        self.assertRegex(text, r"\+3  receipt  first lot")
        later = dt.datetime(2024, 3, 3)
        empty = reports.movements_report(self.ledger, "B", since=later)
        self.assertEqual(len(empty.splitlines()), 2)

    def test_abc_classes(self):
        values = {"A": Money(800), "B": Money(150), "C": Money(40), "D": Money(10)}
        self.assertEqual(
            reports.abc_classes(values), {"A": "A", "B": "B", "C": "C", "D": "C"}
        )
        self.assertEqual(reports.abc_classes({"A": Money(0)}), {"A": "C"})


class CommandLineTest(FolderTest):
    def run_command(self, *words):
        out = io.StringIO()
        status = main(["--store", str(self.folder / "shop.json"), *words], out)
        return status, out.getvalue()

    def setUp(self):
        super().setUp()
        self.run_command("add-item", "bolt m8", "Bolt M8", "--price", "0.35")

    def test_add_item(self):
        words = ["add-item", "NUT", "Nut", "--reorder-level", "5"]
        self.assertEqual(self.run_command(*words), (0, "added NUT\n"))
        self.assertEqual(
            self.run_command("add-item", "NUT", "Nut"),
            (2, "inventory: item NUT exists already\n"),
        )

    def test_receive_and_issue(self):
        self.assertEqual(
            self.run_command("receive", "bolt-m8", "10"), (0, "BOLT-M8 on hand: 10\n")
        )
        self.assertEqual(
            self.run_command("issue", "BOLT-M8", "4"), (0, "BOLT-M8 on hand: 6\n")
        )
        status, text = self.run_command("issue", "BOLT-M8", "7")
        self.assertEqual(status, 1)
        self.assertIn("wanted 7, only 6 free", text)

    def test_unknown_item(self):
        self.assertEqual(
            self.run_command("receive", "NOPE", "1"),
            (1, "inventory: unknown item: NOPE\n"),
        )

    def test_import(self):
        path = self.folder / "new.csv"
        path.write_text("sku,name\nBOLT-M8,Bolt\nNUT,Nut\n")
        self.assertEqual(
            self.run_command("import", str(path)), (0, "1 new, 2 in all\n")
        )

    def test_find(self):
        self.assertEqual(self.run_command("find", "bolts"), (0, "BOLT-M8 Bolt M8\n"))
        status, text = self.run_command("find", "bollt")
        self.assertEqual((status, text), (1, "nothing found; did you mean: bolt\n"))

    def test_report(self):
        self.run_command("receive", "BOLT-M8", "10")
        self.assertIn("BOLT-M8", self.run_command("report")[1])
        self.assertIn("3.50 EUR", self.run_command("report", "--value")[1])

    def test_alerts(self):
        self.assertEqual(
            self.run_command("alerts"), (3, "CRITICAL: Bolt M8: 0 pc free\n")
        )
        self.run_command("receive", "BOLT-M8", "1")
        self.assertEqual(self.run_command("alerts"), (0, ""))


if __name__ == "__main__":
    unittest.main()
