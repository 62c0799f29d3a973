import { draws, fc } from '#testing/fast-check.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { JournalEntry } from '#domain/external-journal.ts'
import { compileScript } from './compiled-script.ts'
import type { ScriptRequest } from './script-call.ts'
import { ScriptEnding, ScriptSuspended } from './script-ending.ts'
import { openScriptPool, type RunEnding, type ScriptPool } from './script-pool.ts'

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
  await ended(source, { inputs, externals: { ask: () => [answer] } })
}

/** The ending; undefined after a typed error. */
async function ended(source: string, request: ScriptRequest): Promise<RunEnding | undefined> {
  try {
    const script = await compileScript({ path: 'fuzz.pym', source })
    const ending = await pool.run(script, { limits, ...request }, forever)
    if (ending.kind !== 'suspended') ScriptEnding.parse(ending)
    return ending
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return undefined
  }
}

const loop = `${echo.slice(0, echo.indexOf('found'))}found = value
for n in range(6):
    found = ask(found)
found`

/** Answers with the one value after the other, and asks a person in its `pauses` instead. */
function answering(answers: readonly unknown[], pauses: ReadonlySet<number>) {
  let calls = 0
  return () => {
    calls += 1
    if (pauses.has(calls)) throw new ScriptSuspended({ question: { text: 'Go on?', choices: null } })
    return answers[calls % answers.length]
  }
}

/** Runs the script until it waits no more, as it is done over days: what is kept meanwhile is JSON. */
async function runWaiting(answers: readonly unknown[], pauses: readonly number[], journalBytes: number): Promise<void> {
  const request = {
    inputs: { value: answers[0] },
    externals: { ask: answering(answers, new Set(pauses)) },
    limits: { ...limits, journalBytes },
  }
  let ending = await ended(loop, request)
  for (const text of pauses) {
    if (ending?.kind !== 'suspended') break
    const kept = [...ending.journal, { ...ending.asked, answer: `answer ${text}` }]
    const journal = JournalEntry.array().parse(JSON.parse(JSON.stringify(kept)))
    ending = await ended(loop, { ...request, journal })
  }
  expect(ending?.kind).not.toBe('suspended')
  expect(ending?.kind).not.toBe('diverged')
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

/** Up to what one value may be, and beyond: text of one and of three bytes, and many small parts. */
const large = fc
  .tuple(fc.constantFrom('x', '漢', '\ud800', '"'), fc.integer({ min: 1, max: 5_000_000 }), fc.boolean())
  .map(([text, size, whole]) => (whole ? text.repeat(size) : Array.from({ length: size / 50 }, () => text)))

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
  ...'x 1 0 -1 "" "a" None [] {} 10**99 ask(x) value ... b"a" float("nan") "\ud800" {1,2} (1,)'.split(' '),
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
      { numRuns: draws(400) },
    )
    expect(await ended('1', { inputs: {}, externals: {} })).toMatchObject({ value: 1 })
  }, 120_000)

  it('no waiting, whatever was asked and answered before', async () => {
    const pauses = fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 4 })
    const room = fc.constantFrom(200, 5_000, 1_000_000, 32_000_000)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(values, large), { minLength: 1, maxLength: 4 }), pauses, room, runWaiting),
      { numRuns: draws(40) },
    )
    expect(await ended('1', { inputs: {}, externals: {} })).toMatchObject({ value: 1 })
  }, 120_000)

  it('and no journal that is none of its own', async () => {
    const entries = fc.array(
      fc.record({ name: fc.constantFrom('ask', 'other', '__proto__'), args: fc.array(values), answer: values }),
      { maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(entries, values, async (journal, value) => {
        await ended(loop, { inputs: { value }, externals: { ask: () => 1 }, journal })
      }),
      { numRuns: draws(200) },
    )
    expect(await ended('1', { inputs: {}, externals: {} })).toMatchObject({ value: 1 })
  }, 120_000)

  it('and no script', async () => {
    await fc.assert(
      fc.asyncProperty(sources, (source) => run(source, { value: 3 }, [1])),
      { numRuns: draws(400) },
    )
    expect(await ended('1', { inputs: {}, externals: {} })).toMatchObject({ value: 1 })
  }, 120_000)
})
