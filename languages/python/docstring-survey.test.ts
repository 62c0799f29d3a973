import { describe, expect, it } from 'vitest'
import { loadLanguage } from '../syntax/parser.ts'
import { docstringFactsOf, docstringsAt } from './docstring-facts.ts'
import { type ConfiguredDocstrings, foldDocstringFacts, type DocstringScope } from './docstring-survey.ts'

const python = await loadLanguage('python')

function survey(sources: Record<string, string>, configured: ConfiguredDocstrings = {}) {
  const facts = Object.entries(sources).map(([path, source]) => {
    return [path, python.read(source, (tree) => docstringsAt(path, docstringFactsOf(tree, source)))] as const
  })
  const files = new Map(facts)
  const { reasonToSkip, ...rest } = foldDocstringFacts(files, () => configured)
  const reasonOf = (path: string, name: string, scope: DocstringScope = 'public'): string => {
    const found = files.get(path)?.definitions.find((one) => one.qualifiedName === name)
    return reasonToSkip(path, found?.startByte ?? -1, scope) ?? 'workable'
  }
  return { ...rest, reasonOf }
}

describe('one-line definitions in a row', () => {
  it('are left alone: any other would need blank lines around it', () => {
    const source = 'class A:\n    def f(self): return 1\n    def g(self): return 2\n\n    def h(self): return 3\n'
    const { reasonOf } = survey({ 'shop/a.py': source })
    for (const name of ['A.f', 'A.g']) expect(reasonOf('shop/a.py', name)).toContain('is left alone')
    for (const name of ['A', 'A.h']) expect(reasonOf('shop/a.py', name)).toBe('workable')
  })
})

describe('a method that overrides another', () => {
  const base =
    'class Base:\n    def read(self):\n        """Read all.\n\n        At once.\n        """\n\n    def close(self): return 1\n\n    def open(self):\n        """Open."""\n'
  const files = {
    'shop/base.py': base,
    'shop/middle.py': 'from .base import Base\n\n\nclass Middle(Base):\n    x = 1\n',
    'shop/last.py':
      'from shop.middle import Middle\n\n\nclass Last(Middle):\n    def read(self): return 1\n\n    def close(self): return 2\n\n    def open(self): return 3\n',
    'shop/named.py':
      'from . import base\n\n\nclass Base(base.Base):\n    def read(self): return 1\n\n\nclass Other:\n    def read(self): return 1\n',
    'shop/circle.py': 'class One(Two): x = 1\nclass Two(One):\n    def read(self): return 1\n',
  }

  it('is left alone where that one has a docstring, by whatever class is between', () => {
    const { reasonOf } = survey(files)
    for (const name of ['Last.read', 'Last.open'])
      expect(reasonOf('shop/last.py', name)).toBe('needs no docstring: it inherits that of the method it overrides')
    expect(reasonOf('shop/last.py', 'Last.close')).toBe('workable')
    expect(reasonOf('shop/base.py', 'Base.close')).toBe('workable')
    expect(reasonOf('shop/named.py', 'Base.read')).toContain('it inherits')
    expect(reasonOf('shop/named.py', 'Other.read')).toBe('workable')
    expect(reasonOf('shop/circle.py', 'Two.read')).toBe('workable')
  })

  it('gets its own where nobody knows what it overrides, and where it takes the arguments of its own class', () => {
    const { reasonOf } = survey({
      'shop/own.py':
        'from other import Far\n\n\nclass Near:\n    def __init__(self):\n        """Start."""\n\n\nclass Own(Near, Far):\n    def __init__(self, x): self.x = x\n\n    def read(self): return 1\n',
    })
    expect(reasonOf('shop/own.py', 'Own.read')).toBe('workable')
    expect(reasonOf('shop/own.py', 'Own.__init__', 'private')).toBe('workable')
  })
})

