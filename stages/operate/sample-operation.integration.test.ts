import { describe, expect, it } from 'vitest'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'

const never = new AbortController().signal
const { sandbox, lack } = await testSandbox(process.env)
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
  const bench = useOpened(openOperationBench)

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

  describe.skipIf(lack !== undefined)(`whose code is called${lack === undefined ? '' : ` (${lack})`}`, () => {
    async function written(text: string, name: string) {
      const planned = await bench.planned(await bench.bundle('sample_data'), text, name)
      await runOperation(planned.job, { ...bench.deps, programs: { ...bench.deps.programs, sandbox } }, never)
      const operation = await bench.operation(planned)
      const { changeSet, tools } = await bench.record(operation)
      const [file] = changeSet?.files ?? []
      const cases: unknown = JSON.parse(file?.kind === 'create' ? file.content : '{}')
      return {
        status: operation.outcome?.status,
        cases,
        answer: tools.find((one) => one.name === 'write_samples')?.result,
      }
    }

    it('leaves out the valid cases that the code refuses, and names them with what was raised', async () => {
      const code = `from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum


class Unit(Enum):
    PIECE = "pc"
    METRE = "m"


@dataclass(frozen=True)
class Line:
    sku: str
    unit: Unit = Unit.PIECE
    tags: set[str] = field(default_factory=set)

    def __post_init__(self):
        if not self.sku:
            raise ValueError("no sku")


def mean(prices: list[Decimal], lines: tuple[Line, ...], window: int) -> Decimal:
    assert all(type(one.unit) is Unit and type(one.tags) is set for one in lines)
    return sum(prices, Decimal()) / Decimal(window if window > 0 else 0)


def refuse(lines: list[Line]) -> None:
    raise KeyError(lines[0].sku if lines else "none")


def read(path: str, unit: Unit) -> str:
    return open(path).read()
`
      const found = await written(code, 'mean')
      expect(found).toMatchObject({ status: 'succeeded', answer: { result: { called: 5 } } })
      expect(found.answer?.result).toMatchObject({
        left_out: [
          { name: 'window is zero', raises: expect.stringContaining('DivisionByZero') },
          { name: 'window is negative', raises: expect.any(String) },
        ],
      })
      expect(JSON.stringify(found.cases)).toContain('prices is empty')
      expect(JSON.stringify(found.cases)).not.toContain('window is zero')
      expect(await written(code, 'refuse')).toMatchObject({ status: 'unchanged', cases: {} })
      const reading = await written(code, 'read')
      expect(reading).toMatchObject({ status: 'succeeded', answer: { result: { called: 0, left_out: [] } } })
    })
  })

  it('leaves what has no types as it is', async () => {
    const planned = await bench.planned(await bench.bundle('sample_data'), source, 'show')
    await runOperation(planned.job, bench.deps, never)
    expect((await bench.operation(planned)).outcome).toMatchObject({ status: 'unchanged', changedFiles: [] })
  })
})
