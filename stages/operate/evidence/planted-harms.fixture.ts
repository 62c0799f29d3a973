import type { TextCheck } from '#domain/checks.ts'
import { defaultPathRules, type PathRules } from '#domain/path-rules.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { evaluationHarms } from './planted-evaluations.fixture.ts'

/** A harmful change, and the one check that detects it. */
export type PlantedHarm = {
  check: TextCheck
  harm: string
  before: string
  after: string
  path?: string
  rules?: PathRules
  /** What the evidence says of it. */
  says: string
}

export const selecting = (select: string[], options: Record<string, unknown> = {}): PathRules => ({
  ...defaultPathRules,
  lint: { ...defaultPathRules.lint, options: { ...options, lint: { select } } },
})
const withText = (text: Partial<PathRules['text']>, rules = defaultPathRules): PathRules => ({
  ...rules,
  text: { ...rules.text, ...text },
})
const long = (length: number) => `print("a b ${'x'.repeat(length - 13)}")\n`

const lintHarms: PlantedHarm[] = [
  {
    check: 'parses',
    harm: 'a text that does not parse',
    before: 'print(1)\n',
    after: 'print(1\n',
    says: 'unexpected EOF',
  },
  {
    check: 'parses',
    harm: 'a character that the declared encoding reads as others',
    before: '# coding: latin-1\nprint("-")\n',
    after: '# coding: latin-1\nprint("—")\n',
    says: 'encoding',
  },
  {
    check: 'parses',
    harm: 'a declared encoding in which a comment is code',
    before: 'x = 1\n',
    after: '# coding: utf-7\n# hello +AAo-print(6*7)\nx = 1\n',
    says: 'encoding',
  },
  {
    check: 'parses',
    harm: 'code in a comment of a file that has such an encoding',
    before: '# coding: unicode_escape\nx = 1\n',
    after: '# coding: unicode_escape\n# \\u000aprint(6*7)\nx = 1\n',
    says: 'encoding',
  },
  {
    check: 'parses',
    harm: 'half a character, which UTF-8 cannot write',
    before: 'print("\u{1f600} \ufffd")\n',
    after: 'print("\ufffd \ufffd")\n',
    says: 'line 1: U+FFFD is new: half a character was lost',
  },
  {
    check: 'parses',
    harm: 'an escape that became the character itself',
    before: 'print(r"\\bword")\n',
    after: 'print(r"\bword")\n',
    says: 'line 1: U+0008 is new',
  },
  {
    check: 'lint_before_after',
    harm: 'an undefined name, paid for by a fault that was mended',
    before: 'import os\n\nprint(1)\n',
    after: '\nprint(undefined)\n',
    says: 'line 2: F821 Undefined name `undefined`',
  },
  {
    check: 'lint_before_after',
    harm: 'a fault that was mended in one place and made in another',
    before: 'def f(x, y):\n    if x == None:\n        return 1\n    return y is None\n',
    after: 'def f(x, y):\n    if x is None:\n        return 1\n    return y == None\n',
    rules: wideRules,
    says: 'line 4: E711',
  },
  {
    check: 'lint_before_after',
    harm: 'two equal faults of which one moved on',
    before: 'def f(x, y, z):\n    print(x == None)\n    print(y == None)\n    print(1)\n    print(z)\n',
    after: 'def f(x, y, z):\n    print(x == None)\n    print(y is None)\n    print(1)\n    print(z == None)\n',
    rules: wideRules,
    says: 'line 5: E711',
  },
  {
    check: 'lint_before_after',
    harm: 'an import that nothing uses, where the repository does not look for any',
    before: 'print(1)\n',
    after: 'import os\nprint(1)\n',
    rules: selecting(['W605']),
    says: 'line 1: F401',
  },
  {
    check: 'lint_before_after',
    harm: 'a noqa comment that is of no use any more',
    before: 'def f(x):  # noqa: D103\n    return x\n',
    after: 'def f(x):  # noqa: D103\n    """Return it."""\n    return x\n',
    rules: selecting(['D103', 'RUF100']),
    says: 'line 1: RUF100',
  },
  {
    check: 'lint_before_after',
    harm: 'a fault that grew',
    before: long(100),
    after: long(120),
    rules: withText({ lineLength: 200 }, selecting(['E501'], { 'line-length': 88 })),
    says: 'E501 Line too long (120 > 88)',
  },
]

