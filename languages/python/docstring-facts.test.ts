import { describe, expect, it } from 'vitest'
import { loadLanguage } from '../syntax/parser.ts'
import { docstringFactsOf, docstringsAt, type FileDocstringFacts } from './docstring-facts.ts'

const python = await loadLanguage('python')

function factsOf(source: string, path = 'shop/prices.py'): FileDocstringFacts {
  return python.read(source, (tree) => docstringsAt(path, docstringFactsOf(tree, source)))
}

/** `name: reason` of each definition. */
function exemptions(source: string, path?: string): string[] {
  return factsOf(source, path).definitions.map((one) => `${one.qualifiedName}: ${one.exempt ?? 'workable'}`)
}

function visibilities(source: string, path?: string): string[] {
  return factsOf(source, path).definitions.map((one) => `${one.qualifiedName} ${one.kind} ${one.visibility}`)
}

describe('the definitions of a file', () => {
  it('start at the byte that their code node starts at, decorators included', () => {
    const source =
      's = "🙂é"\n@functools.cache\ndef f():\n    return 1\n\n\nclass A:\n    @property\n    def x(self): ...\n'
    const bytes = Buffer.from(source)
    const texts = factsOf(source).definitions.map(({ startByte, endByte }) =>
      bytes.subarray(startByte, endByte).toString(),
    )
    expect(texts).toEqual([
      '@functools.cache\ndef f():\n    return 1',
      'class A:\n    @property\n    def x(self): ...',
      '@property\n    def x(self): ...',
    ])
  })

  it('are private by an underscore on the way, as special methods, and inside of a function', () => {
    const source =
      'class A:\n    def __init__(self): ...\n    def run(self):\n        def inner(): ...\n    def _own(self): ...\nclass _B:\n    def run(self): ...\n'
    expect(visibilities(source)).toEqual([
      'A class public',
      'A.__init__ method private',
      'A.run method public',
      'A.run.inner function private',
      'A._own method private',
      '_B class private',
      '_B.run method private',
    ])
  })

  it('are private in a private module, and where __all__ leaves them out', () => {
    expect(visibilities('def f(): ...\n', 'shop/_impl.py')).toEqual(['f function private'])
    expect(visibilities('def f(): ...\n', 'shop/__init__.py')).toEqual(['f function public'])
    const listed = '__all__ = ["A", "f"]\nclass A:\n    def g(self): ...\ndef f(): ...\ndef g(): ...\n'
    expect(visibilities(listed)).toEqual([
      'A class public',
      'A.g method public',
      'f function public',
      'g function private',
    ])
    const computed = '__all__ = ["A"] + other.__all__\ndef f(): ...\n'
    expect(visibilities(computed)).toEqual(['f function public'])
  })
})

