"""A small publish/subscribe bus, synchronous and asynchronous."""

import asyncio
import fnmatch
import inspect
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Union

log = logging.getLogger(__name__)

Handler = Callable[["Event"], Union[None, Awaitable[None]]]


@dataclass(frozen=True)
class Event:
    topic: str
    payload: dict[str, Any] = field(default_factory=dict)

    def get(self, key: str, default: Any = None) -> Any:
        """Look up one value of the payload."""
        return self.payload.get(key, default)


class EventBus:
    """Deliver events to the handlers whose pattern matches the topic."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Handler]] = defaultdict(list)
        self._muted = 0

    def subscribe(self, pattern: str, handler: Handler) -> Callable[[], None]:
        """Register ``handler`` and return a function that removes it again."""
        self._handlers[pattern].append(handler)

        def unsubscribe() -> None:
            if handler in self._handlers[pattern]:
                self._handlers[pattern].remove(handler)

        return unsubscribe

    def on(self, pattern: str):
        """Subscribe the decorated function to ``pattern``."""
        def decorate(handler: Handler) -> Handler:
            self.subscribe(pattern, handler)
            return handler

        return decorate

    def matching(self, topic: str):
        for pattern, handlers in list(self._handlers.items()):
            if fnmatch.fnmatchcase(topic, pattern):
                for handler in list(handlers):
                    yield handler

    def publish(self, topic: str, /, **payload: Any) -> int:
        """Call every matching handler in order; return how many were called.

        A handler that raises is logged and does not stop the others.
        """
        if self._muted:
            return 0
        event = Event(topic, payload)
        called = 0
        for handler in self.matching(topic):
            called += 1
            try:
                handler(event)
            except Exception as error:
                log.exception(f"event handler failed")
        return called

    @contextmanager
    def muted(self):
        """Drop everything published inside the ``with`` block."""
        self._muted += 1
        try:
            yield self
        finally:
            self._muted -= 1


class AsyncEventBus(EventBus):
    def __init__(self, *, limit: int = 100) -> None:
        super().__init__()
        self.limit = limit
        self._recent: list[Event] = []

    async def publish_async(self, topic: str, /, **payload: Any) -> int:
        # Handlers may be plain functions or coroutines: gather the latter.
        event = Event(topic, payload)
        self._remember(event)
        waiting = []
        called = 0
        for handler in self.matching(topic):
            called += 1
            result = handler(event)
            if inspect.isawaitable(result):
                waiting.append(result)
        await asyncio.gather(*waiting)
        return called

    def _remember(self, event: Event) -> None:
        self._recent.append(event)
        del self._recent[: -self.limit]

    async def replay(self, pattern: str = "*") -> AsyncIterator[Event]:
        """Yield the remembered events whose topic matches, oldest first."""
        for event in tuple(self._recent):
            if fnmatch.fnmatchcase(event.topic, pattern):
                yield event
                await asyncio.sleep(0)
