import { describe, expect, it } from 'vitest'
import { loadLanguage } from '#languages/syntax/parser.ts'
import type { TextCheck } from '#domain/checks.ts'
import { openEvidenceChecker } from './evidence-checker.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { openSyntaxChecker } from './syntax-evidence.ts'
import { testEvidence } from './test-evidence.fixture.ts'

const { checker, linter } = await testEvidence()

async function check(name: TextCheck, before: string, after: string) {
  const [evidence] = await checker.check({ path: 'a.py', before, after, rules: wideRules }, [name])
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

  it('says which lone pass went with it, and takes no other for it', async () => {
    const bodies = (f: string, g: string) =>
      `class A:\n    def f(self):\n        ${f}\n\n    def g(self):\n        ${g}\n`
    const [both, one] = [bodies('"""F."""', '"""G."""'), bodies('"""F."""', 'pass')]
    const detail = async (before: string, after: string) => (await check('docstring_only', before, after))?.detail
    expect(await detail(bodies('pass', 'pass'), one)).toBe('1 `pass` went that a docstring makes needless')
    expect(await detail(bodies('pass', '...'), both)).toBe('2 `pass` and `...` went that docstrings make needless')
    expect(await check('docstring_only', one, one.replace('"""F."""', '"""F.\n\n        More."""'))).not.toHaveProperty(
      'detail',
    )
    expect(await check('docstring_only', both, one)).toMatchObject({ ok: false })
    expect(await check('docstring_only', one, one.replace('pass', '...'))).toMatchObject({ ok: false })
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
    const deep = `x = a${'.b()'.repeat(30_000)}\n`
    const evidence = await check('parses', deep, `${deep}y = 1\n`)
    expect(evidence).toMatchObject({ ok: false, detail: expect.stringContaining('cannot be linted') })
  })
})

const parses = async (path: string, before: string | undefined, after: string) =>
  (await checker.check({ path, before, after, rules: wideRules }, ['parses']))[0]

describe('proof that a file of another language parses', () => {
  it.each([
    ['a.ts', 'export const a: number = 1\n', 'export function (((\n'],
    ['a.tsx', 'export const A = () => <b>x</b>\n', 'export const A = () => <b>x</i\n'],
    ['a.js', 'const a = 1\n', 'const a = = 1\n'],
    ['a.go', 'package a\n', 'package a\nfunc {\n'],
    ['a.json', '{"a": 1}\n', '{"a": }\n'],
    ['Rakefile', 'task :a\n', 'task :a do\n'],
  ])('is given for %s only while it does', async (path, good, bad) => {
    expect(await parses(path, good, `${good}\n`)).toMatchObject({ check: 'parses', ok: true, before: 0, after: 0 })
    expect(await parses(path, undefined, good)).toMatchObject({ ok: true, tool: expect.stringMatching(/^\S+ \d/) })
    expect(await parses(path, good, bad)).toMatchObject({
      ok: false,
      before: 0,
      detail: expect.stringMatching(/^line /),
    })
    expect(await parses(path, undefined, bad)).toMatchObject({ ok: false })
  })

  it('allows the syntax errors that were there, and no other', async () => {
    const broken = 'function f() {\n  let x = = 1\n}\n\nfunction g() {\n  return 2\n}\n'
    const improved = broken.replace('function g() {', '/** Two. */\nfunction g() {')
    expect(await parses('a.js', broken, improved)).toMatchObject({ ok: true, before: 1, after: 1 })
    expect(await parses('a.js', broken, broken.replace('return 2', 'return 2)'))).toMatchObject({ ok: false })
    expect(await parses('a.js', broken, broken.replace('= = 1', '= 1').replace('2', '*'))).toMatchObject({ ok: false })
    expect(await parses('a.js', broken, broken.replace('= = 1', '= 1'))).toMatchObject({ ok: true, after: 0 })
    const unknown = 'function f( { return a + b }\n'
    expect(await parses('a.js', unknown, unknown.replace('+ b', '+ c'))).toMatchObject({ ok: true })
  })

  it('is refused for a text that damages its parser, which parses on', async () => {
    const lists = `${'- '.repeat(400)}a\n`
    expect(await parses('a.yaml', 'a: 1\n', lists)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('cannot be parsed'),
    })
    expect(await parses('a.ts', 'let a = 1\n', 'let b = 1\n')).toMatchObject({ ok: true })
  })
})

