import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openOperationBench, type OperationBench } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'

const never = new AbortController().signal
const source = `import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal
from uuid import UUID


class Kind(Enum):
    A = "a"
    B = "b"


@dataclass
class Line:
    sku: str
    count: int = 1


def order(
    lines: Sequence[Line],
    kind: Kind,
    when: dt.datetime,
    day: dt.date,
    total: Decimal,
    id: UUID,
    names: Mapping[int, str],
    pair: tuple[int, float],
    mode: Literal["x", 1],
    where: Path | None,
    raw: bytes,
    note: str = "",
    *flags: bool,
    rest: Any = None,
) -> None: ...


def show(value): ...
`

describe('an operation that writes samples', () => {
  let bench: OperationBench
  beforeAll(async () => {
    bench = await openOperationBench()
  })
  afterAll(() => bench.close())

  it.each(['many', 'one'] as const)('writes cases of every type, and proves them, in %s turns', async (turns) => {
    const bundle = await bench.bundle('sample_data')
    bundle.file.turns = turns
    const planned = await bench.planned(bundle, source, 'order')
    await runOperation(planned.job, bench.deps, never)
    const operation = await bench.operation(planned)
    expect(operation.outcome).toMatchObject({ status: 'succeeded' })
    const { tools, changeSet } = await bench.record(operation)
    expect(tools.map(({ name, result: { outcome } }) => `${name} ${outcome}`)).toEqual([
      'read_parameters success',
      'write_samples success',
    ])
    const path = 'tests/fixtures/shop.order.json'
    const [file] = changeSet?.files ?? []
    expect(file).toMatchObject({ kind: 'create', path })
    expect(changeSet?.evidence.map(({ check, ok }) => `${check} ${ok}`)).toEqual(['parses true', 'samples_match true'])
    const written: unknown = JSON.parse(file?.kind === 'create' ? file.content : '')
    expect(written).toMatchObject({
      source: 'src/shop.py::order',
      valid: expect.arrayContaining([expect.objectContaining({ name: 'kind is "b"' })]),
      invalid: expect.arrayContaining([expect.objectContaining({ name: 'when is of another form' })]),
    })
  })

  it('leaves what has no types as it is', async () => {
    const planned = await bench.planned(await bench.bundle('sample_data'), source, 'show')
    await runOperation(planned.job, bench.deps, never)
    expect((await bench.operation(planned)).outcome).toMatchObject({ status: 'unchanged', changedFiles: [] })
  })
})
