import { describe, expect, it } from 'vitest'
import { applyEdits } from '#domain/change-set.ts'
import { changeChecks } from '#domain/checks.ts'
import type { PathRules } from '#domain/path-rules.ts'
import { selecting } from '../../evidence/planted-harms.fixture.ts'
import { composedEdits, fixFile } from './fix-file.ts'
import type { FileToFix } from './fix-set.ts'
import { testEvidence } from '../../evidence/test-evidence.fixture.ts'

const { checker, linter, python } = await testEvidence()
const deps = { linter, python, evidence: checker }

type Asked = Partial<Omit<FileToFix, 'rules'>> & Partial<PathRules>

/** The sets by their rules, what is composed of all of them, and what was left alone. */
async function fixed(source: string, select: string[], { text, keptNames, ...asked }: Asked = {}) {
  const chosen = selecting(select, { 'target-version': 'py310' })
  const rules = { ...chosen, text: text ?? chosen.text, keptNames: keptNames ?? [] }
  const file = { path: 'a.py', source, rules, checks: changeChecks, keepOut: [], ...asked }
  const { sets, leftAlone } = await fixFile(file, deps, new AbortController().signal)
  for (const { text: alone, edits, evidence } of sets) {
    expect(Buffer.from(applyEdits(Buffer.from(source), edits)).toString()).toBe(alone)
    expect(evidence.map(({ check, ok }) => [check, ok])).toEqual(changeChecks.map((check) => [check, true]))
  }
  const edits = composedEdits(sets)
  if (edits === undefined) throw new Error('the sets cannot be composed')
  const together = Buffer.from(applyEdits(Buffer.from(source), edits)).toString()
  return {
    sets: Object.fromEntries(sets.map((set) => [set.rules.join(' '), set.text])),
    fixed: Object.fromEntries(sets.map((set) => [set.rules.join(' '), set.fixed])),
    together,
    leftAlone,
  }
}

const rangeOf = (source: string, part: string) => {
  const start = source.indexOf(part)
  return { start, end: start + part.length }
}