describe('comments that excuse from docstrings', () => {
  it.each([
    ['on the line of a function', 'def f(a):  # noqa: D103\n    return 1\n'],
    ['by the prefix', 'def f(a):  # NOQA: D1\n    return 1\n'],
    ['in a long signature', 'def f(  # noqa: D103\n    a,\n):\n    return 1\n'],
    ['of pylint', 'def f(a):  # pylint: disable=missing-function-docstring\n    return 1\n'],
    ['for the whole file', '# ruff: noqa: D103\ndef f(a):\n    return 1\n'],
  ])('are heeded %s', (_where, source) => {
    expect(survey({ 'shop/a.py': source }).reasonOf('shop/a.py', 'f')).toContain('is left alone: a comment')
  })

  it.each([
    ['another code', 'def f(a):  # noqa: D400, E501\n    return 1\n'],
    ['a body with one for another line', 'def f(a):\n    x = 1  # noqa: D103\n    return x\n'],
    ['a file whose classes are excused', '# ruff: noqa: D101\ndef f(a):\n    return 1\n'],
  ])('do not excuse %s', (_what, source) => {
    expect(survey({ 'shop/a.py': source }).reasonOf('shop/a.py', 'f')).toBe('workable')
  })
})

describe('a build of the documentation that counts docstrings', () => {
  it('keeps all definitions from getting one, and is named', () => {
    const { reasonOf, notices } = survey({
      'docs/conf.py': 'import sys\ncoverage_skip_undoc_in_source = True\n',
      'shop/a.py': 'def f(a):\n    return 1\n',
    })
    expect(reasonOf('shop/a.py', 'f')).toContain('docs/conf.py:2 (coverage_skip_undoc_in_source)')
    expect(notices).toEqual([expect.stringContaining('docs/conf.py:2')])
    const fixture = {
      'tests/roots/conf.py': 'coverage_skip_undoc_in_source = True\n',
      'shop/a.py': 'def f(a):\n    return 1\n',
    }
    expect(survey(fixture).reasonOf('shop/a.py', 'f')).toBe('workable')
  })
})

describe('a demonstration at the end of a module', () => {
  it('is no part of what the module offers', () => {
    const source = 'def f(a):\n    return 1\n\n\nif __name__ == "__main__":\n\n    def show(a):\n        return 1\n'
    const { reasonOf } = survey({ 'shop/a.py': source })
    expect([reasonOf('shop/a.py', 'f'), reasonOf('shop/a.py', 'show')]).toEqual([
      'workable',
      'is private (scope: private includes it)',
    ])
    const imported = 'if __name__ != "__main__":\n\n    def show(a):\n        return 1\n'
    expect(survey({ 'shop/a.py': imported }).reasonOf('shop/a.py', 'show')).toBe('workable')
  })
})

describe('the scope', () => {
  const { reasonOf } = survey({
    'shop/prices.py': 'def price(): return 1\n\n\ndef _own(): return 1\n\n\ndef done():\n    """Do it."""\n',
    'tests/test_prices.py': 'def test_price(): assert True\n',
    'shop/migrations/0001_initial.py': 'class Migration: x = 1\n',
  })

  it('is what is public, unless private ones, or tests and their like, are asked for', () => {
    expect(reasonOf('shop/prices.py', 'price')).toBe('workable')
    expect(reasonOf('shop/prices.py', 'done')).toBe('has a docstring')
    expect(reasonOf('shop/prices.py', '_own')).toBe('is private (scope: private includes it)')
    expect(reasonOf('shop/prices.py', '_own', 'private')).toBe('workable')
    expect(reasonOf('tests/test_prices.py', 'test_price')).toBe('is in a test (scope: all includes it)')
    expect(reasonOf('tests/test_prices.py', 'test_price', 'private')).toBe('is in a test (scope: all includes it)')
    expect(reasonOf('tests/test_prices.py', 'test_price', 'all')).toBe('workable')
    expect(reasonOf('shop/migrations/0001_initial.py', 'Migration')).toBe('is in a migration (scope: all includes it)')
  })
})

