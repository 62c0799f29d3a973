"""A tamper-evident trail of who did what."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

GENESIS = "0" * 64


@dataclass(frozen=True)
class Entry:
    actor: str
    action: str
    details: dict[str, Any]
    previous: str

    @property
    def digest(self) -> str:
        """SHA-256 over the entry and the digest before it."""
        body = [self.actor, self.action, self.details, self.previous]
        encoded = json.dumps(body, sort_keys=True, default=str)
        return hashlib.sha256(encoded.encode("utf-8")).hexdigest()


class AuditTrail:
    """Entries chained by their digests, so that none can be changed unseen."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        yield from self._entries

    @property
    def head(self) -> str:
        return self._entries[-1].digest if self._entries else GENESIS

    def record(self, actor: str, action: str, **details: Any) -> Entry:
        """Append an entry that is chained to the last one."""
        entry = Entry(actor, action, details, self.head)
        self._entries.append(entry)
        return entry

    def verify(self) -> bool:
        """Recompute the chain; False as soon as a link does not fit."""
        previous = GENESIS
        for entry in self._entries:
            if entry.previous != previous:
                return False
            previous = entry.digest
        return True

    def by_actor(self, actor: str) -> list[Entry]:
        return [e for e in self._entries if e.actor == actor]

    def actions(self) -> set[str]:
        return set([e.action for e in self._entries])


def audited(action: str, trail_attribute: str = "audit") -> Callable:
    """Record each successful call of a method in the object's trail.

    The object must have the trail under ``trail_attribute`` and may have an
    ``actor``. Calls that raise are not recorded.
    """

    def decorate(method):
        @functools.wraps(method)
        def wrapper(self, *args: Any, **kwargs: Any):
            result = method(self, *args, **kwargs)
            trail: AuditTrail = getattr(self, trail_attribute)
            actor = getattr(self, "actor", "unknown")
            trail.record(actor, action, args=list(args), **kwargs)
            return result

        return wrapper

    return decorate


def export(trail: AuditTrail) -> str:
    """Write the trail as one JSON object per line."""
    lines = []
    for entry in trail:
        digest = entry.digest
        lines.append(
            json.dumps(
                {
                    "actor": entry.actor,
                    "action": entry.action,
                    "details": entry.details,
                    "previous": entry.previous,
                },
                default=str,
            )
        )
    return "\n".join(lines)


def load(text: str) -> AuditTrail:
    """Read what ``export`` wrote; raise ``ValueError`` if it was changed."""
    trail = AuditTrail()
    for line in text.splitlines():
        trail._entries.append(Entry(**json.loads(line)))
    if not trail.verify():
        raise ValueError("the audit trail was changed")
    return trail
