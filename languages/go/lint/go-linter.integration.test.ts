import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openGoLinter } from './go-linter.ts'
import { testGofmt } from './go-linter.fixture.ts'

const { searchPath, lack } = await testGofmt(process.env)
const linter = await openGoLinter({ searchPath })
afterAll(() => linter.close())

/** The text after all fixes. */
async function fixed(text: string): Promise<string> {
  const { diagnostics } = await linter.lint(text)
  let end = 0
  let made = ''
  for (const edit of diagnostics.flatMap(({ fix }) => fix ?? [])) {
    made += text.slice(end, edit.start) + edit.text
    end = edit.end
  }
  return made + text.slice(end)
}

const codesOf = async (text: string) => (await linter.lint(text)).diagnostics.map(({ code, line }) => [code, line])

describe.skipIf(lack !== undefined)('the fixes of Go', () => {
  it.each([
    [
      'of a function',
      'package a\n\nfunc  f( x int ) int{\n  return x\n}\n',
      'package a\n\nfunc f(x int) int {\n\treturn x\n}\n',
    ],
    [
      'align the tags of a struct',
      'package a\n\ntype T struct {\n\tA int `json:"a"`\n\tLonger string `json:"b"`\n}\n',
      'package a\n\ntype T struct {\n\tA      int    `json:"a"`\n\tLonger string `json:"b"`\n}\n',
    ],
    ['add the last line end', 'package a\n\nvar é = "𝒳" ; var b = 1', 'package a\n\nvar é = "𝒳"\nvar b = 1\n'],
    ['take away a byte order mark', '\uFEFFpackage a\n', 'package a\n'],
    [
      'take away blank lines',
      '\n\npackage a\n\n\n\n\nvar a = 1\n\n\n\nvar b = 2\n\n\n',
      'package a\n\nvar a = 1\n\nvar b = 2\n',
    ],
    [
      'keep CRLF in a file that has it everywhere',
      'package a\r\n\r\n/* x\r\ny */\r\n\r\nvar  s = `a\r\nb`\r\n',
      'package a\r\n\r\n/* x\r\ny */\r\n\r\nvar s = `a\r\nb`\r\n',
    ],
    ['write one line end where there are several', 'package a\r\n\nvar a = 1\r\n', 'package a\n\nvar a = 1\n'],
    [
      'write more simply',
      'package a\n\ntype P struct{ x int }\n\nfunc f(s []int) []P {\n\tfor i, _ := range s[1:len(s)] {\n\t\t_ = i\n\t}\n\treturn []P{P{1}, P{2}}\n}\n',
      'package a\n\ntype P struct{ x int }\n\nfunc f(s []int) []P {\n\tfor i := range s[1:] {\n\t\t_ = i\n\t}\n\treturn []P{{1}, {2}}\n}\n',
    ],
    [
      'take away brackets that are lines apart',
      'package a\n\nfunc f(a, b bool) {\n\tif (a &&\n\t\tb) {\n\t\treturn\n\t}\n}\n',
      'package a\n\nfunc f(a, b bool) {\n\tif a &&\n\t\tb {\n\t\treturn\n\t}\n}\n',
    ],
  ])('%s', async (_what, before, after) => {
    expect(await fixed(before)).toBe(after)
    expect((await linter.lint(after)).diagnostics).toEqual([])
  })

  it('leave the comments that Go obeys, and what cgo compiles', async () => {
    const text =
      '//go:build linux && !cgo\n\npackage a\n\n/*\n#include  <stdio.h>\nint  f(  );\n*/\nimport "C"\n\nimport _ "embed"\n\n//go:embed a.txt\nvar  s string\n\n//go:noinline\nfunc f() { _ = C.f() }\n\n//nolint:all\n//export g\nfunc g() {}\n'
    expect(await fixed(text)).toBe(text.replace('var  s', 'var s'))
  })

  it('are of one place each, with its lines alone', async () => {
    const fine = 'func fine() {\n\tprintln(1)\n}\n'
    const text = `package a\n\n${fine}\nfunc rough() {\n  println( 1 )\n\tprintln(2)\n  println(3)\n}\n\n${fine.replace('fine', 'other')}`
    expect(await codesOf(text)).toEqual([
      ['gofmt', 8],
      ['gofmt', 10],
    ])
    const { diagnostics } = await linter.lint(text)
    expect(diagnostics.map(({ start, end }) => text.slice(start, end))).toEqual(['  println( 1 ', '  '])
  })

  it('say which of them only gofmt -s would make', async () => {
    const text = 'package a\n\nvar  a = 1\n\nvar b = []T{T{1}}\n\ntype T struct{ x  int }\n'
    expect(await codesOf(text)).toEqual([
      ['gofmt', 3],
      ['gofmt-s', 5],
      ['gofmt', 7],
    ])
  })
})

