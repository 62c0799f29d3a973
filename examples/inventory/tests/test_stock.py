"""Tests of the ledger, the warehouse and reordering."""

import datetime as dt
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from inventory import Catalog, Item, OutOfStock, StockLedger, reorder
from inventory.stock import Reason
from inventory.warehouse import BinFull, Warehouse


def ticking_clock():
    start = dt.datetime(2024, 3, 1, tzinfo=dt.timezone.utc)
    days = iter(range(1000))
    return lambda: start + dt.timedelta(days=next(days))


class LedgerTest(unittest.TestCase):
    def setUp(self):
        self.ledger = StockLedger(ticking_clock())
        self.ledger.receive("BOLT", 100)

    def test_issue(self):
        self.ledger.issue("BOLT", 30)
        self.assertEqual(self.ledger.on_hand("BOLT"), 70)
        self.assertEqual(self.ledger.on_hand("NUT"), 0)

    def test_issue_too_much(self):
        with self.assertRaises(OutOfStock) as caught:
            self.ledger.issue("BOLT", 101)
        self.assertEqual(caught.exception.shortfall, 1)
        self.assertEqual(self.ledger.on_hand("BOLT"), 100)

    def test_bad_arguments(self):
        with self.assertRaises(ValueError):
            self.ledger.receive("BOLT", 0)
        with self.assertRaises(ValueError):
            self.ledger.issue("BOLT", 1, reason=Reason.COUNT)

    def test_reservations_limit_what_is_free(self):
        reservation = self.ledger.reserve("BOLT", 80, "job 7")
        self.assertEqual(self.ledger.free("BOLT"), 20)
        with self.assertRaises(OutOfStock):
            self.ledger.issue("BOLT", 21)
        self.ledger.release(reservation.number)
        self.assertEqual(self.ledger.free("BOLT"), 100)

    def test_reserve_too_much(self):
        with self.assertRaises(OutOfStock):
            self.ledger.reserve("BOLT", 101, "job 7")

    def test_fulfil(self):
        reservation = self.ledger.reserve("BOLT", 100, "job 7")
        movement = self.ledger.fulfil(reservation.number)
        self.assertEqual((movement.quantity, movement.note), (-100, "for job 7"))
        self.assertEqual(self.ledger.free("BOLT"), 0)
        with self.assertRaisesRegex(ValueError, "is closed"):
            self.ledger.fulfil(reservation.number)

    def test_count(self):
        self.assertIsNone(self.ledger.count("BOLT", 100))
        self.assertEqual(self.ledger.count("BOLT", 97).quantity, -3)
        self.assertEqual(self.ledger.on_hand("BOLT"), 97)

    def test_history(self):
        self.ledger.issue("BOLT", 5, reason=Reason.SCRAP)
        self.ledger.receive("NUT", 1)
        self.ledger.issue("BOLT", 7)
        since = dt.datetime(2024, 3, 2, tzinfo=dt.timezone.utc)
        self.assertEqual(
            [m.quantity for m in self.ledger.history("BOLT", since)], [-5, -7]
        )
        self.assertEqual(
            [m.quantity for m in self.ledger.history("BOLT", None, [Reason.SCRAP])],
            [-5],
        )
        self.assertEqual(len(self.ledger), 4)
        self.assertEqual(len(list(self.ledger)), 4)

    def test_running_balance_and_usage(self):
        self.ledger.issue("BOLT", 5)
        self.ledger.receive("BOLT", 2)
        self.assertEqual(
            self.ledger.running_balance("BOLT"), [(1, 100), (2, 95), (3, 97)]
        )
        self.assertEqual(self.ledger.usage("BOLT"), 5)


