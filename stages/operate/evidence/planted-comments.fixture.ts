import { defaultTextStyle } from '#domain/path-rules.ts'
import type { PlantedHarm } from './planted-harms.fixture.ts'
import { defaultPathRules } from '#domain/path-rules.ts'

const doc = '/** Do it. */\n'

/** Harms to comments of other languages than Python. */
const keptComments: PlantedHarm[] = [
  {
    harm: 'a comment lost',
    path: 'a.go',
    before: 'package a\n\n// why\nfunc F() {}\n',
    after: 'package a\n\nfunc F() {}\n',
    says: 'line 3: the comment "// why" is gone',
  },
  {
    harm: 'a comment at other code',
    path: 'a.rs',
    before: '// why\nfn f() {}\nfn g() {}\n',
    after: 'fn f() {}\n// why\nfn g() {}\n',
    says: 'not at its code',
  },
  {
    harm: 'a directive that is about a comment now',
    path: 'a.ts',
    before: '// @ts-expect-error wrong\nexport const f = () => g()\n',
    after: `// @ts-expect-error wrong\n${doc}export const f = () => g()\n`,
    says: 'line 1: the comment "// @ts-expect-error wrong" is not on the line of the same code',
  },
  {
    harm: 'a constraint of a build that stands behind code',
    path: 'a.go',
    before: '//go:build linux\n\npackage a\n',
    after: 'package a\n\n//go:build linux\n',
    says: 'not at its code',
  },
  {
    harm: 'a new comment that cgo compiles',
    path: 'a.go',
    before: 'package a\n\nimport "C"\n',
    after: 'package a\n\n// int x = 1;\nimport "C"\n',
    says: 'line 3: the comment "// int x = 1;" is new, and cgo compiles',
  },
  {
    harm: 'a comment that cgo compiles without the empty line below it',
    path: 'a.go',
    before: 'package a\n\nimport (\n\t/* int x; */\n\n\t"C"\n)\n',
    after: 'package a\n\nimport (\n\t/* int x; */\n\t"C"\n)\n',
    says: 'is at import "C" now',
  },
  {
    harm: 'a new comment that a linter obeys',
    path: 'a.js',
    before: 'f()\n',
    after: '/* eslint-disable no-undef */\nf()\n',
    says: 'line 1: the comment "/* eslint-disable no-undef */" is new',
  },
  {
    harm: 'the end of a comment, in escapes that the compiler translates first',
    path: 'A.java',
    before: 'class A { }\n',
    after: '// a \\u000a int b;\nclass A { }\n',
    says: 'translates',
  },
  {
    harm: 'a comment that says in which encoding the file is to be read',
    path: 'a.rb',
    before: 'x = 1\n',
    after: '# fileencoding: utf-7\nx = 1\n',
    says: 'encoding',
  },
  {
    harm: 'a comment behind other code on its line',
    path: 'A.java',
    before: 'class A {\n  int a; // one\n  int b;\n}\n',
    after: 'class A {\n  int a;\n  int b; // one\n}\n',
    says: 'not at its code',
  },
].map((harm) => ({ check: 'comments_kept' as const, ...harm }))

const keptLines: PlantedHarm[] = [
  {
    check: 'line_length',
    harm: 'a comment of a line that is too long',
    path: 'a.ts',
    before: 'f()\n',
    after: `/** ${'word '.repeat(20)}*/\nf()\n`,
    rules: { ...defaultPathRules, text: { ...defaultTextStyle, lineLength: 80 } },
    says: 'line 1: it has 106 characters, 80 are allowed',
  },
]

const hiddenCode: PlantedHarm[] = [
  ['a statement behind a CR in a comment', 'a.py', 'x = 1\n', 'x = 1  # a\ry = 2\n', 'U+000D is new'],
  [
    'a text that shows another order than it has',
    'a.go',
    'package a\n',
    'package a\n\n// a \u202e b\n',
    'U+202E is new',
  ],
].map(([harm = '', path = '', before = '', after = '', says = '']) => {
  return { check: 'parses' as const, harm, path, before, after, says }
})

