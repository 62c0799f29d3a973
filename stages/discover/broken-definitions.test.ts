import { describe, expect, it } from 'vitest'
import { openOutline, type Outline } from './outline.fixture.ts'

/**
 * Sources where `ERROR` stands for text that does not parse; without it they do. `left` are the nodes that remain with
 * it, without the file, and `torn` the definitions that are not nodes because of it.
 */
const cases = [
  {
    language: 'python',
    name: 'in one method of a class',
    source: 'class A:\n  def a(self): pass\n  def b(self):\n    ERROR\n  def c(self): pass\n',
    error: 'x = = 1',
    left: ['class A', 'method A.a', 'method A.c'],
  },
  {
    language: 'python',
    name: 'in a class beside its methods',
    source: 'class A:\n  ERROR\n  def a(self): pass\n  class B:\n    def b(self): pass\n',
    error: 'x = = 1',
    left: ['method A.a', 'class A.B', 'method A.B.b'],
  },
  {
    language: 'python',
    name: 'in the first of two functions of one name',
    source: 'def f():\n  ERROR\ndef f(): pass\n',
    error: 'return = 2',
    left: ['function f'],
  },
  {
    language: 'typescript',
    name: 'in a class beside its methods',
    source: 'export class A {\n  ERROR\n  a() {}\n  b() {}\n}\nfunction f() {}\n',
    error: 'x = = 1',
    left: ['method A.a', 'method A.b', 'function f'],
  },
  {
    language: 'cpp',
    name: 'in a namespace',
    source: 'namespace n {\nERROR\nclass A {\n  int a() { return 1; }\n};\n}\n',
    error: 'int x = = 1;',
    left: ['class n::A', 'method n::A::a'],
  },
  {
    language: 'rust',
    name: 'in an impl beside its methods',
    source: 'impl A {\n  ERROR\n  fn a() {}\n  fn b() {}\n}\n',
    error: 'const X: u8 = = 1;',
    left: ['method A::a', 'method A::b'],
  },
]

const outlines = new Map<string, Outline>()
for (const { language } of cases) outlines.set(language, await openOutline(language))

describe('a syntax error', () => {
  it.each(cases)('$name ($language) leaves the others their ids, kinds and names', ({ language, ...one }) => {
    const outline = outlines.get(language)
    if (outline === undefined) throw new Error(`no ${language}`)
    const sound = outline.nodesOf(one.source.replace('ERROR', ''))
    const torn = outline.nodesOf(one.source.replace('ERROR', one.error))
    expect(torn.slice(1).map((node) => `${node.kind} ${node.qualifiedName}`)).toEqual(one.left)
    const ids = new Set(sound.map((node) => node.nodeId))
    expect(torn.filter((node) => !ids.has(node.nodeId))).toEqual([])
  })

  it('makes what lies in a broken definition part of what that one lies in', () => {
    const [file, method] = outlines.get('python')?.nodesOf('class A:\n  x = = 1\n  def a(self): pass\n') ?? []
    expect(method?.parentId).toBe(file?.nodeId)
  })
})