class WarehouseTest(unittest.TestCase):
    def setUp(self):
        self.house = Warehouse.grid("main", "AB", 2, 1, capacity=10)

    def test_parse(self):
        self.assertEqual(Warehouse.parse("b02-11"), ("B", 2, 11))
        self.assertEqual(Warehouse.parse("B02-1").code, "B02-1")
        with self.assertRaises(ValueError):
            Warehouse.parse("B2-1")

    def test_grid(self):
        codes = [b.location.code for b in self.house]
        self.assertEqual(codes, ["A01-1", "A02-1", "B01-1", "B02-1"])
        with self.assertRaisesRegex(ValueError, "exists already"):
            self.house.add_bin("A01-1")

    def test_put_away_prefers_bins_in_use(self):
        self.house.bin("B01-1").add("BOLT", 4)
        plan = self.house.put_away("BOLT", 9)
        self.assertEqual(plan, {"B01-1": 6, "A01-1": 3})
        self.assertEqual(self.house.where("BOLT"), ["A01-1", "B01-1"])

    def test_put_away_is_all_or_nothing(self):
        with self.assertRaisesRegex(BinFull, "1 of 41"):
            self.house.put_away("BOLT", 41)
        self.assertEqual(self.house.quantity("BOLT"), 0)

    def test_pick(self):
        self.house.put_away("BOLT", 15)
        self.assertEqual(
            list(self.house.pick("BOLT", 12)), [("A01-1", 10), ("A02-1", 2)]
        )
        self.assertEqual(self.house.quantity("BOLT"), 3)
        with self.assertRaises(OutOfStock):
            next(self.house.pick("BOLT", 4))

    def test_move(self):
        self.house.put_away("BOLT", 10)
        self.house.move("BOLT", 4, "A01-1", "B02-1")
        self.assertEqual(self.house.bin("B02-1").room, 6)
        with self.assertRaises(BinFull):
            self.house.move("BOLT", 6, "B02-1", "A01-1")
        with self.assertRaises(OutOfStock):
            self.house.move("NUT", 1, "A01-1", "B02-1")

    def test_distance(self):
        here, there = Warehouse.parse("A02-1"), Warehouse.parse("B03-2")
        self.assertEqual(here.distance(there), 10)
        self.assertEqual(here.distance(Warehouse.parse("A07-1")), 5)

    def test_walk(self):
        self.assertEqual(
            self.house.walk(["B02-1", "A02-1", "B01-1", "A01-1"]),
            ["A01-1", "A02-1", "B01-1", "B02-1"],
        )
        self.assertEqual(self.house.walk(["A01-1", "B01-1"], "B02-1")[0], "B01-1")

    def test_fill_rate(self):
        self.house.put_away("BOLT", 10)
        self.assertEqual(self.house.fill_rate(), 0.25)
        self.assertEqual(Warehouse("empty").fill_rate(), 0.0)


class ReorderTest(unittest.TestCase):
    def test_moving_average(self):
        self.assertEqual(reorder.moving_average([1, 2, 3, 6], 2), [1.5, 2.5, 4.5])
        self.assertEqual(reorder.moving_average([1], 2), [])
        with self.assertRaises(ValueError):
            reorder.moving_average([1], 0)

    def test_smooth(self):
        self.assertEqual(list(reorder.smooth([0, 10, 10], 0.5)), [0, 5.0, 7.5])
        self.assertEqual(list(reorder.smooth([])), [])

    def test_trend(self):
        self.assertEqual(reorder.trend([1, 3, 5]), 2.0)
        self.assertEqual(reorder.trend([1]), 0.0)

    def test_safety_stock(self):
        self.assertEqual(reorder.safety_stock([5]), 0)
        self.assertEqual(reorder.safety_stock([5, 5, 5]), 0)
        self.assertEqual(reorder.safety_stock([4, 6], reorder.Policy(lead_days=4)), 5)

    def test_reorder_point(self):
        self.assertEqual(reorder.reorder_point([]), 0)
        self.assertEqual(reorder.reorder_point([2, 2], reorder.Policy(lead_days=5)), 10)

    def test_economic_quantity(self):
        self.assertEqual(reorder.economic_quantity(1000), 200)

    def test_plan(self):
        catalog = Catalog([Item("A", "A", reorder_level=5), Item("B", "B")])
        ledger = StockLedger()
        ledger.receive("B", 100)
        self.assertEqual(reorder.plan(catalog, ledger, {"B": [1.0, 1.0]}), [("A", 7)])
        self.assertEqual(reorder.plan(catalog, ledger, {}, limit=0), [])


if __name__ == "__main__":
    unittest.main()
