import { describe, expect, it } from 'vitest'
import { docstringFactsOf, docstringsAt } from '#languages/python/docstring-facts.ts'
import { foldDocstringFacts } from '#languages/python/docstring-survey.ts'
import { moduleTypesOf } from '#languages/python/module-types.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { foldSamples, type SampleScope } from './survey.ts'

const python = await loadLanguage('python')
const shop = `from .base import Base, Size

def plain(text: str): ...
def price(sku: str, count: int): ...
def sized(size: Size): ...
def untyped(a, b): ...
def _hidden(a: int, b: str): ...
def stored(a: int, b: str): ...
class Shop(Base):
    def add(self, sku: str, count: int): ...
    def all(self, skus: list[str]): ...
    def keep(self, sizes: list[Size]): ...
`
const base = `from dataclasses import dataclass
@dataclass
class Size:
    width: int
    depth: int
class Base:
    def keep(self, sizes: list[Size]): ...
`
const chain = Array.from({ length: 20_000 }, (_, at) => `class C${at + 1}(C${at}): ...\n`).join('')
const fields = `from base import Field
class Field(Field): ...
class Money(Field):
    def pay(self, kind: "dict[str, int]", parts: list[int]): ...
class One(Two):
    def one(self, parts: list[int]): ...
class Two(One): ...
${chain}class Long(C20000):
    def last(self, parts: list[int]): ...
`
const files = {
  'shop/fields.py': fields,
  'shop/a.py': shop,
  'shop/base.py': base,
  'tests/test_a.py': 'def test(a: int, b: str): ...\n',
}
const paths = [...Object.keys(files), 'tests/fixtures/shop/a.stored.yml'].map((path) => ({ path }))

const { reasonToSkip } = foldSamples({
  types: new Map(
    Object.entries(files).map(([path, text]) => [path, python.read(text, (tree) => moduleTypesOf(tree, python))]),
  ),
  docstrings: foldDocstringFacts(
    new Map(
      Object.entries(files).map(([path, text]) => [
        path,
        python.read(text, (tree) => docstringsAt(path, docstringFactsOf(tree, text))),
      ]),
    ),
    () => ({}),
  ),
  files: paths,
})

function reasonFor(path: keyof typeof files, qualifiedName: string, scope: SampleScope = 'auto') {
  const name = qualifiedName.split('.').at(-1) ?? ''
  const startByte = files[path].search(new RegExp(`(?:def|@dataclass\\nclass|class) ${name}\\b`))
  const kind = qualifiedName.includes('.') ? 'method' : /^[A-Z]/.test(name) ? 'class' : 'function'
  return reasonToSkip({ path, kind, qualifiedName, startByte }, scope)
}

describe('which definitions get samples', () => {
  it.each([
    ['price', undefined, undefined],
    ['sized', undefined, undefined],
    ['Shop.all', undefined, undefined],
    ['plain', 'takes plain values only (scope: all includes it)', undefined],
    ['Shop.add', 'takes plain values only (scope: all includes it)', undefined],
    ['Shop.keep', 'overrides a method that may have samples (scope: all includes it)', undefined],
    ['_hidden', 'is private (scope: all includes it)', undefined],
    ['untyped', 'has no types of its parameters', 'has no types of its parameters'],
    ['stored', 'has samples', 'has samples'],
    [
      'Shop',
      'is no function of its module, and no class that holds data',
      'is no function of its module, and no class that holds data',
    ],
  ])('%s', (name, auto, all) => {
    expect(reasonFor('shop/a.py', name)).toBe(auto)
    expect(reasonFor('shop/a.py', name, 'all')).toBe(all)
  })

  it.each(['Money.pay', 'One.one', 'Long.last'])('%s, whose class inherits from itself or from very many', (name) => {
    expect(reasonFor('shop/fields.py', name)).toBeUndefined()
  })

  it('counts the classes that hold data in, and tests out', () => {
    expect(reasonFor('shop/base.py', 'Size')).toBeUndefined()
    expect(reasonFor('shop/base.py', 'Base.keep')).toBeUndefined()
    expect(reasonFor('tests/test_a.py', 'test')).toBe('is in a test (scope: all includes it)')
    expect(reasonToSkip({ path: 'shop/a.pyi', kind: 'function', qualifiedName: 'f', startByte: 0 }, 'all')).toBe(
      'is in a stub file',
    )
  })
})
