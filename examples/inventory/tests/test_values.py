"""Tests of money, units and barcodes."""

import sys
import unittest
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from inventory import barcode
from inventory.money import Money, as_money, minor_digits, total
from inventory.units import (
    Dimension,
    Unit,
    convert,
    format_quantity,
    parse_quantity,
    symbols,
)


class MoneyTest(unittest.TestCase):
    def test_parse_and_print(self):
        self.assertEqual(str(Money.parse("12.5 eur")), "12.50 EUR")
        self.assertEqual(str(Money.parse("300 JPY")), "300 JPY")
        self.assertEqual(str(Money.parse("-1.005 KWD")), "-1.005 KWD")

    def test_parse_rounds_half_up(self):
        self.assertEqual(Money.parse("0.125 EUR"), Money(13))

    def test_parse_rejects_rubbish(self):
        for text in ("", "EUR", "1,50 EUR", "1.5", "1.5 EURO"):
            with self.subTest(text), self.assertRaises(ValueError):
                Money.parse(text)

    def test_unknown_currency(self):
        with self.assertRaisesRegex(ValueError, "unknown currency: XXX"):
            minor_digits("XXX")

    def test_arithmetic(self):
        self.assertEqual(Money(100) + Money(20), Money(120))
        self.assertEqual(Money(100) - Money(120), -Money(20))
        self.assertEqual(Money(100) * 0.1, Money(10))
        self.assertEqual(3 * Money(5), Money(15))
        self.assertTrue((Money(1) - Money(2)).is_negative)

    def test_currencies_do_not_mix(self):
        with self.assertRaises(ValueError):
            Money(1, "EUR") + Money(1, "USD")
        self.assertNotEqual(Money(1, "EUR"), Money(1, "USD"))
        self.assertNotEqual(Money(1), 1)

    def test_ordering_and_hash(self):
        self.assertEqual(max(Money(3), Money(7), Money(5)), Money(7))
        self.assertLessEqual(Money(3), Money(3))
        self.assertEqual(len({Money(1), Money(1), Money(2)}), 2)

    def test_allocate_loses_nothing(self):
        shares = Money(100).allocate([1, 1, 1])
        self.assertEqual([s.minor for s in shares], [34, 33, 33])
        with self.assertRaisesRegex(ValueError, "more than zero"):
            Money(100).allocate([0, 0])

    def test_as_money(self):
        self.assertIsNone(as_money(None))
        self.assertEqual(as_money(Money(5)), Money(5))
        self.assertEqual(as_money("2.50"), Money(250))
        self.assertEqual(as_money("2.50 USD"), Money(250, "USD"))
        self.assertEqual(as_money("7", "JPY"), Money(7, "JPY"))

    def test_total(self):
        self.assertEqual(total([Money(1), Money(2)]), Money(3))
        self.assertEqual(total([]), Money.zero())
        self.assertEqual(total([], "USD"), Money.zero("USD"))

    def test_amount_and_repr(self):
        self.assertEqual(Money(1234).amount, Decimal("12.34"))
        self.assertEqual(repr(Money(5, "USD")), "Money(5, 'USD')")


class UnitTest(unittest.TestCase):
    def test_convert(self):
        self.assertEqual(convert(2, Unit.DOZEN, Unit.PIECE), 24)
        self.assertEqual(convert(250, Unit.GRAM, Unit.KILOGRAM), Fraction(1, 4))

    def test_convert_incompatible(self):
        with self.assertRaisesRegex(ValueError, "cannot convert g to m"):
            convert(1, Unit.GRAM, Unit.METRE)

    def test_from_symbol(self):
        self.assertIs(Unit.from_symbol(" KG "), Unit.KILOGRAM)
        with self.assertRaises(ValueError):
            Unit.from_symbol("furlong")

    def test_parse_quantity(self):
        self.assertEqual(parse_quantity("2.5 kg"), (Fraction(5, 2), Unit.KILOGRAM))
        self.assertEqual(parse_quantity("7"), (7, Unit.PIECE))
        self.assertEqual(parse_quantity("7", Unit.METRE), (7, Unit.METRE))
        with self.assertRaises(ValueError):
            parse_quantity("kg")

    def test_format_quantity(self):
        self.assertEqual(format_quantity(Fraction(3), Unit.PIECE), "3 pc")
        self.assertEqual(format_quantity(Fraction(5, 2), Unit.LITRE), "2.5 l")

    def test_symbols(self):
        self.assertEqual(symbols(Dimension.MASS), ["g", "kg"])
        self.assertEqual(len(symbols()), len(Unit))


class BarcodeTest(unittest.TestCase):
    EAN = "4006381333931"

    def test_check_digit(self):
        self.assertEqual(barcode.check_digit("400638133393"), 1)
        self.assertEqual(barcode.check_digit("03600029145"), 2)

    def test_is_valid(self):
        self.assertTrue(barcode.is_valid(self.EAN))
        self.assertFalse(barcode.is_valid("4006381333932"))
        self.assertFalse(barcode.is_valid("12345"))
        self.assertFalse(barcode.is_valid("40063813339AB"))

    def test_complete(self):
        self.assertEqual(barcode.complete("400 6381 33393"), self.EAN)
        with self.assertRaisesRegex(ValueError, r"not a digit: \['x'\]"):
            barcode.complete("40x")

    def test_upc_to_ean(self):
        self.assertEqual(barcode.upc_to_ean("036000291452"), "0036000291452")
        with self.assertRaises(ValueError):
            barcode.upc_to_ean("1")

    def test_allocator_is_stable(self):
        allocator = barcode.BarcodeAllocator(company=42)
        first = allocator.allocate("BOLT")
        self.assertEqual(allocator.allocate("BOLT"), first)
        self.assertNotEqual(allocator.allocate("NUT"), first)
        self.assertTrue(first.startswith("200042"))
        self.assertTrue(barcode.is_valid(first))
        self.assertEqual(allocator.issued, 2)

    def test_allocator_lookup(self):
        allocator = barcode.BarcodeAllocator()
        code = allocator.allocate("BOLT")
        self.assertEqual(allocator.lookup(code), "BOLT")
        self.assertIsNone(allocator.lookup("0"))

    def test_encode(self):
        bars = barcode.encode(self.EAN)
        self.assertEqual(len(bars), 95)
        self.assertEqual(bars[:10], "1010001101")
        self.assertEqual((bars[45:50], bars[-3:]), ("01010", "101"))
        with self.assertRaises(ValueError):
            barcode.encode("1234567890123")

    def test_render(self):
        self.assertEqual(barcode.render(self.EAN, off=".")[:6], "#.#...")


if __name__ == "__main__":
    unittest.main()
