"""Tests of suppliers, purchase orders and prices."""

import asyncio
import datetime as dt
import sys
import unittest
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from inventory import Category, Item, Money, StockLedger, pricing
from inventory.errors import IllegalTransition
from inventory.orders import OrderBook, PurchaseOrder, Status
from inventory.suppliers import (
    LocalSource,
    NoOffer,
    Offer,
    Supplier,
    SupplierDirectory,
    fetch_quotes,
)


class SupplierTest(unittest.TestCase):
    def setUp(self):
        self.acme = Supplier("Acme", lead_days=3)
        self.acme.set_price("BOLT", Money(40))
        self.bulk = Supplier("Bulk", lead_days=9)
        self.bulk.set_price("BOLT", Money(30), minimum=100)
        self.directory = SupplierDirectory([self.acme, self.bulk])

    def test_quote(self):
        offer = Offer("Acme", "BOLT", Money(40), 1, 3)
        self.assertEqual(self.acme.quote("BOLT"), offer)
        self.assertIsNone(self.acme.quote("NUT"))

    def test_best_offer_depends_on_quantity(self):
        self.assertEqual(self.directory.best_offer("BOLT", 10).supplier, "Acme")
        self.assertEqual(self.directory.best_offer("BOLT", 200).supplier, "Bulk")

    def test_no_offer(self):
        with self.assertRaisesRegex(NoOffer, "nobody sells NUT"):
            self.directory.best_offer("NUT")

    def test_directory(self):
        self.directory.add(Supplier("Third"))
        self.assertEqual(len(self.directory), 3)
        self.assertEqual(self.directory["Third"].prices, {})

    def test_arrives_skips_the_weekend(self):
        friday = dt.date(2024, 3, 1)
        offer = self.acme.quote("BOLT")
        self.assertEqual(offer.arrives(friday), dt.date(2024, 3, 6))


class QuoteTest(unittest.IsolatedAsyncioTestCase):
    async def test_fetch_quotes(self):
        quick = Supplier("Quick", prices={"BOLT": Money(50)})
        slow = Supplier("Slow", prices={"BOLT": Money(10)})
        sources = [LocalSource(quick), LocalSource(slow, delay=5.0)]
        offers = await fetch_quotes(sources, "BOLT", timeout=0.05)
        self.assertEqual(set(offers), {"Quick"})
        self.assertEqual(offers["Quick"].price, Money(50))

    async def test_broken_source_is_left_out(self):
        class Broken:
            name = "Broken"

            async def fetch(self, sku):
                raise RuntimeError("no route to host")

        self.assertEqual(await fetch_quotes([Broken()], "BOLT"), {})

    def test_runs_without_sources(self):
        self.assertEqual(asyncio.run(fetch_quotes([], "BOLT")), {})


class OrderTest(unittest.TestCase):
    def setUp(self):
        self.book = OrderBook()
        self.order = self.book.create("Acme")
        self.order.add("BOLT", 10, Money(35))
        self.ledger = StockLedger()

    def test_numbers(self):
        self.assertEqual(self.order.number, "PO-0001")
        self.assertEqual(self.book.create("Bulk").number, "PO-0002")
        self.assertIs(self.book["PO-0001"], self.order)
        self.assertEqual(len(self.book), 2)

    def test_add_again_raises_the_quantity(self):
        line = self.order.add("BOLT", 5, Money(35))
        self.assertEqual(line.ordered, 15)
        self.assertEqual(self.order.value, Money(525))
        with self.assertRaises(ValueError):
            self.order.add("NUT", 0, Money(1))

    def test_receive_in_two_parts(self):
        self.order.place(dt.date(2024, 3, 1))
        self.order.receive("BOLT", 4, self.ledger)
        self.assertIs(self.order.status, Status.PARTIAL)
        self.assertEqual(self.book.on_order("BOLT"), 6)
        self.order.receive("BOLT", 6, self.ledger)
        self.assertTrue(self.order.status.is_final)
        self.assertEqual(self.ledger.on_hand("BOLT"), 10)
        self.assertEqual(self.book.open_orders(), [])

    def test_receive_too_much(self):
        self.order.place()
        with self.assertRaisesRegex(ValueError, "only 10 of BOLT"):
            self.order.receive("BOLT", 11, self.ledger)

    def test_transitions(self):
        with self.assertRaisesRegex(IllegalTransition, "cannot receive an order that"):
            self.order.receive("BOLT", 1, self.ledger)
        self.order.place()
        with self.assertRaises(IllegalTransition):
            self.order.add("NUT", 1, Money(1))
        self.order.cancel()
        with self.assertRaises(IllegalTransition):
            self.order.cancel()

    def test_empty_order_cannot_be_placed(self):
        with self.assertRaises(IllegalTransition):
            PurchaseOrder("X", "Acme").place()

    def test_late(self):
        self.assertEqual(list(self.book.late(dt.date(2030, 1, 1))), [])
        self.order.place(dt.date(2024, 3, 1))
        self.assertEqual(list(self.book.late(dt.date(2024, 3, 8))), [])
        self.assertEqual(list(self.book.late(dt.date(2024, 3, 9))), [self.order])


class PricingTest(unittest.TestCase):
    def setUp(self):
        self.bolt = Item("BOLT", "Bolt", Money(200))
        self.oil = Item("OIL", "Oil", Money(1000), category=Category.CONSUMABLE)

    def test_percent_off(self):
        rule = pricing.PercentOff(10, Category.CONSUMABLE)
        self.assertEqual(pricing.unit_price(self.oil, 1, [rule]), Money(900))
        self.assertEqual(pricing.unit_price(self.bolt, 1, [rule]), Money(200))
        self.assertEqual(repr(rule), "<PercentOff 10% off>")

    def test_bulk_break(self):
        rule = pricing.BulkBreak({100: 20, 10: 5})
        for quantity, minor in ((1, 200), (10, 190), (99, 190), (100, 160)):
            with self.subTest(quantity):
                price = pricing.unit_price(self.bolt, quantity, [rule])
                self.assertEqual(price, Money(minor))

    def test_fixed_price_is_never_dearer(self):
        rule = pricing.FixedPrice(["BOLT"], Money(150))
        self.assertEqual(pricing.unit_price(self.bolt, 1, [rule]), Money(150))
        dear = pricing.FixedPrice(["BOLT"], Money(999))
        self.assertEqual(pricing.unit_price(self.bolt, 1, [dear]), Money(200))

    def test_discount_is_abstract(self):
        with self.assertRaises(TypeError):
            pricing.Discount()

    def test_tax(self):
        self.assertEqual(pricing.tax_factor("reduced"), Decimal("1.07"))
        self.assertEqual(pricing.gross(Money(100)), Money(119))
        self.assertEqual(pricing.tax_part(Money(119)), Money(19))
        with self.assertRaisesRegex(ValueError, "unknown tax rate: none"):
            pricing.gross(Money(1), "none")

    def test_charm(self):
        self.assertEqual(pricing.charm(Money(1234)), Money(1299))
        charmed = pricing.charm([Money(50), Money(100)])
        self.assertEqual(charmed, [Money(50), Money(199)])

    def test_quote(self):
        result = pricing.quote(
            [(self.bolt, 10), (self.oil, 1)],
            pricing.PercentOff(50, Category.CONSUMABLE),
            rate="reduced",
            shipping=Money(500),
        )
        self.assertEqual(result["net"], Money(3000))
        self.assertEqual(result["tax"], Money(210))
        self.assertEqual(result["gross"], Money(3210))
        self.assertEqual(result["shipping"], Money(500))


if __name__ == "__main__":
    unittest.main()