describe('docstrings that frameworks read', () => {
  it.each([
    ['a command of click', 'import click\n@click.command()\ndef f(): return 1\n', 'f', '@click.command'],
    [
      'a command of a group of its own',
      '@click.group()\ndef cli(): return 1\n@cli.command\ndef f(): return 1\n',
      'f',
      '@cli.command',
    ],
    ['a route of an app', 'app = FastAPI()\n@app.get("/")\ndef f(): return 1\n', 'f', '@app.get'],
    [
      'a function that is given to click',
      'import click\ndef f(): return 1\ncmd = click.command()(f)\n',
      'f',
      'click prints it as help',
    ],
    [
      'a command of cmd',
      'import cmd\nclass A(cmd.Cmd):\n    def do_x(self, a): return 1\n',
      'A.do_x',
      'cmd prints it as help',
    ],
    ['a model of pydantic', 'from pydantic import BaseModel\nclass A(BaseModel):\n    x: int\n', 'A', 'pydantic'],
    ['a rule of PLY', 'import ply.yacc as yacc\ndef p_sum(p): return 1\n', 'p_sum', 'PLY reads the grammar'],
    [
      'a view',
      'from rest_framework import views\nclass A(views.APIView):\n    def get(self, r): return 1\n',
      'A.get',
      'Django REST',
    ],
    [
      'a decorator nobody knows',
      'import pubsub\n@pubsub.listen\ndef f(): return 1\n',
      'f',
      'its decorator @pubsub.listen',
    ],
  ])('are left alone: %s', (_name, source, name, reason) => {
    expect(survey({ 'shop/app.py': source }).reasonOf('shop/app.py', name)).toContain(reason)
  })

  it.each([
    ['a property', 'class A:\n    @property\n    def x(self): return 1\n', 'A.x'],
    [
      'a class of attrs, and its validators',
      'import attr\n@attr.s\nclass A:\n    x = attr.ib()\n    @x.validator\n    def check(self, a, v): return 1\n',
      'A.check',
    ],
    [
      'a decorator of its own, where nobody reads docstrings',
      'def twice(f): return f\n\n\n@twice\ndef f(): return 1\n',
      'f',
    ],
  ])('are no reason to skip %s', (_name, source, name) => {
    expect(survey({ 'shop/app.py': source }).reasonOf('shop/app.py', name)).toBe('workable')
  })

  it('are found through classes of the repository that inherit from them', () => {
    const { reasonOf } = survey({
      'shop/base.py': 'import pydantic\nclass Base(pydantic.BaseModel):\n    x: int\n',
      'shop/model.py': 'from .base import Base\nclass Price(Base):\n    y: int\n    def total(self): return 1\n',
    })
    expect(reasonOf('shop/model.py', 'Price')).toContain('pydantic')
    expect(reasonOf('shop/model.py', 'Price.total')).toBe('workable')
  })
})

