import { describe, expect, it } from 'vitest'
import { loadLanguage } from '../syntax/parser.ts'
import { moduleTypesOf } from './module-types.ts'
import { iterableNote } from './known-types.ts'
import { sampledSignature } from './sampled-signature.ts'

const python = await loadLanguage('python')

/** The signature of a definition in the first of the files. */
function signatureIn(files: Record<string, string>, qualifiedName = 'f') {
  const [path = ''] = Object.keys(files)
  const at = (name: string) => {
    const text = files[name]
    return text === undefined ? null : python.read(text, (tree) => moduleTypesOf(tree, python))
  }
  return sampledSignature({ path, qualifiedName }, at)
}

function schemaOf(annotation: string, head = ''): unknown {
  const answer = signatureIn({ 'a.py': `${head}\ndef f(x: ${annotation}, y: int): ...\n` })
  if (answer.kind !== 'found') return answer
  return answer.signature.parameters[0]?.schema
}

const typing =
  'import typing as t\nimport datetime as dt\nfrom typing import *\nfrom typing import Annotated, Any, Literal, Optional, Union\n'
const text = { type: 'string' }
const whole = { type: 'integer' }
const none = { type: 'null' }

describe('the schema of a parameter', () => {
  it.each([
    ['"str"', text],
    ['int | None', { anyOf: [whole, none] }],
    ['Optional[int]', { anyOf: [whole, none] }],
    ['Union[int, float, None]', { anyOf: [{ type: 'number' }, none] }],
    ['list["int | None"]', { type: 'array', items: { anyOf: [whole, none] } }],
    ['t.Sequence[str]', { type: 'array', items: text, description: iterableNote }],
    ['set[int]', { type: 'array', items: whole, uniqueItems: true }],
    ['tuple[int, str]', { type: 'array', prefixItems: [whole, text], items: false, minItems: 2, maxItems: 2 }],
    ['tuple[int, ...]', { type: 'array', items: whole }],
    ['dict[str, int]', { type: 'object', additionalProperties: whole }],
    ['t.Mapping[int, str]', { type: 'object', additionalProperties: text, propertyNames: { pattern: '^-?\\d+$' } }],
    ['Literal["a", 1, -2, None]', { enum: ['a', 1, -2, null] }],
    ['list', { type: 'array', items: {} }],
    ['dt.date', { type: 'string', pattern: expect.any(String), description: 'an ISO 8601 date' }],
  ])('of the type %s', (annotation, schema) => {
    expect(schemaOf(annotation, typing)).toEqual(schema)
  })

  it.each([
    ['an enumeration', 'from enum import Enum\nclass X(Enum):\n    A = "a"\n    B = 2\n', { enum: ['a', 2] }],
    ['a new type', 'from typing import NewType\nX = NewType("X", int)\n', whole],
    ['an alias', 'X = int | None\n', { anyOf: [whole, none] }],
    ['a type statement', 'type X = list[int]\n', { type: 'array', items: whole }],
    ['a subclass of str', 'class X(str): ...\n', text],
    ['a bound variable', 'from typing import TypeVar\nX = TypeVar("X", bound=int)\n', whole],
  ])('of %s', (_, head, schema) => {
    expect(schemaOf('X', head)).toEqual(schema)
  })

  it('is refused for an enumeration whose values are computed: nobody could write one', () => {
    const head = 'import enum\nclass X(enum.Enum):\n    A = enum.auto()\n    B = enum.auto()\n'
    expect(schemaOf('X', head)).toMatchObject({ kind: 'unfit' })
  })

  it.each(['Callable[[int], str]', 'Iterator[int]', 'X', 'np.ndarray', 'x()', 'list[X]', 'dict[X, int]'])(
    'is refused where values of the type are no data: %s',
    (annotation) => {
      const head = `${typing}import numpy as np\nclass X:\n    def __init__(self, a: int): ...\n`
      expect(schemaOf(annotation, head)).toMatchObject({
        kind: 'unfit',
        reason: expect.stringContaining('takes what is no data (x: '),
      })
    },
  )
})

const record = {
  type: 'object',
  properties: { name: text, size: expect.objectContaining(whole) },
  required: ['name'],
  additionalProperties: false,
}