const commentHarms: PlantedHarm[] = [
  {
    harm: 'a comment lost',
    before: 'print(1)  # why\n',
    after: 'print(1)\n',
    says: 'line 1: the comment "# why" is gone',
  },
  {
    harm: 'a comment at another statement',
    before: 'print(1)  # why\nprint(2)\n',
    after: 'print(1)\nprint(2)  # why\n',
    says: 'not at its statement',
  },
  {
    harm: 'a comment above another statement, since its own went',
    before: '# to read lines\nimport cmd\nimport sys\nprint(sys)\n',
    after: '# to read lines\nimport sys\nprint(sys)\n',
    says: 'not at its statement',
  },
  {
    harm: 'a comment of one branch in the other',
    before: 'def f(x):\n    if x:\n        print(1)\n        # no more\n    else:\n        print(2)\n',
    after: 'def f(x):\n    if x:\n        print(1)\n    else:\n        # no more\n        print(2)\n',
    says: 'not at its statement',
  },
  {
    harm: 'a comment that left the end of its block',
    before: 'def f(x):\n    if x:\n        print(1)\n        # no more\n    print(2)\n',
    after: 'def f(x):\n    if x:\n        print(1)\n    # no more\n    print(2)\n',
    says: 'not at its statement',
  },
  {
    harm: 'a comment that blank lines set apart, in another place',
    before: '# one\n\nprint(1)\nprint(2)\n',
    after: 'print(1)\n# one\n\nprint(2)\n',
    says: 'not at its statement',
  },
  {
    harm: 'comments in another order',
    before: 'x = [\n    1,\n    # a\n    2,\n    # b\n]\n',
    after: 'x = [\n    1,\n    # b\n    2,\n    # a\n]\n',
    says: 'not at its statement',
  },
  {
    harm: 'a type: ignore on another line than its code',
    before: 'class A:\n    def f(self) -> int: ...  # type: ignore[override]\n',
    after: 'class A:\n    def f(self) -> int:\n        """Answer."""\n        ...  # type: ignore[override]\n',
    says: 'line 2: the comment "# type: ignore[override]" is not on the line of the same code',
  },
  {
    harm: 'a noqa that takes in other code',
    before: 'print(\n    1,  # noqa: E501\n    2,\n)\n',
    after: 'print(\n    1, 2,  # noqa: E501\n)\n',
    says: 'not on the line of the same code',
  },
  {
    harm: 'a new comment that hides faults',
    before: 'print(1)\n',
    after: 'print(1)  # noqa\n',
    says: 'line 1: the comment "# noqa" is new',
  },
  {
    harm: 'a declared encoding that left the first two lines',
    before: '#!/usr/bin/python\n# coding: utf-8\nprint(1)\n',
    after: '#!/usr/bin/python\n#\n#\n# coding: utf-8\nprint(1)\n',
    says: 'has left its line',
  },
].map((harm) => ({ check: 'comments_kept' as const, ...harm }))