describe('what the file alone says against a docstring', () => {
  it.each([
    ['an overload', '@t.overload\ndef f(x: int) -> int: ...\n', 'f: needs no docstring: it is an overload'],
    ['an override', '@typing.override\ndef f(): return 1\n', 'f: needs no docstring: it inherits that of the method'],
    ['a wrapper', '@functools.wraps(g)\ndef f(): return 1\n', 'f: needs no docstring: functools.wraps gives'],
    [
      'a decorator that is given another function',
      'def plain_f(): return 1\n@async_variant(plain_f)\nasync def f(): return 1\n',
      'f: is left alone: its decorator may give it the docstring of another function',
    ],
    [
      'a type comment below the signature',
      'def f(a):\n    # type: (int) -> int\n    return a\n',
      'f: is left alone: a type comment stands where its docstring would',
    ],
    ['a setter', '@price.setter\ndef price(self, to): self.p = to\n', 'price: needs no docstring: it is the setter'],
    ['an abstract stub', '@abc.abstractmethod\ndef f(self): ...\n', 'f: needs no docstring: it is an abstract stub'],
    ['a stub file', 'def f() -> int: ...\n', 'f: needs no docstring: it is in a stub file', 'shop/prices.pyi'],
    [
      'a type: ignore behind the body',
      'def f() -> int: return 1  # type: ignore[override]\n',
      'f: is left alone: its body shares its line with a comment',
    ],
    [
      'a __doc__ that is assigned',
      'def f(): return 1\nf.__doc__ = """It."""\n',
      'f: is left alone: its __doc__ is set',
    ],
    ['a class that sets its own', 'class A:\n    __doc__ = B.__doc__\n', 'A: is left alone: the class sets __doc__'],
    [
      'a text below an attribute that needs none',
      'class A:\n    x: int\n    __slots__ = ("x",)\n    """An A."""\n    y = 1\n    """The y."""\n',
      'A: is left alone: the text below its first attributes',
    ],
    [
      'a comment that says why there is none',
      'def f():\n    # Explicitly not docstringed to remain private.\n    return 1\n',
      'f: is left alone: a comment',
    ],
    ['a syntax error', 'def f():\n    x = = 1\n', 'f: is left alone: its source has syntax errors'],
  ])('%s', (_name, source, expected, path?: string) => {
    expect(exemptions(source, path).join('\n')).toContain(expected)
  })

  it('has no objection to a decorator that is given a class or a value', () => {
    const source = 'class A: pass\nx = 1\n@registry.register(A)\ndef f(): return 1\n@cached(x)\ndef g(): return 1\n'
    expect(exemptions(source).filter((line) => !line.startsWith('A'))).toEqual(['f: workable', 'g: workable'])
  })

  it('takes the texts below attributes for theirs where several have one, and a text further down for neither', () => {
    const source =
      'class A:\n    x = 1\n    """The x."""\n    y = 1\n    """The y."""\n\n\nclass B:\n    def f(self): return 1\n    """End."""\n'
    expect(exemptions(source)).toEqual(['A: workable', 'B: workable', 'B.f: workable'])
  })

  it('leaves the stubs of a protocol alone, and describes its class and what has a body', () => {
    const source =
      'class Reads(Protocol[T]):\n    def read(self) -> T: ...\n    @property\n    def size(self) -> int: ...\n    def all(self):\n        return [self.read()]\n'
    expect(exemptions(source)).toEqual([
      'Reads: workable',
      'Reads.read: needs no docstring: it is a stub of a protocol',
      'Reads.size: needs no docstring: it is a stub of a protocol',
      'Reads.all: workable',
    ])
  })
})

describe('what a file reads of docstrings', () => {
  it.each([
    ['its own class', 'class A:\n    def help(self):\n        return self.__doc__\n', 'class A'],
    ['what it is given', 'def help(f):\n    return f.__doc__.strip()\n', 'values f'],
    ['what it is given, by getattr', 'def help(f):\n    return getattr(f, "__doc__", "")\n', 'values f'],
    ['a function it imports', 'from shop import price\nassert price.__doc__ is None\n', 'name price'],
    ['a method it imports', 'import shop\nshop.Cart.add.__doc__.upper()\n', 'name add'],
    ['source text', 'from shop import price\ninspect.getsource(price)\n', 'name price'],
  ])('%s', (_name, source, expected) => {
    expect(factsOf(source).reads.map(({ of, name }) => `${of} ${name}`)).toEqual([expected])
  })

  it.each([
    ['a copy from one object to another', 'def wrap(f):\n    g.__doc__ = f.__doc__\n'],
    ['the docstring of the module', 'parser = ArgumentParser(description=__doc__)\n'],
    [
      'a mention in a comment or a text',
      'def f():\n    """Reads x.__doc__."""\n    # y.__doc__\n    return "z.__doc__"\n',
    ],
  ])('is not %s', (_name, source) => {
    expect(factsOf(source).reads).toEqual([])
  })

  it('tells what it hands on from what it calls or looks at', () => {
    const source =
      'from shop import price, Cart, tax\ndef f(): ...\nregister(f)\nTABLE = {"p": price, "c": [cart.add]}\ntax(1)\nisinstance(x, Cart)\nclass B(Cart): ...\nlocal(argument)\n'
    expect(factsOf(source).values.toSorted()).toEqual(['.add', 'f', 'price'])
  })
})
