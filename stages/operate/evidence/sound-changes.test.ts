import { describe, expect, it } from 'vitest'
import { draws, fc } from '#testing/fast-check.ts'
import { changeChecks } from '#domain/checks.ts'
import { defaultPathRules, type PathRules } from '#domain/path-rules.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { selecting } from './planted-harms.fixture.ts'
import { testEvidence } from './test-evidence.fixture.ts'

const { checker } = await testEvidence({ limitMs: 60_000 })

async function refusalsOf(before: string, after: string, { path = 'a.py', rules = wideRules } = {}) {
  const evidence = await checker.check({ path, before, after, rules }, changeChecks)
  return evidence.filter((one) => !one.ok).map(({ check, detail }) => `${check}: ${detail}`)
}

describe('a change that does no harm passes every check', () => {
  const noisy = 'x = 1  # noqa: E501\n\n\ndef f(a, b):  # type: ignore\n    # why\n    return 1 == a and b\n    # end\n'
  it.each([
    ['an import that nothing uses goes', 'import os\nimport sys\n\nprint(sys)\n', 'import sys\n\nprint(sys)\n'],
    [
      'the import below the lines that the system and Python read',
      '#!/usr/bin/python\n# coding: utf-8\nimport os\nimport sys\n\nprint(sys)\n',
      '#!/usr/bin/python\n# coding: utf-8\nimport sys\n\nprint(sys)\n',
    ],
    ['one of two names', 'from a import b, c\n\nprint(c)\n', 'from a import c\n\nprint(c)\n'],
    ['an import that is there twice', 'import os\nimport os\n\nprint(os)\n', 'import os\n\nprint(os)\n'],
    ['imports on one line', 'import os, sys\n\nprint(os, sys)\n', 'import os\nimport sys\n\nprint(os, sys)\n'],
    [
      'imports on one line below a comment',
      '# why\nimport os, sys\n\nprint(os, sys)\n',
      '# why\nimport os\nimport sys\n\nprint(os, sys)\n',
    ],
    [
      'the import below a licence',
      '# Free.\n# Very.\n\nimport os\nimport sys\n\nprint(sys)\n',
      '# Free.\n# Very.\n\nimport sys\n\nprint(sys)\n',
    ],
    [
      'a format that becomes an f-string',
      'def f(x):\n    # why\n    return "{}".format(x)\n',
      'def f(x):\n    # why\n    return f"{x}"\n',
    ],
    ['an obsolete feature', 'from __future__ import print_function\n\nprint(1)\n', '\nprint(1)\n'],
    [
      'calls, attributes and items that stay in their order',
      'def f(x, y):\n    x.a[y()] = setattr(y, "b", [x(i.c) for i in x.d] if x.e else lambda: y.f)\n',
      'def f(x, y):\n    x.a[y()] = setattr(y, "b", [x(i.c) for i in x.d] if x.e else (lambda: y.f))\n',
    ],
    [
      'a type that is asked for once',
      'def f(x, y):\n    return isinstance(x.a, y.b) or isinstance(x.a, y.c)\n',
      'def f(x, y):\n    return isinstance(x.a, (y.b, y.c))\n',
    ],
    [
      'a loop instead of a function',
      'def f(x, y):\n    return map(lambda z: z.a, x.b)\n',
      'def f(x, y):\n    return (z.a for z in x.b)\n',
    ],
    [
      'a list instead of a call',
      'def f(x):\n    return list(i.a for i in x())\n',
      'def f(x):\n    return [i.a for i in x()]\n',
    ],
    [
      'a class that is raised without brackets',
      'def f():\n    raise ValueError()\n',
      'def f():\n    raise ValueError\n',
    ],
    [
      'an assertion that is a statement',
      'def f(self, x):\n    self.assertEqual(x(1), 2)\n',
      'def f(self, x):\n    assert x(1) == 2\n',
    ],
    ['a name that is another one now', 'def f(log, x):\n    log.warn(x())\n', 'def f(log, x):\n    log.warning(x())\n'],
    [
      'a call that has a statement of its own now',
      'def f(x, y):\n    return x() + y()\n',
      'def f(x, y):\n    z = x()\n    return z + y()\n',
    ],
    ['a prefix without use', 'print(f"a")  # why\n', 'print("a")  # why\n'],
    ['an object as base', 'class A(object):  # why\n    x = 1\n', 'class A:  # why\n    x = 1\n'],
    ['a double negation', 'def f(a, b):\n    return not a == b\n', 'def f(a, b):\n    return a != b\n'],
    ['not in', 'def f(a, b):\n    return not a in b\n', 'def f(a, b):\n    return a not in b\n'],
    ['a literal compared by is', 'def f(a):\n    return a is 1\n', 'def f(a):\n    return a == 1\n'],
    ['pass beside a docstring', 'class A:\n    """A."""\n    pass\n', 'class A:\n    """A."""\n'],
    [
      'a handler’s alias',
      'try:\n    print(1)\nexcept IOError:\n    print(2)\n',
      'try:\n    print(1)\nexcept OSError:\n    print(2)\n',
    ],
    ['a shorter text among comments', noisy, noisy.replace('x = 1', 'x = 2')],
    [
      'an address of one word in a docstring',
      'def f():\n    return 1\n',
      `def f():\n    """Do.\n\n    https://${'x'.repeat(100)}\n    """\n    return 1\n`,
    ],
    ['a line that was too long', `x = "${'a b '.repeat(30)}"\n`, `y = x = "${'a b'.repeat(30)}"\n`],
    [
      'a call whose result nothing took',
      'def f(x):\n    y = x()\n    return 1\n',
      'def f(x):\n    x()\n    return 1\n',
    ],
    ['a value that nothing took before', 'def f(x):\n    x\n    y = 1\n', 'def f(x):\n    x\n    return 1\n'],
    [
      'a comparison that nothing took before',
      'def f(x):\n    x == None\n    y = 1\n',
      'def f(x):\n    x is None\n    y = 1\n',
    ],
    ['a docstring of an attribute', 'class A:\n    x = 1\n', 'class A:\n    x = 1\n    """X."""\n'],
    ['a file that is new', '', 'def f():\n    return 1\n'],
  ])('%s', async (_what, before, after) => {
    expect(await refusalsOf(before, after)).toEqual([])
  })

  it('faults move with their lines, also where their message names another line', async () => {
    const faults =
      'import cmd\n\n\ndef f():\n    import json\n    import json\n    return json == None\n\n\ndef f():\n    return 1\n'
    const moved = faults.replace('import cmd\n\n\n', '').replace('return 1', '"""One."""\n    return 1')
    expect(await refusalsOf(faults, moved, { rules: defaultPathRules })).toEqual([])
  })

  it('faults move with an import that is sorted', async () => {
    const before = 'from typing import Dict\nimport os\nimport abc\n\nprint(Dict, os, abc)\n'
    const after = 'import abc\nimport os\nfrom typing import Dict\n\nprint(Dict, os, abc)\n'
    expect(await refusalsOf(before, after, { rules: selecting(['I001', 'UP035']) })).toEqual([])
  })

  it('faults move with an import that is sorted, also where its names are', async () => {
    const before = 'from typing import Dict, Any\nimport os\nimport abc\n\nprint(Dict, Any, os, abc)\n'
    const after = 'import abc\nimport os\nfrom typing import Any, Dict\n\nprint(Dict, Any, os, abc)\n'
    expect(await refusalsOf(before, after, { rules: selecting(['I001', 'UP035']) })).toEqual([])
  })

  it('in a file of another language, as far as it can be checked', async () => {
    const source = '// why\nexport const a = 1 // what\n'
    expect(await refusalsOf(source, source.replace('1', '2'), { path: 'a.js' })).toEqual([])
    // It begins as the name of a tool does.
    expect(await refusalsOf(source, `/** Sonar distance in metres. */\n${source}`, { path: 'a.js' })).toEqual([])
    expect(await refusalsOf(source, 'export const a = 1 // what\n', { path: 'a.js' })).toEqual([
      'comments_kept: line 1: the comment "// why" is gone',
    ])
  }, 60_000)
})