/** Refused by a check that any change has to pass. */
export const plantedComments: readonly PlantedHarm[] = [...keptComments, ...keptLines, ...hiddenCode]

const codeHarms: PlantedHarm[] = [
  ['a function that does something else', 'a.ts', 'const f = () => 1\n', `${doc}const f = () => 2\n`],
  [
    'a statement that a line break ends',
    'a.js',
    'function f() { return (1) }\n',
    'function f() { return /*\n*/ (1) }\n',
  ],
  ['a blank in a text', 'a.js', 'f(`a ${b} c`)\n', 'f(`a ${b}  c`)\n'],
  ['code that became a comment', 'a.go', 'package a\n\nvar x = 1\n', 'package a\n\n// var x = 1\n'],
  ['a comment that became code', 'a.rs', '// #[inline]\nfn f() {}\n', '#[inline]\nfn f() {}\n'],
  ['an attribute lost', 'a.rs', '#[inline]\nfn f() {}\n', '/// Do it.\nfn f() {}\n'],
  ['a modifier lost', 'A.java', 'class A { private int a; }\n', 'class A { int a; }\n'],
  ['an operator', 'A.java', 'class A { int a = 1 + 2; }\n', 'class A { int a = 1 - 2; }\n'],
  ['another level in a list', 'a.yaml', 'a:\n  - b\nc: 1\n', '# why\na:\n  - b\n  - c: 1\n'],
  ['a value that nothing takes any more', 'a.css', 'a { color: red; }\n', 'a { /* color: red; */ }\n'],
  ['code in another order', 'a.sh', 'a\nb\n', 'b\na\n'],
  ['a default', 'a.py', 'def f(x=1):\n    return x\n', 'def f(x=2):\n    """Do it."""\n    return x\n'],
].map(([harm = '', path = '', before = '', after = '']) => {
  return {
    check: 'docstring_only' as const,
    harm,
    path,
    before,
    after,
    says: path === 'a.py' ? '' : 'the code changes',
  }
})

/** Comments in which a compiler or a tool finds code, and our grammar does not. */
const trapHarms: PlantedHarm[] = [
  [
    'the end of the comment, escaped',
    'A.java',
    'class A { int a; }\n',
    '/** \\u002a\\u002f int b; /\\u002a */\nclass A { int a; }\n',
    'translates',
  ],
  ['an escape that is none', 'A.java', 'class A { }\n', '// C:\\users\nclass A { }\n', 'translates'],
  ['a line joined to the next one', 'a.c', 'int a;\n', '// in C:\\ \nint a;\n', 'joins a line'],
  ['a trigraph for the same', 'a.cpp', 'int a;\n', '// why??/\nint a;\n', 'joins a line'],
  ['the end of the comment over two lines', 'a.c', 'int a;\n', '/* a *\\\n/ int b; /* */\nint a;\n', 'joins a line'],
  ['the end of the code', 'a.php', '<?php\nf();\n', '<?php\n// a ?> b\nf();\n', ''],
  ['a comment that ends at once', 'a.html', '<p>a</p>\n', '<!--> a -->\n<p>a</p>\n', 'a browser would end'],
  ['another end', 'a.html', '<p>a</p>\n', '<!-- a --!> b -->\n<p>a</p>\n', 'a browser would end'],
  ['the end of a script', 'a.js', 'f()\n', '/* </script> */\nf()\n', 'take this for its own'],
  [
    'a mark that compilers obey',
    'a.ts',
    'export const a = 1\n',
    '/** It is @internal to us. */\nexport const a = 1\n',
    'obey this anywhere',
  ],
  [
    'code that rustdoc runs',
    'a.rs',
    'fn f() {}\n',
    '/// Do it.\n///\n/// ~~~\n/// f()\n/// ~~~\nfn f() {}\n',
    'run as a test',
  ],
  ['code in a quotation', 'a.rs', 'fn f() {}\n', '/// > ```\n/// > f()\nfn f() {}\n', 'run as a test'],
  ['a directive', 'a.go', 'package a\n\ntype T int\n', 'package a\n\n//sumtype:decl\ntype T int\n', 'obey this'],
  [
    'the output of an example',
    'a.go',
    'package a\n\nfunc ExampleF() {\n\tF()\n}\n',
    'package a\n\nfunc ExampleF() {\n\tF()\n\t// Output: 1\n}\n',
    'go test compares',
  ],
  ['a line that only some programs end', 'a.cs', 'class A { }\n', '// a\x85 b\nclass A { }\n', 'U+0085 is new'],
  ['a comment that a CR ends', 'a.py', 'x = 1\n', 'x = 1  # a\ry = 2\n', 'U+000D is new'],
  [
    'an example that doctest runs',
    'a.py',
    'def f():\n    return 1\n',
    'def f():\n    """Do it.\n\n    >>> f()\n    1\n    """\n    return 1\n',
    'is run by',
  ],
].map(([harm = '', path = '', before = '', after = '', says = '']) => {
  return { check: 'docstring_only' as const, harm, path, before, after, says }
})

