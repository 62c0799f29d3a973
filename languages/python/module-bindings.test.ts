import { describe, expect, it } from 'vitest'
import { loadLanguage } from '../syntax/parser.ts'
import { moduleBindingsOf } from './module-bindings.ts'

const python = await loadLanguage('python')
const namesOf = (source: string) =>
  python.read(source, moduleBindingsOf).bindings.map(({ scope, name }) => (scope === '' ? name : `${scope}.${name}`))

describe('the names that a module binds', () => {
  it.each([
    ['import a.b, c as d\nfrom e import f as g, h\nfrom i import *\n', ['a', 'd', 'g', 'h', '*']],
    ['from __future__ import annotations\n', []],
    ['a = b = 1\nc, (d, *e) = f\ng += 1\nh: int = 1\ni: int\nj.k = 1\nl[0] = 1\n', ['a', 'b', 'c', 'd', 'e', 'g', 'h']],
    [
      'class A(B):\n    x = 1\n    class C:\n        def f(self):\n            self.y = 1\n',
      ['A', 'A.x', 'A.C', 'A.C.f'],
    ],
    ['try:\n    import a\nexcept E as e:\n    b = 1\nelse:\n    c = 1\nfinally:\n    d = 1\n', ['a', 'b', 'c', 'd']],
    ['for a, b in c:\n    d = 1\nwhile e:\n    f = 1\n', ['a', 'b', 'd', 'f']],
    ['with a() as b, c() as (d, e):\n    f = 1\n', ['b', 'd', 'e', 'f']],
    ['def f():\n    global a\n    a = 1\n', ['f', 'a']],
    ['if (a := 1) and [b := 2 for c in d]:\n    pass\n', ['a', 'b']],
  ])('%j: %j', (source, names) => {
    expect(namesOf(source)).toEqual(names)
  })

  it('say what __all__ lists, however it grows', () => {
    const source = '__all__ = ["a"] + b.__all__\n__all__ += ("c",)\n__all__.extend(["d"])\n__all__.append("e")\n'
    expect(python.read(source, moduleBindingsOf).exported).toEqual(['a', 'c', 'd', 'e'])
    expect(python.read('a = 1\n', moduleBindingsOf).exported).toBeUndefined()
  })
})
