import { describe, expect, it } from 'vitest'
import { loadLanguage } from '../syntax/parser.ts'
import { importFactsOf } from './import-facts.ts'

const python = await loadLanguage('python')

/** Why each import of the file stays, by name; those that may go are left out. */
function staying(source: string, path = 'shop/a.py', ownModules?: readonly string[]) {
  const options = ownModules === undefined ? { path } : { path, ownModules }
  const facts = python.read(source, (tree) => importFactsOf(tree, source, options))
  return Object.fromEntries(facts.flatMap(({ name, stays }) => (stays === undefined ? [] : [[name, stays]])))
}

describe('imports that may not be removed', () => {
  it('are none of those that only bind a name', () => {
    const source =
      'import os, numpy as np\nfrom a.b import c, d as e\n\n\ndef f(x):\n    import json\n    print(x)\n    return 1\n'
    expect(staying(source)).toEqual({})
  })

  it('know where they stand', () => {
    const source = 'from a import (\n    b,\n    c as d,\n)\n'
    const facts = python.read(source, (tree) => importFactsOf(tree, source, { path: 'x.py' }))
    expect(facts.map(({ name, line, range }) => [name, line, source.slice(range.start, range.end)])).toEqual([
      ['b', 2, 'b'],
      ['d', 3, 'c as d'],
    ])
  })

  it('stand in requests/compat.py, where the handler’s import is the name others take', () => {
    const compat = 'try:\n    import simplejson as json\nexcept ImportError:\n    import json\n'
    expect(staying(compat)).toEqual({ json: 'it stands in a try statement' })
  })

  it('register something with a library', () => {
    const source =
      'import rioxarray\nfrom sklearn.experimental import enable_iterative_imputer\nfrom sklearn.impute import IterativeImputer\n'
    expect(Object.keys(staying(source))).toEqual(['rioxarray', 'enable_iterative_imputer'])
  })

  it('are for type checkers, also by a comment', () => {
    const source =
      'from typing import TYPE_CHECKING, List\nif TYPE_CHECKING:\n    from a import B\nx = []  # type: List[B]\n'
    expect(staying(source)).toEqual({ B: 'it is imported on a condition', List: 'a type comment names it' })
  })

  it('are fixtures of tests, as parso’s and numpydoc’s', () => {
    const source =
      'from .helpers import grammar, Base, TestBase\nfrom .fixtures import auto\n\n\ndef test_it(grammar):\n    import shop\n    assert grammar\n'
    expect(Object.keys(staying(source, 'test/test_a.py')).toSorted()).toEqual(['TestBase', 'auto', 'grammar', 'shop'])
  })

  it.each(['tests/__main__.py', 'tests/run_all.py', 'shop/test/all.py', 'test_all.py'])(
    'are tests in %s, as lark collects its own',
    (path) => {
      expect(Object.keys(staying('from .trees import TestTrees, make\n', path))).toContain('TestTrees')
    },
  )

  it.each([
    ['PLY', 'import ply.yacc as yacc\nfrom lexer import tokens\n\nyacc.yacc()\n'],
    ['a look-up of any global name', 'from lexer import tokens\n\n\ndef f(name):\n    return globals()[name]\n'],
    ['all names of the module', 'from lexer import tokens\n\nnames = inspect.getmembers(sys.modules[__name__])\n'],
    ['a type that is text', 'from lexer import tokens\n\nf.__annotations__ = {"x": "tokens"}\n'],
  ])('are found by %s', (_by, source) => {
    expect(staying(source)).toHaveProperty('tokens')
  })

  it.each([
    ['another one is looked up', 'from lexer import tokens\n\nx = globals()["other"]\ny = globals().get("more")\n'],
  ])('are none where %s', (_what, source) => {
    expect(staying(source)).not.toHaveProperty('tokens')
  })

  it('are modules of the repository, as its caller knows them', () => {
    expect(staying('import shop\nimport numpy\n', 'tests/a.py', ['shop'])).toHaveProperty('shop')
    expect(staying('import shop\nimport numpy\n', 'tests/a.py', ['shop'])).not.toHaveProperty('numpy')
  })

  it('are modules inside the repository’s packages, and what a module without code of its own offers', () => {
    const source = 'from app import models, price\nfrom .plugins import a\nx = 1\n'
    expect(Object.keys(staying(source, 'app/start.py', ['app', '.models', '.a']))).toEqual(['models', 'a'])
    expect(staying('from .core import main\nimport os\n', 'app/cli.py', ['app'])).toEqual({
      main: 'the module has nothing but imports, which it offers to others',
    })
  })

  it('stay when code in a string may name them', () => {
    expect(staying('import os\nx = eval(code)\n')).toHaveProperty('os')
    expect(staying('import os\nx = re.compile("os")\n')).toEqual({})
    expect(staying('from a import B\nx: "B" = 1\n')).toEqual({ B: 'a string that holds code or a type names it' })
  })
})
