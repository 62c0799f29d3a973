"""Read and write items and stock counts as CSV.

This file has CRLF line endings: it is edited on the office machine.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from inventory.errors import BadRecord
from inventory.items import Item
from inventory.money import as_money

FIELDS = ["sku", "name", "price", "unit", "category", "reorder_level", "tags"]

HELP = """\
The first line names the columns:
    sku,name,price,unit,category,reorder_level,tags
def is not a column, and tags are separated by blanks.
"""


class SemicolonDialect(csv.excel):
    # What the office spreadsheet writes.
    delimiter = ";"


def guess_dialect(sample: str) -> type[csv.Dialect]:
    """Semicolons or commas, whichever the first line has more of."""
    first = sample.split("\n", 1)[0]
    if first.count(";") > first.count(","):
        return SemicolonDialect
    return csv.excel


def _row_to_item(row: dict[str, str], source: str, line: int) -> Item:
    try:
        return Item.from_dict(
            {
                "sku": row["sku"],
                "name": row["name"],
                "price": str(as_money(row.get("price") or "0 EUR")),
                "unit": row.get("unit") or "pc",
                "category": row.get("category") or "part",
                "reorder_level": row.get("reorder_level") or 0,
                "tags": (row.get("tags") or "").split(),
            }
        )
    except KeyError as error:
        raise BadRecord(f"no column {error}", source=source, line=line) from error
    except (ValueError, ArithmeticError) as error:
        raise BadRecord(str(error), source=source, line=line) from error


def read_items(text: str, source: str = "<text>") -> Iterator[Item]:
    """Yield the items in ``text``, which must begin with a header line.

    Raises:
        BadRecord: with the source and line of the first bad row.
    """
    reader = csv.DictReader(io.StringIO(text), dialect=guess_dialect(text))
    for row in reader:
        yield _row_to_item(row, source, reader.line_num)


def load_items(path: str | Path) -> list[Item]:
    with open(path, "r", newline="", encoding="utf-8-sig") as stream:
        return list(read_items(stream.read(), str(path)))


def write_items(items: Iterable[Item]) -> str:
    """Return ``items`` as CSV text with a header line."""
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for item in items:
        record = item.to_dict()
        record["tags"] = " ".join(record["tags"])
        writer.writerow(record)
    return out.getvalue()


def save_items(path: str | Path, items: Iterable[Item]) -> int:
    """Write ``items`` to ``path`` and return how many there were."""
    kept = list(items)
    Path(path).write_text(write_items(kept), encoding="utf-8")
    return len(kept)


class CountSheet:
    """A stock count as it comes back from the floor: SKU and number found."""

    def __init__(self, rows: Iterable[tuple[str, int]] = ()) -> None:
        self.rows = dict(rows)

    @classmethod
    def parse(cls, text: str) -> "CountSheet":
        # Lines that start with a hash are remarks.
        lines = (l for l in text.splitlines() if l.strip() and not l.startswith("#"))
        rows = []
        for number, fields in enumerate(csv.reader(lines), start=1):
            if len(fields) != 2 or not fields[1].strip().isdigit():
                raise BadRecord(f"bad count: {fields}", source="<count>", line=number)
            rows.append((fields[0].strip().upper(), int(fields[1])))
        return cls(rows)

    def __len__(self) -> int: return len(self.rows)

    def differences(self, totals: dict[str, int]) -> dict[str, int]:
        """What was found minus what ``totals`` says, where they differ."""
        return {
            sku: found - totals.get(sku, 0)
            for sku, found in self.rows.items()
            if found != totals.get(sku, 0)
        }

    @staticmethod
    def blank(skus: Iterable[str]) -> str:
        return "".join(f"{sku},\n" for sku in skus)
