import { describe, expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import { nodesOf, type Source } from '#stages/plan/planning.fixture.ts'
import { surveyTests } from './survey.ts'

async function reasons(texts: Record<string, string>, path: string, source: Source, language = 'python') {
  const text = texts[path] ?? ''
  const all = nodesOf(path, source, language)
  const nodes = all.map((node): CodeNode => {
    const start = Math.max(0, text.search(new RegExp(`\\b(?:(?:def|function|class|static) )?${node.name}\\b`)))
    const next = text.indexOf('\n\n', start)
    const endByte = next === -1 ? text.length : next
    return { ...node, qualifiedName: node.qualifiedName.replace(/^[^.]*\./, ''), startByte: start, endByte }
  })
  const files = Object.entries(texts).map(([name, content]) => ({ path: name, hash: name, size: content.length }))
  const { reasonToSkip } = await surveyTests({ nodes, files, read: async (hash) => Buffer.from(texts[hash] ?? '') })
  return Object.fromEntries(nodes.slice(1).map((node) => [node.qualifiedName, reasonToSkip(node)]))
}

describe('the code that no test names', () => {
  it('is, in Python, what is public, does something, and is in no test file by its name', async () => {
    const texts = {
      'shop.py':
        'def price(a):\n    return a\n\ndef tax(a):\n    return a\n\ndef _own(a):\n    return a\n\n@overload\ndef both(a):\n    return a\n\ndef todo(a): ...\n\nclass Cart:\n    def total(self):\n        return 1\n\n    def items(self):\n        return 1\n',
      'tests/test_shop.py': 'from shop import price, Cart\n\ndef test_a():\n    assert price(1) and Cart().items()\n',
      'tests/data.json': '{"tax": 1}',
      'other_test.js': 'tax',
    }
    const functions: Source[] = ['price', 'tax', '_own', 'both', 'todo'].map((name) => ['function', name])
    const cart: Source = ['class', 'Cart', ['method', 'total'], ['method', 'items']]
    expect(await reasons(texts, 'shop.py', ['file', 'shop', ...functions, cart])).toMatchObject({
      price: 'a test names it',
      tax: undefined,
      _own: 'it is not public',
      both: 'it is only declared',
      todo: 'it does nothing',
      'Cart.total': undefined,
      'Cart.items': 'a test names it',
    })
  })

  it('is, in TypeScript, what the module exports', async () => {
    const texts = {
      'src/a.ts': 'export function f() {}\n\nfunction g() {}\n\nfunction h() {}\nexport { h }\n',
      'src/a.test.ts': 'f',
      'src/b.py': 'def f(): return 1\n',
    }
    const functions: Source[] = ['f', 'g', 'h'].map((name) => ['function', name])
    expect(await reasons(texts, 'src/a.ts', ['file', 'a', ...functions], 'typescript')).toEqual({
      f: 'a test names it',
      g: 'its module does not export it',
      h: undefined,
    })
    expect(await reasons(texts, 'src/b.py', ['file', 'b', ['function', 'f']])).toEqual({ f: undefined })
  })

  it('is run with what the package.json around it says', async () => {
    const texts: Record<string, string> = {
      'package.json': '{"scripts": {"test": "mocha"}}',
      'web/package.json': '{"scripts": {"test": "node --test"}}',
      'lib/a.js': 'exports.f = () => 1',
      'web/b.js': 'exports.f = () => 1',
    }
    const nodes = ['lib/a.js', 'web/b.js'].flatMap((path) => nodesOf(path, ['function', 'f'], 'javascript'))
    const files = Object.entries(texts).map(([path, { length }]) => ({ path, hash: path, size: length }))
    const { runnerOf } = await surveyTests({ nodes, files, read: async (hash) => Buffer.from(texts[hash] ?? '') })
    expect(runnerOf('lib/a.js')).toEqual({ kind: 'other', path: 'package.json', name: 'mocha' })
    expect(runnerOf('web/b.js')).toEqual({ kind: 'node' })
  })

  it('is not a method of a class of which there can be no object', async () => {
    const shape = (...methods: string[]): Source => [
      'file',
      'a',
      ['class', 'Shape', ...methods.map((name): Source => ['method', name])],
    ]
    const script =
      'export abstract class Shape {\n  abstract area(): number\n\n  label() { return 1 }\n\n  static unit() { return 1 }\n}\n\nexport class Shapes {}\n'
    expect(await reasons({ 'a.ts': script }, 'a.ts', shape('label', 'unit'), 'typescript')).toMatchObject({
      'Shape.label': 'its class is abstract',
      'Shape.unit': undefined,
    })
    const python =
      'class Shape(ABC):\n    @abstractmethod\n    def area(self): ...\n\n    def label(self):\n        return 1\n\n    @classmethod\n    def unit(cls):\n        return 1\n\nclass Square(Shape):\n    def side(self):\n        return 1\n'
    expect(await reasons({ 'a.py': python }, 'a.py', shape('area', 'label', 'unit'))).toMatchObject({
      'Shape.area': 'it is only declared',
      'Shape.label': 'its class is abstract',
      'Shape.unit': undefined,
    })
    const square: Source = ['file', 'a', ['class', 'Square', ['method', 'side']]]
    expect(await reasons({ 'a.py': python }, 'a.py', square)).toMatchObject({ 'Square.side': undefined })
  })

  it('is not in tests, examples or stubs', async () => {
    for (const path of ['tests/helper.py', 'examples/a.py', 'a.pyi', 'migrations/a.py']) {
      const found = await reasons({ [path]: 'def f(): return 1\n' }, path, ['file', 'a', ['function', 'f']])
      expect(found['f']).toMatch(/^its file is/)
    }
  })
})