describe('the safe fixes of a file', () => {
  it('are one change set for each rule, each made on the file as it is', async () => {
    const source = 'import os\n\n\ndef f(x):\n    x(f"a", f"b")\n    return not x in []\n'
    expect(await fixed(source, ['F', 'E7'])).toEqual({
      sets: {
        E713: source.replace('not x in', 'x not in'),
        F401: source.replace('import os\n\n\n', ''),
        F541: source.replace('f"a"', '"a"').replace('f"b"', '"b"'),
      },
      fixed: { E713: 1, F401: 1, F541: 2 },
      together: 'def f(x):\n    x("a", "b")\n    return x not in []\n',
      leftAlone: [],
    })
  })

  it('leave a formatted file formatted, and touch no other line of one that is not', async () => {
    const source =
      'def f(x):\n    raise ValueError(\n        "a text that is too long {} to stand in one line {!r}".format(x, x)\n    )\n'
    const formatted = 'def f(x):\n    raise ValueError(f"a text that is too long {x} to stand in one line {x!r}")\n'
    expect((await fixed(source, ['UP'])).together).toBe(formatted)
    const loose = await fixed(`${source}y  =  1\n`, ['UP'])
    expect(loose.together).toMatch(/raise ValueError\(\n {8}f"a text/)
    expect(loose.together).toMatch(/y {2}= {2}1\n$/)
  })

  it.each([
    ['meet in one place', 'print((f"a"))\n', ['F', 'UP'], 'F541 UP034', 'print("a")\n'],
    ['meet in one statement', 'import os, sys\nprint(sys)\n', ['F', 'E'], 'E401 F401', 'import sys\nprint(sys)\n'],
    ['come to the same edit', 'import b\nimport a\n\nprint(a)\n', ['F', 'I'], 'F401 I001', 'import a\n\nprint(a)\n'],
    [
      'sort what another one adds',
      'from collections import OrderedDict, Iterator\nimport os\n\nprint(os, OrderedDict, Iterator)\n',
      ['I', 'UP'],
      'I001 UP035',
      'import os\nfrom collections import OrderedDict\nfrom collections.abc import Iterator\n\nprint(os, OrderedDict, Iterator)\n',
    ],
    [
      'have one edit in common: the one removes what the other moves',
      'import sys\nimport os\nimport abc\n\nprint(os, abc)\n',
      ['F', 'I'],
      'F401 I001',
      'import abc\nimport os\n\nprint(os, abc)\n',
    ],
  ])('share a set where those of two rules %s', async (_what, source, select, rules, after) => {
    expect(await fixed(source, select)).toMatchObject({ sets: { [rules]: after }, leftAlone: [] })
  })

  it('are made by the sets of the other rules where one rule shares none', async () => {
    const source = 'import os, sys\nprint(sys, f"a")\n'
    const { sets, together } = await fixed(source, ['F', 'E'])
    expect(Object.keys(sets)).toEqual(['E401 F401', 'F541'])
    expect(together).toBe('import sys\nprint(sys, "a")\n')
  })

  it('are none where the file has nothing to fix, or is empty', async () => {
    for (const source of ['', '\n', 'x = 1\n', 'def f(:\n']) {
      expect(await fixed(source, ['F', 'E', 'W'])).toEqual({ sets: {}, fixed: {}, together: source, leftAlone: [] })
    }
  })

  it('leave no blank line at the top where an import goes and the others are sorted', async () => {
    const source = 'import os\nfrom pkg import compat\n\n\ndef use():\n    return compat\n'
    const { together } = await fixed(source, ['F', 'I'])
    expect(together).toBe('from pkg import compat\n\n\ndef use():\n    return compat\n')
  })

  it('keep the name of an exception that a text may name', async () => {
    const source = 'try:\n    x()\nexcept E as problem:\n    raise F("%(problem)s" % locals())\n'
    expect((await fixed(source, ['F'])).sets).toEqual({})
  })

  it('stop with their signal', async () => {
    const file = { path: 'a.py', source: 'import os\n', rules: selecting(['F']), checks: changeChecks, keepOut: [] }
    await expect(fixFile(file, deps, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  })
})

describe('a fix that fails its proof', () => {
  const function_ = (name: string, above = '') => `def ${name}(x):\n${above}    import os\n    x()\n    x.y()\n`

  it('is left alone with the reason and its line, and the others of its rule are made', async () => {
    const source = [function_('a'), function_('b', '    # why\n'), function_('c'), function_('d')].join('\n\n')
    const { together, fixed: made, leftAlone } = await fixed(source, ['F'])
    expect(together).toBe(source.replaceAll(/(?<!# why\n) {4}import os\n/g, ''))
    expect(made).toEqual({ F401: 3 })
    const reason = 'comments_kept: line 8: the comment "# why" is not at its statement any more'
    expect(leftAlone).toEqual([{ rule: 'F401', line: 9, reason }])
  })

  it.each([0, 1, 2, 3, 4])('is found wherever it stands (%i), and is named once', async (place) => {
    const parts = ['a', 'b', 'c', 'd', 'e'].map((name, at) => function_(name, at === place ? '    # why\n' : ''))
    const { fixed: made, leftAlone } = await fixed(parts.join('\n\n'), ['F'])
    expect(made).toEqual({ F401: 4 })
    expect(leftAlone).toMatchObject([{ rule: 'F401', line: 3 + 6 * place }])
  })

  it('does not take the fixes of another rule along', async () => {
    const source = '# why\nimport os\n\nprint(f"a")\n'
    const { sets, leftAlone } = await fixed(source, ['F'])
    expect(sets).toEqual({ F541: '# why\nimport os\n\nprint("a")\n' })
    expect(leftAlone).toMatchObject([{ rule: 'F401', line: 2 }])
  })

  it('leaves one of several where all of them fail', async () => {
    const source = [function_('a', '    # 1\n'), function_('b', '    # 2\n')].join('\n\n')
    const { sets, leftAlone } = await fixed(source, ['F'])
    expect(sets).toEqual({})
    expect(leftAlone.map(({ line }) => line)).toEqual([3, 10])
  })
})

describe('a fix that brings up a fault of its own', () => {
  const handling = (...errors: string[]) =>
    `import socket\n\n\ndef f(x):\n    try:\n        x()\n${errors.map((error) => `    except ${error}:\n        x.y()\n`).join('')}`
  const withoutImport = (text: string) => text.replace('import socket\n\n\n', '')

  it('is made whole: the import that it made unused goes with it', async () => {
    const { sets, leftAlone } = await fixed(handling('socket.error'), ['F', 'UP'])
    expect(sets).toEqual({ UP024: withoutImport(handling('OSError')) })
    expect(leftAlone).toEqual([])
  })

  it('is made whole with the fix of another rule, where only both make the import unused', async () => {
    const { sets, leftAlone } = await fixed(handling('socket.error', 'socket.timeout'), ['F', 'UP'])
    expect(sets).toEqual({ 'UP024 UP041': withoutImport(handling('OSError', 'TimeoutError')) })
    expect(leftAlone).toEqual([])
  })

  it('is made alone where the import is still used', async () => {
    const source = `${handling('socket.error')}\n\nprint(socket.AF_INET)\n`
    const { together } = await fixed(source, ['F', 'UP'])
    expect(together).toBe(source.replace('socket.error', 'OSError'))
  })

  it.each([
    ['other files take it', { keptNames: ['socket'] }],
    ['it lies where somebody else works', { keepOut: [rangeOf(handling('socket.error'), 'import socket')] }],
    ['it lies outside of what is asked for', { within: [{ start: 16, end: 200 }] }],
  ])('is not made where the import may not go, since %s', async (_why, asked) => {
    const { sets, leftAlone } = await fixed(handling('socket.error'), ['F', 'UP'], asked)
    expect(sets).toEqual({})
    expect(leftAlone).toMatchObject([{ rule: 'UP024', line: 7, reason: expect.stringContaining('F401') }])
  })
})

describe('the part of a file that is fixed', () => {
  const source = 'import os\n\n\ndef f():\n    return f"ä😀"\n\n\ndef g():\n    return f"b"\n'

  it('has no fix in what is to be kept out of, also after a fix before it', async () => {
    const { together } = await fixed(source, ['F'], { keepOut: [rangeOf(source, 'def f():\n    return f"ä😀"')] })
    expect(together).toBe(source.replace('import os\n\n\n', '').replace('f"b"', '"b"'))
  })

  it('leaves what lies in both alone', async () => {
    const [part, inner] = [rangeOf(source, source.slice(12)), rangeOf(source, 'return f"b"')]
    const { together } = await fixed(source, ['F'], { within: [part], keepOut: [inner] })
    expect(together).toBe(source.replace('f"ä😀"', '"ä😀"'))
  })
})

describe('what the fixes leave as it is', () => {
  it.each([
    ['the text of strings', 'x = """a  \n  \nb  \n"""  \ny = f"""c  \n  \n{x}  \n"""\n', 'x = """a  \n  \nb  \n"""\n'],
    [
      'the text of docstrings',
      'def f():\n    """Do.  \n    \n    It.\n    """\n    \n    return 1\n',
      '"""\n\n    return',
    ],
    ['page breaks', 'x = 1\n\f\ny = 2  \n \f\nz = 3 \f\n', 'y = 2\n'],
  ])('is white space that is %s', async (_what, source, part) => {
    const { together } = await fixed(source, ['W'])
    const lines = (text: string) => text.split('\n').filter((line) => /\f|[abc}.] {2}$|^ {2}$/.test(line))
    expect(lines(together)).toEqual(lines(source))
    expect(together).toContain(part)
  })

  it.each([
    [
      'a page break before an import',
      'import sys\n\n\f\nimport os\n\n\fimport re\nprint(sys)\n',
      ['\fimport re', '\f\n'],
    ],
    [
      'an import with a comment for tools, also half of it',
      'from a import b, c  # type: ignore\nprint(c)\n',
      ['b, c  # type: ignore'],
    ],
    ['an import with a word about it', 'import os, sys  # os for tests\nprint(sys)\n', ['os, sys']],
    [
      'an import in brackets with a comment behind them',
      'from a import (\n    b,\n    c,\n)  # type: ignore\nprint(c)\n',
      ['    b,\n'],
    ],
    [
      'an import in brackets with a comment above it',
      'from a import (\n    # used by tests\n    b,\n    c,\n)\nprint(c)\n',
      ['# used by tests\n    b,\n'],
    ],
    [
      'a comment behind another name in brackets',
      'from a import (\n    b,\n    c,  # why\n)\nprint(c)\n',
      ['from a import (\n    c,  # why\n)'],
    ],
  ])('is %s', async (_what, source, parts) => {
    const { together } = await fixed(source, ['F'])
    for (const part of parts) expect(together).toContain(part)
  })

  it.each([
    ['CRLF', '\r\n'],
    ['CR', '\r'],
    ['LF', '\n'],
  ])('are its line ends (%s)', async (_name, end) => {
    const source = ['import os', 'import sys', '', 'x = 1  ', 'print(f"a", sys)'].join(end)
    const { together } = await fixed(source, ['F', 'W'])
    expect(together).toBe(['import sys', '', 'x = 1', 'print("a", sys)', ''].join(end))
  })

  it('are line ends of several kinds, each where it was', async () => {
    const { together } = await fixed('import os\r\nimport sys\n\r\nprint(f"a", sys)  \nx = 1 \r\n', ['F', 'W'])
    expect(together).toBe('import sys\n\r\nprint("a", sys)\nx = 1\r\n')
  })

  it.each([
    ['a byte order mark', '\ufeffimport os\nprint(f"a")\n', '\ufeffprint("a")\n'],
    [
      'tabs',
      'def f(x):\n\tif x:\n\t\timport os\n\t\treturn f"a"\n',
      'def f(x):\n\tif x:\n\t\timport os\n\t\treturn "a"\n',
    ],
    ['a form feed before a definition', 'import os\n\f\ndef f():\n    return f"a"\n', '\f\ndef f():\n    return "a"\n'],
    ['that no newline ends it', 'import os\nprint(f"a")', 'print("a")'],
    ['characters of several bytes', 'import os\nx = "ä😀", f"😀"\n', 'x = "ä😀", "😀"\n'],
    [
      'its first two lines',
      '#!/usr/bin/python\n# -*- coding: latin-1 -*-\nimport os\nprint(f"é")\n',
      '#!/usr/bin/python\n# -*- coding: latin-1 -*-\nprint("é")\n',
    ],
  ])('is %s', async (_what, source, after) => {
    expect(await fixed(source, ['F'])).toMatchObject({ together: after, leftAlone: [] })
  })
})
