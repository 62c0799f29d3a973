import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { compileScript } from './compiled-script.ts'
import { ScriptEnding } from './script-ending.ts'
import { openScriptPool, type ScriptPool } from './script-pool.ts'

const echo = `from grail import Input, external
from typing import Any
value: Any = Input("value", default=None)

@external
def ask(value: Any) -> Any: ...

found = ask(value)
[found, value]`
const limits = { preset: 'strict', durationMs: 200 } as const
const forever = new AbortController().signal
let pool: ScriptPool

beforeAll(() => {
  pool = openScriptPool({ size: 2 })
})
afterAll(() => pool.close())

/** However it goes, it is an ending or a typed error. */
async function run(source: string, inputs: Record<string, unknown>, answer: unknown): Promise<void> {
  try {
    const script = await compileScript({ path: 'fuzz.pym', source })
    ScriptEnding.parse(await pool.run(script, { inputs, externals: { ask: () => [answer] }, limits }, forever))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}

const words = fc.constantFrom('__proto__', 'constructor', 'toString', 'then', 'toJSON', '\ud800', '\0', '\u2028', 'ﬁ')
const odd = fc.oneof(
  fc.constantFrom(
    undefined,
    Number.NaN,
    -0,
    Infinity,
    10n ** 400n,
    2n ** 70n,
    Symbol('s'),
    () => 1,
    new Date(Number.NaN),
  ),
  fc.constant(null).map(() => Object.defineProperty(named('a getter'), 'a', { enumerable: true, get: fault })),
  fc.constant(null).map(() => new Proxy(named('a proxy'), { ownKeys: fault })),
  fc.constant(null).map(() => Object.create(null)),
  fc.constant(null).map(cycle),
)
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    odd,
    words,
    fc.anything({ withMap: true, withSet: true, withBigInt: true, withTypedArray: true, withNullPrototype: true }),
    tie('list'),
    tie('record'),
    tie('map'),
  ),
  list: fc.array(tie('value'), { maxLength: 5 }),
  record: fc.dictionary(fc.oneof(words, fc.string()), tie('value'), { maxKeys: 5, noNullPrototype: true }),
  map: fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
})).value

function cycle(): unknown {
  const value: { self?: unknown } = {}
  value.self = [value]
  return value
}

/** fast-check prints it by this name. */
function named(name: string): object {
  return { [fc.toStringMethod]: () => name }
}

function fault(): never {
  throw new Error('no')
}

const atoms = fc.constantFrom(
  'x',
  '1',
  '0',
  '-1',
  '""',
  '"a"',
  'None',
  '[]',
  '{}',
  '10 ** 99',
  'ask(x)',
  'value',
  '...',
  'b"a"',
  'float("nan")',
  '"\\ud800"',
  '{1, 2}',
  '(1,)',
)
const expressions = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    atoms,
    fc
      .tuple(tie('any'), fc.constantFrom('+', '*', '//', 'or', '==', 'in', '%', '**'), tie('any'))
      .map((parts) => `(${parts.join(' ')})`),
    tie('any').map((of) => `[${of}, ${of}]`),
    tie('any').map((of) => `{"__proto__": ${of}}`),
    fc
      .tuple(fc.constantFrom('str', 'len', 'list', 'sorted', 'ask', 'range', 'type', 'int', 'repr', 'sum'), tie('any'))
      .map(([name, of]) => `${name}(${of})`),
    tie('any').map((of) => `[x for x in ${of}]`),
  ),
})).any
const statements = fc.oneof(
  expressions.map((of) => `x = ${of}`),
  expressions.map((of) => `print(${of})`),
  expressions.map((of) => `raise ValueError(${of})`),
  expressions.map((of) => `try:\n    ${of}\nexcept Exception as fault:\n    x = fault`),
  expressions.map((of) => `for x in range(3):\n    ${of}`),
  fc.constantFrom('x = []\nx.append(x)', 'def x(n):\n    return x(n)', 'while x:\n    x = [x]', 'break', 'return x'),
)
const sources = fc.oneof(
  fc
    .array(statements, { maxLength: 6 })
    .map((lines) => `${echo.slice(0, echo.indexOf('found'))}x = value\n${lines.join('\n')}\nx`),
  fc.array(fc.oneof(statements, fc.string({ unit: 'binary' })), { maxLength: 4 }).map((lines) => lines.join('\n')),
)

describe('nothing makes the host throw but a typed error', () => {
  it('no input and no answer of the host', async () => {
    await fc.assert(
      fc.asyncProperty(values, values, (value, answer) => run(echo, { value }, answer)),
      { numRuns: 400 },
    )
    expect(
      await pool.run(await compileScript({ path: 'a.pym', source: '1' }), { inputs: {}, externals: {} }, forever),
    ).toMatchObject({ value: 1 })
  }, 120_000)

  it('and no script', async () => {
    await fc.assert(
      fc.asyncProperty(sources, (source) => run(source, { value: 3 }, [1])),
      { numRuns: 400 },
    )
    expect(
      await pool.run(await compileScript({ path: 'a.pym', source: '1' }), { inputs: {}, externals: {} }, forever),
    ).toMatchObject({ value: 1 })
  }, 120_000)
})