describe.skipIf(lack !== undefined)('a text of Go', () => {
  it.each([
    ['package a\n\nfunc f( {\n}\n\nvar = 3\n', [3, 6]],
    ['func f() {}\n', [1]],
    ['// only\n\n/* comments */\n', [4]],
    ['', [1]],
    ['package a\n\nvar x = \u0000\n', [3]],
    ['package a\n\n//line grammar.y:900\nfunc (\n', [900]],
  ])('that does not parse has syntax errors and nothing else: %j', async (text, lines) => {
    const { syntaxErrors, ...rest } = await linter.lint(text)
    expect([...new Set(syntaxErrors.map(({ line }) => line))]).toEqual(expect.arrayContaining(lines))
    expect(rest).toEqual({ diagnostics: [], guards: [] })
    expect(await linter.formatted(text)).toBeUndefined()
  })

  it.each([
    ['brackets', `package a\n\nvar x = ${'('.repeat(100_000)}1${')'.repeat(100_000)}\n`],
    ['calls', `package a\n\nvar x = ${'f('.repeat(60_000)}1${')'.repeat(60_000)}\n`],
  ])('with too many nested %s does not parse', async (_what, text) => {
    expect((await linter.lint(text)).syntaxErrors).toMatchObject([{ message: 'exceeded max nesting depth' }])
  })

  it.each([
    ['needs more memory than there is', `package a\n\nfunc f() {\n${'{'.repeat(99_000)}${'}'.repeat(99_000)}}\n`],
    ['becomes too long', `package a\n\nfunc f() {\n${'{'.repeat(4_000)}${'}'.repeat(4_000)}}\n`],
  ])('that %s is refused, and the next one is linted', { timeout: 30_000 }, async (_what, text) => {
    await expect(linter.lint(text)).rejects.toMatchObject({ code: 'TOOL_006' })
    expect(await codesOf('package a\nvar  a int\n')).toEqual([['gofmt', 2]])
  })

  it('may have three megabytes', { timeout: 30_000 }, async () => {
    const text = `package a\n\n${Array.from({ length: 60_000 }, (_, at) => `func f${at}() int {\n\treturn ${at}\n}\n`).join('\n')}`
    expect((await linter.lint(text)).diagnostics).toEqual([])
    const faulty = text.replaceAll('7\n}', '7 \n}')
    expect((await linter.lint(faulty)).diagnostics).toHaveLength(6000)
    expect(await fixed(faulty)).toBe(text)
  })

  it('that takes too long is refused', async () => {
    const slow = await openGoLinter({ searchPath, limitMs: 1 })
    await expect(slow.lint('package a\n')).rejects.toMatchObject({ code: 'TOOL_006' })
    slow.close()
  })

  it('is answered alike when asked many times at once', async () => {
    const texts = Array.from({ length: 20 }, (_, at) => `package a\n\nvar  a = 1 // ${at % 4}\n`)
    const reports = await Promise.all(texts.map((text) => linter.lint(text)))
    expect(new Set(reports.map((report) => JSON.stringify(report))).size).toBe(1)
  })
})

describe('gofmt', () => {
  it('gets nothing of our environment', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'remora-gofmt-'))
    await writeFile(join(folder, 'gofmt'), '#!/bin/sh\necho "package environment"\nexport -p | sed "s/^/\\/\\/ /"\n')
    await chmod(join(folder, 'gofmt'), 0o755)
    const other = await openGoLinter({ searchPath: folder })
    const names = ((await other.formatted('package a\n')) ?? '').match(/\w+(?==)/g)
    expect(names?.toSorted()).toEqual(['GOMAXPROCS', 'PWD'])
    expect(await other.lack()).toContain('does not format Go')
    other.close()
    await rm(folder, { recursive: true })
  })

  it('is found beside a go that is only linked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'remora-gofmt-'))
    await mkdir(join(folder, 'go', 'bin'), { recursive: true })
    await mkdir(join(folder, 'bin'))
    for (const name of ['go', 'gofmt']) {
      await writeFile(join(folder, 'go', 'bin', name), '#!/bin/sh\ncat\n')
      await chmod(join(folder, 'go', 'bin', name), 0o755)
    }
    await writeFile(join(folder, 'go', 'VERSION'), 'go1.99.1\ntime 2030-01-01T00:00:00Z\n')
    await symlink(join(folder, 'go', 'bin', 'go'), join(folder, 'bin', 'go'))
    const other = await openGoLinter({ searchPath: join(folder, 'bin') })
    expect(other.version).toBe('gofmt go1.99.1')
    other.close()
    await rm(folder, { recursive: true })
  })

  it('that is not there is said, and no text is linted', async () => {
    const none = await openGoLinter({ searchPath: '' })
    expect(await none.lack()).toBe('there is no gofmt on the search path')
    await expect(none.lint('package a\n')).rejects.toMatchObject({ code: 'TOOL_006' })
    none.close()
  })
})