describe('what there is no means to prove', () => {
  const made = (path: string, of: TextCheck) =>
    checker.check({ path, before: '', after: 'x = 1\n', rules: wideRules }, [of])

  it.each([
    ['a.pym', 'parses', 'there is no grammar for .pym files'],
    ['Makefile', 'parses', 'there is no grammar for files without an ending'],
    ['a.rs', 'lint_before_after', 'there is no linter for Rust'],
    ['a.md', 'names_kept', 'there is no such check for Markdown'],
    ['a.c', 'says_something', 'there is no such check for C'],
  ] as const)('is not applicable to a language that it says nothing about: %s, %s', async (path, of, detail) => {
    expect(await made(path, of)).toEqual([{ check: 'not_applicable', of, path, ok: true, tool: 'none', detail }])
  })

  it('is said to be not checked where the language has it, and this change cannot be compared', async () => {
    const detail = 'of Rust only changes of comments can be checked for it'
    const unproved = { check: 'not_checked', of: 'names_kept', path: 'a.rs', ok: true, tool: 'none', detail }
    expect(await made('a.rs', 'names_kept')).toEqual([unproved])
  })
})

it.each([true, false])(
  'a change of a mode alone is more than docstrings and the node: executable %s',
  async (executable) => {
    const file = { path: 'a.py', before: plain, after: plain, inNode: true, executable, rules: wideRules }
    const evidence = await checker.check(file, ['parses', 'docstring_only', 'only_node_changed'])
    expect(evidence.map(({ ok }) => ok)).toEqual([true, false, false])
  },
)

it('a script that is too slow to parse ends the thread it is parsed in, and the next one is checked', async () => {
  const parsing = openSyntaxChecker({ limitMs: 1_000 })
  const own = openEvidenceChecker({ linter, python: await loadLanguage('python'), syntax: parsing })
  const prove = (after: string) => own.check({ path: 'a.ts', before: 'f()\n', after, rules: wideRules }, ['names_kept'])
  const late = { check: 'names_kept', ok: false, detail: expect.stringContaining('took longer') }
  expect(await prove('f(1 < 2)\n'.repeat(300_000))).toMatchObject([late])
  expect(await prove('f(1)\n')).toMatchObject([{ check: 'names_kept', ok: true }])
  await parsing.close()
}, 60_000)

describe('proof of a deletion', () => {
  const none: string[] = []
  const lost = async (name: TextCheck, { path = 'a.py', before = plain, keptNames = none } = {}) => {
    const file = { path, before, after: undefined, rules: { ...wideRules, keptNames } }
    return (await checker.check(file, [name]))[0]
  }

  it.each(['parses', 'lint_before_after'] as const)('is there for what is wrong in files: %s', async (name) => {
    expect(await lost(name)).toMatchObject({ check: name, ok: true })
    const unproved = { check: 'not_checked', of: name, ok: true }
    expect(await lost(name, { path: 'a.js', before: 'x(' }), 'another file may need it').toMatchObject(unproved)
  })

  it.each(['docstring_only', 'only_node_changed', 'bodies_kept'] as const)(
    'is not there for what must stay: %s',
    async (name) => {
      expect(await lost(name)).toMatchObject({ check: name, ok: false })
    },
  )

  it('is there when nothing of the kind was in the file, but not that nobody uses it', async () => {
    const before = '_x = 1\n'
    const unproved = { check: 'not_checked', of: 'names_kept', ok: true }
    expect(await lost('names_kept', { before })).toMatchObject(unproved)
    expect(await lost('names_kept'), 'what only the file itself defines').toMatchObject(unproved)
    expect(await lost('names_kept', { before, keptNames: [''] }), 'it is imported').toMatchObject({ ok: false })
    expect(await lost('names_kept', { before, keptNames: ['_y'] })).toMatchObject({ ok: false })
    expect(await lost('comments_kept', { before })).toMatchObject({ ok: true })
    expect(await lost('comments_kept', { before: '# why\n' })).toMatchObject({ ok: false })
  })
})
