import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { findPython } from './python-ast.ts'
import { measureAgreement } from './measure-agreement.ts'

const pythonless = lacks('python3')
const python = pythonless ? undefined : await findPython('python3')
let top: string

beforeAll(async () => {
  top = await mkdtemp(join(tmpdir(), 'remora-agreement-'))
})
afterAll(() => rm(top, { recursive: true }))

const bom = '\uFEFF'
const plain =
  '@dec\nclass A:\n    @one\n    @two(3)\n    async def m(self):\n        pass  # said\n        # trails\n\nx = 1\n'

/** What Python files hold that is easy to count wrongly, one file each. */
const sources: Record<string, string | Uint8Array> = {
  'plain.py': plain,
  'bom.py': bom + plain,
  'bom_at_once.py': `${bom}def f(): pass\n`,
  'crlf.py': plain.replaceAll('\n', '\r\n'),
  'bom_crlf.py': bom + plain.replaceAll('\n', '\r\n'),
  'form_feed.py': 'def f():\n    pass\n\f\nclass A:\n\f    def m(self): pass\n\f\n    def n(self): pass\n',
  'tabs.py': 'class A:\n\tdef m(self):\n\t\tif x:\n\t\t\tdef inner(): pass\n\t\treturn 1\n',
  'tabs_and_spaces.py': 'class A:\n\tdef m(self):\n\t    pass\n\tdef n(self): pass\n',
  'cookie.py': '# -*- coding: latin-1 -*-\ndef f(): return "plain"\n',
  'cookie_lies.py': '# -*- coding: latin-1 -*-\ndef f(): return "é" + "😀"\ndef g(): return "é"\n',
  'cookie_says_utf8.py': '#!/usr/bin/env python\n# vim: set fileencoding=utf-8 :\ndef é(): return "😀"\n',
  'emoji.py': 'x = "😀"\ndef f(): return "😀"\ny = "e\u0301"; z = 1\nclass Ünïcode:\n    def m(self): return "😀"\n',
  'compatible_names.py': 'def ﬁ(): pass\ndef fi(): pass\n',
  'one_line.py': 'def f(): pass; x = 1;\nclass A: a = 1;  # said\nif x: y = 1\n',
  'conditional.py':
    'if X:\n    def f(): pass\nelif Y:\n    def f(): return 1\nelse:\n    class f: pass\ntry:\n    def g(): pass\nexcept E:\n    def g(): pass\nfinally:\n    def h(): pass\n',
  'match.py':
    'def f(x):\n    match x:\n        case [1, *_]:\n            def g(): pass\n        case _:\n            class C: pass\n',
  'duplicates.py':
    'class A:\n    @property\n    def x(self): pass\n    @x.setter\n    def x(self, v): pass\nclass A:\n    def x(self): pass\n',
  'nested.py':
    'def a():\n    class B:\n        def c(self):\n            async def d():\n                class E:\n                    def f(self): pass\n            return d\n    return B\n',
  'decorators.py':
    '@a . b\n@ (c)\n@d[0](\n  1,\n)\n\n# between\n@(yield_ := e)\ndef f(): pass\n@dec  # said\n\nclass A: pass\n',
  'strings.py':
    'x = """\ndef no(): pass\n"""\ndef f():\n    """Says.\n\n    def no(): pass\n    """\ndef g(): f"{1 + 1}"\n',
  'continued.py': 'def f(a, \\\n      b): \\\n    return a\nclass A(B,\n        C): pass\n\\\n\ndef g(): pass\n',
  'no_line_end.py': 'def f():\n    return 1',
  'comment_last.py': 'class A:\n    def m(self):\n        pass\n        # last, without a line end',
  'lambdas.py': 'f = lambda: 0\nclass A:\n    g = lambda self: [h for h in self]\n',
  'walrus.py': 'def f(a=(b := 1), /, *, c: int = 2, **d) -> "int": return (yield)\n',
  'empty.py': '',
  'only_comment.py': '# nothing\n',
}

describe.skipIf(pythonless)(`discovery and the ast of Python ${python?.version ?? ''}`, () => {
  it('agree on everything that is easy to count wrongly', async () => {
    for (const [name, source] of Object.entries(sources)) await writeFile(join(top, name), source)
    const { differences, apart, files } = await measureAgreement(top, 'python3')
    expect(differences).toEqual([])
    expect(apart).toEqual([])
    expect(files).toBe(Object.keys(sources).length)
  })

  it('count apart what one of them does not read, with the reason', async () => {
    await writeFile(join(top, 'latin.py'), Buffer.from('def \xe9(): pass\n', 'latin1'))
    await writeFile(join(top, 'declared.py'), Buffer.from('# coding: latin-1\ndef \xe9(): pass\n', 'latin1'))
    await writeFile(join(top, 'two.py'), 'print "two"\n')
    const { apart, differences } = await measureAgreement(top, 'python3')
    expect(differences).toEqual([])
    expect(apart).toEqual([
      { path: 'latin.py', reason: 'not UTF-8', files: 1 },
      { path: 'two.py', reason: expect.stringMatching(/^ast refuses it: SyntaxError/), files: 1 },
    ])
  })

  it.each(['asyncio', 'email', 'importlib', 'unittest'])('agree on all of %s', { timeout: 60_000 }, async (name) => {
    const { differences, definitions } = await measureAgreement(join(python?.library ?? '', name), 'python3')
    expect(differences).toEqual([])
    expect(definitions).toBeGreaterThan(100)
  })
})