const name = fc.constantFrom('alpha', 'beta', 'gamma', 'delta')
const simple = fc.oneof(
  name.map((one) => `${one} = 1`),
  fc.tuple(name, name).map(([one, other]) => `print(1 == ${one} and ${other} < 2)`),
  name.map((one) => `${one}()  # type: ignore`),
  name.map((one) => `# about ${one}\n${one} += 1`),
  fc.constant('pass'),
  fc.constant('from gone import nothing'),
  fc.constant(`print("${'long '.repeat(20)}")`),
)
const indented = (text: string) => text.replaceAll(/^(?=.)/gm, '    ')
const block = (head: string, body: string[]) => `${head}\n${indented(body.join('\n'))}`
const { statement } = fc.letrec<{ statement: string }>((tie) => ({
  statement: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    simple,
    fc
      .tuple(name, fc.array(tie('statement'), { minLength: 1, maxLength: 3 }))
      .chain(([one, body]) =>
        fc.constantFrom(
          block(`def ${one}(x):  # noqa`, body),
          block(`class ${one}:`, [...body, '# the end']),
          `${block(`if ${one}:`, body)}\n${block('else:', body)}`,
          `${block('try:', body)}\n${block('except ValueError:', ['pass'])}`,
        ),
      ),
  ),
}))
const module = fc.array(statement, { minLength: 1, maxLength: 6 }).map((parts) => `${parts.join('\n')}\n`)

/** Prints its seed when it fails: play it again with `fc.assert(property, { seed, path })`. */
const slow = 120_000
const runs = { numRuns: draws(25) }
const rules: PathRules = wideRules

describe('of any text', () => {
  it(
    'the same text passes every check',
    async () => {
      await fc.assert(
        fc.asyncProperty(module, async (text) => {
          expect(await refusalsOf(text, text, { rules })).toEqual([])
        }),
        runs,
      )
    },
    slow,
  )

  it(
    'a docstring inserted at the start of a function passes every check',
    async () => {
      await fc.assert(
        fc.asyncProperty(module, module, statement, async (above, below, body) => {
          const before = `${above}def documented(x):\n${indented(body)}\n    return x\n${below}`
          const after = before.replace('documented(x):\n', 'documented(x):\n    """Answer.\n\n    More.\n    """\n')
          expect(await refusalsOf(before, after, { rules })).toEqual([])
        }),
        runs,
      )
    },
    slow,
  )

  it(
    'an import that nothing uses or needs may go',
    async () => {
      await fc.assert(
        fc.asyncProperty(module, module, async (above, below) => {
          const before = `${above}import unneeded\n${below}`
          expect(await refusalsOf(before, above + below, { rules })).toEqual([])
        }),
        runs,
      )
    },
    slow,
  )

  it(
    'a comment lost is found, wherever it is',
    async () => {
      await fc.assert(
        fc.asyncProperty(module, module, async (above, below) => {
          const refusals = await refusalsOf(`${above}# lost\n${below}`, above + below, { rules })
          expect(refusals).toEqual([expect.stringContaining('the comment "# lost" is gone')])
        }),
        runs,
      )
    },
    slow,
  )
})