const signature = 'export function f(a: string, b = 1): void {}\n'
const commented = (...lines: string[]) => `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n${signature}`
const python = 'def f(a, b=1):\n    return a\n'
const inPython = (text: string) => `def f(a, b=1):\n    """Do it.\n\n${text}    """\n    return a\n`

const parameterHarms: PlantedHarm[] = [
  [
    'a parameter left out',
    'a.ts',
    signature,
    commented('Do it.', '', '@param a - one'),
    'line 1: its parameters are not those of the signature: b is missing',
  ],
  [
    'a parameter that there is not',
    'a.ts',
    signature,
    commented('@param a - one', '@param b - two', '@param c - three'),
    'c is no parameter',
  ],
  ['another order', 'a.ts', signature, commented('@param b - two', '@param a - one'), 'another order'],
  ['a result of nothing', 'a.ts', signature, commented('@returns it'), 'nothing is returned'],
  [
    'a parameter left out in Python',
    'a.py',
    python,
    inPython('    Args:\n        a: One.\n'),
    'line 2: its parameters are not those of the signature: b is missing',
  ],
  [
    'a parameter that there is not, in numpy style',
    'a.py',
    python,
    inPython(
      '    Parameters\n    ----------\n    a, b : int\n        Both.\n    c : int\n        None.\n\n    Returns\n    -------\n    int\n',
    ),
    'c is no parameter',
  ],
  [
    'a first parameter of a function called self',
    'a.py',
    'def f(self, a):\n    return a\n',
    'def f(self, a):\n    """Do it.\n\n    Args:\n        a: One.\n    """\n    return a\n',
    'self is missing',
  ],
  [
    'the same of a static method',
    'a.py',
    'class A:\n    @staticmethod\n    def f(cls, a):\n        return a\n',
    'class A:\n    @staticmethod\n    def f(cls, a):\n        """Do it.\n\n        Args:\n            a: One.\n        """\n        return a\n',
    'cls is missing',
  ],
  [
    'a parameter left out below tabs',
    'a.py',
    'def f(a, b):\n\treturn a\n',
    'def f(a, b):\n\t"""Do it.\n\n    Args:\n\t\ta: One.\n\t"""\n\treturn a\n',
    'b is missing',
  ],
  [
    'another order in Sphinx style',
    'a.py',
    python,
    inPython('    :param int b: Two.\n    :param a: One.\n'),
    'another order than the signature has: a, b',
  ],
].map(([harm = '', path = '', before = '', after = '', says = '']) => {
  return { check: 'parameters_documented' as const, harm, path, before, after, says }
})

/** Refused by a check of bundles that write docstrings; they harm nothing that any change has to keep, or change code. */
export const plantedDocs: readonly PlantedHarm[] = [...codeHarms, ...trapHarms, ...parameterHarms]
