import { afterAll, describe, expect, it } from 'vitest'
import { loadLanguage } from '#syntax/parser.ts'
import { openEvidenceChecker, type EvidenceCheck } from './evidence-checker.ts'
import { openPythonLinter } from './python-linter.ts'

const linter = await openPythonLinter()
afterAll(linter.close)
const checker = openEvidenceChecker({ linter, python: await loadLanguage('python') })

async function check(name: EvidenceCheck, before: string, after: string) {
  const [evidence] = await checker.check({ path: 'a.py', before, after }, [name])
  return evidence
}

const plain = 'def f():\n    return 1\n'
const withFirst = (first: string) => `def f():\n    ${first}\n    return 1\n`

describe('proof that only docstrings changed', () => {
  it.each(['"""Doc."""', "r'Doc.'", 'u"Doc."', '"One. " "two."', '("Doc.")', '(  # why\n    "One. "\n    r"two.")'])(
    'takes %s for a docstring',
    async (docstring) => {
      expect(await check('docstring_only', plain, withFirst(docstring))).toMatchObject({ ok: true })
    },
  )

  it.each([
    'f"{g()}"',
    'rf"{g()}"',
    'Rf"x"',
    'fr"{g()}"',
    '"a" f"{g()}"',
    't"{g()}"',
    'b"x"',
    'rb"x"',
    'bR"x"',
    '"x",',
    '("x",)',
    '"x" % g()',
    'g("x")',
  ])('does not take %s for one', async (statement) => {
    expect(await check('docstring_only', plain, withFirst(statement))).toMatchObject({ ok: false })
  })

  it('is not given when the declared encoding changes, which changes every string', async () => {
    const declared = (line: string) => `${line}x = "é"\n`
    expect(await check('docstring_only', declared(''), declared('# coding: latin-1\n'))).toMatchObject({ ok: false })
    expect(await check('docstring_only', declared(''), declared('# coding: utf-8\n'))).toMatchObject({ ok: true })
    expect(await check('docstring_only', declared('\n\n'), declared('\n\n# coding: ascii\n'))).toMatchObject({
      ok: true,
    })
  })

  it('sees a statement that moved into another block', async () => {
    const nested = 'if a:\n    if b:\n        c()\n        d()\n'
    expect(await check('docstring_only', nested, nested.replace('        d()', '    d()'))).toMatchObject({ ok: false })
    expect(await check('docstring_only', nested, nested.replace('c()', 'c()  # why'))).toMatchObject({ ok: true })
  })

  it('is given for sources nested deeper than a stack, and for wide ones', async () => {
    const deep = `x = ${Array.from({ length: 30_000 }, () => 'a').join(' + ')}\n`
    const wide = `x = [${'1, '.repeat(150_000)}]\n`
    for (const rest of [deep, wide]) {
      expect(await check('docstring_only', plain + rest, withFirst('"Doc."') + rest)).toMatchObject({ ok: true })
      expect(await check('docstring_only', plain + rest, `${plain}y${rest}`)).toMatchObject({ ok: false })
    }
  }, 60_000)
})

describe('proof that a file parses', () => {
  it.each([
    ['ascii', false],
    ['latin-1', false],
    ['utf-8', true],
  ])('under the declaration %s is given for text beyond ASCII: %s', async (encoding, ok) => {
    const source = (text: string) => `#!/usr/bin/python\n# -*- coding: ${encoding} -*-\nx = "${text}"\n`
    expect(await check('parses', source('-'), source('—'))).toMatchObject({ ok })
    expect(await check('parses', source('—'), source('—y'))).toMatchObject({ ok: true })
  })

  it('allows the syntax errors that were there, and no more', async () => {
    expect(await check('parses', 'def (\n', 'def (\nx = 1\n')).toMatchObject({ ok: true })
    expect(await check('parses', 'x = 1\n', 'def (\n')).toMatchObject({ ok: false, before: 0 })
  })

  it('is missing, with the reason, for a file that cannot be linted', async () => {
    const deep = `x = ${'('.repeat(30_000)}1${')'.repeat(30_000)}\n`
    const evidence = await check('parses', deep, `${deep}y = 1\n`)
    expect(evidence).toMatchObject({ ok: false, detail: expect.stringContaining('cannot be linted') })
  })

  it('is not asked of a tool script, which is not quite Python', async () => {
    expect(await checker.check({ path: 'a.pym', before: '', after: 'await f()\n' }, ['parses'])).toEqual([])
  })
})