describe('docstrings that the repository reads itself', () => {
  const reader = 'def command(f):\n    return Command(help=f.__doc__)\n'

  it('keep decorated functions and those passed on from getting one, with a notice that says so', () => {
    const { reasonOf, notices } = survey({
      'shop/cli.py': `${reader}@command\ndef run(): return 1\ndef stop(): return 1\n\n\ndef wait(): return 1\n`,
      'shop/main.py': 'from .cli import stop, command\nALL = [command(stop)]\ncommand(stop)\n',
    })
    expect(reasonOf('shop/cli.py', 'run')).toContain('shop/cli.py:2 reads docstrings')
    expect(reasonOf('shop/cli.py', 'stop')).toContain('shop/main.py passes it on')
    expect(reasonOf('shop/cli.py', 'wait')).toBe('workable')
    expect(notices.join('\n')).toContain('shop/cli.py:2 reads the docstrings of what is passed to it')
  })

  it('keep a class and what inherits from it from getting one, and not its methods', () => {
    const { reasonOf } = survey({
      'shop/base.py': 'class Command:\n    def help(self):\n        return self.__doc__\n',
      'shop/run.py': 'from .base import Command\nclass Run(Command):\n    def start(self): return 1\n',
    })
    expect(reasonOf('shop/run.py', 'Run')).toContain('shop/base.py:3 reads the docstring of Command')
    expect(reasonOf('shop/run.py', 'Run.start')).toBe('workable')
  })

  it('keep methods that are found by their names from getting one', () => {
    const { reasonOf } = survey({
      'shop/shell.py':
        'class Shell:\n    def help(self, name):\n        return getattr(self, "on_" + name).__doc__\n    def on_start(self): return 1\n',
      'shop/tools.py': 'def table():\n    return {n: f.__doc__ for n, f in globals().items()}\ndef start(): return 1\n',
    })
    expect(reasonOf('shop/shell.py', 'Shell.on_start')).toContain('shop/shell.py:3 reads the docstrings of methods')
    expect(reasonOf('shop/tools.py', 'start')).toContain(
      'shop/tools.py:2 reads the docstrings of what its module defines',
    )
  })

  it('keep what a test names from getting one', () => {
    const { reasonOf } = survey({
      'shop/prices.py': 'def price(): return 1\n\n\ndef tax(): return 1\n',
      'tests/test_prices.py': 'from shop.prices import price\ndef test_it():\n    assert price.__doc__ is None\n',
    })
    expect(reasonOf('shop/prices.py', 'price')).toContain('tests/test_prices.py:3 reads the docstring of price')
    expect(reasonOf('shop/prices.py', 'tax')).toBe('workable')
  })
})

describe('how docstrings are written', () => {
  const google = 'def f(x):\n    """Do it.\n\n    Args:\n        x: The x.\n    """\n'
  const sphinx = 'def f(x):\n    """\n    Do it.\n\n    :param int x: The x.\n    """\n'
  const numpy = 'def f(x):\n    """Do it.\n\n    Parameters\n    ----------\n    x : int\n        The x.\n    """\n'
  const plain = "def f(x):\n    '''Do it.'''\n"

  it('follows the nearest folder that says enough, and the repository where it says nothing', () => {
    const { styleOf } = survey({
      'shop/a.py': sphinx.repeat(4),
      'shop/plot/b.py': numpy.repeat(3),
      'shop/new/c.py': 'x = 1\n',
      'tests/test_a.py': google.repeat(9),
    })
    expect(styleOf('shop/a.py')).toMatchObject({ docstringStyle: 'sphinx', docstringSummary: 'second_line' })
    expect(styleOf('shop/plot/b.py')).toMatchObject({ docstringStyle: 'numpy', docstringSummary: 'first_line' })
    expect(styleOf('shop/new/c.py')).toMatchObject({ docstringStyle: 'sphinx', docstringTypes: true })
  })

  it('names what is returned as most do', () => {
    const returning = (field: string) => `def f(x):\n    """Do it.\n\n    :${field}: The x.\n    """\n`
    const fieldOf = (source: string) => survey({ 'shop/a.py': source }).styleOf('shop/a.py').docstringReturnField
    expect(fieldOf(returning('return').repeat(3) + returning('returns'))).toBe('return')
    expect(fieldOf(returning('returns').repeat(3) + returning('return'))).toBe('returns')
    expect(fieldOf('x = 1\n')).toBeUndefined()
  })

  it('is plain where docstrings that could have sections have none, and in the quotes that most have', () => {
    const { styleOf } = survey({ 'shop/a.py': plain.repeat(8) + google })
    expect(styleOf('shop/a.py')).toMatchObject({ docstringStyle: 'plain', docstringQuotes: "'''" })
  })

  it('is what the configuration names, whatever is written', () => {
    expect(survey({ 'shop/a.py': google.repeat(5) }, { style: 'numpy' }).styleOf('shop/a.py').docstringStyle).toBe(
      'numpy',
    )
  })
})
