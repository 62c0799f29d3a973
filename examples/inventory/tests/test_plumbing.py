"""Tests of events, caches, alerts and the audit trail."""

import json
import sys
import time
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from inventory import Catalog, Item, StockLedger, alerts, audit
from inventory.cache import LRUCache, TTLCache, cached_until, memoize
from inventory.events import AsyncEventBus, EventBus


class EventBusTest(unittest.TestCase):
    def setUp(self):
        self.bus = EventBus()
        self.seen = []

    def test_patterns(self):
        self.bus.subscribe("stock.*", lambda event: self.seen.append(event.topic))
        self.assertEqual(self.bus.publish("stock.low", sku="BOLT"), 1)
        self.assertEqual(self.bus.publish("order.placed"), 0)
        self.assertEqual(self.seen, ["stock.low"])

    def test_decorator_and_payload(self):
        @self.bus.on("order.*")
        def keep(event):
            self.seen.append((event.get("number"), event.get("who", "nobody")))

        self.bus.publish("order.placed", number=7)
        self.assertEqual(self.seen, [(7, "nobody")])
        self.assertEqual(keep.__name__, "keep")

    def test_unsubscribe(self):
        remove = self.bus.subscribe("*", self.seen.append)
        remove()
        remove()
        self.assertEqual(self.bus.publish("x"), 0)

    def test_broken_handler_does_not_stop_the_others(self):
        @self.bus.on("x")
        def broken(event):
            raise RuntimeError("broken")

        self.bus.subscribe("x", self.seen.append)
        with self.assertLogs("inventory.events", "ERROR") as logs:
            self.assertEqual(self.bus.publish("x"), 2)
        self.assertIn("event handler failed", logs.output[0])
        self.assertEqual(len(self.seen), 1)

    def test_muted(self):
        self.bus.subscribe("*", self.seen.append)
        with self.bus.muted() as bus:
            self.assertEqual(bus.publish("x"), 0)
        self.assertEqual(self.bus.publish("x"), 1)


class AsyncEventBusTest(unittest.IsolatedAsyncioTestCase):
    async def test_plain_and_async_handlers(self):
        bus = AsyncEventBus()
        seen = []

        async def later(event):
            seen.append(("later", event.topic))

        bus.subscribe("*", later)
        bus.subscribe("*", lambda event: seen.append(("now", event.topic)))
        self.assertEqual(await bus.publish_async("x"), 2)
        self.assertEqual(sorted(seen), [("later", "x"), ("now", "x")])

    async def test_replay_keeps_the_latest(self):
        bus = AsyncEventBus(limit=2)
        for topic in ("a.1", "a.2", "b.1"):
            await bus.publish_async(topic)
        self.assertEqual([e.topic async for e in bus.replay()], ["a.2", "b.1"])
        self.assertEqual([e.topic async for e in bus.replay("b.*")], ["b.1"])


class CacheTest(unittest.TestCase):
    def test_lru_evicts_the_oldest(self):
        cache = LRUCache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.get("a")
        cache.put("c", 3)
        self.assertEqual([cache.get(k) for k in "abc"], [1, None, 3])
        self.assertEqual(cache.stats.evictions, 1)
        self.assertEqual((cache.stats.hits, cache.stats.misses), (3, 1))
        self.assertEqual(len(cache), 2)

    def test_discard_and_clear(self):
        cache = LRUCache()
        cache.put("a", None)
        self.assertTrue(cache.discard("a"))
        self.assertFalse(cache.discard("a"))
        cache.put("b", 1)
        cache.clear()
        self.assertEqual(len(cache), 0)

    def test_size_must_be_positive(self):
        with self.assertRaises(ValueError):
            LRUCache(0)

    def test_ttl(self):
        now = [0.0]
        cache = TTLCache(size=2, ttl=10, clock=lambda: now[0])
        cache.put("a", 1)
        now[0] = 9.9
        self.assertEqual(cache.get("a"), 1)
        now[0] = 10.0
        self.assertIsNone(cache.get("a"))

    def test_ttl_forgets_deadlines_of_evicted_keys(self):
        cache = TTLCache(size=1, ttl=10, clock=lambda: 0.0)
        cache.put("a", 1)
        cache.put("b", 2)
        self.assertEqual(list(cache._deadline), ["b"])
        cache.clear()
        self.assertEqual(cache._deadline, {})

    def test_memoize(self):
        calls = []

        @memoize(maxsize=2)
        def double(x, *, plus=0):
            calls.append(x)
            return 2 * x + plus

        self.assertEqual([double(1), double(1), double(1, plus=1)], [2, 2, 3])
        self.assertEqual(calls, [1, 1])
        self.assertEqual(double.cache.stats.hits, 1)

    def test_cached_until(self):
        class Shelf:
            version = 0
            computed = 0

            @cached_until("version")
            def label(self):
                self.computed += 1
                return f"v{self.version}"

        shelf = Shelf()
        self.assertEqual([shelf.label, shelf.label], ["v0", "v0"])
        shelf.version = 1
        self.assertEqual(shelf.label, "v1")
        self.assertEqual(shelf.computed, 2)
        self.assertIsInstance(Shelf.label, cached_until)


class AlertTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.catalog = Catalog(
            [Item("A", "Axle", reorder_level=5), Item("B", "Bolt"), Item("C", "Cog")]
        )
        self.ledger = StockLedger()
        self.ledger.receive("A", 4)
        self.ledger.receive("C", 1)

    def test_classify(self):
        item = Item("A", "Axle", reorder_level=5)
        found = [alerts.classify(item, free) for free in (0, 4, 5, 6)]
        self.assertEqual(found, [30, 20, 10, None])

    def test_check_sorts_by_severity(self):
        found = alerts.check(self.catalog, self.ledger)
        self.assertEqual([a.sku for a in found], ["B", "A"])
        self.assertEqual(found[1].message, "Axle: 4 pc free")

    async def test_dispatch(self):
        found = alerts.check(self.catalog, self.ledger)
        good, bad = alerts.MemoryNotifier(), alerts.FlakyNotifier(failures=4)
        self.assertEqual(await alerts.dispatch(found, [good, bad]), 3)
        self.assertEqual(good.sent, found)
        self.assertEqual([a.sku for a in bad.sent], ["A"])

    async def test_deliver_gives_up(self):
        notifier = alerts.FlakyNotifier(failures=2)
        alert = alerts.Alert(alerts.Severity.INFO, "A", "hello")
        self.assertFalse(await alerts.deliver(alert, notifier, attempts=2))
        self.assertTrue(await alerts.deliver(alert, notifier, attempts=1))

    def test_notifier_protocol(self):
        self.assertIsInstance(alerts.MemoryNotifier(), alerts.Notifier)
        self.assertNotIsInstance(object(), alerts.Notifier)

    def test_snooze(self):
        found = alerts.check(self.catalog, self.ledger)
        snooze = alerts.Snooze()
        snooze.put_off(found[0], until=10)
        self.assertEqual([a.sku for a in snooze.due(found, now=9)], ["A"])
        self.assertEqual(len(snooze.due(found, now=10)), 2)


class AuditTest(unittest.TestCase):
    def setUp(self):
        self.trail = audit.AuditTrail()
        self.trail.record("ann", "receive", sku="BOLT", quantity=10)
        self.trail.record("bob", "issue", sku="BOLT", quantity=3)

    def test_chain(self):
        first, second = self.trail
        self.assertEqual(first.previous, audit.GENESIS)
        self.assertEqual(second.previous, first.digest)
        self.assertEqual(self.trail.head, second.digest)
        self.assertTrue(self.trail.verify())

    def test_queries(self):
        self.assertEqual(len(self.trail.by_actor("ann")), 1)
        self.assertEqual(self.trail.actions(), {"receive", "issue"})
        self.assertEqual(len(self.trail), 2)

    def test_tampering_is_seen(self):
        self.trail._entries[0] = replace(self.trail._entries[0], actor="eve")
        self.assertFalse(self.trail.verify())

    def test_export_and_load(self):
        again = audit.load(audit.export(self.trail))
        self.assertEqual(again.head, self.trail.head)

    def test_load_rejects_changes(self):
        text = audit.export(self.trail).replace('"quantity": 10', '"quantity": 11')
        self.assertEqual(json.loads(text.splitlines()[0])["details"]["quantity"], 11)
        with self.assertRaises(ValueError):
            audit.load(text)

    def test_audited_records_success_only(self):
        class Till:
            actor = "ann"

            def __init__(self):
                self.audit = audit.AuditTrail()

            @audit.audited("pay")
            def pay(self, amount, note=""):
                if amount < 0:
                    raise ValueError(amount)
                return amount

        till = Till()
        self.assertEqual(till.pay(5, note="tea"), 5)
        with self.assertRaises(ValueError):
            till.pay(-1)
        (entry,) = till.audit
        self.assertEqual(
            (entry.actor, entry.details), ("ann", {"args": [5], "note": "tea"})
        )


if __name__ == "__main__":
    unittest.main()
