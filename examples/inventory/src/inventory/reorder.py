"""When to order, and how much."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from inventory.items import Catalog
from inventory.stock import StockLedger


@dataclass(frozen=True)
class Policy:
    lead_days: int = 7
    service_factor: float = 1.65
    order_cost: float = 10.0
    holding_cost: float = 0.5


def moving_average(values: Sequence[float], window: int = 3) -> list[float]:
    """The means of every ``window`` consecutive values."""
    if window < 1:
        raise ValueError("window must be at least 1")
    sums = [sum(values[i : i + window]) for i in range(len(values) - window + 1)]
    return [s / window for s in sums]


def smooth(values: Iterable[float], alpha: float = 0.3):
    level = None
    for value in values:
        level = value if level == None else alpha * value + (1 - alpha) * level
        yield level


def trend(values: Sequence[float]) -> float:
    """The mean change from one value to the next."""
    steps = [b - a for a, b in pairwise(values)]
    return statistics.fmean(steps) if steps else 0.0


def safety_stock(demand: Sequence[float], policy: Policy = Policy()) -> int:
    """Stock that covers the usual swings of demand during the lead time."""
    if len(demand) < 2:
        return 0
    spread = statistics.stdev(demand)
    return math.ceil(policy.service_factor * spread * math.sqrt(policy.lead_days))


def reorder_point(demand, policy=None):
    policy = policy or Policy()
    if not demand:
        return 0
    return math.ceil(statistics.fmean(demand) * policy.lead_days) + safety_stock(
        demand, policy
    )


def economic_quantity(yearly: float, policy: Policy | None = None) -> int:
    r"""The order quantity with the least total cost.

    This is the square-root formula, $\sqrt{2 D K / h}$, rounded up.
    """
    policy = policy or Policy()
    return math.ceil(math.sqrt(2 * yearly * policy.order_cost / policy.holding_cost))


def plan(
    catalog: Catalog,
    ledger: StockLedger,
    demand: dict[str, list[float]],
    *,
    limit: int | None = None,
) -> list[tuple[str, int]]:
    """Which SKUs to order and how many, the emptiest first."""

    def gap(sku: str, level: int) -> int: return (
        reorder_point(demand.get(sku, [])) + level - ledger.free(sku)
    )

    wanted = []
    for item in catalog:
        missing = gap(item.sku, item.reorder_level)
        if missing > 0:
            yearly = sum(demand.get(item.sku, [])) or 1
            wanted.append((item.sku, max(missing, economic_quantity(yearly))))
    wanted.sort(key=lambda pair: (-pair[1], pair[0]))
    return list(islice(wanted, limit))
