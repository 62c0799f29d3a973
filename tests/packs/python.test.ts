import { describePack } from './describe-pack.fixture.ts'

describePack('python', [
  ['a function', 'def f(a, b):\n    return a\n', ['function f 1-2']],
  ['an async function', 'async def f():\n    await g()\n', ['function f 1-2']],
  ['a method once, as a method only', 'class A:\n    def m(self):\n        pass\n', ['class A 1-3', 'method A.m 2-3']],
  [
    'decorators as part of what they decorate',
    '@one\n@two(3)\nclass A:\n    @property\n    async def m(self): ...\n\n@dec\ndef f(): ...\n',
    ['class A 1-5', 'method A.m 4-5', 'function f 7-8'],
  ],
  [
    'a function in a method as a function',
    'class A:\n    def m(self):\n        def inner():\n            pass\n        return inner\n',
    ['class A 1-5', 'method A.m 2-5', 'function A.m.inner 3-4'],
  ],
  [
    'nested functions and classes under their qualified names',
    'def outer():\n    class Local:\n        def m(self): pass\n    def inner(): pass\n',
    ['function outer 1-4', 'class outer.Local 2-3', 'method outer.Local.m 3-3', 'function outer.inner 4-4'],
  ],
  [
    'conditional definitions, in a class still as methods',
    'if X:\n    def f(): pass\nelse:\n    def f(): pass\nclass A:\n    if X:\n        def m(self): pass\n',
    ['function f 2-2', 'function f 4-4', 'class A 5-7', 'method A.m 7-7'],
  ],
  ['no lambda', 'f = lambda x: x\ng = [lambda: 1]\n', []],
  [
    'no comment that trails behind the last statement',
    'class A:\n    def m(self):\n        return 1\n        # still indented\n\n    # between\n# outside\nx = 1\n',
    ['class A 1-3', 'method A.m 2-3'],
  ],
  [
    'a last statement over several lines to its end',
    'def f():\n    """Doc."""\n    return g(\n        1,\n    )  # why\n\n\ndef g(): return """\na\n"""\n',
    ['function f 1-5', 'function g 8-10'],
  ],
  [
    'what parses around a syntax error',
    'def good():\n    pass\n\ndef bad(:\n    pass\n\nclass After:\n    def m(self): pass\n',
    ['function good 1-2', 'class After 7-8', 'method After.m 8-8'],
  ],
  ['definitions after a form feed', '\fdef f():\n    pass\n\f\ndef g(): pass\n', ['function f 1-2', 'function g 4-4']],
  ['a file that ends without a line feed', 'def f():\n    pass', ['function f 1-2']],
  ['nothing in an empty file', '', []],
])
