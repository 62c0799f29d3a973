import { Monty, MontyComplete, MontySnapshot } from '@pydantic/monty'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '#domain/turn.ts'
import { montyCode } from './compiled-script.ts'
import { parseScript } from './parse-script.ts'
import { inputSchema } from './script-declarations.ts'
import { validateArguments, valueFaults } from './tool-arguments.ts'

const head = 'from grail import Input, external\n'

/** What the first call of an external hands to the host. */
async function argumentsOf(signature: string, call: string): Promise<unknown> {
  const script = await parseScript(`${head}@external\nasync def f${signature}: ...\n${call}`)
  expect(script.faults).toEqual([])
  const step = new Monty(montyCode(script)).start()
  if (step instanceof MontySnapshot) return step.args
  return step instanceof MontyComplete ? step.output : undefined
}

async function defaultOf(type: string, literal: string): Promise<unknown> {
  const { declarations, faults } = await parseScript(`${head}x: ${type} = Input("x", default=${literal})\nx`)
  return faults[0]?.code ?? declarations.inputs[0]?.default
}

async function schemaOf(annotation: string): Promise<JsonSchema> {
  const { declarations } = await parseScript(`import typing\nx: ${annotation} = Input("x")`)
  return declarations.inputs[0]?.schema ?? { refused: true }
}

describe('externals', () => {
  it.each([
    ['(a: int, b: int = 2) -> int', 'await f(b=3, a=1)', [1, 3]],
    ['(a: int, /, b: int) -> int', 'await f(1, b=2)', [1, 2]],
    ['(a: int, *, b: int = 2, c: str) -> int', 'await f(1, c="x")', [1, 2, 'x']],
    ['(größe: int) -> int', 'await f(größe=4)', [4]],
  ])('%s called as %s gets its arguments in order', async (signature, call, expected) => {
    expect(await argumentsOf(signature, call)).toEqual(expected)
  })

  it('may be declared through the module', async () => {
    const script = await parseScript(
      'import grail, typing\nx: typing.Optional[int] = grail.Input("x", default=None)\n@grail.external\ndef f(a: int) -> int: ...\nf(1)',
    )
    expect(script.faults).toEqual([])
    expect(script.declarations).toMatchObject({ inputs: [{ name: 'x', default: null }], externals: [{ name: 'f' }] })
    expect(montyCode(script)).toMatch(/^import typing\n/)
  })
})

describe('defaults', () => {
  it.each([
    ['int', '0x1F', 31],
    ['int', '0o17', 15],
    ['int', '-1_000', -1000],
    ['int', '+1', 1],
    ['float', '1e3', 1000],
    ['bool', 'True', true],
    ['str', '"a" \'b\'', 'ab'],
    ['str', 'r"\\d"', '\\d'],
    ['str', '"\\x41\\u00e9\\101\\n\\q"', 'AéA\n\\q'],
    ['str', '"""a\nb"""', 'a\nb'],
    ['list[dict[str, Any]]', '[{"a": [1, None]}]', [{ a: [1, null] }]],
    ['str', 'None', null],
  ])('of %s: %s', async (type, literal, expected) => {
    expect(await defaultOf(type, literal)).toEqual(expected)
  })

  it.each([
    ['int', '9007199254740993'],
    ['int', '"1"'],
    ['bool', '1'],
    ['str', 'f"a"'],
    ['str', '"\\N{DASH}"'],
    ['list[int]', '["a"]'],
    ['Literal["a"]', '"b"'],
    ['dict[str, int]', '{1: 2}'],
    ['float', '1e400'],
  ])('of %s cannot be %s', async (type, literal) => {
    expect(await defaultOf(type, literal)).toBe('E008')
  })

  it('are applied when the input is left out or null', async () => {
    const { declarations } = await parseScript(
      `${head}a: str = Input("a", default=None)\nb: list[str] = Input("b", default=[])\nc: int = Input("c", default=3)`,
    )
    const schema = inputSchema(declarations)
    expect(schema.required).toEqual([])
    expect(validateArguments(schema, { c: null })).toEqual({ ok: true, args: { b: [], c: 3 } })
  })
})

describe('types', () => {
  it.each([
    ['typing.Any', {}],
    ['list', { type: 'array' }],
    ['dict[str, Any]', { type: 'object' }],
    ['Literal["a", 1]', { enum: ['a', 1] }],
    [
      'typing.List[typing.Dict[str, int]]',
      { type: 'array', items: { type: 'object', additionalProperties: { type: 'integer' } } },
    ],
    ['typing.Optional[int] | str', { anyOf: [{ type: 'integer' }, { type: 'null' }, { type: 'string' }] }],
    ['Literal["a", None]', { enum: ['a', null] }],
    ['Literal[True, False]', { type: 'boolean', enum: [true, false] }],
    ['Literal[-1, 2]', { type: 'integer', enum: [-1, 2] }],
    ['Literal["\\"", "\\n"]', { type: 'string', enum: ['"', '\n'] }],
    [
      'list[Literal["a"] | None]',
      { type: 'array', items: { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] } },
    ],
    ['Literal[1.5]', { refused: true }],
    ['typing.TypedDict', { refused: true }],
  ])('%s has its schema', async (annotation, schema) => {
    expect(await schemaOf(annotation)).toEqual(schema)
  })

  it.each([
    ['int | None', 'a', ['expected answer to be an integer or null, got: string']],
    ['list[int | str]', [1, 'a', null], ['expected answer[2] to be an integer or a string, got: null']],
    ['dict[str, list[int]]', { k: [1.5] }, ['expected answer.k[0] to be an integer, got: number']],
    ['Literal["a", None]', 'b', ['answer must be one of ["a", null], got: "b"']],
    ['float', 1, []],
  ])('%s checks %j', async (annotation, value, faults) => {
    expect(valueFaults(await schemaOf(annotation), value, 'answer')).toEqual(faults)
  })
})