const shapeHarms: PlantedHarm[] = [
  {
    check: 'line_length',
    harm: 'a line that is too long',
    before: 'print(1)\n',
    after: long(89),
    says: 'line 1: it has 89 characters, 88 are allowed',
  },
  {
    check: 'line_length',
    harm: 'a line that was too long and grew',
    before: long(89),
    after: long(90),
    says: '90 characters',
  },
  {
    check: 'line_length',
    harm: 'two lines that are too long for one that was',
    before: `${long(89)}print(1)\n`,
    after: `${long(89)}${long(89)}`,
    says: 'line 2',
  },
  {
    check: 'line_length',
    harm: 'a docstring over the limit for documents',
    before: 'def f():\n    return 1\n',
    after: `def f():\n    """Answer ${'one '.repeat(20)}."""\n    return 1\n`,
    rules: withText({ docLength: 72 }),
    says: '72 are allowed',
  },
  {
    check: 'bodies_kept',
    harm: 'a handler that does nothing any more',
    before: 'def f(x):\n    try:\n        x()\n    except ValueError:\n        x.close()\n',
    after: 'def f(x):\n    try:\n        x()\n    except ValueError:\n        pass\n',
    says: 'line 4: "except ValueError :" has lost its body',
  },
  {
    check: 'bodies_kept',
    harm: 'a function with only a docstring left',
    before: 'def f(x):\n    print(x)\n',
    after: 'def f(x):\n    """Print."""\n',
    says: 'has lost its body',
  },
  {
    check: 'bodies_kept',
    harm: 'a branch that is gone',
    before: 'def f(x):\n    if x:\n        x()\n    else:\n        x.close()\n',
    after: 'def f(x):\n    if x:\n        x()\n',
    says: 'line 4: "else :" is gone',
  },
  {
    check: 'bodies_kept',
    harm: 'a statement that left its branch',
    before: 'def f(x):\n    if x:\n        x()\n        x.close()\n',
    after: 'def f(x):\n    if x:\n        x()\n    x.close()\n',
    says: 'stands in another body',
  },
  {
    check: 'bodies_kept',
    harm: 'an else that belongs to another statement',
    before: 'def f(x, y):\n    if x:\n        if y:\n            x()\n    else:\n        y()\n',
    after: 'def f(x, y):\n    if x:\n        if y:\n            x()\n        else:\n            y()\n',
    says: 'stands in another body',
  },
  ...[
    ['a list that nothing takes', 'found = []', '[]'],
    ['a number that nothing takes', 'x = 5', '5'],
    ['a comparison that nothing takes', 'faster = x < y', 'x < y'],
    ['a name that nothing takes', 'z = x', 'x'],
  ].map(([harm = '', was = '', is = '']): PlantedHarm => ({
    check: 'bodies_kept',
    harm,
    before: `def f(x, y):\n    ${was}\n    return y\n`,
    after: `def f(x, y):\n    ${is}\n    return y\n`,
    says: `line 2: ${JSON.stringify(is === '[]' ? '[ ]' : is)} does nothing`,
  })),
]

const operandHarms: PlantedHarm[] = [
  { harm: 'swapped operands', before: 'def f(x):\n    return 1 == x\n', after: 'def f(x):\n    return x == 1\n' },
  {
    harm: 'swapped operands of which one was edited',
    before: 'def f(x, y):\n    return y.a == x[0]\n',
    after: 'def f(x, y):\n    return x[0].b == y.a\n',
  },
  {
    harm: 'a chain turned round',
    before: 'def f(x):\n    return 1 < x < 9\n',
    after: 'def f(x):\n    return 9 > x > 1\n',
  },
  {
    harm: 'what is asked first',
    before: 'def f(x, y):\n    return x and y and 1\n',
    after: 'def f(x, y):\n    return y and x and 1\n',
  },
  {
    harm: 'swapped operands in another statement',
    before: 'def f(x):\n    print(1 == x)\n    return 2\n',
    after: 'def f(x):\n    print(2)\n    return x == 1\n',
  },
].map((harm) => ({ check: 'operands_kept' as const, says: 'are swapped', ...harm }))

/** All harms but those to names and imports. */
export const plantedHarms: readonly PlantedHarm[] = [
  ...lintHarms,
  ...commentHarms,
  ...shapeHarms,
  ...operandHarms,
  ...evaluationHarms,
]
