"""Find items by words in their name, SKU and tags."""

import difflib
import heapq
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from inventory.items import Item

_WORD = re.compile(r"[a-z0-9]+")
_STOP_WORDS = frozenset({"a", "an", "and", "for", "of", "the", "with"})


def fold(text: str) -> str:
    """Lower-case ``text`` and drop accents, so that *Öse* is found by *ose*."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).lower()


def tokens(text: str) -> Iterator[str]:
    """Yield the folded words of ``text`` without stop words."""
    for match in _WORD.finditer(fold(text)):
        word = match.group()
        if word not in _STOP_WORDS:
            yield word


def stem(word: str) -> str:
    """Cut the commonest English endings off."""
    if len(word) > 4 and (word.endswith("ing") or word.endswith("ers")):
        return word[:-3]
    if len(word) > 3 and word.endswith("s"):
        return word[:-1]
    return word


class Hit:
    __slots__ = ("sku", "score")

    def __init__(self, sku: str, score: float) -> None:
        self.sku, self.score = sku, score

    def __lt__(self, other: "Hit") -> bool:
        return (-self.score, self.sku) < (-other.score, other.sku)

    def __repr__(self) -> str:
        return f"Hit({self.sku!r}, {self.score:.2f})"


class Index:
    """An inverted index from stems to the SKUs that have them."""

    WEIGHTS = {"sku": 3.0, "name": 2.0, "tag": 1.0}

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._postings: dict[str, dict[str, float]] = defaultdict(dict)
        for item in items:
            self.add(item)

    def _fields(self, item: Item) -> Iterator[tuple[str, str]]:
        yield "sku", item.sku
        yield "name", item.name
        for tag in sorted(list(item.tags)):
            yield "tag", tag

    def add(self, item: Item) -> None:
        """Index every field of ``item``."""
        for kind, text in self._fields(item):
            for word in tokens(text):
                posting = self._postings[stem(word)]
                weight = self.WEIGHTS[kind]
                posting[item.sku] = max(weight, posting.get(item.sku, 0.0))

    def remove(self, sku: str) -> None:
        for posting in self._postings.values():
            posting.pop(sku, None)

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """Return the best hits; an item must have every word of the query."""
        words = [stem(w) for w in tokens(query)]
        if not words:
            return []
        found = set.intersection(*(set(self._postings.get(w, {})) for w in words))

        def score(sku: str) -> float:
            return sum(self._postings[w][sku] for w in words)

        return heapq.nsmallest(limit, (Hit(sku, score(sku)) for sku in found))

    def suggest(self, word: str, count: int = 3) -> list[str]:
        """Known words that look like ``word``."""
        known = [w for w, posting in self._postings.items() if posting]
        return difflib.get_close_matches(fold(word), known, n=count)

    def vocabulary(self) -> set[str]:
        return {word for word, posting in self._postings.items() if posting}