"""In-process caches."""

import functools
import threading
import time
from collections import OrderedDict
from typing import Any, Callable, Generic, Hashable, TypeVar

V = TypeVar("V")
_MISSING = object()


class CacheStats:
    hits: int = 0
    misses: int = 0
    evictions: int = 0


class LRUCache(Generic[V]):
    """A mapping that forgets its least recently used entry when full."""

    def __init__(self, size: int = 128) -> None:
        if size < 1:
            raise ValueError("size must be at least 1")
        self.size = size
        self.stats = CacheStats()
        self._data: OrderedDict[Hashable, V] = OrderedDict()

    def __len__(self) -> int: return len(self._data)

    def get(self, key: Hashable, default: Any = None) -> Any:
        """Return the value for ``key`` and mark it as just used."""
        if key not in self._data:
            self.stats.misses += 1
            return default
        self.stats.hits += 1
        self._data.move_to_end(key)
        return self._data[key]

    def put(self, key: Hashable, value: V) -> None:
        """Store a value, evicting the oldest ones when full."""
        self._data[key] = value
        self._data.move_to_end(key)
        while len(self._data) > self.size:
            self._data.popitem(last=False)
            self.stats.evictions += 1

    def discard(self, key: Hashable) -> bool:
        """Forget ``key``; return whether it was there."""
        return self._data.pop(key, _MISSING) is not _MISSING

    def clear(self) -> None:
        self._data.clear()


class TTLCache(LRUCache[V]):
    """An LRU cache whose entries also expire after ``ttl`` seconds."""

    def __init__(
        self,
        size: int = 128,
        ttl: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(size)
        self.ttl = ttl
        self._clock = clock
        self._deadline: dict[Hashable, float] = dict()

    def get(self, key: Hashable, default: Any = None) -> Any:
        deadline = self._deadline.get(key)
        if deadline is not None and self._clock() >= deadline:
            self.discard(key)
        return super().get(key, default)

    def put(self, key: Hashable, value: V) -> None:
        """Store a value and start its time to live."""
        super().put(key, value)
        self._deadline[key] = self._clock() + self.ttl
        for stale in [k for k in self._deadline if k not in self._data]:
            del self._deadline[stale]

    def discard(self, key: Hashable) -> bool:
        self._deadline.pop(key, None)
        return super().discard(key)

    def clear(self) -> None:
        super().clear()
        self._deadline.clear()


def memoize(maxsize: int = 64):
    """Decorate a function so that results are kept per argument list.

    The wrapped function gains a ``cache`` attribute (an ``LRUCache``).
    """

    def decorate(function):
        cache: LRUCache = LRUCache(maxsize)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            key = (args, tuple(sorted(kwargs.items())))
            found = cache.get(key, _MISSING)
            if found is _MISSING:
                found = function(*args, **kwargs)
                cache.put(key, found)
            return found

        wrapper.cache = cache
        return wrapper

    return decorate


class cached_until:
    """A property computed once per value of another attribute."""

    def __init__(self, attribute: str) -> None:
        self.attribute = attribute
        self._lock = threading.Lock()

    def __call__(self, function):
        self.function = function
        return self

    def __set_name__(self, owner, name):
        self.name = f"_cached_{name}"

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        version = getattr(instance, self.attribute)
        with self._lock:
            kept = instance.__dict__.get(self.name)
            if kept is None or kept[0] != version:
                kept = (version, self.function(instance))
                instance.__dict__[self.name] = kept
        return kept[1]
