"""Tests of items, the catalogue and search."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from inventory import Catalog, Category, Item, Money, UnknownItem
from inventory.errors import BadRecord
from inventory.items import normalize_sku
from inventory.search import Hit, Index, fold, stem, tokens


def sample_items():
    """Three items that differ in category, tags and barcode."""
    return [
        Item("BOLT-M8", "Bolt M8 x 40", Money(35), tags={"steel", "metric"}),
        Item("OIL-1", "Cutting oil", category=Category.CONSUMABLE, barcode="4001"),
        Item("EYE-6", "Öse with screws", Money(80), tags={"steel"}),
    ]


class ItemTest(unittest.TestCase):
    def test_normalize_sku(self):
        self.assertEqual(normalize_sku(" bolt_m8 x"), "BOLT-M8-X")
        for bad in ("", "-A", "A--B", "A/B"):
            with self.subTest(bad), self.assertRaises(BadRecord):
                normalize_sku(bad)

    def test_sku_is_normalized_and_name_required(self):
        self.assertEqual(Item("nut m8", "Nut").sku, "NUT-M8")
        with self.assertRaisesRegex(BadRecord, "NUT has no name"):
            Item("NUT", "  ")

    def test_round_trip(self):
        for item in sample_items():
            self.assertEqual(Item.from_dict(item.to_dict()), item)

    def test_from_dict_defaults(self):
        item = Item.from_dict({"sku": "x", "name": "X", "colour": "red"})
        self.assertEqual((item.price, item.category), (Money.zero(), Category.PART))

    def test_has_barcode(self):
        bolt, oil, _ = sample_items()
        self.assertFalse(bolt.has_barcode)
        self.assertTrue(oil.has_barcode)

    def test_copies_leave_the_original_alone(self):
        bolt = sample_items()[0]
        self.assertEqual(bolt.renamed("Screw").name, "Screw")
        self.assertEqual(bolt.with_price(Money(1)).price, Money(1))
        self.assertEqual((bolt.name, bolt.price), ("Bolt M8 x 40", Money(35)))

    def test_matches(self):
        bolt = sample_items()[0]
        self.assertTrue(bolt.matches())
        self.assertTrue(bolt.matches(category=Category.PART, tag="steel"))
        self.assertFalse(bolt.matches(tag="brass"))
        self.assertFalse(bolt.matches(category=Category.RAW))


class CatalogTest(unittest.TestCase):
    def setUp(self):
        self.catalog = Catalog(sample_items())

    def test_catalogs_do_not_share_items(self):
        Catalog().add(Item("A", "A"))
        self.assertEqual(len(Catalog()), 0)

    def test_iterates_by_sku(self):
        self.assertEqual([i.sku for i in self.catalog], ["BOLT-M8", "EYE-6", "OIL-1"])

    def test_add_twice(self):
        with self.assertRaisesRegex(BadRecord, "exists already"):
            self.catalog.add(Item("OIL-1", "Other oil"))

    def test_get_unknown(self):
        with self.assertRaises(UnknownItem) as caught:
            self.catalog.get("NOPE")
        self.assertEqual(caught.exception.sku, "NOPE")
        self.assertIsInstance(caught.exception, LookupError)

    def test_update_and_remove(self):
        self.catalog.update(self.catalog.get("OIL-1").renamed("Oil"))
        self.assertEqual(self.catalog.remove("OIL-1").name, "Oil")
        self.assertNotIn("OIL-1", self.catalog)
        with self.assertRaises(UnknownItem):
            self.catalog.update(Item("OIL-1", "Oil"))

    def test_filter(self):
        self.assertEqual(
            [i.sku for i in self.catalog.filter(tag="steel")], ["BOLT-M8", "EYE-6"]
        )

    def test_by_category(self):
        groups = self.catalog.by_category()
        self.assertEqual(set(groups), {Category.PART, Category.CONSUMABLE})
        self.assertEqual(len(groups[Category.PART]), 2)

    def test_find_barcode(self):
        self.assertEqual(self.catalog.find_barcode("4001").sku, "OIL-1")
        self.assertIsNone(self.catalog.find_barcode("9"))


class SearchTest(unittest.TestCase):
    def setUp(self):
        self.index = Index(sample_items())

    def skus(self, query, **options):
        return [hit.sku for hit in self.index.search(query, **options)]

    def test_fold(self):
        self.assertEqual(fold("ÖSE Ångström"), "ose angstrom")

    def test_tokens_skip_stop_words(self):
        self.assertEqual(list(tokens("Öse with the Screws")), ["ose", "screws"])

    def test_stem(self):
        self.assertEqual(
            [stem(w) for w in ("screws", "cutting", "washers", "gas", "bus", "ring")],
            ["screw", "cutt", "wash", "gas", "bus", "ring"],
        )

    def test_finds_words_without_accents(self):
        self.assertEqual(self.skus("ose screw"), ["EYE-6"])

    def test_every_word_must_match(self):
        self.assertEqual(self.skus("steel"), ["BOLT-M8", "EYE-6"])
        self.assertEqual(self.skus("steel bolt"), ["BOLT-M8"])
        self.assertEqual(self.skus("steel oil"), [])

    def test_sku_weighs_more_than_tag(self):
        self.index.add(Item("STEEL-ROD", "Rod"))
        self.assertEqual(self.skus("steel", limit=1), ["STEEL-ROD"])

    def test_empty_query(self):
        self.assertEqual(self.skus("the"), [])

    def test_remove(self):
        self.index.remove("EYE-6")
        self.assertEqual(self.skus("ose"), [])
        self.assertNotIn("ose", self.index.vocabulary())

    def test_suggest(self):
        self.assertEqual(self.index.suggest("steeel", 1), ["steel"])

    def test_hit_order(self):
        hits = sorted([Hit("B", 1), Hit("A", 1), Hit("C", 2)])
        self.assertEqual([h.sku for h in hits], ["C", "A", "B"])
        self.assertEqual(repr(hits[0]), "Hit('C', 2.00)")


if __name__ == "__main__":
    unittest.main()