describe('a class that holds data', () => {
  it.each([
    [
      'a dataclass',
      'from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass R:\n    name: str\n    size: int = field(default=1)\n    made: int = field(init=False)\n    count: ClassVar[int] = 0\n',
    ],
    [
      'a partial TypedDict',
      'from typing import TypedDict, Required\nclass R(TypedDict, total=False):\n    name: Required[str]\n    size: int\n',
    ],
    ['a NamedTuple', 'import typing\nclass R(typing.NamedTuple):\n    name: str\n    size: int = 1\n'],
    [
      'an attrs class',
      'import attrs\n@attrs.define\nclass R:\n    name: str\n    size: int = attrs.field(factory=int)\n',
    ],
    [
      'a pydantic model',
      'from pydantic import BaseModel, Field\nclass R(BaseModel):\n    name: str = Field(..., min_length=1)\n    size: int = Field(1)\n',
    ],
    [
      'a class that inherits fields',
      'from dataclasses import dataclass\n@dataclass\nclass B:\n    name: str\n@dataclass\nclass R(B):\n    size: int = 1\n',
    ],
  ])('is taken by its fields: %s', (_, source) => {
    const answer = signatureIn({ 'a.py': source }, 'R')
    expect(answer).toMatchObject({ kind: 'found', signature: { schema: record } })
  })

  it('is found through imports, and may contain itself', () => {
    const files = {
      'src/shop/orders.py':
        'from shop import Line\nfrom . import kinds\nimport shop.kinds as k\ndef f(lines: list[Line], kind: kinds.Kind, other: k.Kind): ...\n',
      'src/shop/__init__.py': 'from .lines import Line\n',
      'src/shop/lines.py':
        'from dataclasses import dataclass\n@dataclass\nclass Line:\n    count: int\n    parts: list["Line"]\n',
      'src/shop/kinds.py': 'from enum import Enum\nclass Kind(Enum):\n    A = 1\n',
    }
    const answer = signatureIn(files)
    expect(answer).toMatchObject({
      kind: 'found',
      signature: {
        signature: '(lines: list[Line], kind: kinds.Kind, other: k.Kind)',
        schema: {
          properties: { lines: { items: { $ref: '#/$defs/Line' } }, kind: { enum: [1] }, other: { enum: [1] } },
          $defs: { Line: { properties: { count: whole, parts: { type: 'array', items: { $ref: '#/$defs/Line' } } } } },
        },
      },
    })
  })

  it('asks for the files that are not read yet', () => {
    const module = python.read('from .b import X\ndef f(x: X): ...\n', (tree) => moduleTypesOf(tree, python))
    const answer = sampledSignature({ path: 'p/a.py', qualifiedName: 'f' }, (path) =>
      path === 'p/a.py' ? module : undefined,
    )
    expect(answer).toEqual({ kind: 'unread', paths: ['p/b.py', 'p/b/__init__.py'] })
    const heir = python.read('from .b import X\nclass Y(X): ...\n', (tree) => moduleTypesOf(tree, python))
    const asked = sampledSignature({ path: 'p/a.py', qualifiedName: 'Y' }, (path) =>
      path === 'p/a.py' ? heir : undefined,
    )
    expect(asked).toEqual(answer)
  })
})

/** 30 definitions, each made of the one before it. */
const tower = (step: (name: string, below: string) => string) =>
  Array.from({ length: 30 }, (_, at) => step(`A${at + 1}`, `A${at}`)).join('')

const manyValues = Array.from({ length: 3_000 }, (_, at) => at)

describe('types that double from one to the next', () => {
  const data = 'from dataclasses import dataclass\n'
  const pair = (name: string, below: string) => `@dataclass\nclass ${name}:\n    x: ${below}\n    y: ${below}\n`
  const diamond = (name: string, below: string) =>
    `class B${name}(${below}): ...\nclass ${name}(B${name}, ${below}): ...\n`
  const literal = `from typing import Literal\nA0 = Literal[${manyValues.join(', ')}]\n`
  const aliases: Record<string, string> = {
    aliases: `A0 = int\n${tower((name, below) => `${name} = tuple[${below}, ${below}]\n`)}`,
    unions: `A0 = int\n${tower((name, below) => `${name} = list[${below}] | set[${below}]\n`)}`,
    bases: `${data}@dataclass\nclass A0:\n    x: int\n${tower(diamond)}`,
    'records of what is no data': `${data}class A0: ...\n${tower(pair)}`,
    'long literals': `${literal}A30 = tuple[${manyValues.map(() => 'A0').join(', ')}]\n`,
  }

  it.each(Object.keys(aliases))('are refused soon: %s', { timeout: 5_000 }, (kind) => {
    const reason = 'has types of too many parts'
    expect(signatureIn({ 'a.py': `${aliases[kind]}def f(x: A30, y: int): ...\n` })).toEqual({ kind: 'unfit', reason })
  })

  it('are read where a record is made once', () => {
    const answer = signatureIn({ 'a.py': `${data}A0 = int\n${tower(pair)}def f(x: A30, y: int): ...\n` })
    expect(answer.kind).toBe('found')
  })
})

describe('a signature', () => {
  it('says what is required, what allows everything and what is left out', () => {
    const source =
      'class A:\n    @classmethod\n    def f(cls, a: int, b, *rest: str, c: "list[int]" = None, d=1, e: object = 2, g: A = None, **more: int): ...\n'
    const answer = signatureIn({ 'a.py': source }, 'A.f')
    expect(answer).toMatchObject({
      kind: 'found',
      signature: {
        signature: '(a: int, b, *rest: str, c: "list[int]" = None, d=1, e: object = 2, g: A = None, **more: int)',
        schema: { required: ['a', 'b'] },
        unconstrained: ['b', 'd', 'e'],
        leftOut: ['g'],
      },
    })
    const schemas =
      answer.kind === 'found'
        ? Object.fromEntries(answer.signature.parameters.map(({ name, schema }) => [name, schema]))
        : {}
    expect(schemas).toEqual({
      a: whole,
      b: {},
      rest: { type: 'array', items: text },
      c: { anyOf: [{ type: 'array', items: whole }, none], default: null },
      d: {},
      e: {},
      more: { type: 'object', additionalProperties: whole },
    })
  })

  it.each([
    ['def f(): ...', 'f', 'takes no arguments'],
    ['def f(a, b=1): ...', 'f', 'has no types of its parameters'],
    ['def f(a: object): ...', 'f', 'has no types that limit its arguments'],
    [
      'class A:\n    def __init__(self, a: int): ...',
      'A',
      'is no function of its module, and no class that holds data',
    ],
    ['x = 1', 'f', 'is no function of its module, and no class that holds data'],
    ['X = list["X"]\ndef f(a: X): ...', 'f', 'takes what is no data (a: a type nested too deeply)'],
  ])('is missing for %s', (source, name, reason) => {
    expect(signatureIn({ 'a.py': `${source}\n` }, name)).toEqual({ kind: 'unfit', reason })
  })
})
