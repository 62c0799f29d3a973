import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { hostileText } from '#languages/comments/hostile-texts.fixture.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import type { TextStyle } from '#domain/path-rules.ts'
import { testEvidence } from '#stages/operate/evidence/test-evidence.fixture.ts'
import { insertDocstring } from './insert-docstring.ts'

const { checker, linter, python } = await testEvidence()

/** No rule about fillers, which have tests of their own. */
const rules = { ...wideRules, lint: { ...wideRules.lint, ignored: ['PIE790'] } }

async function insert(source: string, docstring = 'Do it.', text: Partial<TextStyle> = {}): Promise<string> {
  const index = source.search(/^[ \f]*(@|async def |def |class )/m)
  const own = { ...rules, text: { ...rules.text, ...text } }
  const start = index + (/^[ \f]*/.exec(source.slice(index))?.[0].length ?? 0)
  const answer = await insertDocstring({ source, index: start, docstring, rules: own }, { python, linter })
  if (answer.kind === 'refused') return `refused: ${answer.reason}`
  const file = { path: 'a.py', before: source, after: answer.text, rules }
  const evidence = await checker.check(file, ['parses', 'docstring_only'])
  expect(evidence.map((one) => one.ok)).toEqual([true, true])
  return answer.text
}

describe('inserting a docstring', () => {
  const cases: [name: string, source: string, expected: string][] = [
    ['a plain body', 'def f(x):\n    return x\n', 'def f(x):\n    """Do it."""\n    return x\n'],
    [
      'a body on the same line, in a file whose first indented lines are in a text and in a call',
      'class A(B): pass\n\n\nTEXT = """\n  a\n"""\nx = dict(a=1,\n   b=2)\n\n\nclass C:\n    x = 1\n',
      'class A(B):\n    """Do it."""\n\n\nTEXT = """\n  a\n"""\nx = dict(a=1,\n   b=2)\n\n\nclass C:\n    x = 1\n',
    ],
    [
      'a body on the same line, in a file indented by two',
      'class A(B): pass\n\n\nclass C:\n  x = 1\n',
      'class A(B):\n  """Do it."""\n\n\nclass C:\n  x = 1\n',
    ],
    ['tabs', 'def f():\n\treturn 1\n', 'def f():\n\t"""Do it."""\n\treturn 1\n'],
    [
      'a file of LF whose first line ends in CRLF',
      'import os\r\n\ndef f():\n    return 1\n',
      'import os\r\n\ndef f():\n    """Do it."""\n    return 1\n',
    ],
    ['CRLF', 'def f():\r\n    return 1\r\n', 'def f():\r\n    """Do it."""\r\n    return 1\r\n'],
    ['a comment first', 'def f():\n    # why\n    return 1\n', 'def f():\n    """Do it."""\n    # why\n    return 1\n'],
    ['a comment after the colon', 'def f():  # x\n    return 1\n', 'def f():  # x\n    """Do it."""\n    return 1\n'],
    [
      'a signature of many lines',
      'def f(\n    a: int = {1: 2}[1],\n) -> int:\n    return a\n',
      'def f(\n    a: int = {1: 2}[1],\n) -> int:\n    """Do it."""\n    return a\n',
    ],
    [
      'two statements on the same line',
      'def f(x): x += 1; return x\n',
      'def f(x):\n    """Do it."""\n    x += 1; return x\n',
    ],
    ['only pass', 'def f():\n    pass\n', 'def f():\n    """Do it."""\n'],
    ['only an ellipsis', 'def f(x):\n    ...\n', 'def f(x):\n    """Do it."""\n    ...\n'],
    ['an empty line first', 'def f():\n\n    return 1\n', 'def f():\n    """Do it."""\n    return 1\n'],
    ['a form feed before the body', 'def f():\n\f    return 1\n', 'def f():\n    """Do it."""\n\f    return 1\n'],
    [
      'a form feed within the indentation',
      'class A:\n  \f    x = 1\n    y = 2\n',
      'class A:\n    """Do it."""\n\n  \f    x = 1\n    y = 2\n',
    ],
    [
      'a form feed before a body on the line of its definition',
      '\fdef f(): return 1\n',
      '\fdef f():\n    """Do it."""\n    return 1\n',
    ],
    ['no newline at the end', 'def f():\n    return 1', 'def f():\n    """Do it."""\n    return 1'],
    [
      'a nested definition first',
      'def f():\n    def g():\n        return 1\n    return g\n',
      'def f():\n    """Do it."""\n\n    def g():\n        return 1\n    return g\n',
    ],
    [
      'an f-string first, which is no docstring',
      "def f():\n    f'{1}'\n    return 1\n",
      'def f():\n    """Do it."""\n    f\'{1}\'\n    return 1\n',
    ],
    [
      'an empty docstring, which is replaced',
      'def f():\n    """ """\n    return 1\n',
      'def f():\n    """Do it."""\n    return 1\n',
    ],
    [
      'raw bytes first, which are no docstring',
      'def f():\n    rb"x"\n    return 1\n',
      'def f():\n    """Do it."""\n    rb"x"\n    return 1\n',
    ],
    ['a line continued after the colon', 'def f():\\\n    return 1\n', 'def f():\n    """Do it."""\n    return 1\n'],
    [
      'a comment that ends in a backslash',
      'def f():  # a \\\n    return 1\n',
      'def f():  # a \\\n    """Do it."""\n    return 1\n',
    ],
    ['an empty string in parentheses', 'def f():\n    ("")\n', 'def f():\n    """Do it."""\n'],
  ]
  it.each(cases)('finds the place with %s', async (_name, source, expected) => {
    expect(await insert(source)).toBe(expected)
  })

  it('sets a blank line between a class docstring and the body', async () => {
    expect(await insert('class A:\n    x = 1\n', 'Hold it.')).toBe('class A:\n    """Hold it."""\n\n    x = 1\n')
  })

  it('says what is returned by the field that the repository uses', async () => {
    const source = 'def f(x):\n    return x\n'
    const style = { docstringStyle: 'sphinx', docstringReturnField: 'return' } as const
    expect(await insert(source, 'Do it.\n\n:param x: The x.\n:returns: The x.', style)).toContain(
      '    :return: The x.\n',
    )
  })

  it('indents every line of a long docstring and keeps empty lines empty', async () => {
    const text = 'Do it.\n\nArgs:\n    x: The x.'
    expect(await insert('def f(x):\n    return x\n', text)).toBe(
      'def f(x):\n    """Do it.\n\n    Args:\n        x: The x.\n    """\n    return x\n',
    )
  })

  it('indents by tabs where the file does', async () => {
    const text = 'Do it.\n\nArgs:\n    x: The x.\n\n- One.\n  Two.'
    expect(await insert('def f(x):\n\treturn x\n', text)).toBe(
      'def f(x):\n\t"""Do it.\n\n\tArgs:\n\t\tx: The x.\n\n\t- One.\n\t  Two.\n\t"""\n\treturn x\n',
    )
  })

  it('writes a raw docstring when there is a backslash in it', async () => {
    expect(await insert('def f():\n    return 1\n', 'Match \\d.')).toContain('r"""Match \\d."""')
  })

  it('writes ASCII into a file that declares another encoding than UTF-8', async () => {
    const source = '# -*- coding: latin-1 -*-\ndef f():\n    return 1\n'
    expect(await insert(source)).toContain('    """Do it."""\n')
  })

  it('writes any text into a file that declares UTF-8', async () => {
    expect(await insert('# vim: set fileencoding=utf8 :\ndef f():\n    return 1\n', 'Do — it.')).toContain('Do — it.')
  })

  it('does not touch a source that cannot be linted', async () => {
    const source = `def f():\n    return 1\n\n\nx = a${'.b()'.repeat(30_000)}\n`
    await expect(insert(source)).rejects.toMatchObject({ code: 'TOOL_006' })
  })

  it('takes the quotes off that a model puts around its text', async () => {
    expect(await insert('def f():\n    return 1\n', '"""Do it."""')).toContain('    """Do it."""\n')
  })

  it.each([
    ['an existing docstring', 'def f():\n    """Good."""\n    return 1\n', 'Do it.', 'already has a docstring'],
    ['a docstring of two strings', 'def f():\n    "One. " "Two."\n', 'Do it.', 'already has a docstring'],
    ['a docstring in parentheses', 'def f():\n    ("One. "\n     "Two.")\n', 'Do it.', 'already has a docstring'],
    ['a dash in a file that declares ASCII', '# coding: ascii\ndef f():\n    return 1\n', 'Do — it.', 'ascii'],
    ['half an emoji', 'def f():\n    return 1\n', 'Do \ud83d it.', 'half a character'],
    ['an overload', '@typing.overload\ndef f(x: int) -> int: ...\n', 'Do it.', 'overload'],
    ['closing quotes inside', 'def f():\n    return 1\n', 'a """ b', '"""'],
    ['nothing', 'def f():\n    return 1\n', '  \n ', 'empty'],
    ['a control character', 'def f():\n    return 1\n', 'a\0b', 'control'],
    [
      'a line that shows another order than it has',
      'def f():\n    return 1\n',
      'a \u202e b',
      'control characters: U+202E',
    ],
    [
      'an example that doctest runs',
      'def f():\n    return 1\n',
      'Do it.\n\n>>> f()\n1',
      'is run by documentation tools',
    ],
    ['a backslash at the end', 'def f():\n    return 1\n', 'a\\', 'backslash'],
    ['a class with a slot for its own', "class A:\n    __slots__ = ('a', '__doc__')\n", 'Do it.', 'sets __doc__'],
    ['a class that assigns its own', 'class A:\n    x = 1\n    __doc__ = B.__doc__\n', 'Do it.', 'sets __doc__'],
    [
      'an ellipsis on the same line',
      'def f() -> int: ...  # type: ignore[override]\n',
      'Do it.',
      'declared on one line',
    ],
    ['a comment behind a body of one line', 'def f(): return 1  # type: ignore[override]\n', 'Do it.', 'comment'],
    ['a comment behind the only pass', 'def f():\n    pass  # hook\n', 'Do it.', 'pass with a comment'],
    ['a comment above the only pass', 'def f():\n    # why\n    pass\n', 'Do it.', 'pass with a comment'],
    ['a comment behind pass on one line', 'class A(B): pass  # why\n', 'Do it.', 'shares its line with a comment'],
    ['the setter of a property', '@x.setter\ndef x(self, to):\n    self.y = to\n', 'Do it.', 'setter'],
    ['an abstract stub', '@abc.abstractmethod\ndef f(self): ...\n', 'Do it.', 'abstract'],
    ['another style', 'def f(x):\n    return x\n', 'Do it.\n\n:param x: The x.', 'google style here: "Args:"'],
    ['a broken definition', 'def f(:\n    return (1\n', 'Do it.', ''],
  ])('refuses %s', async (_name, source, docstring, reason) => {
    const answer = await insert(source, docstring)
    expect(answer).toMatch(/^refused: /)
    expect(answer).toContain(reason)
  })

  it('of any text is refused, or leaves a file of which nothing but the docstring is another', async () => {
    let inserted = 0
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        // `insert` asks for the evidence of what it has inserted.
        const answer = await insert('class A:\n    def f(self):\n        return 1\n', text)
        if (!answer.startsWith('refused: ')) inserted += 1
      }),
      { numRuns: draws(150) },
    )
    expect(inserted).toBeGreaterThan(draws(150) / 15)
  })
})
